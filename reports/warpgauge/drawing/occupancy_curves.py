"""Draws curves of `warpgauge occupancy --over ... --json`: occupancy over threads, registers or
shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from warpgauge.drawing import style
from warpgauge.drawing.figure_files import files_of

LABELS = {
    "threads": "threads of a block",
    "registers": "registers of a thread",
    "shared": "bytes of shared memory of a block",
}
_DASHES = ("-", (0, (6, 2)), (0, (2, 2)), (0, (6, 2, 1, 2)))


@dataclass(frozen=True, slots=True)
class Curve:
    """Occupancy (0 to 1) by amount, of the architectures that share it."""

    archs: tuple[str, ...]
    points: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class Curves:
    resource: str  # a key of LABELS
    given: int  # the amount of the block asked about
    needs: str  # what stays, in words
    curves: tuple[Curve, ...]


def draw(of: Curves) -> dict[str, bytes]:
    """The curves as the content of files, by ending: "svg" and "png"."""
    return files_of(lambda: _figure(of), f"Occupancy over {LABELS[of.resource]}")


def _figure(of: Curves) -> Figure:
    figure = Figure(figsize=(7.4, 3.6))
    axes = figure.add_axes((0, 0, 1, 1))
    colours = style.PAGE["light"]["lines"]
    for number, curve in enumerate(of.curves):
        amounts, fractions = zip(*curve.points, strict=True)
        axes.plot(
            amounts,
            fractions,
            drawstyle="steps-pre",  # what is allocated holds up to the amount, not from it on
            label=_names(curve.archs),
            color=colours[number % len(colours)],
            linestyle=_DASHES[number // len(colours) % len(_DASHES)],
            linewidth=1.6,
            gid=f"curve-{curve.archs[0]}",
        )
    axes.axvline(of.given, color=style.FAINT, linewidth=1, linestyle=":", gid="given")
    axes.annotate(
        str(of.given),
        xy=(of.given, 1.06),
        ha="center",
        va="bottom",
        fontsize=style.CAPTION_PT,
        color=style.FAINT,
        annotation_clip=False,
    )
    axes.set_ylim(0, 1.05)
    axes.set_xlim(left=0)
    axes.grid(True, color=style.MISSING_HATCH, linewidth=0.4, alpha=0.6)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.set_xlabel(LABELS[of.resource])
    axes.set_ylabel("theoretical occupancy")
    axes.set_title(f"Occupancy, {of.needs}", loc="left", fontweight="bold", pad=22)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=style.LABEL_PT)
    return figure


def _names(archs: Sequence[str]) -> str:
    """In lines of three: "sm_80, sm_90, sm_100"."""
    return ",\n".join(", ".join(archs[i : i + 3]) for i in range(0, len(archs), 3))

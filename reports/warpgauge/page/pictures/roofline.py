"""Draws a roofline: what the memory allows at each intensity, and the cases below it.

The memory's theoretical peak is both edges of its clock times the width of its bus: of an H100 SXM
2 x 2,619 MHz x 5,120 bits / 8 = 3.35 TB/s, which is what NVIDIA publishes. That of arithmetic, of
f32 and f64 without tensor cores, is the multiprocessors times the multiply-adds of each in a clock,
two operations each: of the same GPU 132 x 128 x 2 x 1,980 MHz = 66.9 TFLOP/s, published as 67.
warpgauge-bench measures shares of both, from which they are worked out again; without these there
is no line. Beside them stands what was measured: the runtime's own copies, and the best case of
each type.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from warpgauge.drawing import style
from warpgauge.page.contents import Contents
from warpgauge.page.picture import Gallery, Picture, different, of_marks
from warpgauge.page.speeds import Placed, Roofline
from warpgauge.text import safe_stem, shortened

SECTION = "speeds"
MOST_FAMILIES = len(style.SERIES)  # with a colour of their own; the others share grey
MOST_ROOFS = 3  # best cases of so many types; integers do no FLOP
BEYOND = 100  # times the intensity at the ridge; what has more stands at the edge
_MARKERS = "os^Dv<>P"
_SOLID = ("-", (0, (12, 2)))  # of f32 and f64


def gallery(contents: Contents) -> Gallery:
    """A roofline for each GPU with cases that do arithmetic."""
    return gallery_of(contents.rooflines)


def gallery_of(rooflines: Sequence[Roofline]) -> Gallery:
    stems = different([safe_stem("roofline", roofline.device) for roofline in rooflines])
    note = (
        "Each mark leads to its fact. The memory’s theoretical peak is its clock, both edges, "
        "times the width of its bus; the measured one is that of the runtime’s own copy and fill. "
        "The theoretical peak of a type is that of multiply-adds without tensor cores."
    )
    pictures = [_picture(*pair) for pair in zip(stems, rooflines, strict=True)]
    return Gallery(pictures, note if pictures else "")


def _picture(stem: str, roofline: Roofline) -> Picture:
    title = f"Roofline of {roofline.device}"
    marks = {
        case.number: f"{case.id}: {style.quantity_text(case.flops, 'FLOP/s')} "
        f"at {case.intensity:.3g} FLOP/byte"
        for case in roofline.cases
    }
    return of_marks(stem, title, lambda: _figure(roofline), marks)


def _figure(roofline: Roofline) -> Figure:
    """Each mark is a link to the fact "#fact-NUMBER" of its operations a second."""
    figure = Figure(figsize=(7.4, 4.4))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xscale("log")
    axes.set_yscale("log")
    low, high = _range(roofline)
    _draw_roofs(axes, roofline, low, high)
    for number, (name, cases) in enumerate(_families(roofline)):
        _draw_family(axes, number, shortened(name, 40), cases, high)
    axes.set_xlim(low, high)
    slowest = min(case.flops for case in roofline.cases)
    highest = max([roofline.best[0].flops, *roofline.arithmetic_peaks.values()])
    axes.set_ylim(slowest / 3, highest * 3)
    axes.grid(True, which="major", color=style.MISSING_HATCH, linewidth=0.4, alpha=0.6)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.set_xlabel("arithmetic intensity, FLOP/byte (of what any solution must do and move)")
    axes.set_ylabel("FLOP/s")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _tick(value)))
    axes.minorticks_off()
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=style.LABEL_PT)
    axes.set_title(f"Roofline of {shortened(roofline.device, 60)}", loc="left", fontweight="bold")
    _draw_note(axes, roofline, high)
    return figure


def _range(roofline: Roofline) -> tuple[float, float]:
    """Of intensities: all cases, but for those far beyond the ridge, where the picture is empty."""
    intensities = [case.intensity for case in roofline.cases]
    low, high = min(intensities) / 2.5, max(intensities) * 2.5
    if peak := roofline.measured_peak or roofline.peak:
        high = min(high, max(BEYOND * roofline.best[0].flops / peak, low * BEYOND))
    return low, high


def _draw_family(axes: Axes, number: int, name: str, cases: list[Placed], high: float) -> None:
    """f64 is hollow; what is beyond the edge stands at it."""
    colour = style.OTHERS if number >= MOST_FAMILIES else style.SERIES[number]
    marks = axes.scatter(
        [min(case.intensity, high) for case in cases],
        [case.flops for case in cases],
        s=36,
        marker=_MARKERS[min(number, MOST_FAMILIES)],
        facecolors=["none" if case.type == "f64" else colour for case in cases],
        edgecolors=colour,
        linewidths=1.3,
        zorder=3,
        clip_on=False,
    )
    marks.set_urls([f"#fact-{case.number}" for case in cases])
    axes.scatter(
        [], [], s=36, marker=_MARKERS[min(number, MOST_FAMILIES)], color=colour, label=name
    )


def _draw_note(axes: Axes, roofline: Roofline, high: float) -> None:
    words = ["A mark for each variant, type and intensity: its fastest size."]
    if any(case.type == "f64" for case in roofline.cases):
        words.append("Hollow: f64.")
    if beyond := sum(case.intensity > high for case in roofline.cases):
        words.append(f"At the right edge: {beyond} of higher intensity.")
    axes.annotate(
        " ".join(words),
        xy=(0, 0),
        xycoords="axes fraction",
        xytext=(0, -40),
        textcoords="offset points",
        va="top",
        fontsize=style.CAPTION_PT,
        color=style.FAINT,
    )


def _tick(value: float) -> str:
    """ "10 T" instead of "10.00 T"."""
    return re.sub(r"\.0+(?=\D|$)", "", style.number_text(value))


def _draw_roofs(axes: Axes, roofline: Roofline, low: float, high: float) -> None:
    roofs = [
        ("theoretical", roofline.peak, "-"),
        ("measured", roofline.measured_peak, ":"),
    ]
    for name, peak, dashes in roofs:
        if peak:
            label = f"memory, {name}: {style.quantity_text(peak, 'B/s')}"
            ends = [low * peak, high * peak]
            axes.plot([low, high], ends, label=label, color=style.INK, lw=1.3, linestyle=dashes)
    for (type, peak), line in zip(roofline.arithmetic_peaks.items(), _SOLID, strict=False):
        label = f"{shortened(type, 12)}, theoretical: {style.quantity_text(peak, 'FLOP/s')}"
        axes.axhline(peak, color=style.INK, linewidth=1.3, linestyle=line, label=label)
    of_cases = ((0, (6, 3)), (0, (4, 2, 1, 2)), (0, (2, 2)))
    of_floats = [case for case in roofline.best if case.type.startswith(("f", "bf", "tf"))]
    for case, dash in zip(of_floats[:MOST_ROOFS], of_cases, strict=False):
        label = f"best {shortened(case.type, 12)} case: {style.quantity_text(case.flops, 'FLOP/s')}"
        axes.axhline(case.flops, color=style.INK, linewidth=1, linestyle=dash, label=label)


def _families(roofline: Roofline) -> list[tuple[str, list[Placed]]]:
    """The cases by family, those with the most first; the last group holds what is left."""
    groups: dict[str, list[Placed]] = defaultdict(list)
    for case in roofline.cases:
        groups[case.family].append(case)
    ranked = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    shown, rest = ranked[:MOST_FAMILIES], ranked[MOST_FAMILIES:]
    if rest:
        shown.append((f"{len(rest)} other families", [case for _, cases in rest for case in cases]))
    return shown

"""Draws a roofline: what the memory allows at each intensity, and the cases below it."""

from __future__ import annotations

import re
from collections import defaultdict

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from warpgauge_report import style
from warpgauge_report.output import shortened
from warpgauge_report.page.speeds import Roofline, Speed

MOST_FAMILIES = 7  # with a colour of their own; the others share grey
_MARKERS = "os^Dv<>P"
_GREY = "#8a8a8a"
_COLOURS = ("#3a8fc4", "#d9661f", "#1f9e78", "#b8609a", "#a88a1a", "#6a7fd0", "#5aa9a0")


def draw_roofline(roofline: Roofline) -> Figure:
    figure = Figure(figsize=(7.4, 4.4))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xscale("log")
    axes.set_yscale("log")
    intensities = [intensity for _, intensity, _ in roofline.cases]
    low, high = min(intensities) / 2.5, max(intensities) * 2.5
    _draw_roofs(axes, roofline, low, high)
    for number, (name, cases) in enumerate(_families(roofline)):
        grey = number >= MOST_FAMILIES
        axes.scatter(
            [intensity for _, intensity, _ in cases],
            [flops for _, _, flops in cases],
            s=36,
            marker=_MARKERS[min(number, MOST_FAMILIES)],
            color=_GREY if grey else _COLOURS[number],
            edgecolors="none",
            label=shortened(name, 40),
            zorder=3,
        )
    axes.set_xlim(low, high)
    slowest = min(flops for _, _, flops in roofline.cases)
    axes.set_ylim(slowest / 3, roofline.best * 3)
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
    return figure


def _tick(value: float) -> str:
    """ "10 T" instead of "10.00 T"."""
    return re.sub(r"\.0+(?=\D|$)", "", style.number_text(value))


def _draw_roofs(axes, roofline: Roofline, low: float, high: float) -> None:
    roofs = [
        ("peak", roofline.peak, "-"),
        ("measured", roofline.measured_peak, ":"),
    ]
    for name, peak, dashes in roofs:
        if peak:
            label = f"memory, {name}: {style.quantity_text(peak, 'B/s')}"
            line = {"color": style.INK, "linewidth": 1.3, "linestyle": dashes}
            axes.plot([low, high], [low * peak, high * peak], label=label, **line)
    label = f"best case: {style.quantity_text(roofline.best, 'FLOP/s')}"
    axes.axhline(roofline.best, color=style.INK, linewidth=1, linestyle="--", label=label)


def _families(roofline: Roofline) -> list[tuple[str, list[tuple[Speed, float, float]]]]:
    """The cases by family, those with the most first; the last group holds what is left."""
    groups: dict[str, list] = defaultdict(list)
    for case in roofline.cases:
        groups[case[0].family].append(case)
    ranked = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    shown, rest = ranked[:MOST_FAMILIES], ranked[MOST_FAMILIES:]
    if rest:
        shown.append((f"{len(rest)} other families", [case for _, cases in rest for case in cases]))
    return shown

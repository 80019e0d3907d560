"""Draws times over size: stairs where a cache ends, a bend where a GPU is full."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator

from warpgauge.drawing import style
from warpgauge.page.contents import Contents
from warpgauge.page.curves import Curve, Curves
from warpgauge.page.picture import Gallery, Picture, different, of_marks
from warpgauge.text import safe_stem, shortened

SECTION = "speeds"
MOST = 6
MOST_VARIANTS = len(style.SERIES)  # with a colour of their own; the others share grey
_MARKERS = "os^Dv<>P"


def gallery(contents: Contents) -> Gallery:
    """A picture for each problem on a GPU with times at many sizes."""
    return gallery_of(contents.curves)


def gallery_of(found: Sequence[Curves]) -> Gallery:
    shown = found[:MOST]
    stems = [safe_stem("times", curves.problem, curves.size, curves.device) for curves in shown]
    pictures = [_picture(*pair) for pair in zip(different(stems), shown, strict=True)]
    note = ["Each mark leads to its fact."] if pictures else []
    if more := len(found) - len(shown):
        note.append(f"Left out: {more} more pictures of times over size.")
    return Gallery(pictures, " ".join(note))


def _picture(stem: str, group: Curves) -> Picture:
    marks = {
        row.number: f"{row.key.id}: {style.quantity_text(row.last.numeric, row.metric.unit)}"
        for curve in group.by_variant.values()
        for row in curve.values()
    }
    return of_marks(stem, _title(group), lambda: _figure(group), marks)


def _title(group: Curves) -> str:
    return f"Times of {shortened(group.problem, 60)}@{group.size} on {shortened(group.device, 60)}"


def _figure(group: Curves) -> Figure:
    """Each mark is a link to the fact "#fact-NUMBER" of its time."""
    figure = Figure(figsize=(7.4, 4.0))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    for number, (variant, curve) in enumerate(group.by_variant.items()):
        _draw(axes, number, shortened(variant, 40), curve)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: style.number_text(value)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: style.number_text(value)))
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.minorticks_off()
    times = [row.last.numeric for curve in group.by_variant.values() for row in curve.values()]
    axes.set_ylim(min(times) / 1.6, max(times) * 1.6)  # a tick at least, however near they are
    axes.grid(True, which="major", color=style.MISSING_HATCH, linewidth=0.4, alpha=0.6)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.set_xlabel("n, of the size" if group.size == "n" else f"n, of the size {group.size}")
    axes.set_ylabel("median time, µs")
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=style.LABEL_PT)
    axes.set_title(_title(group), loc="left", fontweight="bold")
    return figure


def _draw(axes: Axes, number: int, name: str, curve: Curve) -> None:
    own = number < MOST_VARIANTS
    colour = style.SERIES[number] if own else style.OTHERS
    times = [row.last.numeric for row in curve.values()]
    axes.plot(list(curve), times, color=colour, linewidth=1.2)
    marks = axes.scatter(
        *(list(curve), times),
        s=26,
        marker=_MARKERS[min(number, MOST_VARIANTS)],
        color=colour,
        label=name,
        zorder=3,
    )
    marks.set_urls([f"#fact-{row.number}" for row in curve.values()])

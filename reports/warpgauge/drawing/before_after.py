"""Draws what changed from one run to another: a bar for each metric of a kernel, as a factor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from warpgauge.drawing import style
from warpgauge.drawing.figure_files import files_of

_WIDTH, _ROW, _MARGIN = 5.2, 0.5, 0.5  # inches: of the bars, and heights
_LEAST = 2.0  # factor that the axis spans at least
_MOST = 64.0  # a bar ends there; its numbers say how far it goes
_BEYOND = 1.15  # of the span: where a bar that is cut off ends
_CUT = 0.93  # of its length: where the cut is
_SLANT = ((-0.035, -0.27), (-0.005, -0.27), (0.035, 0.27), (0.005, 0.27))  # its corners from there


@dataclass(frozen=True, slots=True)
class Bar:
    """A change: whose, what, by which factor (0 or infinite from or to 0), and in words. `better`
    is None where no direction is."""

    kernel: str
    metric: str
    factor: float
    better: bool | None
    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    title: str
    caption: str
    bars: tuple[Bar, ...]


def draw(picture: Picture) -> dict[str, bytes]:
    """The picture as the content of files, by ending: "svg" and "png"."""
    return files_of(lambda: _figure(picture), picture.title)


def _figure(picture: Picture) -> Figure:
    bars = picture.bars
    height = _MARGIN + _ROW * len(bars)
    figure = Figure(figsize=(_WIDTH, height))
    axes = figure.add_axes((0, 0, 1, 1))
    span = _span([bar.factor for bar in bars])
    for place, bar in enumerate(bars):
        _bar(axes, len(bars) - 1 - place, bar, span)
    axes.axvline(0, color=style.INK, linewidth=1)
    ticks = _ticks(span)
    axes.set_xticks(ticks, [_factor_text(tick) for tick in ticks])
    axes.set_xlim(-1.04 * span, 1.04 * span)
    axes.set_ylim(-0.6, len(bars) - 0.4)
    axes.set_yticks([])
    axes.grid(True, axis="x", color=style.MISSING_HATCH, linewidth=0.4, alpha=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.set_title(picture.title, loc="left", fontweight="bold", pad=12, fontsize=style.TITLE_PT)
    axes.annotate(
        picture.caption, (0, 0), xycoords="axes fraction", xytext=(0, -26), va="top",
        textcoords="offset points", fontsize=style.CAPTION_PT, color=style.FAINT,
        annotation_clip=False,
    )  # fmt: skip
    return figure


def _bar(axes: Axes, height: int, bar: Bar, span: float) -> None:
    """Its names stand to the left, its values to the right."""
    name = {True: "better", False: "worse", None: "faint"}[bar.better]
    colour = style.PAGE["light"][name]
    length = max(-span, min(span, _log(bar.factor)))
    axes.barh(height, length, height=0.5, color=colour, gid=f"{name}-{height}")
    if abs(_log(bar.factor)) > span:
        _cut(axes, length, height)
    for words, x, y, align, weight in (
        (bar.kernel, -0.02, 0.14, "right", "normal"),
        (bar.metric, -0.02, -0.2, "right", "bold"),
        (bar.text, 1.02, 0.14, "left", "normal"),
        (name if bar.better is not None else "", 1.02, -0.2, "left", "bold"),
    ):
        axes.annotate(
            words, (x, height + y), xycoords=("axes fraction", "data"), ha=align, va="center",
            fontsize=style.CELL_PT, fontweight=weight, annotation_clip=False,
            color=colour if x > 0 and weight == "bold" else style.INK,
        )  # fmt: skip


def _cut(axes: Axes, length: float, height: int) -> None:
    """A slanted gap near the end of a bar that stands for one that is longer, or has no end."""
    places = [((_CUT + x) * length, height + y) for x, y in _SLANT]
    axes.fill(*zip(*places, strict=True), color=style.PAPER, linewidth=0, gid=f"cut-{height}")


def _log(factor: float) -> float:
    """log2; far out for 0 and for what has no factor."""
    if factor <= 0:
        return -math.inf
    return math.log2(factor) if math.isfinite(factor) else math.inf


def _span(factors: Sequence[float]) -> float:
    logs = [abs(_log(factor)) for factor in factors]
    finite = filter(math.isfinite, logs)
    span = min(max([*finite, math.log2(_LEAST)]), math.log2(_MOST))
    return span * _BEYOND if max(logs) > span else span


def _ticks(span: float) -> list[float]:
    step = 1 if span <= 4 else 2
    whole = [float(k) for k in range(step, math.floor(span) + 1, step)]
    return [*(-tick for tick in reversed(whole)), 0.0, *whole]


def _factor_text(tick: float) -> str:
    if tick == 0:
        return "the same"
    return f"× {2**tick:g}" if tick > 0 else f"÷ {2**-tick:g}"

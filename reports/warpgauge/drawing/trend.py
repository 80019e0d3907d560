"""Draws the values of a metric of a case over nights, with what changed them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from matplotlib import dates
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from warpgauge.drawing import style
from warpgauge.drawing.figure_files import files_of

_DASHES = ("-", (0, (6, 2)), (0, (2, 2)))
_SIZE = (9, 4)  # inches: half of a slide


@dataclass(frozen=True, slots=True)
class Night:
    """A value and its confidence interval, if it has one."""

    time: datetime
    value: float
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Line:
    """The values of one place: an architecture and a GPU, or the program that counted."""

    where: str
    nights: tuple[Night, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """A change: when, what it is called, and the page's name of its colour."""

    time: datetime
    text: str
    colour: str


@dataclass(frozen=True, slots=True)
class Trend:
    case: str
    metric: str
    unit: str
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...]
    limit: float | None  # the budget, where it is one number


def draw(trend: Trend) -> dict[str, bytes]:
    """The trend as the content of files, by ending: "svg" and "png"."""
    return files_of(lambda: _figure(trend), f"{trend.metric} of {trend.case}")


def _figure(trend: Trend) -> Figure:
    figure = Figure(figsize=_SIZE)
    axes = figure.add_axes((0, 0, 1, 1))
    colours = style.PAGE["light"]["lines"]
    for number, line in enumerate(trend.lines):
        _line(axes, line, colours[number % len(colours)], _DASHES[number // len(colours)], number)
    if trend.limit is not None:
        axes.axhline(trend.limit, color=style.FAINT, linewidth=1, linestyle="--", gid="budget")
        axes.annotate(
            "budget", (1, trend.limit), xycoords=("axes fraction", "data"), ha="right", va="bottom",
            fontsize=style.CAPTION_PT, color=style.FAINT,
        )  # fmt: skip
    for number, mark in enumerate(trend.marks):
        _mark(axes, mark, 3 + 11 * (number % 2))
    _scale(axes, [night.value for line in trend.lines for night in line.nights], trend)
    axes.set_ylabel(style.unit_text(trend.unit) or trend.metric)
    axes.set_title(f"{trend.metric} of {trend.case}", loc="left", fontweight="bold", pad=42)
    if len(trend.lines) > 1:
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)
    else:
        axes.annotate(
            trend.lines[0].where, (0, 1), xycoords="axes fraction", xytext=(0, 28),
            textcoords="offset points", fontsize=style.CAPTION_PT, color=style.FAINT,
        )  # fmt: skip
    return figure


def _line(axes: Axes, line: Line, colour: str, dashes: Any, number: int) -> None:
    times = [night.time for night in line.nights]
    axes.plot(
        times,  # type: ignore[arg-type]  # dates are numbers to it
        [night.value for night in line.nights],
        label=line.where,
        color=colour,
        linestyle=dashes,
        linewidth=1.8,
        marker="o",
        markersize=4 if len(times) <= 40 else 0,
        gid=f"line-{number}",
    )
    banded = [night for night in line.nights if night.interval]
    if banded:
        low, high = zip(*(night.interval for night in banded if night.interval), strict=True)
        axes.fill_between(
            [night.time for night in banded],  # type: ignore[arg-type]
            low,
            high,
            color=colour,
            alpha=0.15,
            linewidth=0,
            gid=f"interval-{number}",
        )


def _mark(axes: Axes, mark: Mark, height: float) -> None:
    colour = style.PAGE["light"][mark.colour]
    when = dates.date2num(mark.time)  # type: ignore[no-untyped-call]
    axes.axvline(when, color=colour, linewidth=1, linestyle=":", gid="change")
    axes.annotate(
        mark.text, (when, 1), xycoords=("data", "axes fraction"), xytext=(0, height), ha="center",
        textcoords="offset points", fontsize=style.CAPTION_PT, color=colour, annotation_clip=False,
    )  # fmt: skip


def _scale(axes: Axes, values: Sequence[float], trend: Trend) -> None:
    """From 0, so that what looks twice as large is; where all values are near each other, in what
    they span."""
    top = max([*values, trend.limit or 0])
    if 0 <= min(values) < top / 2 or top == 0:
        axes.set_ylim(0, top * 1.08 or 1)
    locator = dates.AutoDateLocator(tz=UTC)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    form = dates.ConciseDateFormatter(locator, tz=UTC)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_formatter(form)
    axes.yaxis.set_major_formatter(lambda value, _: style.number_text(value))
    axes.grid(True, color=style.MISSING_HATCH, linewidth=0.4, alpha=0.6)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)

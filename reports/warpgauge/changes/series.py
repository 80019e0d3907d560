"""Finds the changes of a series, and their causes.

An exact metric changed where its value is not that of the measured night before; estimates of one
only where something else changed, too. Noisy ones (times, hardware counters) changed where the
level of their logarithms shifted or drifted (alarms.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal

import numpy as np

from warpgauge.changes.alarms import alarms
from warpgauge.changes.causes import (
    Cause,
    cause_of,
    details_of,
    is_of_the_machine,
    is_recount,
    may_explain,
)
from warpgauge.changes.drifts import WIDTH, Drift
from warpgauge.changes.level_shifts import Shift
from warpgauge.facts.catalog import Metric, catalog
from warpgauge.history.model import Point, Run, Series

SMALLEST = 1e-3  # of the median: logarithms of noisy values are taken of no less


@dataclass(frozen=True, slots=True)
class Change:
    """A series changed at points[index], in `run`.

    `before` and `after` are in the unit of the series, or words; of noisy metrics they are the
    medians of the old and the new level, as they were when the change was found. `ratio` is
    after / before; None for words and where before is 0. `better` is None where no direction is the
    better one. `previous` is the last run that was measured before, of points[previous_index].
    `details` are sentences of what else changed between the two runs. With `detected` the change
    was found, and with `recovered` the value was back; None: it is not. With `back` it looks to be
    back since, which the next nights confirm or not. `nights`: the change is a drift over so many;
    None: it came from one night to the next.
    """

    index: int
    run: Run
    before: float | str
    after: float | str
    ratio: float | None
    better: bool | None
    cause: Cause
    details: tuple[str, ...]
    previous: Run
    previous_index: int
    detected: Run
    recovered: Run | None
    nights: int | None = None
    back: Run | None = None

    @property
    def mark(self) -> Literal["worse", "better", "moved", "changed"]:
        """The mark that `warpgauge diff` has for it; "moved": by the machine, to either side."""
        if is_of_the_machine(self.cause):
            return "moved"
        return "changed" if self.better is None else "better" if self.better else "worse"

    @property
    def bad(self) -> Run:
        """The first run that has all of it, as it was found: a drift has nothing yet in `run`."""
        return self.detected if self.nights else self.run

    @property
    def is_open(self) -> bool:
        """Whether the value got worse, and has not recovered."""
        return self.mark == "worse" and self.recovered is None


def changes(series: Series, metric: Metric) -> list[Change]:
    """All changes of a series, oldest first."""
    find = _exact if metric.cls == "exact" else _noisy
    return list(find(series, metric))


def regressions(found: Iterable[Change], metric: Metric) -> list[Change]:
    """Those of the changes of a metric that are open; none of what is only shown."""
    return [change for change in found if change.is_open and metric.cls != "info"]


def is_regressed(series: Series) -> bool:
    """Whether a series got worse and has not recovered."""
    metric = catalog().get(series.key.metric)
    return metric is not None and bool(regressions(changes(series, metric), metric))


def _exact(series: Series, metric: Metric) -> Iterator[Change]:
    points = series.points
    values = [point.value for point in points]
    if values and values[0] is not None and values.count(values[0]) == len(values):
        return  # nearly all: a year of nights has millions of values
    last: tuple[int, Point, float | str] | None = None
    found: list[Change] = []
    for index, point in enumerate(points):
        value = point.text if point.value is None else point.value
        if value is None:
            continue
        if last is not None and value != last[2]:
            old_index, old, before = last
            found = [_recovering(change, point, value) for change in found]
            change = change_between(
                series, metric, (old_index, old), (index, point), (before, value)
            )
            if not is_recount(change.cause, old.confidence, point.confidence):
                found.append(change)
        last = index, point, value
    yield from found


def _recovering(change: Change, point: Point, value: float | str) -> Change:
    """The change, which is over with this point if its value is the old one or beyond. Estimates
    need not repeat: for them that is what lies nearer to the old value."""
    if change.recovered is None and _is_back(change, value, point.confidence == "estimate"):
        return replace(change, recovered=point.run)
    return change


def _is_back(change: Change, value: float | str, is_estimate: bool) -> bool:
    before, after = change.before, change.after
    if isinstance(value, str) or isinstance(before, str) or isinstance(after, str):
        return value == before
    left = (value - before) / (after - before)  # of the change: 1 is all of it
    return left < 0.5 if is_estimate else left <= 0


Measured = Sequence[tuple[int, Point]]  # places in a series, and points


def _noisy(series: Series, metric: Metric) -> Iterator[Change]:
    measured = undisturbed(series)
    values = [point.numeric for _, point in measured]
    for alarm in alarms(logarithms(values)):
        drift = alarm.what if isinstance(alarm.what, Drift) else None
        if isinstance(alarm.what, Drift):
            start, settled, newest = alarm.since + WIDTH, alarm.start, alarm.found
        else:
            start = settled = newest = _start(alarm.what, measured)
        levels = median(values[alarm.since : start]), median(values[settled : alarm.until + 1])
        change = change_between(series, metric, measured[start - 1], measured[newest], levels)
        index, point = measured[start]
        yield replace(
            change,
            index=index,
            run=point.run,
            detected=measured[alarm.found][1].run,
            recovered=_run_of(measured, alarm.recovered),
            back=_run_of(measured, alarm.back),
            nights=drift.nights if drift else None,
        )


def _run_of(measured: Measured, place: int | None) -> Run | None:
    return None if place is None else measured[place][1].run


def undisturbed(series: Series) -> Measured:
    """The nights of a series that were measured, and not disturbed."""
    return [
        (index, point)
        for index, point in enumerate(series.points)
        if point.value is not None and point.disturbance is None
    ]


def logarithms(values: Sequence[float]) -> np.ndarray:
    """Natural logarithms of the values of a noisy series; none where it is 0 every night."""
    if not values or max(values) <= 0:
        return np.empty(0)
    usual = median(value for value in values if value > 0)
    return np.log(np.maximum(values, SMALLEST * usual))


def _start(shift: Shift, measured: Measured) -> int:
    """The likeliest night of those on which something changed that can be the cause of a shift."""
    nights = sorted(range(shift.earliest, shift.latest + 1), key=shift.distance)
    explained = (i for i in nights if may_explain(measured[i - 1][1], measured[i][1]))
    return next(explained, shift.at)


def change_between(
    series: Series,
    metric: Metric,
    old: tuple[int, Point],
    new: tuple[int, Point],
    values: tuple[float | str, float | str],
) -> Change:
    """The change from a point of a series to another one, both with their places; `values` before
    and after."""
    (previous_index, last), (index, point) = old, new
    before, after = values
    better = ratio = None
    if not isinstance(before, str) and not isinstance(after, str):
        ratio = after / before if before != 0 else None
        if metric.direction in ("lower", "higher") and before != after:
            better = (after < before) == (metric.direction == "lower")
    return Change(
        index=index,
        run=point.run,
        before=before,
        after=after,
        ratio=ratio,
        better=better,
        cause=cause_of(last, point, noisy=metric.cls != "exact"),
        details=details_of(last, point),
        previous=last.run,
        previous_index=previous_index,
        detected=point.run,
        recovered=None,
    )

"""Finds the changes of a series, and their causes.

An exact metric changed where its value is not that of the measured night before; estimates of one
only where something else changed, too. Noisy ones (times, hardware counters) changed where the
level of their logarithms shifted (level_shifts.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from warpgauge.changes.causes import Cause, cause_of, details_of, is_recount, may_explain
from warpgauge.changes.level_shifts import MIN_NIGHTS, Shift, level_shifts
from warpgauge.facts.catalog import Metric
from warpgauge.history.model import Point, Run, Series

SMALLEST = 1e-3  # of the median: logarithms of noisy values are taken of no less


@dataclass(frozen=True, slots=True)
class Change:
    """A series changed at points[index], in `run`.

    `before` and `after` are in the unit of the series, or words; of noisy metrics they are the
    medians of the old and the new level. `ratio` is after / before; None for words and where before
    is 0. `better` is None where no direction is the better one. `previous` is the last run that was
    measured before. `details` are sentences of what else changed between the two runs.
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
    detected: Run
    is_over: bool


def changes(series: Series, metric: Metric) -> list[Change]:
    """All changes of a series, oldest first."""
    find = _exact if metric.cls == "exact" else _noisy
    return list(find(series, metric))


def _exact(series: Series, metric: Metric) -> Iterator[Change]:
    points = series.points
    values = [point.value for point in points]
    if values and values[0] is not None and values.count(values[0]) == len(values):
        return  # nearly all: a year of nights has millions of values
    last = before = None
    for index, point in enumerate(points):
        value = point.text if point.value is None else point.value
        if value is None:
            continue
        if last is not None and value != before:
            change = _change(series, metric, index, point, last, before, value)
            if not is_recount(change.cause, last.confidence, point.confidence):
                newest = next(p for p in reversed(points) if p.value is not None or p.text)
                yield replace(change, is_over=_is_over(change, newest.value))
        last, before = point, value


def _noisy(series: Series, metric: Metric) -> Iterator[Change]:
    """Nights that were not measured, or disturbed, are left out."""
    measured = [
        (index, point)
        for index, point in enumerate(series.points)
        if point.value is not None and point.disturbance is None
    ]
    values = [point.value for _, point in measured]
    if not values or max(values) <= 0:
        return
    usual = median(value for value in values if value > 0)
    logs = np.log(np.maximum(values, SMALLEST * usual))
    shifts = level_shifts(logs)
    starts = []
    for shift in shifts:
        nights = range(shift.earliest, shift.latest + 1)
        nights = sorted(nights, key=shift.distance)
        explained = (i for i in nights if may_explain(measured[i - 1][1], measured[i][1]))
        starts.append(next(explained, shift.at))
    levels = [
        median(values[i:j]) for i, j in zip([0, *starts], [*starts, len(values)], strict=True)
    ]
    for shift, start, before, after in zip(shifts, starts, levels, levels[1:], strict=False):
        index, point = measured[start]
        change = _change(series, metric, index, point, measured[start - 1][1], before, after)
        detected = measured[_detected(logs, shift) - 1][1].run
        yield replace(change, detected=detected, is_over=_is_over(change, levels[-1]))


def _detected(logs: np.ndarray, shift: Shift) -> int:
    """How many values the detector needed to see the shift."""
    for count in range(shift.at + 1, len(logs)):
        seen = level_shifts(logs[:count])
        if any(shift.distance(one.at) <= MIN_NIGHTS for one in seen):
            return count
    return len(logs)


def _is_over(change: Change, newest: float | None) -> bool:
    """True where the newest level is nearer to the old one, or beyond it."""
    before, after = change.before, change.after
    if newest is None or isinstance(before, str) or isinstance(after, str):
        return False
    return (newest - before) * (after - before) < (after - before) ** 2 / 2


def _change(
    series: Series,
    metric: Metric,
    index: int,
    point: Point,
    last: Point,
    before: float | str,
    after: float | str,
) -> Change:
    is_word = isinstance(before, str) or isinstance(after, str)
    better = None
    if not is_word and metric.direction in ("lower", "higher") and before != after:
        better = (after < before) == (metric.direction == "lower")
    cause = cause_of(last, point, noisy=metric.cls != "exact")
    return Change(
        index=index,
        run=point.run,
        before=before,
        after=after,
        ratio=None if is_word or before == 0 else after / before,
        better=better,
        cause=cause,
        details=details_of(last, point),
        previous=last.run,
        detected=point.run,
        is_over=False,
    )

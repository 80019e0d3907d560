"""Finds the changes of noisy metrics (times, hardware counters): where the level of their
logarithms shifted or drifted (alarms.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

import numpy as np

from warpgauge.changes.alarms import Alarm, alarms
from warpgauge.changes.causes import may_explain
from warpgauge.changes.change import Change, PlacedPoint, change_between
from warpgauge.changes.drifts import WIDTH, Drift
from warpgauge.changes.level_shifts import Shift
from warpgauge.facts.catalog import Metric
from warpgauge.history.model import Run, Series

SMALLEST = 1e-3  # of the median: logarithms of noisy values are taken of no less

Measured = Sequence[PlacedPoint]


def noisy_changes(series: Series, metric: Metric) -> list[Change]:
    """All changes of a series of a noisy metric, oldest first."""
    measured = undisturbed(series)
    values = [placed.point.numeric for placed in measured]
    return [_change_of(alarm, measured, values, metric) for alarm in alarms(logarithms(values))]


def _change_of(alarm: Alarm, measured: Measured, values: list[float], metric: Metric) -> Change:
    """A shift begins with the likeliest night for it, a drift with the first night behind those of
    the old level; the new level of a drift is that of its newest nights."""
    nights = None
    if isinstance(alarm.what, Drift):
        start, settled, newest = alarm.since + WIDTH, alarm.start, alarm.found
        nights = alarm.what.nights
    else:
        start = settled = newest = _start(alarm.what, measured)
    before, after = median(values[alarm.since : start]), median(values[settled : alarm.until + 1])
    change = change_between(metric, measured[start - 1], measured[newest], before, after)
    return replace(
        change,
        index=measured[start].index,
        run=measured[start].point.run,
        detected=measured[alarm.found].point.run,
        recovered=_run_of(measured, alarm.recovered),
        back=_run_of(measured, alarm.back),
        nights=nights,
    )


def _run_of(measured: Measured, place: int | None) -> Run | None:
    return None if place is None else measured[place].point.run


def undisturbed(series: Series) -> Measured:
    """The nights of a series that were measured, and not disturbed."""
    return [
        PlacedPoint(index, point)
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
    explained = (i for i in nights if may_explain(measured[i - 1].point, measured[i].point))
    return next(explained, shift.at)

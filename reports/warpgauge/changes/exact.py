"""Finds the changes of exact metrics: where the value is not that of the measured night before.

Estimates of one need not repeat: they changed only where something else changed, too.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from warpgauge.changes.causes import is_recount
from warpgauge.changes.change import Change, PlacedPoint, Value, change_between
from warpgauge.facts.catalog import Metric
from warpgauge.history.model import Point, Series

NEARER_TO_OLD = 0.5  # of a change: if less of it is left, a value is nearer to the old one


def exact_changes(series: Series, metric: Metric) -> list[Change]:
    """All changes of a series of an exact metric, oldest first."""
    values = [point.value for point in series.points]
    if values and values[0] is not None and values.count(values[0]) == len(values):
        return []  # nearly all: a year of nights has millions of values
    measured = [
        (PlacedPoint(index, point), value)
        for index, point in enumerate(series.points)
        if (value := _value_of(point)) is not None
    ]
    found: list[Change] = []
    for (last, before), (now, value) in pairwise(measured):
        if value == before:
            continue
        found = [_recovering(change, now.point, value) for change in found]
        change = change_between(metric, last, now, before, value)
        if not is_recount(change.cause, last.point.confidence, now.point.confidence):
            found.append(change)
    return found


def _value_of(point: Point) -> Value | None:
    return point.text if point.value is None else point.value


def _recovering(change: Change, point: Point, value: Value) -> Change:
    """The change, which is over with this point if its value is the old one or beyond. Estimates
    need not repeat: for them that is what lies nearer to the old value."""
    if change.recovered is None and _is_back(change, value, point.confidence == "estimate"):
        return replace(change, recovered=point.run)
    return change


def _is_back(change: Change, value: Value, is_estimate: bool) -> bool:
    before, after = change.before, change.after
    if isinstance(value, str) or isinstance(before, str) or isinstance(after, str):
        return value == before
    left = (value - before) / (after - before)  # of the change: 1 is all of it
    return left < NEARER_TO_OLD if is_estimate else left <= 0

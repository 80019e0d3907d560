"""Finds the changes of a series, and whether it got worse."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from warpgauge.changes.change import Change
from warpgauge.changes.exact import exact_changes
from warpgauge.changes.noisy import noisy_changes
from warpgauge.facts.catalog import Metric, catalog
from warpgauge.history.model import Series


def changes(series: Series, metric: Metric) -> list[Change]:
    """All changes of a series, oldest first. What costs occupancy is neither better nor worse where
    the occupancy is a series, too: that one says what it cost."""
    find = exact_changes if metric.cls == "exact" else noisy_changes
    found = find(series, metric)
    if metric.cost == "occupancy" and series.has_occupancy:
        return [replace(change, better=None) for change in found]
    return found


def regressions(found: Iterable[Change], metric: Metric) -> list[Change]:
    """Those of the changes of a metric that are open; none of what is only shown."""
    return [change for change in found if change.is_open and metric.cls != "info"]


def is_regressed(series: Series) -> bool:
    """Whether a series got worse and has not recovered."""
    metric = catalog().get(series.key.metric)
    return metric is not None and bool(regressions(changes(series, metric), metric))

"""Values that one night with new machine code makes suspect: before a shift can be found, which
takes three nights of its level."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import numpy as np

from warpgauge.changes.causes import is_other_code
from warpgauge.changes.change import Change, change_between
from warpgauge.changes.level_shifts import MIN_HISTORY, MIN_NIGHTS, REACH, noise_of
from warpgauge.changes.noisy import Measured, logarithms, undisturbed
from warpgauge.facts.catalog import Metric
from warpgauge.history.model import Series

JUMP = 5.0  # times the noise
LATEST = 7  # nights with the new code, after which a shift would have been found


def suspicion(series: Series, metric: Metric, found: Sequence[Change]) -> Change | None:
    """What the newest night of a noisy series makes suspect: it got worse by more than JUMP with
    its newest machine code, and no change is found there yet."""
    if metric.cls == "exact" or not series.points or series.points[-1].disturbance is not None:
        return None
    measured = undisturbed(series)
    start = _newest_code(measured)
    if start is None:
        return None
    if any(change.index >= measured[start - MIN_NIGHTS].index for change in found):
        return None
    values = [placed.point.numeric for placed in measured]
    logs = logarithms(values)
    before = range(max(0, start - REACH), start)
    level = [i for i in before if _is_of_level(measured[i].index, found)]
    if len(level) < MIN_NIGHTS or not len(logs):
        return None
    jump = float(np.median(logs[start:]) - np.median(logs[level]))
    if abs(jump) <= JUMP * noise_of(logs[:start]):
        return None
    old, new = median(values[i] for i in level), median(values[start:])
    change = change_between(metric, measured[start - 1], measured[start], old, new)
    return change if change.mark == "worse" and metric.cls != "info" else None


def _newest_code(measured: Measured) -> int | None:
    """The place of the first night of the newest machine code, if that is one of the LATEST nights
    and enough are before it."""
    for start in range(len(measured) - 1, max(MIN_HISTORY, len(measured) - LATEST) - 1, -1):
        if is_other_code(measured[start - 1].point, measured[start].point):
            return start
    return None


def _is_of_level(index: int, found: Sequence[Change]) -> bool:
    """Whether a night is of the level that the last change before it began."""
    return all(index >= change.index for change in found)

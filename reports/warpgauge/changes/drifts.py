"""Finds drifts: levels that creep, so that no night shows a shift.

The median of the newest nights is compared with that of as many nights around 30 and 60 nights ago,
after the last shift. reports/benchmarks/change_points.py measures what that finds, and false
alarms.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

import numpy as np

from warpgauge.changes.level_shifts import noise_of

WIDTH = 7  # nights whose median is a level
AGO = (30, 60)  # nights from the middle of the old level to that of the new one
LIMIT = 3.0  # times the noise; 0.65 times is a standard deviation of two levels' difference
LEAST_CREPT = 0.25  # share of a drift that is there half way; a step of the last nights is none
MIN_DRIFT = 0.01  # relative: smaller drifts are not worth a row


@dataclass(frozen=True, slots=True)
class Drift:
    """The level went from `before`, in the WIDTH nights from place `since` of the nights looked at
    on, to `after`, `nights` later."""

    since: int
    nights: int
    before: float
    after: float

    @property
    def rises(self) -> bool:
        return self.after > self.before


def drift(logs: np.ndarray, steady_since: int) -> Drift | None:
    """The drift that the newest of these nights shows; nights before `steady_since` are of another
    level."""
    newest = len(logs) - WIDTH
    for nights in AGO:
        since = newest - nights
        if since < steady_since:
            break
        before, half_way, after = (_level(logs, at) for at in (since, since + nights // 2, newest))
        size = abs(after - before)
        crept = (half_way - before) / (after - before) >= LEAST_CREPT if size else False
        if crept and size >= MIN_DRIFT and size >= LIMIT * noise_of(logs):
            return Drift(since, nights, before, after)
    return None


def _level(logs: np.ndarray, at: int) -> float:
    return float(median(logs[at : at + WIDTH]))

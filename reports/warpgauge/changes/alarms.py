"""The alarms of a noisy series: what the detector found on each night, and when it was over.

The nights are replayed in order, so that a shift counts from the night that a reader of that
night's page could see it, and stays though the detector, with more nights, thinks otherwise. Alarms
are a function of the values alone: a page drawn again, or of a history gathered again from the
facts, has the same ones. reports/benchmarks/alarms.py tries it on simulated series.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpgauge.changes.level_shifts import (
    MIN_HISTORY,
    MIN_NIGHTS,
    MIN_SHIFT,
    OUTLIER,
    Shift,
    level_shifts,
    noise_of,
    without_outliers,
)

WINDOW = 90  # newest values that the detector sees of a night: what is older does not change it
SURE = 4.0  # standard errors by which recovered nights lie on the old level's side of the middle


@dataclass(slots=True)
class Alarm:
    """A shift that was found with the value of night `found`, and the levels beside it as they were
    seen then: `before` from night `since` on, and `after` up to night `until`. `recovered` is the
    first night on which the series is back; None: it is not.

    `seen` is where the detector saw the shift last.
    """

    shift: Shift
    since: int
    until: int
    before: float
    after: float
    found: int
    seen: Shift
    recovered: int | None = None


def alarms(logs: np.ndarray) -> list[Alarm]:
    """All alarms of a series of natural logarithms, a value a night, by the place of the shift."""
    raised: list[Alarm] = []
    if len(logs) == 0 or logs.min() == logs.max():
        return raised
    for count in range(MIN_HISTORY, len(logs) + 1):
        first = max(0, count - WINDOW)
        shifts = _moved(level_shifts(logs[first:count]), first)
        bounds = [first, *(shift.at for shift in shifts), count]
        known = _known(raised, shifts)
        for shift, since, until in zip(shifts, bounds, bounds[2:], strict=False):
            if shift in known:
                known[shift].seen = shift
            else:
                levels = np.median(logs[since : shift.at]), np.median(logs[shift.at : until])
                raised.append(Alarm(shift, since, until - 1, *levels, count - 1, shift))
        _close(raised, logs[first:count], first)
    return sorted(raised, key=lambda alarm: alarm.shift.at)


def _moved(shifts: list[Shift], by: int) -> list[Shift]:
    return [Shift(s.at + by, s.earliest + by, s.latest + by, s.rises) for s in shifts]


def _known(raised: list[Alarm], shifts: list[Shift]) -> dict[Shift, Alarm]:
    """Those of the shifts that were found before, each with an alarm of its own: the nearest."""
    pairs = [(shift, alarm) for shift in shifts for alarm in raised if _is_same(alarm, shift)]
    known: dict[Shift, Alarm] = {}
    taken: list[Alarm] = []
    for shift, alarm in sorted(pairs, key=lambda pair: _distance(*pair)):
        if shift not in known and not any(alarm is other for other in taken):
            known[shift] = alarm
            taken.append(alarm)
    return known


def _distance(shift: Shift, alarm: Alarm) -> int:
    return min(shift.distance(alarm.shift.at), shift.distance(alarm.seen.at))


def _is_same(alarm: Alarm, shift: Shift) -> bool:
    """Whether a shift may be one that was found before. Its place moves a little every night."""
    seen = alarm.seen
    may_be = shift.earliest <= seen.latest and seen.earliest <= shift.latest
    is_near = _distance(shift, alarm) <= MIN_NIGHTS
    return shift.rises == alarm.shift.rises and (is_near or may_be)


def _close(raised: list[Alarm], window: np.ndarray, first: int) -> None:
    """Marks the alarms that the newest night of the window ends; the window begins on `first`."""
    still = [alarm for alarm in raised if alarm.recovered is None]
    if not still:
        return
    noise = noise_of(window)
    smooth = without_outliers(window, OUTLIER * noise)
    for alarm in still:
        if _is_back(smooth[max(0, alarm.shift.at - first) :], noise, alarm):
            alarm.recovered = first + len(window) - 1


def _is_back(nights: np.ndarray, noise: float, alarm: Alarm) -> bool:
    """Whether the mean of the last nights, MIN_NIGHTS or more of those since the shift, is the
    level before it (or beyond) but for MIN_SHIFT, and surely nearer to it than to the new one."""
    counts = np.arange(MIN_NIGHTS, len(nights) + 1)
    means = np.cumsum(nights[::-1])[MIN_NIGHTS - 1 :] / counts
    off = (means - alarm.before) * (1 if alarm.shift.rises else -1)
    surely = off + SURE * noise / np.sqrt(counts) <= abs(alarm.after - alarm.before) / 2
    return bool(np.any((off <= MIN_SHIFT) & surely))

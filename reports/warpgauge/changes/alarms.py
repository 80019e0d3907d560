"""The alarms of a noisy series: the shifts and drifts found on each night, and when they were over.

The nights are replayed in order, so that a shift counts from the night that a reader of that
night's page could see it, and stays though the detector, with more nights, thinks otherwise. Alarms
are a function of the values alone: a page drawn again, or of a history gathered again from the
facts, has the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpgauge.changes import drifts
from warpgauge.changes.drifts import Drift
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
LIKELY = 2.0  # the same for nights that look to be back


@dataclass(slots=True)
class Alarm:
    """A shift or a drift that was found with the value of night `found`, and the levels as they
    were seen then: `before` from night `since` on, and `after` from `start` up to night `until`.
    `recovered` is the first night on which the series is back; None: it is not. `back` is the first
    of the newest nights where these look to be back, and too few of them show it surely.

    `what` was found first; of a shift, `seen` is where the detector saw it last.
    """

    what: Shift | Drift
    start: int
    since: int
    until: int
    before: float
    after: float
    found: int
    seen: Shift | None = None
    recovered: int | None = None
    back: int | None = None

    @property
    def rises(self) -> bool:
        return self.what.rises


def alarms(logs: np.ndarray) -> list[Alarm]:
    """All alarms of a series of natural logarithms, a value a night, by their `start`."""
    raised: list[Alarm] = []
    if len(logs) == 0 or logs.min() == logs.max():
        return raised
    for count in range(MIN_HISTORY, len(logs) + 1):
        first = max(0, count - WINDOW)
        window = logs[first:count]
        _raise_shifts(raised, window, first)
        _raise_drift(raised, window, first)
        _close(raised, window, first)
    _look(raised, logs)
    return sorted(raised, key=lambda alarm: alarm.start)


def _raise_shifts(raised: list[Alarm], window: np.ndarray, first: int) -> None:
    """Adds the shifts that are found with the newest night of the window, which begins on `first`,
    and were not before."""
    shifts = _moved(level_shifts(window), first)
    newest = first + len(window) - 1
    bounds = [first, *(shift.at for shift in shifts), newest + 1]
    known = _known(raised, shifts)
    for shift, since, until in zip(shifts, bounds, bounds[2:], strict=False):
        if shift in known:
            known[shift].seen = shift
        else:
            at = shift.at - first
            levels = np.median(window[since - first : at]), np.median(window[at : until - first])
            raised.append(Alarm(shift, shift.at, since, until - 1, *levels, newest, shift))


def _raise_drift(raised: list[Alarm], window: np.ndarray, first: int) -> None:
    """Adds the drift that the newest night shows. What was found last began a level: only its own
    nights are compared."""
    steady_since = max((alarm.start for alarm in raised), default=first)
    if found := drifts.drift(window, max(0, steady_since - first)):
        newest = first + len(window) - 1
        start, since = newest + 1 - drifts.WIDTH, first + found.since
        raised.append(Alarm(found, start, since, newest, found.before, found.after, newest))


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
    places = (alarm.start, alarm.seen.at if alarm.seen else alarm.start)
    return min(map(shift.distance, places))


def _is_same(alarm: Alarm, shift: Shift) -> bool:
    """Whether a shift may be one that was found before. Its place moves a little every night."""
    if shift.rises != alarm.rises:
        return False
    if alarm.seen is None:  # a drift, of which the detector makes steps
        return alarm.since < shift.at <= alarm.start
    may_be = shift.earliest <= alarm.seen.latest and alarm.seen.earliest <= shift.latest
    return may_be or _distance(shift, alarm) <= MIN_NIGHTS


def _close(raised: list[Alarm], window: np.ndarray, first: int) -> None:
    """Marks the alarms that the newest night of the window ends; the window begins on `first`."""
    still = [alarm for alarm in raised if alarm.recovered is None]
    if not still:
        return
    noise = noise_of(window)
    smooth = without_outliers(window, OUTLIER * noise)
    for alarm in still:
        if _is_back(smooth[max(0, alarm.start - first) :], noise, alarm):
            alarm.recovered = first + len(window) - 1


def _is_back(nights: np.ndarray, noise: float, alarm: Alarm) -> bool:
    """Whether the mean of the last nights, MIN_NIGHTS or more of those since its start, is the
    level before it (or beyond) but for MIN_SHIFT, and surely nearer to it than to the new one. The
    level before a drift is the median of a few nights: known to half of the noise."""
    counts = np.arange(MIN_NIGHTS, len(nights) + 1)
    means = np.cumsum(nights[::-1])[MIN_NIGHTS - 1 :] / counts
    off = (means - alarm.before) * (1 if alarm.rises else -1)
    surely = off + SURE * noise / np.sqrt(counts) <= abs(alarm.after - alarm.before) / 2
    near = MIN_SHIFT + (noise / 2 if alarm.seen is None else 0)
    return bool(np.any((off <= near) & surely))


def _look(raised: list[Alarm], logs: np.ndarray) -> None:
    """Marks the alarms that the newest nights may be the end of."""
    still = [alarm for alarm in raised if alarm.recovered is None]
    if not still:
        return
    first = max(0, len(logs) - WINDOW)
    noise = noise_of(logs[first:])
    smooth = without_outliers(logs[first:], OUTLIER * noise)
    for alarm in still:
        nights = smooth[max(0, alarm.start - first) :]
        if count := _nights_back(nights, noise, alarm):
            alarm.back = len(logs) - count


def _nights_back(nights: np.ndarray, noise: float, alarm: Alarm) -> int:
    """How many of the newest nights look to be back: all nearer to the level before than to the new
    one. Their mean is likely so, and may be the level before but for MIN_SHIFT."""
    half = abs(alarm.after - alarm.before) / 2
    off = (nights[::-1] - alarm.before) * (1 if alarm.rises else -1)
    count = int(np.logical_and.accumulate(off < half).sum())
    if count == 0:
        return 0
    mean, unsure = off[:count].mean(), LIKELY * noise / np.sqrt(count)
    return count if mean + unsure <= half and mean - unsure <= MIN_SHIFT else 0

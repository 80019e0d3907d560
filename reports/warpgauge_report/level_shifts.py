"""Where the level of a noisy series moves: change points by ruptures, robust against outliers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import ruptures

MIN_NIGHTS = 3  # a level that lasted fewer nights is not one yet
MIN_HISTORY = 10  # nights before anything is said: fewer do not tell the noise
PENALTY = 22.0  # what a shift must explain, in squares of the noise
OUTLIER = 3.5  # times the noise that a night may lie off the median of its neighbours
REACH = 20  # nights on each side in which a step must show: a drift is not a step
MIN_SHIFT = 0.005  # relative: smaller shifts are not worth a row
LEAST_NOISE = 0.001  # relative: no timing of a GPU repeats better
AS_LIKELY = 6.0  # a night that explains so little less, in squares of the noise, may be the one


@dataclass(frozen=True, slots=True)
class Shift:
    """The first night of a new level is `at`; any of `earliest` to `latest` is nearly as likely."""

    at: int
    earliest: int
    latest: int

    def distance(self, night: int) -> int:
        return abs(night - self.at)


def level_shifts(
    logs: np.ndarray, *, penalty: float = PENALTY, min_nights: int = MIN_NIGHTS
) -> list[Shift]:
    """The shifts of the level of a series of natural logarithms, a value a night, in order."""
    if len(logs) < max(MIN_HISTORY, 2 * min_nights):
        return []
    noise = max(night_to_night_noise(logs), min(half_tick(logs), MIN_SHIFT), LEAST_NOISE)
    smooth = without_outliers(logs, OUTLIER * noise) / noise
    detector = ruptures.KernelCPD(kernel="linear", min_size=min_nights)
    found = [int(i) for i in detector.fit(smooth - smooth.mean()).predict(pen=penalty)[:-1]]
    while found:
        steps = _steps(logs, smooth, found, noise)
        weakest = min(range(len(found)), key=steps.__getitem__)
        if steps[weakest] >= penalty:
            break
        del found[weakest]
    bounds = [0, *found, len(smooth)]
    return [_shift(smooth, *bounds[i : i + 3]) for i in range(len(found))]


def night_to_night_noise(logs: np.ndarray) -> float:
    """Standard deviation of the noise, from the 80th percentile of the differences of neighbours:
    shifts and outliers are too rare to count, two neighbouring ticks of a clock are not."""
    differences = np.sort(np.abs(logs[1:] - logs[:-1]))
    return float(differences[int(0.8 * len(differences))]) / (1.2816 * 2**0.5)


def half_tick(logs: np.ndarray) -> float:
    """Half of the smallest distance of two different values: the times of short kernels are a few
    hundred ticks of a clock long, and one tick up or down is no news."""
    gaps = np.diff(np.sort(logs))
    gaps = gaps[gaps > 1e-6]
    return float(gaps.min()) / 2 if len(gaps) else 0.0


def without_outliers(logs: np.ndarray, limit: float) -> np.ndarray:
    """Nights further than `limit` from the median of the five around them become that median."""
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(logs, 2, mode="reflect"), 5)
    medians = np.sort(windows, axis=1)[:, 2]
    return np.where(np.abs(logs - medians) > limit, medians, logs)


def _steps(logs: np.ndarray, smooth: np.ndarray, found: list[int], noise: float) -> list[float]:
    """What the step at each shift explains of the nights next to it, in squares of their noise."""
    strengths = []
    bounds = [0, *found, len(smooth)]
    for before, at, after in zip(bounds, bounds[1:], bounds[2:], strict=False):
        left, right = smooth[max(before, at - REACH) : at], smooth[at : min(after, at + REACH)]
        step = abs(right.mean() - left.mean())
        local = max(1.0, night_to_night_noise(logs[max(0, at - REACH) : at + REACH]) / noise)
        weight = len(left) * len(right) / (len(left) + len(right))
        large_enough = step * noise >= MIN_SHIFT
        strengths.append(weight * (step / local) ** 2 if large_enough else 0.0)
    return strengths


def _shift(smooth: np.ndarray, before: int, at: int, after: int) -> Shift:
    left, right = smooth[max(before, at - REACH) : at], smooth[at : min(after, at + REACH)]
    # What each night says for the right-hand level and against the left-hand one.
    votes_left = (left - right.mean()) ** 2 - (left - left.mean()) ** 2
    votes_right = (right - left.mean()) ** 2 - (right - right.mean()) ** 2
    # Half of a level at most, so that two shifts do not meet.
    back = np.cumsum(votes_left[::-1])[: min(MIN_NIGHTS, (at - before - 1) // 2)]
    forth = np.cumsum(votes_right)[: min(MIN_NIGHTS, (after - at - 1) // 2)]
    return Shift(at, at - _last_likely(back), at + _last_likely(forth))


def _last_likely(losses: np.ndarray) -> int:
    """How many nights away is the furthest that loses little."""
    likely = np.flatnonzero(losses <= AS_LIKELY)
    return int(likely[-1]) + 1 if len(likely) else 0

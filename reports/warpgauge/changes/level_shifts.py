"""Finds shifts of the level of a noisy series: change points by ruptures, robust against outliers.

Outliers are replaced by the median of their neighbours, ruptures' KernelCPD (exact, in C) finds
the shifts, and what the nights beside a shift do not show as a step is dropped. The parameters were
chosen on the simulated series of reports/benchmarks/change_points.py, with 1 % of outliers up to
50 %, drifts, clock ticks and clock states:

- False alarms per 1,000 nights, for a reader of every night's report: 0.26 on average of all
  kinds of series (0.13 where the noise is steady, 0.8 on a random walk, 0.9 where the noise
  doubles). A penalty of 17 gave 1.13, of 30 0.09; a level of 2 nights 1.13; KernelCPD alone 20.
- Where the noise is steady, all shifts of 10 times the noise are found after 3 nights, and 85 % of
  4 times; after 7 nights all of 4 times and 28 % of twice the noise; after 30, 79 % of twice.
  Shifts as small as the noise are missed (96 %), those under 0.5 % are not reported.
- The rbf kernel found no shift of 4 times the noise after 3 nights, the l1 cost took about a second
  for a series, and Apache Otava alone missed 22 % of shifts of 10 times the noise after 7 nights,
  because of outliers.

How times differ from night to night is assumed there: no series of nights has been recorded yet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MIN_NIGHTS = 3  # a level that lasted fewer nights is not one yet
MIN_HISTORY = 10  # nights before anything is said: fewer do not show the noise
PENALTY = 22.0  # what a shift must explain, in squares of the noise
OUTLIER = 3.5  # times the noise that a night may lie off the median of its neighbours
REACH = 20  # nights on each side in which a step must show: a drift is not a step
MIN_SHIFT = 0.005  # relative: smaller shifts are not worth a row
LEAST_NOISE = 0.001  # relative: no timing of a GPU repeats better
AS_LIKELY = 6.0  # a night that explains so little less, in squares of the noise, may be the one


@dataclass(frozen=True, slots=True)
class Shift:
    """The first night of a new level is `at`; any of `earliest` to `latest` is nearly as likely.
    `rises`: the new level is the higher one."""

    at: int
    earliest: int
    latest: int
    rises: bool

    def distance(self, night: int) -> int:
        return abs(night - self.at)


def level_shifts(logs: np.ndarray) -> list[Shift]:
    """The shifts of the level of a series of natural logarithms, a value a night, in order."""
    if len(logs) < MIN_HISTORY:
        return []
    import ruptures  # with SciPy: most series are too short or exact, and it takes a second to load

    noise = noise_of(logs)
    smooth = without_outliers(logs, OUTLIER * noise) / noise
    detector = ruptures.KernelCPD(kernel="linear", min_size=MIN_NIGHTS)
    found = [int(i) for i in detector.fit(smooth - smooth.mean()).predict(pen=PENALTY)[:-1]]
    while found:
        steps = _steps(logs, smooth, found, noise)
        weakest = min(range(len(found)), key=steps.__getitem__)
        if steps[weakest] >= PENALTY:
            break
        del found[weakest]
    bounds = [0, *found, len(smooth)]
    return [_shift(smooth, *bounds[i : i + 3]) for i in range(len(found))]


def noise_of(logs: np.ndarray) -> float:
    """Standard deviation of the noise, and no less than what a clock and a GPU can repeat."""
    return max(night_to_night_noise(logs), min(half_tick(logs), MIN_SHIFT), LEAST_NOISE)


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
    mirrored = np.concatenate((logs[2:0:-1], logs, logs[-2:-4:-1]))
    windows = np.lib.stride_tricks.sliding_window_view(mirrored, 5)
    medians = np.sort(windows, axis=1)[:, 2]
    return np.where(np.abs(logs - medians) > limit, medians, logs)


def _steps(logs: np.ndarray, smooth: np.ndarray, found: list[int], noise: float) -> list[float]:
    """The share of the nights next to each shift that its step explains, in squares of noise."""
    strengths = []
    bounds = [0, *found, len(smooth)]
    for before, at, after in zip(bounds, bounds[1:], bounds[2:], strict=False):
        left, right = smooth[max(before, at - REACH) : at], smooth[at : min(after, at + REACH)]
        step = right.mean() - left.mean()
        if abs(step) * noise < MIN_SHIFT or _nights_of_levels(left, right, step) < MIN_NIGHTS:
            strengths.append(0.0)
            continue
        around = logs[max(0, at - 2 * REACH) : at + 2 * REACH]
        local = max(1.0, night_to_night_noise(around) / noise)  # nights may become noisier
        weight = len(left) * len(right) / (len(left) + len(right))
        strengths.append(weight * (step / local) ** 2)
    return strengths


def _nights_of_levels(left: np.ndarray, right: np.ndarray, step: float) -> int:
    """Nights on the shorter side that do not look like the other one: two slow nights beside a
    usual one have a high mean, too."""
    like_left = np.abs(left - left.mean()) < 0.75 * abs(step)
    like_right = np.abs(right - right.mean()) < 0.75 * abs(step)
    return min(like_left.sum(), like_right.sum())


def _shift(smooth: np.ndarray, before: int, at: int, after: int) -> Shift:
    left, right = smooth[max(before, at - REACH) : at], smooth[at : min(after, at + REACH)]
    # The evidence of each night for the right-hand level and against the left-hand one.
    votes_left = (left - right.mean()) ** 2 - (left - left.mean()) ** 2
    votes_right = (right - left.mean()) ** 2 - (right - right.mean()) ** 2
    # Half of a level at most, so that two shifts do not meet.
    back = np.cumsum(votes_left[::-1])[: min(MIN_NIGHTS, (at - before - 1) // 2)]
    forth = np.cumsum(votes_right)[: min(MIN_NIGHTS, (after - at - 1) // 2)]
    rises = bool(right.mean() > left.mean())
    return Shift(at, at - _last_likely(back), at + _last_likely(forth), rises)


def _last_likely(losses: np.ndarray) -> int:
    """Distance in nights of the furthest one that loses little."""
    likely = np.flatnonzero(losses <= AS_LIKELY)
    return int(likely[-1]) + 1 if len(likely) else 0

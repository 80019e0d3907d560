"""How well changes of noisy series are found: false alarms and misses on simulated series.

Prints tables in Markdown, the same at each run, in 3 minutes. The series are modelled on times of
one run on an H100: confidence intervals of ± 0.1 % to ± 1 %, times in multiples of 32 ns (0.5 % of
a kernel of 6.8 us, 1.2 % of one of 2.7 us). How times differ from night to night, drift and jump
out is assumed: no series of nights has been recorded.

    build/venv/bin/python reports/benchmarks/change_points.py
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from warpgauge.changes import level_shifts as level
from warpgauge.changes.alarms import Alarm
from warpgauge.changes.alarms import alarms as alarms_of
from warpgauge.changes.drifts import Drift
from warpgauge.changes.level_shifts import MIN_HISTORY

Detector = Callable[[np.ndarray], list[int]]

SEED = 20260131
NIGHTS = 200  # of a series without a change
BEFORE = 60  # nights before a change
AFTER = (3, 5, 7, 14, 30)  # nights after it at which the report is read
SHIFTS = (0.01, 0.02, 0.03, 0.05, 0.10, 0.20)
DRIFTS = (0.02, 0.03, 0.06)
DRIFT_NIGHTS = 60
NEAR = 3  # nights: an alarm that close to a change, or to another alarm, is the same


TICK_US = 0.032
OUTLIERS = 0.01  # of the nights
LARGEST_OUTLIER = 0.5  # relative


@dataclass(frozen=True, slots=True)
class Kind:
    """`noise`: standard deviation from night to night, relative. `drift`: relative, in a year.
    `walk`: standard deviation of a random walk's steps. `time_us`: a time so short that it is
    measured in ticks; 0: without ticks. `slow_state`: a clock state 2 % slower, taken by a
    quarter of the nights at random. `noisier`: the noise of the second half is twice as large."""

    name: str
    noise: float
    drift: float = 0.0
    walk: float = 0.0
    time_us: float = 0.0
    slow_state: bool = False
    noisier: bool = False


KINDS = (
    Kind("noise 0.2 %", 0.002),
    Kind("noise 0.5 %", 0.005),
    Kind("noise 1 %", 0.01),
    Kind("noise 2 %", 0.02),
    Kind("0.5 %, drift of 3 % a year", 0.005, drift=0.03),
    Kind("0.5 %, random walk", 0.005, walk=0.0005),
    Kind("0.2 %, 6.8 us in ticks", 0.002, time_us=6.8),
    Kind("0.2 %, 2.7 us in ticks", 0.002, time_us=2.7),
    Kind("0.5 %, two clock states", 0.005, slow_state=True),
    Kind("0.5 %, then 1 %", 0.005, noisier=True),
)


def simulated(
    kind: Kind, nights: int, rng: np.random.Generator, shift: float = 0.0, at: int = 0
) -> np.ndarray:
    """Logarithms of a series whose level is `shift` (relative) higher from night `at` on."""
    logs = rng.normal(0, kind.noise, nights)
    if kind.noisier:
        logs[nights // 2 :] *= 2
    logs += rng.choice((-1, 1)) * np.linspace(0, kind.drift * nights / 365, nights)
    logs += np.cumsum(rng.normal(0, kind.walk, nights))
    logs += 0.02 * (kind.slow_state and rng.random(nights) < 0.25)
    logs[at:] += np.log1p(shift)
    disturbed = rng.random(nights) < OUTLIERS
    logs[disturbed] += np.log1p(rng.uniform(0, LARGEST_OUTLIER, disturbed.sum()))
    if kind.time_us:
        level = kind.time_us * rng.uniform(0.95, 1.05)  # anywhere between two ticks
        logs = np.log(np.round(level * np.exp(logs) / TICK_US) * TICK_US)
    return logs


def main() -> None:
    started = time.perf_counter()
    print("## level_shifts: false alarms per 1,000 nights, and misses in %\n")
    print_misses(level_shifts, series=80, quiet_series=40)
    print("\n## drifts: false alarms per 1,000 nights, and drifts found in %\n")
    print_drifts(series=40)
    print(f"\n{time.perf_counter() - started:.0f} s", file=sys.stderr)


def level_shifts(logs: np.ndarray) -> list[int]:
    return [shift.at for shift in level.level_shifts(logs)]


def print_misses(detector: Detector, series: int, quiet_series: int) -> None:
    nights = "/".join(map(str, AFTER))
    print(
        f"False alarms: read every night (in hindsight). Misses: {nights} nights after a change of"
    )
    print("this size, slower and faster by turns.\n")
    print(f"| series | false alarms | {' | '.join(f'{shift:.0%}' for shift in SHIFTS)} |")
    print("|---|---|" + "---|" * len(SHIFTS))
    for kind in KINDS:
        nightly, hindsight = false_alarms(detector, kind, quiet_series)
        cells = [f"{nightly:.2f} ({hindsight:.2f})"]
        for shift in SHIFTS:
            shares = missed(detector, kind, shift, series, AFTER)
            cells.append("/".join(f"{100 * share:.0f}" for share in shares))
        print(f"| {kind.name} | {' | '.join(cells)} |", flush=True)


def print_drifts(series: int) -> None:
    """Found as a drift or as a shift, at the latest DRIFT_NIGHTS after the drift began."""
    print(f"Drifts of this size in {DRIFT_NIGHTS} nights, slower, read every night.\n")
    print(f"| series | false alarms | {' | '.join(f'{drift:.0%}' for drift in DRIFTS)} |")
    print("|---|---|" + "---|" * len(DRIFTS))
    for kind in KINDS:
        rng = np.random.default_rng(SEED + 1)
        raised = [alarms_of(simulated(kind, NIGHTS, rng)) for _ in range(series)]
        wrong = sum(isinstance(alarm.what, Drift) for of_one in raised for alarm in of_one)
        cells = [f"{1000 * wrong / (NIGHTS * series):.2f}"]
        for drift in DRIFTS:
            crept = np.log1p(drift) * np.clip((np.arange(NIGHTS) - BEFORE) / DRIFT_NIGHTS, 0, 1)
            raised = [alarms_of(simulated(kind, NIGHTS, rng) + crept) for _ in range(series)]
            found = [of_one for of_one in raised if any(map(_shows_drift, of_one))]
            cells.append(f"{100 * len(found) / series:.0f}")
        print(f"| {kind.name} | {' | '.join(cells)} |", flush=True)


def _shows_drift(alarm: Alarm) -> bool:
    return alarm.rises and BEFORE < alarm.found <= BEFORE + DRIFT_NIGHTS


def false_alarms(detector: Detector, kind: Kind, series: int) -> tuple[float, float]:
    """Per 1,000 nights of series without a change: of all nights' reports, and of the last."""
    rng = np.random.default_rng(SEED)
    alarms = in_hindsight = 0
    for _ in range(series):
        logs = simulated(kind, NIGHTS, rng)
        in_hindsight += len(detector(logs))
        seen: list[int] = []
        for night in range(MIN_HISTORY, NIGHTS + 1):
            for at in detector(logs[:night]):
                if all(abs(at - other) > NEAR for other in seen):
                    seen.append(at)
        alarms += len(seen)
    nights = series * (NIGHTS - MIN_HISTORY + 1)
    return 1000 * alarms / nights, 1000 * in_hindsight / nights


def missed(
    detector: Detector, kind: Kind, shift: float, series: int, after: tuple[int, ...]
) -> list[float]:
    """The share of changes that the report does not show so many nights after them."""
    rng = np.random.default_rng(SEED)
    misses = np.zeros(len(after))
    for number in range(series):
        size = shift if number % 2 else 1 / (1 + shift) - 1
        logs = simulated(kind, BEFORE + after[-1], rng, size, BEFORE)
        for i, nights in enumerate(after):
            found = detector(logs[: BEFORE + nights])
            misses[i] += all(abs(at - BEFORE) > NEAR for at in found)
    return list(misses / series)


if __name__ == "__main__":
    main()

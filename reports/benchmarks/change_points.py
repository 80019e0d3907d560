"""How well changes of noisy series are found: false alarms and misses on simulated series.

Prints tables in Markdown: detectors that could be taken, and what the one that is taken
(warpgauge.changes.level_shifts) does. The same at each run, in 3 minutes. Apache Otava is
tried as well where it is installed.

    build/venv/bin/python reports/benchmarks/change_points.py
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np
import ruptures
from simulated_series import KINDS, Kind, simulated
from warpgauge.changes import level_shifts as level
from warpgauge.changes.alarms import Alarm
from warpgauge.changes.alarms import alarms as alarms_of
from warpgauge.changes.drifts import Drift
from warpgauge.changes.level_shifts import MIN_HISTORY, PENALTY, night_to_night_noise

Detector = Callable[[np.ndarray], list[int]]

SEED = 20260131
NIGHTS = 200  # of a series without a change
BEFORE = 60  # nights before a change
AFTER = (3, 5, 7, 14, 30)  # nights after it at which the report is read
SHIFTS = (0.01, 0.02, 0.03, 0.05, 0.10, 0.20)
DRIFTS = (0.02, 0.03, 0.06)
DRIFT_NIGHTS = 60
NEAR = 3  # nights: an alarm that close to a change, or to another alarm, is the same


@dataclass(frozen=True, slots=True)
class Candidate:
    """A detector, and on how much it is tried: slow ones on less, and not every night."""

    name: str
    detector: Detector
    quiet_series: int = 6  # of each kind
    changes: int = 40
    every_night: bool = True


def main() -> None:
    started = time.perf_counter()
    print("## Candidates\n")
    print_candidates(candidates())
    print("\n## level_shifts: false alarms per 1,000 nights, and misses in %\n")
    print_misses(level_shifts, series=80, quiet_series=40)
    print("\n## drifts: false alarms per 1,000 nights, and drifts found in %\n")
    print_drifts(series=40)
    print(f"\n{time.perf_counter() - started:.0f} s", file=sys.stderr)


def candidates() -> Iterable[Candidate]:
    for penalty in (12, 17, PENALTY, 30):
        yield Candidate(
            f"level_shifts, penalty {penalty:g}", partial(level_shifts, penalty=penalty)
        )
    for nights in (2, 5):
        detector = partial(level_shifts, min_nights=nights)
        yield Candidate(f"level_shifts, at least {nights} nights", detector)
    for name, penalty in (("linear", PENALTY), ("rbf", 5)):
        detector = partial(kernel, name, penalty)
        yield Candidate(f"ruptures KernelCPD {name} alone, penalty {penalty:g}", detector)
    yield Candidate("ruptures Pelt l1 alone, penalty 10", least_absolute, 1, 10, False)
    try:
        from otava.analysis import compute_change_points
    except ImportError:
        return
    for what, prepare in (("", lambda logs: logs), (", outliers removed", outliers_removed)):
        yield Candidate(
            f"Apache Otava, p < 0.001{what}",
            lambda logs, prepare=prepare: [
                int(point.index)
                for point in compute_change_points(
                    list(np.exp(prepare(logs))), max_pvalue=0.001, min_magnitude=0.005
                )[0]
            ],
            every_night=False,
        )


def level_shifts(logs: np.ndarray, **parameters: float) -> list[int]:
    return [shift.at for shift in level.level_shifts(logs, **parameters)]


def outliers_removed(logs: np.ndarray) -> np.ndarray:
    return level.without_outliers(logs, level.OUTLIER * night_to_night_noise(logs))


def kernel(name: str, penalty: float, logs: np.ndarray) -> list[int]:
    parameters = {"gamma": 0.1} if name == "rbf" else None
    scaled = (logs - np.median(logs)) / max(night_to_night_noise(logs), 0.001)
    detector = ruptures.KernelCPD(kernel=name, min_size=3, params=parameters)
    return detector.fit(scaled).predict(pen=penalty)[:-1]


def least_absolute(logs: np.ndarray) -> list[int]:
    scaled = logs / max(night_to_night_noise(logs), 0.001)
    return ruptures.Pelt(model="l1", min_size=3, jump=1).fit(scaled).predict(pen=10)[:-1]


def print_candidates(tried: Iterable[Candidate]) -> None:
    print("False alarms per 1,000 nights over all kinds of series, for a reader of every night's")
    print("report, and in hindsight; changes missed at a noise of 0.5 %; time for 200 nights.\n")
    print("| detector | every night | hindsight | 2 %, 3 nights | 2 %, 7 | 5 %, 3 | 5 %, 7 | ms |")
    print("|---|---|---|---|---|---|---|---|")
    for one in tried:
        alarms = [
            false_alarms(one.detector, kind, one.quiet_series, one.every_night) for kind in KINDS
        ]
        nightly, hindsight = np.mean(alarms, axis=0)
        cells = [f"{nightly:.2f}" if one.every_night else "", f"{hindsight:.2f}"]
        for shift in (0.02, 0.05):
            shares = missed(one.detector, KINDS[1], shift, one.changes, (3, 7))
            cells += [f"{100 * share:.0f} %" for share in shares]
        logs = simulated(KINDS[1], NIGHTS, np.random.default_rng(SEED))
        started = time.perf_counter()
        one.detector(logs)
        cells.append(f"{1000 * (time.perf_counter() - started):.1f}")
        print(f"| {one.name} | {' | '.join(cells)} |", flush=True)


def print_misses(detector: Detector, series: int, quiet_series: int) -> None:
    nights = "/".join(map(str, AFTER))
    print(
        f"False alarms: read every night (in hindsight). Misses: {nights} nights after a change of"
    )
    print("this size, slower and faster by turns.\n")
    print(f"| series | false alarms | {' | '.join(f'{shift:.0%}' for shift in SHIFTS)} |")
    print("|---|---|" + "---|" * len(SHIFTS))
    for kind in KINDS:
        nightly, hindsight = false_alarms(detector, kind, quiet_series, True)
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


def false_alarms(
    detector: Detector, kind: Kind, series: int, every_night: bool
) -> tuple[float, float]:
    """Per 1,000 nights of series without a change: of all nights' reports, and of the last."""
    rng = np.random.default_rng(SEED)
    alarms = in_hindsight = 0
    for _ in range(series):
        logs = simulated(kind, NIGHTS, rng)
        in_hindsight += len(detector(logs))
        seen: list[int] = []
        for night in range(MIN_HISTORY, NIGHTS + 1) if every_night else ():
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

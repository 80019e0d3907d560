"""Whether what the history finds is reported, and stays until it is over: 40 simulated series.

8 flat ones; 4 each that get 1, 2 and 5 % slower, and that drift by 3, 6 and 10 %; others with two
clock states, with outliers, and 5 % slower for 20 nights. Noise of 1 %. Each night is ingested, and
its page is written with `warpgauge report html`. What the detector sees on a night for the first
time must be on that night's page, in its headline and in its exit code, and on all later ones until
the series is back. Every tenth night is followed by one of another branch, twice as slow, which
must leave headline and exit code as they are. Prints tables in Markdown; those after the first are
of 1,000 series without pages. Exit codes: 0 all was reported and kept, 1 something was not.

    build/venv/bin/python reports/benchmarks/alarms.py       # a minute
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from warpgauge.changes import drifts
from warpgauge.changes.alarms import WINDOW, Alarm, alarms
from warpgauge.changes.drifts import Drift
from warpgauge.changes.level_shifts import level_shifts
from warpgauge.changes.suspicions import suspicion
from warpgauge.facts.catalog import catalog
from warpgauge.facts.contract import schema_name
from warpgauge.facts.writer import compact
from warpgauge.history import Point, Run, Series, SeriesKey
from warpgauge.program import main as warpgauge

NOISE = 0.01
NIGHTS = 60
BEGIN, BACK = 20, 40  # nights of the changes
FIRST_NIGHT = datetime(2026, 1, 1, 1, 30, tzinfo=UTC)
GPU = "NVIDIA H100 80GB HBM3"
SEED = 20261128
MORE_SEEDS = 25
BRANCHED = 10  # every such night is followed by one of another branch
NEAR = 5  # nights before the change at which the detector may see it


@dataclass(frozen=True)
class Kind:
    """`slower` is relative, from night BEGIN on, `until` a night; `drift` is that of all nights.
    `outliers` is a share of the nights; in the slow state, a quarter of them, a time is 2 % longer.
    """

    name: str
    count: int
    slower: float = 0.0
    until: int = sys.maxsize
    drift: float = 0.0
    slow_state: bool = False
    outliers: float = 0.0

    @property
    def changes(self) -> bool:
        return self.slower > 0 or self.drift > 0


KINDS = (
    Kind("flat", 8),
    Kind("1 % slower", 4, slower=0.01),
    Kind("2 % slower", 4, slower=0.02),
    Kind("5 % slower", 4, slower=0.05),
    Kind("drift of 3 %", 4, drift=0.03),
    Kind("drift of 6 %", 4, drift=0.06),
    Kind("drift of 10 %", 4, drift=0.10),
    Kind("two clock states", 3, slow_state=True),
    Kind("5 % of outliers", 2, outliers=0.05),
    Kind("5 % slower, then back", 3, slower=0.05, until=BACK),
)


@dataclass
class Followed:
    """A series, and what became of it: the night on which the detector first saw that it got worse,
    and those on which the page did or did not say so."""

    kind: Kind
    name: str
    logs: np.ndarray
    found: int | None = None
    reported: bool = False  # on that night
    listed: list[int] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)

    def look(self, night: int) -> bool:
        """Whether the detector alone, which remembers nothing, sees for the first time that the
        series got worse."""
        if self.found is not None or not self.kind.changes:
            return False
        first = max(0, night + 1 - WINDOW)
        begin = BEGIN - NEAR if self.kind.slower else 0
        window = self.logs[first : night + 1]
        shifts = level_shifts(window)
        drift = drifts.drift(window, shifts[-1].at if shifts else 0)
        found = [first + shift.at for shift in shifts if shift.rises]
        found += [night] if drift and drift.rises else []
        if any(at >= begin for at in found):
            self.found = night
        return self.found is not None


def simulated(kinds: Sequence[Kind], nights: int, seed: int) -> list[Followed]:
    rng = np.random.default_rng(seed)
    return [
        Followed(kind, f"series_{number}", _logs(kind, nights, rng))
        for number, kind in enumerate(kind for kind in kinds for _ in range(kind.count))
    ]


def _logs(kind: Kind, nights: int, rng: np.random.Generator) -> np.ndarray:
    logs = np.log(100) + rng.normal(0, NOISE, nights)
    logs[BEGIN : kind.until] += np.log1p(kind.slower)
    logs += np.linspace(0, np.log1p(kind.drift), nights)
    logs += 0.02 * (kind.slow_state and rng.random(nights) < 0.25)
    disturbed = rng.random(nights) < kind.outliers
    logs[disturbed] += np.log1p(rng.uniform(0, 0.5, disturbed.sum()))
    return logs


def follow(kinds: Sequence[Kind], nights: int, seed: int, folder: Path) -> list[Followed]:
    """Writes the page of each night, and compares it with what the detector sees. RuntimeError
    where a night of another branch changes the page."""
    followed = simulated(kinds, nights, seed)
    for night in range(nights):
        code, headline, listed = found = _page(followed, night, folder)
        if night % BRANCHED == 0 and _page(followed, night, folder, "trial") != found:
            raise RuntimeError(f"a branch changes the page of night {night}: {headline}")
        found = [one for one in followed if one.look(night)]
        new = [one for one in found if not one.listed]  # others as a false alarm before the change
        is_red = code == 1 and not headline.startswith("Nothing is wrong")
        worse = re.search(r"(\d+) values? got worse(?! before)", headline)
        are_counted = (int(worse[1]) if worse else 0) >= len(new)
        for one in found:
            one.reported = is_red and are_counted and one.name in listed
        for one in followed:
            if one.name in listed:
                one.listed.append(night)
            is_due = one.found is not None and night < one.kind.until
            if is_due and not (is_red and one.name in listed):
                one.lost.append(night)
    return followed


def _page(
    followed: Sequence[Followed], night: int, folder: Path, branch: str = "main"
) -> tuple[int, str, set[str]]:
    """Exit code, headline, and the series that the page of a night lists as not recovered, after
    the night has come in for a branch."""
    facts, database = folder / "facts.jsonl", str(folder / "history.db")
    facts.write_text("".join(f"{line}\n" for line in _facts(followed, night, branch)))
    with contextlib.redirect_stdout(io.StringIO()):
        if warpgauge(["report", "ingest", str(facts), "--db", database]) != 0:
            raise SystemExit(2)
        code = warpgauge(["report", "html", "--db", database, "--out", str(folder)])
    page = (folder / "index.html").read_text("utf-8")
    headline = (folder / "digest.md").read_text("utf-8").splitlines()[0].removeprefix("# ")
    section = re.search(r'<section class="tab" id="open".*?</section>', page, re.DOTALL)
    rows = re.findall(r'data-id="simulated\.(\w+)\.', section[0]) if section else []
    return code, headline, set(rows)


def _facts(followed: Sequence[Followed], night: int, branch: str) -> Iterator[str]:
    is_main = branch == "main"
    time = FIRST_NIGHT + timedelta(days=night, hours=0 if is_main else 12)
    device = {"name": GPU, "chip": "GH100", "compute_capability": "9.0", "driver": "580.65.06"}
    run = {"record": "run", "schema": schema_name(), "run": f"{branch}-{night}"}
    run |= {"time": f"{time:%Y-%m-%dT%H:%M:%SZ}", "dirty": False, "branch": branch}
    run["devices"] = [device]
    yield compact(run)
    for number, one in enumerate(followed):
        key = f"{number:012x}"
        case = {"family": "simulated", "variant": one.name, "type": "f32", "size": "1024"}
        case |= {"arch": "sm_90", "device": GPU}
        yield compact({"record": "case", "case": key} | case)
        within = {"limit": {"max": 1000, "origin": "built-in"}, "verdict": "pass"}
        slower = 1 if is_main else 2
        values = {"values": {"time.median_us": slower * float(np.exp(one.logs[night]))}}
        yield compact({"record": "values", "case": key, "source": "clock"} | within | values)


def print_table(followed: Sequence[Followed], nights: int) -> None:
    print("| series | found | after nights | reported at once | nights kept open | over |")
    print("|---|--:|---|--:|--:|---|")
    for kind in dict.fromkeys(one.kind for one in followed):
        of_kind = [one for one in followed if one.kind == kind]
        found = [one for one in of_kind if one.found is not None]
        delays = sorted(one.found + 1 - BEGIN * (kind.slower > 0) for one in found)
        due = sum(min(kind.until, nights) - one.found for one in found)
        over = [max(one.listed) + 1 - kind.until for one in found if kind.until < nights]
        cells = [f"{len(found)} of {len(of_kind)}" if kind.changes else "–"]
        cells += [f"{delays[0]} to {delays[-1]}" if found else "–"]
        cells += [f"{sum(one.reported for one in found)} of {len(found)}" if found else "–"]
        cells += [f"{due - sum(len(o.lost) for o in found)} of {due}" if found else "–"]
        cells += [f"{min(over)} to {max(over)} nights after" if over else "–"]
        print(f"| {kind.name} | {' | '.join(cells)} |", flush=True)


def print_kept(drawn: Sequence[Followed], nights: int) -> None:
    print("\n| series | found | nights kept open |")
    print("|---|--:|--:|")
    for kind in (kind for kind in KINDS if kind.changes):
        of_kind = [one for one in drawn if one.kind == kind]
        begin = BEGIN - NEAR if kind.slower else 0
        found = [alarm for one in of_kind if (alarm := _first(alarms(one.logs), begin))]
        end = min(kind.until, nights)
        due = sum(max(0, end - alarm.found) for alarm in found)
        kept = sum(max(0, min(end, _end(alarm, nights)) - alarm.found) for alarm in found)
        print(f"| {kind.name} | {len(found)} of {len(of_kind)} | {kept:,} of {due:,} |", flush=True)


def _first(raised: Sequence[Alarm], begin: int) -> Alarm | None:
    worse = (alarm for alarm in raised if alarm.rises and alarm.start >= begin)
    return min(worse, key=lambda alarm: alarm.found, default=None)


def print_false_alarms(drawn: Sequence[Followed], nights: int) -> None:
    print(
        "\nFalse alarms per 1,000 series-nights; suspected if every night had new machine code.\n"
    )
    print("| series without a change | series-nights | shifts | drifts | open nights | suspected |")
    print("|---|--:|--:|--:|--:|--:|")
    for kind in (kind for kind in KINDS if not kind.changes):
        of_kind = [one for one in drawn if one.kind == kind]
        total = nights * len(of_kind)
        raised = [alarm for one in of_kind for alarm in alarms(one.logs)]
        drifted = sum(isinstance(alarm.what, Drift) for alarm in raised)
        suspected = sum(_suspected(one.logs) for one in of_kind)
        rates = [1000 * n / total for n in (len(raised) - drifted, drifted, suspected)]
        shift, drift, suspect = (f"{rate:.2f}" for rate in rates)
        worse = [alarm for alarm in raised if alarm.rises]
        share = sum(_end(alarm, nights) - alarm.found for alarm in worse) / total
        cells = [kind.name, f"{total:,}", shift, drift, f"{100 * share:.1f} %", suspect]
        print(f"| {' | '.join(cells)} |", flush=True)


def _suspected(logs: np.ndarray) -> int:
    """The nights on which a series that has new machine code every night is suspected."""
    key = SeriesKey("simulated", "a", "f32", "1", "time.median_us", "sm_90", "clock", GPU)
    metric, points = catalog()[key.metric], []
    for night, log in enumerate(logs):
        run = Run(str(night), FIRST_NIGHT, None, False, None, None, None, False)
        points.append(Point(run, float(np.exp(log)), code_hash=str(night)))
    series = (Series(key, tuple(points[: night + 1])) for night in range(len(points)))
    return sum(suspicion(one, metric, ()) is not None for one in series)


def _end(alarm: Alarm, nights: int) -> int:
    return nights if alarm.recovered is None else alarm.recovered


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nights", type=int, default=NIGHTS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        followed = follow(KINDS, options.nights, SEED, Path(folder))
    print_table(followed, options.nights)
    nights, seeds = options.nights, range(SEED, SEED + MORE_SEEDS)
    drawn = [one for seed in seeds for one in simulated(KINDS, nights, seed)]
    print_kept(drawn, nights)
    print_false_alarms(drawn, nights)
    failed = [one for one in followed if one.lost or (one.found is not None and not one.reported)]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

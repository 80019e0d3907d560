"""Series of times over simulated nights: whether their pages report what the history finds, and
keep it until it is over.

What the detector sees on a night for the first time must be on that night's page, in its headline
and in its exit code, and on all later ones until the series is back. Every tenth night is followed
by one of another branch, twice as slow, which must leave headline and exit code as they are.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from warpgauge.changes import drifts
from warpgauge.changes.alarms import WINDOW
from warpgauge.changes.level_shifts import level_shifts
from warpgauge.facts.contract import schema_name
from warpgauge.facts.writer import compact
from warpgauge.program import main as warpgauge

NOISE = 0.01
BEGIN, BACK = 20, 40  # nights of the changes
FIRST_NIGHT = datetime(2026, 1, 1, 1, 30, tzinfo=UTC)
GPU = "NVIDIA H100 80GB HBM3"
BRANCHED = 10  # every such night is followed by one of another branch
NEAR = 5  # nights before the change at which the detector may see it


@dataclass(frozen=True)
class Kind:
    """`slower` is relative, from night BEGIN on, `until` a night; `drift` is that of all nights.
    `outliers` is a share of the nights; in the slow state, a quarter of them, a time is 2 % longer.
    """

    name: str
    slower: float = 0.0
    until: int = sys.maxsize
    drift: float = 0.0
    slow_state: bool = False
    outliers: float = 0.0

    @property
    def changes(self) -> bool:
        return self.slower > 0 or self.drift > 0


KINDS = (
    Kind("flat"),
    Kind("1 % slower", slower=0.01),
    Kind("2 % slower", slower=0.02),
    Kind("5 % slower", slower=0.05),
    Kind("drift of 3 %", drift=0.03),
    Kind("drift of 6 %", drift=0.06),
    Kind("drift of 10 %", drift=0.10),
    Kind("two clock states", slow_state=True),
    Kind("5 % of outliers", outliers=0.05),
    Kind("5 % slower, then back", slower=0.05, until=BACK),
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


def simulated(nights: int, seed: int) -> list[Followed]:
    rng = np.random.default_rng(seed)
    return [
        Followed(kind, f"series_{number}", _logs(kind, nights, rng))
        for number, kind in enumerate(KINDS)
    ]


def _logs(kind: Kind, nights: int, rng: np.random.Generator) -> np.ndarray:
    logs = np.log(100) + rng.normal(0, NOISE, nights)
    logs[BEGIN : kind.until] += np.log1p(kind.slower)
    logs += np.linspace(0, np.log1p(kind.drift), nights)
    logs += 0.02 * (kind.slow_state and rng.random(nights) < 0.25)
    disturbed = rng.random(nights) < kind.outliers
    logs[disturbed] += np.log1p(rng.uniform(0, 0.5, disturbed.sum()))
    return logs


def follow(nights: int, seed: int, folder: Path) -> list[Followed]:
    """Writes the page of each night, and compares it with what the detector sees. RuntimeError
    where a night of another branch changes the page."""
    followed = simulated(nights, seed)
    for night in range(nights):
        code, headline, listed = found = _page(followed, night, folder)
        if night % BRANCHED == 0 and _page(followed, night, folder, "trial") != found:
            raise RuntimeError(f"a branch changes the page of night {night}: {headline}")
        found = [series for series in followed if series.look(night)]
        new = [
            series for series in found if not series.listed
        ]  # others as a false alarm before the change
        is_red = code == 1 and not headline.startswith("Nothing is wrong")
        worse = re.search(r"(\d+) values? got worse(?! before)", headline)
        are_counted = (int(worse[1]) if worse else 0) >= len(new)
        for series in found:
            series.reported = is_red and are_counted and series.name in listed
        for series in followed:
            if series.name in listed:
                series.listed.append(night)
            is_due = series.found is not None and night < series.kind.until
            if is_due and not (is_red and series.name in listed):
                series.lost.append(night)
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
    for number, series in enumerate(followed):
        key = f"{number:012x}"
        case = {"family": "simulated", "variant": series.name, "type": "f32", "size": "1024"}
        case |= {"arch": "sm_90", "device": GPU}
        yield compact({"record": "case", "case": key} | case)
        within = {"limit": {"max": 1000, "origin": "built-in"}, "verdict": "pass"}
        slower = 1 if is_main else 2
        values = {"values": {"time.median_us": slower * float(np.exp(series.logs[night]))}}
        yield compact({"record": "values", "case": key, "source": "clock"} | within | values)

"""Sixty simulated nights with one of each thing that a history can show.

Eight kernels of which nothing was ever measured, on two GPUs and an emulated one. Each run has the
label "simulated", and each device and source file says that it is simulated. The same bytes each
time.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

sys.path.append(str(Path(__file__).parent / "benchmarks"))

from nights import Case, Change, Plan, nights  # noqa: E402

NIGHTS = 60
FIRST = datetime(2026, 1, 1, 1, 30, tzinfo=UTC)
SOFTMAX = Case("softmax", "online", "4096x4096")
OTHER_SOFTMAX = Case("softmax", "two_passes", "4096x4096")
ATTENTION = Case("attention", "tiled", "2048x128", "f16")
MATMUL = Case("matmul", "pipelined", "4096x4096", "f16")
LAYER_NORM = Case("layer_norm", "fused", "8192x1024")
TRANSPOSE = Case("transpose", "padded", "4096x4096")
HISTOGRAM = Case("histogram", "private", "16777216", "u32")
SCAN = Case("scan", "decoupled", "16777216", "u32")
CASES = (SOFTMAX, OTHER_SOFTMAX, ATTENTION, MATMUL, LAYER_NORM, TRANSPOSE, HISTOGRAM, SCAN)
TIME, REGISTERS, CONFLICTS = "time.median_us", "registers", "shared.bank_conflicts"


class Commit(NamedTuple):
    subject: str
    author: str
    time: datetime


class Event(NamedTuple):
    """A change with the subject of the commit that brings it, and of the one that takes it back."""

    change: Change
    subject: str
    end: str = ""


DRIVER, COMPILER = 30, 44  # nights of the new ones
ACKNOWLEDGED = Event(
    Change(MATMUL.id, "code", 18, 1.2, (REGISTERS, TIME)), "Keep the accumulators of two tiles"
)
EVENTS = (
    Event(
        Change(OTHER_SOFTMAX.id, "code", 10, 1.15, (TIME, REGISTERS), until=20),
        "Compute the maximum in each block",
        "Compute the maximum once again",
    ),
    ACKNOWLEDGED,
    *(
        Event(Change(case.id, "driver", DRIVER, 1.04, arch="sm_90"), "")
        for case in (TRANSPOSE, HISTOGRAM)
    ),
    Event(Change(LAYER_NORM.id, "drift", 5, 1.12, arch="sm_89", until=NIGHTS), ""),
    Event(Change(ATTENTION.id, "code", 38, 1.06, (TIME,)), "Load keys before values"),
    *(
        Event(Change(case.id, "compiler", COMPILER, 1.1, (REGISTERS,)), "Build with CUDA 13.1")
        for case in (SOFTMAX, SCAN)
    ),
    Event(
        Change(HISTOGRAM.id, "code", NIGHTS - 1, 2, (CONFLICTS,)),
        "Lay the bins of a warp side by side",
    ),
)
USUAL = (
    *("Say what each kernel expects", "Test sizes that are no power of two", "Shorten the names"),
    *("Explain the layout of tiles", "Use one random generator", "Check arguments in debug builds"),
)
AUTHORS = ("Ada Example", "Blaise Example", "Carl Example")


def commits() -> tuple[Commit, ...]:
    """A commit of the day before each night, the first one first."""
    subjects = {event.change.night: event.subject for event in EVENTS if event.subject}
    subjects |= {event.change.until: event.end for event in EVENTS if event.end}
    return tuple(
        Commit(
            subject=subjects.get(night, USUAL[night % len(USUAL)]),
            author=AUTHORS[night % len(AUTHORS)],
            time=FIRST + timedelta(days=night, hours=-9),
        )
        for night in range(NIGHTS)
    )


def write_repository(folder: Path) -> tuple[str, ...]:
    """Makes a bare git repository whose branch main is the commits, which have no files; their
    hashes."""
    git = ["git", "-C", str(folder)]
    folder.mkdir(parents=True)
    subprocess.run([*git, "init", "--quiet", "--bare", "--initial-branch=main"], check=True)
    stream = ""
    for commit in commits():
        who = f"{commit.author} <{commit.author.split()[0].lower()}@example.invalid>"
        when = f"{who} {int(commit.time.timestamp())} +0000"
        stream += f"commit refs/heads/main\nauthor {when}\ncommitter {when}\n"
        stream += f"data {len(commit.subject)}\n{commit.subject}\n"
    subprocess.run([*git, "fast-import", "--quiet"], input=stream, text=True, check=True)
    hashes = [*git, "rev-list", "--reverse", "main"]
    return tuple(
        subprocess.run(hashes, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    )


def plan(hashes: tuple[str, ...]) -> Plan:
    return Plan(
        nights=NIGHTS,
        cases=CASES,
        changes=tuple(event.change for event in EVENTS),
        toolkits={0: "13.0", COMPILER: "13.1"},
        drivers={0: "580.65.06", DRIVER: "580.159.04"},
        archs=("sm_89", "sm_90", "sm_120"),
        metrics=(REGISTERS, CONFLICTS, TIME),
        first=FIRST,
        commits=hashes,
        label="simulated",
        mark=", simulated",
        folder="simulated",
        seed=8,
    )


def write(folder: Path, repository: Path) -> Iterator[Path]:
    """Writes the facts of each night into the folder, and the commits into a repository."""
    for time, content in nights(plan(write_repository(repository))):
        path = folder / f"{time:%Y-%m-%d}.jsonl"
        path.write_bytes(content)
        yield path

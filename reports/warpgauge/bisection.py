"""The commands of a shell that find, with `git bisect`, the commit that made a value worse.

The facts of the good run are the measure: a commit is good where `warpgauge diff` finds nothing
worse than them. Budgets play no part, because a value may get worse within its budget.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from warpgauge.changes.change import Change
from warpgauge.command_line import as_started
from warpgauge.facts.catalog import catalog
from warpgauge.history import SeriesKey

GOOD = "bisect-good.jsonl"  # the facts of the good run
OUT = "bisect-out"  # the folder of those of the commit that is tested

_OF_BENCH = "cuda-events"  # the source of metrics that the program for times measures
_WITHOUT_GPU = ("emulator", "cubin", "occupancy")


@dataclass(frozen=True, slots=True)
class Bisection:
    """A series, and its change: the last run before is good, the first with all of it bad. `build`
    is the command that builds the program `gauge`."""

    key: SeriesKey
    change: Change
    build: str
    gauge: str

    def commands(self, database: str) -> list[str]:
        """In the order in which they are entered, in the folder of the repository."""
        case = ["--filter", self.key.id, "--metric", self.key.metric]
        arch = ["--arch", self.key.arch] if self.key.arch else []
        good, bad = self.change.previous, self.change.bad
        export = ["export", "--db", database, "--run", good.id, *case, *arch, "--out", GOOD]
        return [
            f"{as_started('warpgauge report')} {shlex.join(export)}",
            f"git bisect start {bad.commit} {good.commit} --",
            shlex.join(["git", "bisect", "run", "sh", "-c", self.decision]),
            "git bisect reset",
        ]

    @property
    def decision(self) -> str:
        """Of the commit that is checked out: 0 good, 1 bad, 125 it cannot be tested. (git takes 2,
        a fault of the gate, for bad.)"""
        compare = f"{as_started('warpgauge diff')} {GOOD} {OUT}/facts.jsonl{self._noise}"
        return "; ".join(
            [
                f"{self.build} || exit 125",
                f"rm -rf {OUT} && mkdir {OUT}",
                self._measure,
                "case $? in 0|1|3) ;; *) exit 125 ;; esac",
                compare,
                "case $? in 0) exit 0 ;; 1) exit 1 ;; *) exit 125 ;; esac",
            ]
        )

    @property
    def _noise(self) -> str:
        """Half of the change of a noisy value: what lies nearer to the good one is good."""
        ratio = self.change.ratio
        if catalog()[self.key.metric].cls != "bounded" or ratio is None:
            return ""
        return f" --noise={50 * abs(ratio - 1):.3g}%"

    @property
    def _measure(self) -> str:
        key = self.key
        if catalog()[key.metric].source == _OF_BENCH:
            bench = [f"{self.gauge}-bench", "--no-counters", "--facts", f"{OUT}/facts.jsonl"]
            return shlex.join([*bench, "--filter", key.id])
        words = [self.gauge, "gate", "--filter", key.id]
        if key.source in _WITHOUT_GPU or (key.device_name or "").startswith("Emulated GPU"):
            words += ["--device=emulated", *([f"--arch={key.arch}"] if key.arch else [])]
        else:
            words += ["--device=gpu"]
        return shlex.join([*words, f"--out={OUT}"])

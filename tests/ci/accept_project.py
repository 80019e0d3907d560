"""Shared by the tests of `warpgauge accept`: facts, and a source tree with one family."""

import tomllib
from pathlib import Path

from some_facts import BUILT_IN as BUILT_IN_ORIGIN
from some_facts import FACT, write
from warpgauge.commands.accept import CI_VARIABLES
from warpgauge.program import main

ROOT = Path(__file__).resolve().parents[2]
CONFLICTS, REGISTERS, TIME = "shared.bank_conflicts", "registers", "time.median_us"
BUILT_IN = {"budget": "= 0", "origin": BUILT_IN_ORIGIN}
WHY = ["--reason", "theory says so"]
COMMIT = "3b1f0c7" + "0" * 33
QUIET = {"sm_clock_mhz": [1980, 1980], "memory_clock_mhz": [2619, 2619], "temperature_c": [40, 41]}
QUIET |= {"throttling": [], "other_processes": 0}


def a_fact(metric, value, verdict, budget=None, case="transpose.tiled.f32@8x8", **members):
    family, variant, type_ = case.partition("@")[0].split(".")
    return {
        **FACT,
        **{"family": family, "variant": variant, "type": type_},
        **{"size": case.partition("@")[2], "registered": f"kernels/{family}/family.cu"},
        **{"metric": metric, "value": value, "verdict": verdict, "commit": COMMIT},
        **{"budget": budget, "budget_reason": None, "reason": None},
        "origin": f"kernels/{family}/budgets.toml:1",
        **members,
    }


def conflicts(value, verdict="fail", **members):
    return a_fact(CONFLICTS, value, verdict, **{**BUILT_IN, **members})


def a_time(value, verdict, budget, low, high, **members):
    noise = {"confidence": "estimate", "confidence_reason": "times differ from run to run"}
    interval = {"interval": [low, high], "machine": QUIET, "code_hash": "abc", "stable": True}
    return a_fact(TIME, value, verdict, budget, **{**noise, **interval, **members})


def outside_of_ci(monkeypatch):
    for variable in CI_VARIABLES:
        monkeypatch.delenv(variable, raising=False)


class Project:
    """A source tree with one family, a checkout of COMMIT, and the program on it."""

    def __init__(self, root, capsys):
        self.root, self._capsys = root, capsys
        self.budgets = root / "kernels" / "transpose" / "budgets.toml"
        self.add_source("kernels/transpose/family.cu")
        for folder in ("objects", "refs"):
            (root / ".git" / folder).mkdir(parents=True)
        self.check_out(COMMIT)

    def check_out(self, commit):
        (self.root / ".git" / "HEAD").write_text(f"{commit}\n")

    def add_source(self, file):
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")

    def write(self, text):
        self.budgets.write_bytes(text.encode())

    def text(self):
        return self.budgets.read_bytes().decode() if self.budgets.exists() else None

    def tables(self):
        return tomllib.loads(self.text())

    def accept(self, facts, *options, root="the project"):
        path = self.root / "facts.jsonl"
        write(path, facts)
        where = [] if root is None else ["--root", str(self.root)]
        code = main(["accept", str(path), *where, *map(str, options)])
        self.out, self.err = self._capsys.readouterr()
        return code

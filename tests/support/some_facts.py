"""Facts for tests: flat dictionaries with all that is known of a value, written as records.

A flat fact has the members of a run, a case and a value of metrics/facts/fact.schema.json side by
side; None is absent. Instead of `kernels` it has one `kernel` with `launch`, `sass_hash` and
`source_hash`; its `device` is an object of the run. `registered` is the file of its case. `budget`
and `budget_reason` are short for a limit: "= 0", "<= 13 ± 5%", ">= 1 and <= 2 until 2027-01-31".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from typing import Any

from warpgauge.facts.contract import ordered

GPU = {
    "name": "NVIDIA H100",
    "chip": "GH100",
    "compute_capability": "9.0",
    "driver": "580.65.06",
    "uuid_hash": "9c1185a5",
    "sm_clock_mhz": 1980,
    "memory_clock_mhz": 2619,
}
EMULATED = {**GPU, "name": "Emulated GPU (sm_90)", "chip": None, "driver": "emulator"}
FACT = {
    "run": "20260501T230000Z-1f2e3d4c",
    "time": "2026-05-01T23:00:00Z",
    "commit": "3b1f0c7",
    "dirty": False,
    "toolkit": "13.0",
    "flags": "-O3 -lineinfo",
    "device": GPU,
    "family": "transpose",
    "variant": "tiled",
    "type": "f32",
    "size": "1024x1024",
    "arch": "sm_90",
    "source": "cupti",
    "kernel": "_ZN9transpose5tiledEPKfPfi",
    "launch": {"grid": [32, 32, 1], "block": [32, 8, 1]},
    "metric": "shared.bank_conflicts",
    "value": 31744,
    "file": "kernels/transpose/transpose.cu",
    "line": 42,
    "sass_hash": "5feceb66",
    "budget": "= 0",
    "budget_reason": "a kernel has no bank conflicts",
    "verdict": "fail",
    "reason": "shared.bank_conflicts is 31744, budget = 0",
}
BUILT_IN = "built-in"
_RUN = ("time", "command", "commit", "dirty", "branch", "label", "toolkit", "flags", "budgets")
_CASE = ("family", "variant", "type", "size", "kind", "arch", "code_hash")
_VALUES = ("source", "scope", "node", "file", "line", "inlined", "interval")
_VALUES += ("stable", "confidence", "confidence_reason", "leaves_out", "machine", "limit")
_VALUES += ("verdict", "would", "rule", "other", "cause", "cure", "reason")


def a_fact(night: int = 1, value: Any = 0, *, case: str = "naive", **members: Any) -> dict:
    """A count of CUPTI on a GPU, in a run of the first month of 2026."""
    time = f"2026-01-{night:02}T01:00:00Z"
    fact = FACT | {"run": f"run-{night}", "time": time, "commit": f"commit-{night}"}
    fact |= {"variant": case, "value": value, "verdict": "pass", "reason": f"it is {value}"}
    return fact | members


def registers(night: int = 1, value: int = 20, **members: Any) -> dict:
    """A compile-time fact: without a device."""
    about = {"metric": "registers", "source": "cubin", "device": None}
    return a_fact(night, value, **(about | members))


def a_time(night: int = 1, value: float = 10.5, **members: Any) -> dict:
    """A time with its interval and the state of the machine."""
    machine = {
        "sm_clock_mhz": [1980, 1965],
        "memory_clock_mhz": [2619, None],
        "temperature_c": [41, 43],
        "throttling": [],
        "other_processes": 0,
    }
    about = {"metric": "time.median_us", "source": "clock", "machine": machine, "stable": True}
    about |= {"interval": [value - 0.25, value + 0.25], "confidence": "estimate"}
    about |= {"confidence_reason": "times differ from run to run: ± 1 % after 20 runs"}
    return a_fact(night, value, **(about | members))


def limit_of(budget: str, reason: str | None = None, origin: str = BUILT_IN) -> dict:
    """A limit by its text."""
    bounds, _, until = budget.partition(" until ")
    bounds, _, tolerance = bounds.partition(" ± ")
    limit: dict[str, Any] = {}
    for bound in bounds.split(" and "):
        sign, _, number = bound.partition(" ")
        is_number = re.fullmatch(r"-?[0-9.e+-]+", number)
        key = {"=": "equal", "<=": "max", ">=": "min"}[sign]
        limit[key] = json.loads(number) if is_number else number
    if tolerance:
        limit["tolerance"] = float(tolerance.removesuffix("%")) / 100
    return _present(limit | {"until": until or None, "reason": reason, "origin": origin})


def records(facts: Iterable[dict], exit_code: int | None = None) -> Iterator[dict]:
    """The records of flat facts, in the order in which warpgauge writes them. Runs that have ended
    have an exit code."""
    facts = list(facts)
    for name, group in groupby(facts, key=lambda fact: fact["run"]):
        of_run = list(group)
        cases: set[str] = set()
        for _, alike in groupby(of_run, key=lambda fact: [fact.get(key) for key in _RUN]):
            yield _run(name, next(alike), facts)
        for fact in of_run:
            case = _case(fact)
            if case["case"] not in cases:
                cases.add(case["case"])
                yield case
            yield _values(fact, case)
        if exit_code is not None:
            yield {"record": "end", "run": name, "counts": {}, "exit_code": exit_code}


def as_line(record: dict) -> str:
    """As warpgauge writes it."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"


def text_of(facts: Iterable[dict], exit_code: int | None = None) -> str:
    """A file of facts."""
    return "".join(map(as_line, records(facts, exit_code)))


def write(path: Path, facts: Iterable[dict], exit_code: int | None = None) -> Path:
    path.write_text(text_of(facts, exit_code), encoding="utf-8")
    return path


def _run(name: str, fact: dict, facts: Iterable[dict]) -> dict:
    found = (fact.get("device") for fact in facts if fact["run"] == name)
    devices = {device["name"]: device for device in found if device}
    members = {"record": "run", "schema": "warpgauge.fact/2", "run": name}
    members |= {key: fact.get(key) for key in _RUN}
    members |= {"devices": list(map(_present, devices.values())) or None}
    return ordered("run", _present(members))


def _case(fact: dict) -> dict:
    kernel = {"name": fact.get("kernel"), "sass_hash": fact.get("sass_hash")}
    kernel |= {"source_hash": fact.get("source_hash")}
    kernel |= {"launches": [fact["launch"]] if fact.get("launch") else None}
    members = {key: fact.get(key) for key in _CASE}
    members["device"] = fact["device"]["name"] if fact.get("device") else None
    members["file"] = fact.get("registered")
    members["kernels"] = [_present(kernel)] if kernel["name"] else None
    members = _present(members)
    key = blake2b(json.dumps(members).encode(), digest_size=6).hexdigest()
    return ordered("case", {"record": "case", "case": key, **members})


def _values(fact: dict, case: dict) -> dict:
    members = {key: fact.get(key) for key in _VALUES}
    if members["verdict"] == "unbudgeted":
        del members["verdict"]
    if fact.get("budget"):
        origin = fact.get("origin", BUILT_IN)
        members["limit"] = limit_of(fact["budget"], fact.get("budget_reason"), origin)
    members |= {"values": {fact["metric"]: fact.get("value")}}
    return ordered("values", _present({"record": "values", "case": case["case"], **members}))


def _present(members: dict) -> dict:
    return {key: value for key, value in members.items() if value is not None}

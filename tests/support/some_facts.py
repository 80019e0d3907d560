"""Facts for tests: the first of tests/data/facts/good.jsonl with other members."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_GOOD = Path(__file__).parents[1] / "data" / "facts" / "good.jsonl"
FACT = json.loads(_GOOD.read_text().splitlines()[0])
GPU = FACT["device"]
EMULATED = {**GPU, "name": "Emulated GPU (sm_90)", "chip": None, "driver": "emulator"}


def a_fact(night: int = 1, value: Any = 0, *, case: str = "naive", **members: Any) -> dict:
    """A count of CUPTI on a GPU, in a run of the first month of 2026."""
    time = f"2026-01-{night:02}T01:00:00Z"
    fact = FACT | {"run": f"run-{night}", "time": time, "commit": f"commit-{night}"}
    fact |= {"variant": case, "value": value, "verdict": "pass", "reason": f"it is {value}"}
    fact |= members
    return fact | {"id": f"{fact['family']}.{fact['variant']}.{fact['type']}@{fact['size']}"}


def registers(night: int = 1, value: int = 20, **members: Any) -> dict:
    """What the compiler says: without a device."""
    about = {"metric": "registers", "unit": "registers/thread", "source": "ptxas", "device": None}
    return a_fact(night, value, **(about | members))


def a_time(night: int = 1, value: float = 10.5, **members: Any) -> dict:
    """A time with its interval and the state of the machine."""
    machine = {
        "sm_clock_mhz": [1980, 1965],
        "memory_clock_mhz": [2619, None],
        "temperature_c": [41, 43],
        "throttling": [],
        "other_processes": 0,
        "disturbance": None,
    }
    about = {"metric": "time.median_us", "unit": "us", "source": "harness", "machine": machine}
    about |= {"interval": [value - 0.25, value + 0.25], "confidence": "estimate"}
    about |= {"confidence_reason": "times differ from run to run: ± 1 % after 20 runs"}
    return a_fact(night, value, **(about | members))


def as_line(fact: dict) -> str:
    """As warpgauge writes it."""
    return json.dumps(fact, ensure_ascii=False, separators=(",", ":")) + "\n"


def write(path: Path, facts: Iterable[dict]) -> Path:
    path.write_text("".join(map(as_line, facts)), encoding="utf-8")
    return path

"""Files of facts of many nights, like those of real gates, with changes that are known.

A plan says which cases, architectures and metrics there are and what changes when. year() is the
plan of the benchmark: 300 cases with 12 metrics on 8 architectures: what the machine code says on
all, what the emulator counts on 6, and times and rates of two GPUs. Times are noisy; the same plan
gives the same bytes.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import blake2b
from math import prod

from warpgauge.facts.contract import schema_name
from warpgauge.facts.writer import compact

ARCHES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_110", "sm_120")
GPUS = {"sm_90": ("NVIDIA H100 80GB HBM3", "GH100"), "sm_89": ("NVIDIA L4", "AD104")}
COMPILED = ("registers", "spill.store_bytes", "shared.static_bytes", "occupancy.theoretical")
COUNTED = (
    *("shared.bank_conflicts", "global.load.sectors", "global.store.sectors"),
    *("global.excess_sectors", "local.sectors", "instructions"),
)
NOISY = ("time.median_us", "throughput.bytes_per_second")
COUNTED_WITHOUT_GPU = ("branches.divergent", "barriers")
BUDGETS = {"spill.store_bytes": 0, "local.sectors": 0, "shared.bank_conflicts": 0}
FAMILIES, VARIANTS, SIZES = 25, ("naive", "tiled", "padded", "vectorised"), 3
OF_LINES = ("global.load.sectors", "global.store.sectors")  # counted for source lines, too
LAUNCH = {"grid": [32, 32, 1], "block": [32, 8, 1]}
DISTURBED = 0.01  # share of the times
Value = tuple[str, float, dict]  # metric, number, and what else its record says


@dataclass(frozen=True)
class Case:
    """A kernel variant at a size."""

    family: str
    variant: str
    size: str
    type: str = "f32"

    @property
    def id(self) -> str:
        return f"{self.family}.{self.variant}.{self.type}@{self.size}"


@dataclass(frozen=True)
class Change:
    """A case is `factor` times as slow and as large from a night on, `until` another one, in some
    metrics (none named: in all) and on one architecture (none named: on all). Of its kinds, "code"
    comes with other sources, "code" and "compiler" with other machine code; "driver" and "drift"
    only move what is noisy, and a drift takes the nights up to `until` to get there."""

    case: str
    kind: str  # code, compiler, driver, drift
    night: int
    factor: float
    metrics: tuple[str, ...] = ()
    arch: str = ""
    until: int = sys.maxsize

    def factor_of(self, metric: str, night: int) -> float:
        if self.metrics and metric not in self.metrics:
            return 1.0
        if self.kind == "drift":
            return 1 + (self.factor - 1) * (night - self.night) / (self.until - self.night)
        return self.factor


@dataclass(frozen=True, eq=False)  # a plan is equal to itself alone, and can be a key
class Plan:
    """What is measured, and what changes. `gpus` are the architectures with a GPU; the others are
    emulated. `toolkits` and `drivers` are versions by the night from which they are used. `commits`
    are those of the nights; without them, they are made up. `label` is that of the runs, `mark` is
    part of the names of devices, and `folder` that of the sources. `lines` adds facts of source
    lines, as a gate writes them."""

    nights: int
    cases: tuple[Case, ...]
    changes: tuple[Change, ...]
    toolkits: dict[int, str]
    drivers: dict[int, str]
    archs: tuple[str, ...] = ARCHES
    gpus: tuple[str, ...] = tuple(GPUS)
    metrics: tuple[str, ...] = COMPILED + COUNTED + COUNTED_WITHOUT_GPU + NOISY
    first: datetime = datetime(2025, 11, 1, 1, 30, tzinfo=UTC)
    commits: tuple[str, ...] = ()
    label: str | None = None
    mark: str = ""
    folder: str = "kernels"
    lines: bool = False
    seed: int = 1

    def time(self, night: int) -> datetime:
        return self.first + timedelta(days=night)

    def device_name(self, arch: str) -> str:
        name = GPUS[arch][0] if arch in self.gpus else f"Emulated GPU ({arch})"
        return name + self.mark

    def of(self, metrics: Iterable[str]) -> list[str]:
        """Those of the metrics that the plan has."""
        return [metric for metric in metrics if metric in self.metrics]


@dataclass(frozen=True)
class Code:
    """A case compiled for an architecture, with those of the changes that are in the code."""

    case: Case
    arch: str
    changes: tuple[Change, ...]

    @property
    def sass_hash(self) -> str:
        return _hash(self.case.id, self.arch, self.changes)

    @property
    def source_hash(self) -> str:
        changes = [change for change in self.changes if change.kind == "code"]
        return _hash(self.case.family, changes)

    def factor(self, metric: str) -> float:
        return prod(change.factor_of(metric, change.night) for change in self.changes)


def year(nights: int = 365, cases: int = 300, lines: bool = False, seed: int = 1) -> Plan:
    """The plan of the benchmark: a twentieth of the cases changes for good on some night."""
    all_cases = [
        Case(f"family_{family:02}", variant, f"{1024 << size}x{1024 << size}")
        for family in range(max(FAMILIES, -(-cases // (len(VARIANTS) * SIZES))))
        for variant in VARIANTS
        for size in range(SIZES)
    ]
    chosen = all_cases[:cases]
    choice = random.Random(seed)
    changes = tuple(
        Change(
            case=case.id,
            kind=choice.choice(("code", "compiler")),
            night=choice.randrange(20, max(21, nights - 5)),
            factor=choice.choice((0.5, 0.9, 1.05, 1.2, 2.0)),
        )
        for case in choice.sample(chosen, max(1, len(chosen) // 20))
    )
    toolkits = {0: "13.0", nights * 2 // 3: "13.1"}
    drivers = {0: "580.65.06", nights // 2: "580.159.04"}
    return Plan(nights, tuple(chosen), changes, toolkits, drivers, lines=lines, seed=seed)


def nights(plan: Plan) -> Iterator[tuple[datetime, bytes]]:
    """Each night's time and file."""
    for night in range(plan.nights):
        yield plan.time(night), _Night(plan, night).file()


class _Night:
    """The facts of a night."""

    def __init__(self, plan: Plan, night: int) -> None:
        self._plan, self._number = plan, night
        self._noise = random.Random(f"{plan.seed} {night}")

    def file(self) -> bytes:
        """All of them, written as warpgauge writes them."""
        lines = [self._run()]
        for case in self._plan.cases:
            for arch in self._plan.archs:
                lines += self._measured(case, arch)
        lines.append(self._end(lines))
        return "".join(f"{line}\n" for line in lines).encode()

    def _measured(self, case: Case, arch: str) -> Iterator[str]:
        plan = self._plan
        changes = [
            change
            for change in plan.changes
            if change.case == case.id
            and change.night <= self._number < change.until
            and change.arch in ("", arch)
        ]
        in_code = tuple(change for change in changes if change.kind in ("code", "compiler"))
        code = Code(case, arch, in_code)
        yield from _compiled(plan, code)
        yield from _counted(plan, code)
        if arch in plan.gpus:
            key, _ = _case(plan, code, plan.device_name(arch))
            yield from _records(key, self._noisy(code, changes))

    def _run(self) -> str:
        plan, night = self._plan, self._number
        time = plan.time(night)
        commit = _hash("commit", plan.seed, night) * 2 + "00000000"
        run = {
            "record": "run",
            "schema": schema_name(),
            "run": self._id,
            "time": f"{time:%Y-%m-%dT%H:%M:%SZ}",
            "commit": plan.commits[night] if plan.commits else commit,
            "dirty": False,
            **({"label": plan.label} if plan.label else {}),
            "toolkit": self._newest(plan.toolkits),
            "flags": "-O2 -g -DNDEBUG -lineinfo",
            "devices": [self._device(arch) for arch in plan.archs],
        }
        return compact(run)

    @property
    def _id(self) -> str:
        time = self._plan.time(self._number)
        return f"{time:%Y%m%dT%H%M%SZ}-{_hash(self._plan.seed, self._number)[:8]}"

    def _end(self, lines: Iterable[str]) -> str:
        counts: Counter[str] = Counter()
        for record in map(json.loads, lines):
            if record["record"] == "values" and "scope" not in record:
                counts[record.get("verdict", "unbudgeted")] += len(record["values"])
        head = {"record": "end", "run": self._id, "counts": counts}
        return compact(head | {"exit_code": 1 if counts["fail"] else 0})

    def _newest(self, versions: dict[int, str]) -> str:
        """Of versions by their first night, that of this night."""
        return versions[max(night for night in versions if night <= self._number)]

    def _device(self, arch: str) -> dict:
        name = self._plan.device_name(arch)
        chip = GPUS[arch][1] if arch in self._plan.gpus else None
        return {
            "name": name,
            **({"chip": chip} if chip else {}),
            "compute_capability": f"{arch[3:-1]}.{arch[-1]}",
            "driver": self._newest(self._plan.drivers) if chip else "emulator",
            "uuid_hash": _hash(name),
            "sm_clock_mhz": 1980 - self._number % 3 if chip else 1000,
            "memory_clock_mhz": 2619 if chip else 1000,
        }

    def _noisy(self, code: Code, changes: Iterable[Change]) -> Iterator[Value]:
        slower = prod(change.factor_of("time.median_us", self._number) for change in changes)
        for metric in self._plan.of(NOISY):
            yield _noisy(code, metric, slower, self._noise)


def _hash(*parts: object) -> str:
    return blake2b(repr(parts).encode(), digest_size=6).hexdigest()


@cache
def _case(plan: Plan, code: Code, device: str | None) -> tuple[str, str]:
    """The key of a case record, and the record."""
    case = code.case
    family, variant = case.family, case.variant
    kernel = {
        "name": f"_ZN{len(family)}{family}{len(variant)}{variant}IfEEvPT_PKS1_ii",
        "sass_hash": code.sass_hash,
        "source_hash": code.source_hash,
        "launches": [LAUNCH],
    }
    members = {"family": family, "variant": variant, "type": case.type, "size": case.size}
    members |= {"arch": code.arch, **({"device": device} if device else {}), "kernels": [kernel]}
    members |= {"code_hash": code.sass_hash, "file": f"{plan.folder}/{family}/family.cu"}
    members |= {"line": 100 + len(variant)}
    key = _hash(members)
    return key, compact({"record": "case", "case": key} | members)


@cache
def _compiled(plan: Plan, code: Code) -> tuple[str, ...]:
    key, record = _case(plan, code, None)
    values = (_judged(code, metric, "cubin") for metric in plan.of(COMPILED))
    return (record, *_records(key, values))


@cache
def _counted(plan: Plan, code: Code) -> tuple[str, ...]:
    key, record = _case(plan, code, plan.device_name(code.arch))
    on_gpu = code.arch in plan.gpus
    source = "cupti" if on_gpu else "emulator"
    metrics = COUNTED if on_gpu else COUNTED + COUNTED_WITHOUT_GPU
    of_cases = [_judged(code, metric, source) for metric in plan.of(metrics)]
    of_lines = [
        (metric, _exact(code, metric), {"source": source, "scope": "line"})
        for metric in (OF_LINES if plan.lines else ())
    ]
    return (record, *_records(key, of_cases + of_lines))


def _judged(code: Code, metric: str, source: str) -> Value:
    value, limit = _exact(code, metric), BUDGETS.get(metric)
    shared: dict[str, object] = {"source": source}
    if limit is not None:
        shared["limit"] = {"equal": limit, "origin": "built-in"}
        shared["verdict"] = "pass" if value <= limit else "fail"
    return metric, value, shared


def _exact(code: Code, metric: str) -> float:
    factor = code.factor(metric)
    if metric in BUDGETS:
        return 0 if factor <= 1 else 4096
    if metric == "occupancy.theoretical":
        return 0.75
    value = random.Random(f"{code.case.id} {metric}").randrange(16, 100_000)
    return round((16 + value % 100 if metric == "registers" else value) * factor)


def _noisy(code: Code, metric: str, factor: float, noise: random.Random) -> Value:
    typical = random.Random(f"{code.case.id} {code.arch}").uniform(5, 5000) * factor
    disturbance = "throttled: power cap" if noise.random() < DISTURBED else None
    time = round(typical * noise.gauss(1, 0.005) * (1.3 if disturbance else 1) * 31.25) / 31.25
    is_time = metric == "time.median_us"
    value = time if is_time else round(1e12 / time, 4)
    width = noise.uniform(0.002, 0.01)
    why = f"times differ from run to run: ± {100 * width:.2f} % after {noise.randrange(9, 40)} runs"
    machine = {
        "sm_clock_mhz": [1980, 1980 - 15 * noise.randrange(3)],
        "memory_clock_mhz": [2619, 2619],
        "temperature_c": [40 + noise.randrange(20), 45 + noise.randrange(20)],
        "throttling": ["power cap"] if disturbance else [],
        "other_processes": 0,
        **({"disturbance": disturbance} if disturbance else {}),
    }
    said = {"confidence": "estimate", "confidence_reason": why, "machine": machine}
    judged = {}
    if is_time:
        said = {"interval": [value * (1 - width), value * (1 + width)], "stable": True} | said
        judged = {"limit": {"max": 6000, "tolerance": 0.05, "origin": "built-in"}}
        judged["verdict"] = "pass"
    return metric, value, {"source": "clock"} | said | judged


def _records(key: str, values: Iterable[Value]) -> list[str]:
    """Values that differ in nothing but metric and number share a record."""
    records: dict[str, dict] = {}
    for metric, value, shared in values:
        head = {"record": "values", "case": key} | shared
        records.setdefault(compact(shared), head | {"values": {}})["values"][metric] = value
    return list(map(compact, records.values()))

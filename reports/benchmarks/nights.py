"""Files of facts for a year of nights, like those of real gates, with changes that are known.

300 cases with 12 metrics on 8 architectures: what ptxas says on all, what the emulator counts on 6,
and times and rates of two GPUs. Commits, toolkits and drivers change in between; a few cases change
for good on known nights; times are noisy. The same seed gives the same bytes.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import blake2b

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
FIRST_NIGHT = datetime(2025, 11, 1, 1, 30, tzinfo=UTC)
FAMILIES, VARIANTS, SIZES = 25, ("naive", "tiled", "padded", "vectorised"), 3
OF_LINES = ("global.load.sectors", "global.store.sectors")  # counted for source lines, too
LAUNCH = {"grid": [32, 32, 1], "block": [32, 8, 1]}
DISTURBED = 0.01  # share of the times
Value = tuple[str, float, dict]  # metric, number, and what else its record says


@dataclass(frozen=True)
class Plan:
    """How much there is. `lines` adds facts of source lines, as a gate writes them."""

    nights: int = 365
    cases: int = 300
    lines: bool = False
    seed: int = 1


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
    """A case that is `factor` times as slow and as large from a night on, for good."""

    case: str
    kind: str  # code, compiler
    night: int
    factor: float


@dataclass(frozen=True)
class Code:
    """A case compiled for an architecture. `factor`: how much larger than on the first night."""

    case: Case
    arch: str
    factor: float
    sass_hash: str
    source_hash: str


def nights(plan: Plan) -> Iterator[tuple[datetime, bytes]]:
    """Each night's time and file."""
    cases = _cases(plan)
    for night in range(plan.nights):
        yield _time(night), _file(plan, cases, night)


@cache
def planted(plan: Plan) -> tuple[Change, ...]:
    """The changes that are there."""
    choice = random.Random(plan.seed)
    ids = [case.id for case in _cases(plan)]
    return tuple(
        Change(
            case=case,
            kind=choice.choice(("code", "compiler")),
            night=choice.randrange(20, max(21, plan.nights - 5)),
            factor=choice.choice((0.5, 0.9, 1.05, 1.2, 2.0)),
        )
        for case in choice.sample(ids, max(1, len(ids) // 20))
    )


def _cases(plan: Plan) -> list[Case]:
    all_cases = [
        Case(f"family_{family:02}", variant, f"{1024 << size}x{1024 << size}")
        for family in range(max(FAMILIES, -(-plan.cases // (len(VARIANTS) * SIZES))))
        for variant in VARIANTS
        for size in range(SIZES)
    ]
    return all_cases[: plan.cases]


def _time(night: int) -> datetime:
    return FIRST_NIGHT + timedelta(days=night)


def _hash(*parts: object) -> str:
    return blake2b(repr(parts).encode(), digest_size=6).hexdigest()


def _file(plan: Plan, cases: list[Case], night: int) -> bytes:
    """All facts of a night, written as warpgauge writes them."""
    noise = random.Random(f"{plan.seed} {night}")
    changes = {change.case: change for change in planted(plan) if change.night <= night}
    lines = [_run(plan, night)]
    for case in cases:
        for arch in ARCHES:
            code = _code(case, arch, changes.get(case.id))
            lines += _compiled(code)
            lines += _counted(code, plan.lines)
            if arch in GPUS:
                key, _ = _case(code, _device_name(arch))
                lines += _records(key, (_noisy(code, metric, noise) for metric in NOISY))
    return "".join(f"{line}\n" for line in lines).encode()


def _run(plan: Plan, night: int) -> str:
    time = _time(night)
    run = {
        "record": "run",
        "schema": schema_name(),
        "run": f"{time:%Y%m%dT%H%M%SZ}-{_hash(plan.seed, night)[:8]}",
        "time": f"{time:%Y-%m-%dT%H:%M:%SZ}",
        "commit": _hash("commit", plan.seed, night) * 2 + "00000000",
        "dirty": False,
        "toolkit": "13.0" if night < plan.nights * 2 // 3 else "13.1",
        "flags": "-O2 -g -DNDEBUG -lineinfo",
        "devices": [_device(plan, night, arch) for arch in ARCHES],
    }
    return compact(run)


def _device(plan: Plan, night: int, arch: str) -> dict:
    name, chip = GPUS.get(arch, (_device_name(arch), None))
    driver = "580.65.06" if night < plan.nights // 2 else "580.159.04"
    return {
        "name": name,
        **({"chip": chip} if chip else {}),
        "compute_capability": f"{arch[3:-1]}.{arch[-1]}",
        "driver": driver if chip else "emulator",
        "uuid_hash": _hash(name),
        "sm_clock_mhz": 1980 - night % 3 if chip else 1000,
        "memory_clock_mhz": 2619 if chip else 1000,
    }


def _device_name(arch: str) -> str:
    return GPUS[arch][0] if arch in GPUS else f"Emulated GPU ({arch})"


@cache
def _code(case: Case, arch: str, change: Change | None) -> Code:
    factor = change.factor if change else 1.0
    of_source = factor if change and change.kind == "code" else 1
    return Code(case, arch, factor, _hash(case.id, arch, factor), _hash(case.family, of_source))


@cache
def _case(code: Code, device: str | None) -> tuple[str, str]:
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
    members |= {"code_hash": code.sass_hash, "file": f"kernels/{family}/family.cu"}
    members |= {"line": 100 + len(variant)}
    key = _hash(members)
    return key, compact({"record": "case", "case": key} | members)


@cache
def _compiled(code: Code) -> tuple[str, ...]:
    key, record = _case(code, None)
    return (record, *_records(key, (_judged(code, metric, "ptxas") for metric in COMPILED)))


@cache
def _counted(code: Code, lines: bool) -> tuple[str, ...]:
    key, record = _case(code, _device_name(code.arch))
    on_gpu = code.arch in GPUS
    source = "cupti" if on_gpu else "emulator"
    metrics = COUNTED if on_gpu else COUNTED + COUNTED_WITHOUT_GPU
    of_cases = [_judged(code, metric, source) for metric in metrics]
    of_lines = [
        (metric, _exact(code, metric), {"source": source, "scope": "line"})
        for metric in (OF_LINES if lines else ())
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
    if metric in BUDGETS:
        return 0 if code.factor <= 1 else 4096
    if metric == "occupancy.theoretical":
        return 0.75
    value = random.Random(f"{code.case.id} {metric}").randrange(16, 100_000)
    return round((16 + value % 100 if metric == "registers" else value) * code.factor)


def _noisy(code: Code, metric: str, noise: random.Random) -> Value:
    typical = random.Random(f"{code.case.id} {code.arch}").uniform(5, 5000) * code.factor
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

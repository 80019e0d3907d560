"""Files of facts for a year of nights, like those of real gates, with changes that are known.

300 cases with 12 metrics on 8 architectures: what ptxas says on all, what the emulator counts on 6,
and times and rates of two GPUs. Commits, toolkits and drivers change in between; a few cases change
for good on known nights; times are noisy. The same seed gives the same bytes.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import blake2b

from warpgauge_report.facts import schema_name

ARCHES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_110", "sm_120")
GPUS = {"sm_90": ("NVIDIA H100 80GB HBM3", "GH100"), "sm_89": ("NVIDIA L4", "AD104")}
COMPILED = {
    "registers": "registers/thread",
    "spill.store_bytes": "bytes/thread",
    "shared.static_bytes": "bytes/block",
    "occupancy.theoretical": "fraction",
}
COUNTED = {
    "shared.bank_conflicts": "wavefronts",
    "global.load.sectors": "sectors",
    "global.store.sectors": "sectors",
    "global.excess_sectors": "sectors",
    "local.sectors": "sectors",
    "instructions": "instructions",
}
NOISY = {"time.median_us": "us", "throughput.bytes_per_second": "B/s"}
COUNTED_WITHOUT_GPU = {"branches.divergent": "branches", "barriers": "barriers/block"}
BUDGETS = {"spill.store_bytes": 0, "local.sectors": 0, "shared.bank_conflicts": 0}
FIRST_NIGHT = datetime(2025, 11, 1, 1, 30, tzinfo=UTC)
FAMILIES, VARIANTS, SIZES = 25, ("naive", "tiled", "padded", "vectorised"), 3
DISTURBED = 0.01  # share of the times


@dataclass(frozen=True)
class Plan:
    """How much there is. `lines` adds facts of source lines, as a gate writes them."""

    nights: int = 365
    cases: int = 300
    lines: bool = False
    seed: int = 1


def nights(plan: Plan) -> Iterator[tuple[datetime, bytes]]:
    """Each night's time and file."""
    cases = _cases(plan)
    for night in range(plan.nights):
        yield _time(night), _file(plan, cases, night)


def planted(plan: Plan) -> list[tuple[str, str, int, float]]:
    """The changes that are there: case, kind (code, compiler), night and factor."""
    choice = random.Random(plan.seed)
    cases = [f"{c[0]}.{c[1]}.{c[2]}@{c[3]}" for c in _cases(plan)]
    chosen = choice.sample(cases, max(1, len(cases) // 20))
    return [
        (
            case,
            choice.choice(("code", "compiler")),
            choice.randrange(20, max(21, plan.nights - 5)),
            choice.choice((0.5, 0.9, 1.05, 1.2, 2.0)),
        )
        for case in chosen
    ]


def _cases(plan: Plan) -> list[tuple[str, str, str, str]]:
    all_cases = [
        (f"family_{family:02}", variant, "f32", f"{1024 << size}x{1024 << size}")
        for family in range(max(FAMILIES, -(-plan.cases // (len(VARIANTS) * SIZES))))
        for variant in VARIANTS
        for size in range(SIZES)
    ]
    return all_cases[: plan.cases]


def _time(night: int) -> datetime:
    return FIRST_NIGHT + timedelta(days=night)


def _hash(*parts: object) -> str:
    return blake2b(repr(parts).encode(), digest_size=8).hexdigest()


def _file(plan: Plan, cases: list[tuple[str, str, str, str]], night: int) -> bytes:
    """All facts of a night, written as warpgauge writes them."""
    noise = random.Random(f"{plan.seed} {night}")
    changes = {change[0]: change for change in _planted(plan) if change[2] <= night}
    heads = {arch: _head(plan, night, arch) for arch in (None, *ARCHES)}
    lines = []
    for case in cases:
        name = f"{case[0]}.{case[1]}.{case[2]}@{case[3]}"
        for arch in ARCHES:
            for head, tail in _case(plan, name, case, arch, changes.get(name), noise):
                lines.append(f"{heads[head]}{tail}\n")
    return "".join(lines).encode()


@cache
def _planted(plan: Plan) -> tuple[tuple[str, str, int, float], ...]:
    return tuple(planted(plan))


def _head(plan: Plan, night: int, arch: str | None) -> str:
    time = _time(night)
    device = None
    if arch in GPUS:
        name, chip = GPUS[arch]
        device = {"name": name, "chip": chip, "compute_capability": f"{arch[3]}.{arch[4:]}"}
        device |= {"driver": "580.65.06" if night < plan.nights // 2 else "580.159.04"}
        device |= {"uuid_hash": _hash(name), "sm_clock_mhz": 1980 - night % 3}
        device |= {"memory_clock_mhz": 2619}
    elif arch:
        device = {"name": f"Emulated GPU ({arch})", "chip": None, "driver": "emulator"}
        device = {"name": device["name"], "chip": None, "compute_capability": "9.0"}
        device |= {"driver": "emulator", "uuid_hash": _hash(arch), "sm_clock_mhz": 1000}
        device |= {"memory_clock_mhz": 1000}
    head = {
        "schema": schema_name(),
        "run": f"{time:%Y%m%dT%H%M%SZ}-{_hash(plan.seed, night)[:8]}",
        "time": f"{time:%Y-%m-%dT%H:%M:%SZ}",
        "commit": _hash("commit", plan.seed, night) * 2 + "00000000",
        "dirty": False,
        "toolkit": "13.0" if night < plan.nights * 2 // 3 else "13.1",
        "flags": "-O2 -g -DNDEBUG -lineinfo",
        "device": device,
    }
    return _json(head)[:-1] + ","


def _case(plan, name, case, arch, change, noise) -> Iterator[tuple[str | None, str]]:
    factor = change[3] if change else 1.0
    code = change[1] if change else None
    hashes = (_hash(name, arch, factor), _hash(case[0], factor if code == "code" else 1))
    measured = {None: COMPILED, arch: COUNTED}
    measured[arch] = COUNTED | (NOISY if arch in GPUS else COUNTED_WITHOUT_GPU)
    for device, metrics in measured.items():
        for metric, unit in metrics.items():
            if metric in NOISY:
                yield device, _noisy_tail(name, case, arch, metric, unit, hashes, factor, noise)
                continue
            source = "ptxas" if device is None else "cupti" if arch in GPUS else "emulator"
            value = _exact(name, arch, metric, factor)
            exact = (name, case, arch, metric, unit, source, value, hashes)
            yield device, _exact_tail(*exact)
            if plan.lines and metric in ("global.load.sectors", "global.store.sectors"):
                yield device, _exact_tail(*exact, scope="line")


@cache
def _exact(name: str, arch: str, metric: str, factor: float) -> float:
    if metric in BUDGETS:
        return 0 if factor <= 1 else 4096
    if metric == "occupancy.theoretical":
        return 0.75
    value = random.Random(f"{name} {metric}").randrange(16, 100_000)
    return round((16 + value % 100 if metric == "registers" else value) * factor)


@cache
def _exact_tail(name, case, arch, metric, unit, source, value, hashes, scope="case") -> str:
    limit = BUDGETS.get(metric)
    verdict, reason = "unbudgeted", f"{metric} is {value}, no budget"
    if limit is not None:
        verdict = "pass" if value <= limit else "fail"
        reason = f"{metric} is {value}, {'within ' if value <= limit else ''}budget = {limit}"
    judged = {
        "budget": None if limit is None else f"= {limit}",
        "budget_reason": None if limit is None else "built-in default",
        "verdict": verdict,
        "reason": reason,
    }
    if scope == "line":
        judged = dict.fromkeys(judged)
    return _tail(
        name,
        case,
        arch,
        source,
        "exact",
        None,
        scope,
        None,
        metric,
        value,
        unit,
        None,
        hashes,
        judged,
    )


def _noisy_tail(name, case, arch, metric, unit, hashes, factor, noise) -> str:
    typical = random.Random(f"{name} {arch}").uniform(5, 5000) * factor
    disturbance = "throttled: power cap" if noise.random() < DISTURBED else None
    time = round(typical * noise.gauss(1, 0.005) * (1.3 if disturbance else 1) * 31.25) / 31.25
    value = time if metric == "time.median_us" else round(1e12 / time, 4)
    width = noise.uniform(0.002, 0.01)
    why = f"times differ from run to run: ± {100 * width:.2f} % after {noise.randrange(9, 40)} runs"
    machine = {
        "sm_clock_mhz": [1980, 1980 - 15 * noise.randrange(3)],
        "memory_clock_mhz": [2619, 2619],
        "temperature_c": [40 + noise.randrange(20), 45 + noise.randrange(20)],
        "throttling": ["power cap"] if disturbance else [],
        "other_processes": 0,
        "disturbance": disturbance,
    }
    limit = "<= 6000 ± 5%" if metric == "time.median_us" else None
    judged = {
        "budget": limit,
        "budget_reason": None,
        "verdict": "pass" if limit else "unbudgeted",
        "reason": f"{metric} is {value:.6g}, {f'within budget {limit}' if limit else 'no budget'}",
    }
    interval = [value * (1 - width), value * (1 + width)] if metric == "time.median_us" else None
    return _tail(
        name,
        case,
        arch,
        "harness",
        "estimate",
        why,
        "case",
        machine,
        metric,
        value,
        unit,
        interval,
        hashes,
        judged,
    )


def _tail(
    name,
    case,
    arch,
    source,
    confidence,
    why,
    scope,
    machine,
    metric,
    value,
    unit,
    interval,
    hashes,
    judged,
) -> str:
    family, variant, type_, size = case
    launch = {"grid": [32, 32, 1], "block": [32, 8, 1], "dynamic_shared_bytes": 0, "count": 1}
    members = {
        "id": name, "family": family, "variant": variant, "type": type_, "size": size,
        "arch": arch, "source": source, "confidence": confidence, "confidence_reason": why,
        "scope": scope, "kernel": f"_ZN{len(family)}{family}{len(variant)}{variant}IfEEvPT_PKS1_ii",
        "launch": launch, "machine": machine, "metric": metric, "value": value, "unit": unit,
        "interval": interval, "file": f"kernels/{family}/family.cu", "line": 100 + len(variant),
        "sass_hash": hashes[0], "source_hash": hashes[1],
        "code_hash": hashes[0] if source == "harness" else None, **judged,
    }  # fmt: skip
    return _json(members)[1:]


def _json(members: dict) -> str:
    return json.dumps(members, ensure_ascii=False, separators=(",", ":"))

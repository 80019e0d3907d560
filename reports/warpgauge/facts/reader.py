"""The one reader of facts (JSON lines). The contract is metrics/fact.schema.json."""

from __future__ import annotations

import gzip
import json
import lzma
import math
import zlib
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from importlib import resources
from operator import itemgetter
from pathlib import Path
from typing import Any

from jsonschema_rs import Draft202012Validator, ValidationError, ValidationErrorKind

from warpgauge.errors import FactError


@dataclass(frozen=True, slots=True)
class Device:
    """The GPU that a fact was measured on. Clocks in MHz, as found."""

    name: str
    chip: str | None
    compute_capability: str | None
    driver: str | None
    uuid_hash: str | None
    sm_clock_mhz: int | None
    memory_clock_mhz: int | None


@dataclass(frozen=True, slots=True)
class Launch:
    """Shape of the launch a fact belongs to: blocks, threads of a block; `count` had this shape."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_shared_bytes: int
    count: int


@dataclass(frozen=True, slots=True)
class MachineState:
    """The state of the GPU around a timing: pairs are before and after; MHz, degrees Celsius."""

    sm_clock_mhz: tuple[int | None, int | None]
    memory_clock_mhz: tuple[int | None, int | None]
    temperature_c: tuple[int | None, int | None]
    throttling: tuple[str, ...]
    other_processes: int | None
    disturbance: str | None


@dataclass(frozen=True, slots=True)
class Fact:
    """One value with all its provenance; the members are the keys of the schema."""

    schema: str
    run: str
    time: str
    commit: str | None
    dirty: bool
    toolkit: str | None
    flags: str | None
    device: Device | None
    id: str
    family: str
    variant: str
    type: str
    size: str
    arch: str | None
    source: str | None
    confidence: str | None
    confidence_reason: str | None
    scope: str
    kernel: str | None
    launch: Launch | None
    machine: MachineState | None
    metric: str
    value: float | str | None
    unit: str
    interval: tuple[float, float] | None
    file: str | None
    line: int | None
    sass_hash: str | None
    source_hash: str | None
    code_hash: str | None
    budget: str | None
    budget_reason: str | None
    verdict: str | None
    reason: str | None


def _members_of(cls: type) -> itemgetter:
    """Takes the members of an object in the order of a class. (By place, because matching 33 names
    takes longer than all the rest of a fact's construction.)"""
    return itemgetter(*(field.name for field in fields(cls)))


_device_members, _launch_members, _fact_members = map(_members_of, (Device, Launch, Fact))
_shared_device, _shared_launch = lru_cache(1024)(Device), lru_cache(1024)(Launch)


def read_facts(path: str | Path) -> list[Fact]:
    """Reads a file of facts.

    A last line without newline (a crash while it was written) is dropped; anything else that is
    not a fact of the schema raises FactError with file:line.
    """
    return [read_line(path, number, line) for number, line in enumerate(lines_of(path), start=1)]


# By how a compressed file begins: its name may say anything.
_COMPRESSIONS = {b"\x1f\x8b": gzip, b"\xfd7zXZ\0": lzma}


def lines_of(path: str | Path) -> list[bytes]:
    """The whole lines of a file of facts, compressed (gzip, xz) or not, without their ends;
    FactError if it cannot be read."""
    try:
        content = Path(path).read_bytes()
        for start, library in _COMPRESSIONS.items():
            if content.startswith(start):
                content = library.decompress(content)
        return content.split(b"\n")[:-1]
    except OSError as error:  # gzip's errors are such as well
        why = error.strerror or f"damaged: {error}"
        raise FactError(f"{path}: cannot be read: {why}") from error
    except (EOFError, lzma.LZMAError, zlib.error) as error:
        raise FactError(f"{path}: cannot be read: damaged: {error}") from error


def read_line(path: str | Path, number: int, line: bytes) -> Fact:
    """The fact in a line; FactError with file:line for anything that is not one of the schema."""
    try:
        return _read_fact(line)
    except ValueError as error:
        raise FactError(f"{path}:{number}: {error}") from error


@cache
def schema_text() -> str:
    """The contract that lines are held against."""
    return resources.files(__package__).joinpath("fact.schema.json").read_text("utf-8")


def would_fail(fact: Fact) -> bool:
    """Whether a value was not sure enough to be judged, and would fail if it were: read from the
    reason that metrics/judge.cpp (would_fail) has given it."""
    said = f", which budget {fact.budget or ''} would fail; "
    return fact.verdict == "unmeasured" and said in (fact.reason or "")


def schema_name() -> str:
    """The name and version of the schema, as each fact carries it."""
    return _schema()["properties"]["schema"]["const"]


def metric_names() -> list[str]:
    """The metrics that facts can have, as the schema lists them."""
    return _schema()["properties"]["metric"]["enum"]


def _read_fact(line: bytes) -> Fact:
    members = _parse(line)
    if not _validator().is_valid(members):
        problems = _validator().iter_errors(members)
        raise ValueError(_describe(min(problems, key=lambda problem: len(problem.instance_path))))
    whole = f"{members['family']}.{members['variant']}.{members['type']}@{members['size']}"
    if members["id"] != whole:
        raise ValueError(f"key 'id' is '{members['id']}', but its parts say '{whole}'")
    if device := members["device"]:
        members["device"] = _shared_device(*_device_members(device))
    if launch := members["launch"]:
        members["launch"] = _shared_launch(*map(_frozen, _launch_members(launch)))
    if machine := members["machine"]:
        members["machine"] = MachineState(**{key: _frozen(machine[key]) for key in machine})
    if interval := members["interval"]:
        members["interval"] = tuple(interval)
        if interval[0] > interval[1]:
            raise ValueError("key 'interval' must be two numbers, the lower first")
    return Fact(*_fact_members(members))


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _parse(line: bytes) -> dict[str, Any]:
    try:
        text = line.decode("utf-8")
        members = _DECODER.decode(text)
        if "\\u" in text:
            json.dumps(members, ensure_ascii=False).encode("utf-8")  # half a surrogate pair
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not a JSON object: {error}") from error
    if not isinstance(members, dict):
        raise ValueError("not a JSON object")
    return members


@lru_cache(maxsize=4096)  # facts repeat each other's numbers
def _finite(text: str) -> float:
    """A number that JSON can hold: Python alone would take NaN, Infinity and 1e999."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a number")
    return number


@lru_cache(maxsize=4096)
def _whole_or_float(text: str) -> int | float:
    """Whole numbers beyond 64 bits count as floating-point numbers, as in the C++ reader."""
    number = _finite(text)
    return int(text) if abs(number) < 2**63 or 0 < int(text) < 2**64 else number


_DECODER = json.JSONDecoder(parse_constant=_finite, parse_float=_finite, parse_int=_whole_or_float)


@cache
def _schema() -> dict[str, Any]:
    return json.loads(schema_text())


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(_schema())


def _describe(problem: ValidationError) -> str:
    path = [part for part in problem.instance_path if isinstance(part, str)]
    match problem.kind:
        case ValidationErrorKind.Required(property=missing):
            return f"missing key '{'.'.join([*path, missing])}'"
        case ValidationErrorKind.AdditionalProperties(unexpected=unknown):
            return f"unknown key '{'.'.join([*path, unknown[0]])}'"
    if path == ["metric"]:
        return f"key 'metric' is the unknown metric '{problem.instance}'"
    return f"key '{'.'.join(path)}': {problem.message}"

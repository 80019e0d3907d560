"""Facts as rows of the tables, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from itertools import repeat
from types import NoneType
from typing import Any

from warpgauge.facts.reader import case_of, fact_of, run_of
from warpgauge.facts.records import Case, Fact, Run
from warpgauge.facts.writer import case_members, compact, run_members, shared_members

NUMBER = (int, float, NoneType)
TIME_FORM = "%Y-%m-%dT%H:%M:%SZ"
_OF_CONTEXTS = ("kernel", "file", "line", "inlined", "leaves_out", "limit", "rule", "cure")
_TEXTS = ("confidence", "confidence_reason", "verdict", "would", "cause", "reason")


def hold_types(values: Iterable[Any], types: Iterable[Any]) -> None:
    """ValueError unless the values have these types: SQLite keeps in a column what it is given, and
    what a damaged row has."""
    if not all(map(isinstance, values, types)):
        raise ValueError("a row has a value of another type")


def object_of(text: str) -> dict[str, Any]:
    """The JSON object of a column; ValueError."""
    members = json.loads(text)
    hold_types([members], [dict])
    return members


def seconds(time: str) -> int:
    """A run's time in seconds since 1970; ValueError for the 31st of June."""
    return int(datetime.strptime(time, TIME_FORM).replace(tzinfo=UTC).timestamp())


def time_of(run_seconds: int) -> datetime:
    return datetime.fromtimestamp(run_seconds, UTC)


def run_text(run: Run) -> str:
    """The run as JSON, without its exit code, which has a column."""
    return compact(run_members(run))


def run_from(text: str, exit_code: int | None = None) -> Run:
    """The run that run_text() was made of."""
    hold_types([exit_code], [NUMBER])
    return run_of(object_of(text) | {"exit_code": exit_code})


def case_row(case: Case) -> dict[str, Any]:
    """The row of a case, by whose digest it is found."""
    return _with_digest({"record": compact(case_members(case))})


@lru_cache(maxsize=4096)  # values of a case are read together
def case_from(text: str) -> Case:
    return case_of(object_of(text))


def series_key(fact: Fact) -> tuple[str, ...]:
    """What values of all runs have in common where they are one series."""
    case = fact.case
    parts = (case.family, case.variant, case.type, case.size)
    return (*parts, fact.metric, case.arch or "", fact.source or "", case.device or "")


def context_row(fact: Fact) -> dict[str, Any]:
    """The row without `case_id`, which differs between databases; its digest includes the case."""
    members = shared_members(fact)
    record = compact({key: members[key] for key in _OF_CONTEXTS if key in members})
    row = _with_digest({"case": fact.case.key, "record": record})
    return {"digest": row["digest"], "record": record}


def state_row(fact: Fact) -> dict[str, Any]:
    """The row without ids and digest: the value, and what is said of it."""
    low, high = map(_double, fact.interval or (None, None))
    return {
        "value": None if isinstance(fact.value, str) else _double(fact.value),
        "word": fact.value if isinstance(fact.value, str) else "",
        "low": low,
        "high": high,
        "stable": fact.stable,
        **{name: getattr(fact, name) or "" for name in _TEXTS},
        "machine": compact(shared_members(fact).get("machine", "")) if fact.machine else "",
    }


def fact_from(row: Mapping[str, Any], run: Run) -> Fact:
    """The fact of a row of states, contexts, cases and series joined."""
    hold_types((row[name] for name in ("metric", "source", "word", *_TEXTS)), repeat(str))
    hold_types((row[name] for name in ("value", "low", "high")), repeat(NUMBER))
    members = {"metric": row["metric"]} | object_of(row["context"])
    members |= {name: row[name] for name in ("source", *_TEXTS) if row[name]}
    value = row["word"] or _number(row["value"])
    if value is not None:
        members["value"] = value
    if row["low"] is not None:
        members["interval"] = [_number(row["low"]), _number(row["high"])]
    if row["stable"] is not None:
        members["stable"] = bool(row["stable"])
    if row["machine"]:
        members["machine"] = object_of(row["machine"])
    return fact_of(run, case_from(row["case_record"]), members)


def _with_digest(row: dict[str, Any]) -> dict[str, Any]:
    # Of repr(): databases have digests that were made so, and are searched by them.
    return row | {"digest": blake2b(repr(row).encode(), digest_size=16).digest()}


def _double(value: float | None) -> float | None:
    # SQLite's driver takes no whole numbers from 2**63 on, not even for a column of doubles.
    return None if value is None else float(value)


def _number(value: float | None) -> float | int | None:
    """Counts are whole again, as facts have them."""
    # A double holds them all up to 2**53.
    return int(value) if value is not None and value.is_integer() else value

"""Converts facts to rows of the tables, and back."""

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
_OF_CONTEXTS = (
    *("kernel", "file", "line", "inlined", "leaves_out", "limit"),
    *("rule", "other", "cure"),
)
_TEXTS = ("confidence", "confidence_reason", "verdict", "would", "cause", "reason")


def require_types(values: Iterable[Any], types: Iterable[Any]) -> None:
    """Raises ValueError if a value is not of its type. SQLite does not check the types of columns,
    so a damaged row can have any."""
    if not all(map(isinstance, values, types)):
        raise ValueError("a row has a value of another type")


def object_of(text: str) -> dict[str, Any]:
    """The JSON object of a column. Raises ValueError if it has none."""
    members = json.loads(text)
    require_types([members], [dict])
    return members


def seconds(time: str) -> int:
    """The time of a run in seconds since 1970. Raises ValueError if there is no such time."""
    return int(datetime.strptime(time, TIME_FORM).replace(tzinfo=UTC).timestamp())


def time_of(run_seconds: int) -> datetime:
    """The time of a run, from its seconds()."""
    return datetime.fromtimestamp(run_seconds, UTC)


def run_text(run: Run) -> str:
    """The run as JSON, without its exit code, which has a column of its own."""
    return compact(run_members(run))


def run_from(text: str, exit_code: int | None = None) -> Run:
    """The reverse of run_text(). Raises ValueError for a damaged row."""
    require_types([exit_code], [NUMBER])
    return run_of(object_of(text) | {"exit_code": exit_code})


def case_row(case: Case) -> dict[str, Any]:
    """The row of a case. It is found by its digest."""
    record = compact(case_members(case))
    return {"digest": _digest({"record": record}), "record": record}


@lru_cache(maxsize=4096)  # the values of a case are read together
def case_from(text: str) -> Case:
    """The case of a row's record. Raises ValueError for a damaged one."""
    return case_of(object_of(text))


def series_key(fact: Fact) -> tuple[str, ...]:
    """The key that is the same for all values of one series, in all runs."""
    case = fact.case
    parts = (case.family, case.variant, case.type, case.size)
    return (*parts, fact.metric, case.arch or "", fact.source or "", case.device or "")


def context_row(fact: Fact) -> dict[str, Any]:
    """The row without `case_id`, which differs between databases. Its digest includes the case."""
    members = shared_members(fact)
    record = compact({key: members[key] for key in _OF_CONTEXTS if key in members})
    return {"digest": _digest({"case": fact.case.key, "record": record}), "record": record}


def state_row(fact: Fact) -> dict[str, Any]:
    """The row of the value and its remarks, without ids and digest."""
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
    """The fact of a row of states, contexts, cases and series, joined. Raises ValueError for a
    damaged row."""
    require_types((row[name] for name in ("metric", "source", "word", *_TEXTS)), repeat(str))
    require_types((row[name] for name in ("value", "low", "high")), repeat(NUMBER))
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


def _digest(row: dict[str, Any]) -> bytes:
    # Existing databases are searched by digests of repr(), so this must stay as it is.
    return blake2b(repr(row).encode(), digest_size=16).digest()


def _double(value: float | None) -> float | None:
    # The driver of SQLite refuses integers from 2**63 on, even for a column of doubles.
    return None if value is None else float(value)


def _number(value: float | None) -> float | int | None:
    """Makes counts integers again. A double is exact for them up to 2**53."""
    return int(value) if value is not None and value.is_integer() else value

"""Facts as records again: the reverse of reader.py. Members that say nothing are absent."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import fields
from hashlib import sha256
from itertools import groupby
from typing import Any

from warpgauge.facts.contract import ordered, schema_name
from warpgauge.facts.limit import Limit
from warpgauge.facts.records import Case, Fact, Launch, MachineState, Run

Members = dict[str, Any]


def records_of(facts: Iterable[Fact]) -> Iterator[Members]:
    """The records of values that are in the order of their runs."""
    for run, of_run in groupby(facts, key=lambda fact: fact.run):
        yield run_members(run)
        written: set[str] = set()
        counts: Counter[str | None] = Counter()
        for shared, alike in groupby(of_run, key=shared_members):
            values = list(alike)
            case = values[0].case
            if case.key not in written:
                written.add(case.key)
                yield case_members(case)
            counts[values[0].verdict] += len(values) * (values[0].scope == "case")
            once = _shared_once(shared)
            if once and once["shared"] not in written:
                written.add(once["shared"])
                yield once
            if once:
                shared = {key: shared[key] for key in ("record", "case")}
                shared["shared"] = once["shared"]
            yield from _values_members(shared, values)
        if run.exit_code is not None:
            end = {"record": "end", "run": run.id, "counts": dict(+counts)}
            yield end | {"exit_code": run.exit_code}


# Characters of the members that are written once: one of them may be a word.
_LEAST = 40


def _shared_once(shared: Members) -> Members | None:
    """The record of what values share but for their case; None where a reference is no shorter."""
    members = {key: value for key, value in shared.items() if key not in ("record", "case")}
    text = compact(members)
    if len(text) < _LEAST:
        return None
    return {"record": "shared", "shared": sha256(text.encode()).hexdigest()[:12]} | members


def _values_members(shared: Members, facts: list[Fact]) -> Iterator[Members]:
    """One record, or more where a metric has several values."""
    values: Members = {}
    for fact in facts:
        if fact.metric in values:
            yield shared | {"values": values}
            values = {}
        values[fact.metric] = fact.value
    yield shared | {"values": values}


def run_members(run: Run) -> Members:
    head = {"record": "run", "schema": schema_name(), "run": run.id}
    return ordered("run", head | _present(run, leave_out=("id", "exit_code")))


def case_members(case: Case) -> Members:
    members = {"record": "case", "case": case.key} | _present(case, leave_out=("key",))
    if members["kind"] == "catalogue":
        del members["kind"]
    return ordered("case", members)


def shared_members(fact: Fact) -> Members:
    """What a value says but for metric and number: those of one record share it."""
    members = {"record": "values", "case": fact.case.key}
    members |= _present(fact, leave_out=("run", "case", "metric", "value"))
    defaults: Members = {"confidence": "exact", "scope": "case", "verdict": "unbudgeted"}
    if len(fact.case.kernels) == 1:
        defaults["kernel"] = fact.case.kernels[0].name
    if (fact.file, fact.line) == (fact.case.file, fact.case.line):
        defaults |= {"file": fact.file, "line": fact.line}
    return ordered("values", _without(members, defaults))


def limit_members(limit: Limit) -> Members:
    defaults = {"tolerance": 0, "reference_confidence": "exact", "gate_on": "exact"}
    return _without(_present(limit), defaults)


def _without(members: Members, defaults: Members) -> Members:
    """The members that are not what their absence says."""
    return {key: value for key, value in members.items() if defaults.get(key) != value}


def compact(members: Any) -> str:
    """JSON as warpgauge writes it."""
    return json.dumps(members, ensure_ascii=False, separators=(",", ":"))


def _present(record: Any, leave_out: tuple[str, ...] = ()) -> Members:
    """The members of an object that say something, as JSON has them."""
    pairs = ((member.name, getattr(record, member.name)) for member in fields(record))
    nothing: tuple[Any, ...] = (None,) if isinstance(record, MachineState) else (None, (), {})
    return {
        name: _plain(value)
        for name, value in pairs
        if name not in leave_out and value not in nothing
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Limit):
        return limit_members(value)
    if isinstance(value, Launch):
        usual = {"dynamic_shared_bytes": 0, "count": 1, "cluster": [1, 1, 1]}
        return _without(_present(value), usual)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return _present(value) if hasattr(value, "__dataclass_fields__") else value

"""Facts as rows of the tables, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from warpgauge.facts.reader import Fact, Launch, schema_name

TIME_FORM = "%Y-%m-%dT%H:%M:%SZ"


def seconds(time: str) -> int:
    """A fact's time in seconds since 1970; ValueError for the 31st of June."""
    return int(datetime.strptime(time, TIME_FORM).replace(tzinfo=UTC).timestamp())


def time_of(run_seconds: int) -> datetime:
    return datetime.fromtimestamp(run_seconds, UTC)


def series_key(fact: Fact) -> tuple[str, ...]:
    device = fact.device.name if fact.device else ""
    case = (fact.family, fact.variant, fact.type, fact.size)
    return (*case, fact.metric, fact.arch or "", fact.source or "", device)


def context_row(fact: Fact) -> dict[str, Any]:
    row = {
        "kernel": fact.kernel or "",
        "launch": _members(fact.launch),
        "file": fact.file or "",
        "line": fact.line,
        "sass_hash": fact.sass_hash or "",
        "source_hash": fact.source_hash or "",
        "code_hash": fact.code_hash or "",
        "budget": fact.budget or "",
        "budget_reason": fact.budget_reason or "",
    }
    return row | {"digest": blake2b(repr(row).encode(), digest_size=16).digest()}


def state_row(fact: Fact) -> dict[str, Any]:
    is_word = isinstance(fact.value, str)
    low, high = map(_double, fact.interval or (None, None))
    return {
        "value": None if is_word else _double(fact.value),
        "word": fact.value if is_word else "",
        "low": low,
        "high": high,
        "confidence": fact.confidence or "",
        "confidence_reason": fact.confidence_reason or "",
        "verdict": fact.verdict or "",
        "reason": fact.reason or "",
        "machine": _members(fact.machine),
    }


def members_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """The members of a fact, in the order of the schema, from a row of all tables joined."""
    device = None
    if row["device"]:
        keys = ("chip", "compute_capability", "driver", "uuid_hash")
        device = {"name": row["device"]} | {key: row[key] or None for key in keys}
        device |= {key: row[key] for key in ("sm_clock_mhz", "memory_clock_mhz")}
    value = row["word"] or _number(row["value"])
    return {
        "schema": schema_name(),
        "run": row["run"],
        "time": time_of(row["time"]).strftime(TIME_FORM),
        "commit": row["commit"] or None,
        "dirty": bool(row["dirty"]),
        "toolkit": row["toolkit"] or None,
        "flags": row["flags"] or None,
        "device": device,
        "id": f"{row['family']}.{row['variant']}.{row['type']}@{row['size']}",
        **{key: row[key] for key in ("family", "variant", "type", "size")},
        **{key: row[key] or None for key in ("arch", "source", "confidence", "confidence_reason")},
        "scope": "case",
        "kernel": row["kernel"] or None,
        "launch": json.loads(row["launch"] or "null"),
        "machine": json.loads(row["machine"] or "null"),
        "metric": row["metric"],
        "value": value,
        "unit": row["unit"],
        "interval": None if row["low"] is None else [_number(row["low"]), _number(row["high"])],
        "file": row["file"] or None,
        "line": row["line"],
        **{key: row[key] or None for key in ("sass_hash", "source_hash", "code_hash", "budget")},
        "budget_reason": row["budget_reason"] or None,
        "verdict": row["verdict"],
        "reason": row["reason"] or None,
    }


@lru_cache(maxsize=4096)
def _members(part: Any) -> str:
    """A part of a fact as the JSON object that it was; nothing for nothing."""
    if part is None:
        return ""
    members = {name: getattr(part, name) for name in part.__slots__}
    return json.dumps(members, ensure_ascii=False, separators=(",", ":"))


@lru_cache(maxsize=4096)
def launch_of(text: str) -> Launch | None:
    """The launch of a context. Many have the same, and share it."""
    if not text:
        return None
    members = json.loads(text)
    return Launch(
        tuple(members["grid"]),
        tuple(members["block"]),
        members["dynamic_shared_bytes"],
        members["count"],
    )


def _double(value: float | None) -> float | None:
    """(SQLite's driver takes no whole numbers from 2**63 on, not even for a column of doubles.)"""
    return None if value is None else float(value)


def _number(value: float | None) -> float | int | None:
    """Counts are whole again, as facts have them. (A double holds them all up to 2**53.)"""
    return int(value) if value is not None and value.is_integer() else value

"""Facts as rows of a table: a row for each value, with the members of its run, case and limit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from warpgauge.facts.records import Fact

_LIMIT = (
    *("max", "min", "equal", "tolerance", "until", "code", "of", "reference"),
    *("reference_confidence", "reason", "origin", "gate_on"),
)
# The columns, by the part of a fact that they are members of. The fact's own have no prefix.
_PARTS = {
    "run": ("id", "time", "commit", "dirty", "branch", "label", "toolkit", "flags"),
    "device": ("name", "chip", "compute_capability", "driver", "uuid_hash"),
    "case": ("id", "family", "variant", "type", "size", "kind", "arch", "code_hash"),
    "": ("metric", "value", "unit", "low", "high", "source", "confidence")
    + ("confidence_reason", "stable", "verdict", "would", "cause", "reason", "kernel", "file")
    + ("line", "sass_hash", "source_hash"),
    "limit": _LIMIT,
    "machine": ("temperature_c", "throttling", "other_processes", "disturbance"),
}


def columns(separator: str) -> list[str]:
    """Their names; the separator stands between the part and the member."""
    return [
        f"{part}{separator}{name}" if part else name
        for part, names in _PARTS.items()
        for name in names
    ]


def cells(fact: Fact) -> Iterator[Any]:
    """The values of the columns; None where there is nothing."""
    low, high = fact.interval or (None, None)
    own = {"low": low, "high": high}
    for part, names in _PARTS.items():
        of = getattr(fact, part) if part else fact
        yield from (own[name] if name in own else getattr(of, name, None) for name in names)

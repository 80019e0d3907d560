"""JSON for github-action-benchmark's tool customSmallerIsBetter."""

from __future__ import annotations

import json
from typing import Any

from warpgauge.facts.catalog import catalog
from warpgauge.outcome.limits import Drawn, Kept
from warpgauge.outcome.results import CaseResult, Results, Value
from warpgauge.text import printable

FILE = "smaller-is-better.json"
READER = "github-action-benchmark"
ENTRIES = "entries"
MAX_BYTES = 2_000_000  # each run is kept in the page's data


def entries(results: Results) -> Drawn:
    """An entry for each number that is better when it is lower. Metrics that are never judged are
    not among them, because the action raises an alarm when any entry grows."""
    pairs = [(*pair, results) for pair in results.values if _is_lower_better(pair[1])]
    return Drawn(_entry, pairs)


def document(results: Results, kept: Kept) -> str:
    """The number left out is an entry, too: the format has no other place for it."""
    lines = list(kept.entries)
    if kept.left_out:
        entry = {"name": "warpgauge: left out", "unit": ENTRIES, "value": kept.left_out}
        lines.append(json.dumps(entry | {"extra": kept.sentence}))
    return "[\n" + ",\n".join(lines) + "\n]\n"


def _is_lower_better(value: Value) -> bool:
    row = catalog()[value.metric]
    return row.direction == "lower" and row.cls != "info" and value.value is not None


def _entry(case: CaseResult, value: Value, results: Results) -> str:
    unit = results.unit(value)
    entry: dict[str, Any] = {
        "name": f"{case.title}: {value.metric}",
        "unit": unit,
        "value": value.value,
    }
    if value.interval:
        entry["range"] = f"{value.interval[0]} to {value.interval[1]}"
    entry["extra"] = printable(f"{value.verdict}: {value.problem(unit)}")
    return json.dumps(entry, ensure_ascii=False)

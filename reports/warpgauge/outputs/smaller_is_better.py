"""JSON for github-action-benchmark's tool customSmallerIsBetter."""

from __future__ import annotations

import json

from warpgauge.facts.catalog import catalog
from warpgauge.outcome.limits import kept
from warpgauge.outcome.results import CaseResult, Results, Value
from warpgauge.text import printable

FILE = "smaller-is-better.json"
READER = "github-action-benchmark"
MAX_BYTES = 2_000_000  # each run is kept in the page's data


def render(results: Results) -> str:
    """An entry for each number that is better when it is lower. Metrics that are never judged are
    left out, because the action raises an alarm when any entry grows."""
    entries = (
        _entry(case, value, results)
        for case in results.cases
        for value in case.values
        if _is_lower_better(value)
    )
    shown = kept(entries, MAX_BYTES)
    return "[\n" + ",\n".join(shown.parts) + "\n]\n"


def _is_lower_better(value: Value) -> bool:
    row = catalog()[value.metric]
    return row.direction == "lower" and row.cls != "info" and value.value is not None


def _entry(case: CaseResult, value: Value, results: Results) -> str:
    unit = results.unit(value)
    entry = {"name": f"{case.title}: {value.metric}", "unit": unit, "value": value.value}
    if value.interval:
        entry["range"] = f"{value.interval[0]} to {value.interval[1]}"
    entry["extra"] = printable(f"{value.verdict}: {value.problem(unit)}")
    return json.dumps(entry, ensure_ascii=False)

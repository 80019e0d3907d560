"""JSON for github-action-benchmark's tool customSmallerIsBetter."""

from __future__ import annotations

import json

from warpgauge.facts.catalog import catalog
from warpgauge.outcome import words
from warpgauge.outcome.results import Results
from warpgauge.text import printable

FILE = "smaller-is-better.json"
READER = "github-action-benchmark"


def render(results: Results) -> str:
    """An entry for each number whose metric is better when it is lower, but not for those that are
    only shown, because the action raises an alarm when any of them grows."""
    lines = []
    for fact in results.facts:
        metric = catalog()[fact.metric]
        if metric.direction != "lower" or metric.cls == "info" or fact.value is None:
            continue
        entry = {
            "name": f"{words.title(fact)}: {fact.metric}",
            "unit": fact.unit,
            "value": fact.value,
        }
        if fact.interval:
            entry["range"] = f"{fact.interval[0]} to {fact.interval[1]}"
        entry["extra"] = printable(f"{fact.verdict}: {words.problem(fact)}")
        lines.append(json.dumps(entry, ensure_ascii=False))
    return "[\n" + ",\n".join(lines) + "\n]\n"

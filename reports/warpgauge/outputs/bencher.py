"""Bencher Metric Format (BMF): JSON of benchmarks and their measures."""

from __future__ import annotations

import json
from typing import Any

from warpgauge.outcome import words
from warpgauge.outcome.results import Results

FILE = "bencher.json"
READER = "Bencher"


def render(results: Results) -> str:
    """A benchmark for each case and architecture, a measure for each number, with the ends of its
    confidence interval where it has one."""
    benchmarks: dict[str, dict[str, Any]] = {}
    for fact in results.facts:
        if isinstance(fact.value, int | float):
            measure: dict[str, float] = {"value": fact.value}
            if fact.interval:
                measure["lower_value"], measure["upper_value"] = fact.interval
            benchmarks.setdefault(words.title(fact), {})[fact.metric] = measure
    lines = [
        f"{json.dumps(name, ensure_ascii=False)}: {json.dumps(measures)}"
        for name, measures in benchmarks.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"

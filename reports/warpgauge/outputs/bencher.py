"""Bencher Metric Format (BMF): JSON of benchmarks and their measures."""

from __future__ import annotations

import json
from typing import Any

from warpgauge.outcome.limits import kept
from warpgauge.outcome.results import CaseResult, Results

FILE = "bencher.json"
READER = "Bencher"
MAX_BYTES = 5_000_000


def render(results: Results) -> str:
    """A benchmark for each case and architecture, a measure for each number, with the ends of its
    confidence interval where it has one."""
    shown = kept(filter(None, map(_benchmark, results.cases)), MAX_BYTES)
    return "{\n" + ",\n".join(shown.parts) + "\n}\n"


def _benchmark(case: CaseResult) -> str:
    measures: dict[str, Any] = {}
    for value in case.values:
        if isinstance(value.value, int | float):
            measures[value.metric] = {"value": value.value}
            if value.interval:
                low, high = value.interval
                measures[value.metric] |= {"lower_value": low, "upper_value": high}
    name = json.dumps(case.title, ensure_ascii=False)
    return f"{name}: {json.dumps(measures)}" if measures else ""

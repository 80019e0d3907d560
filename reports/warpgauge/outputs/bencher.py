"""Bencher Metric Format (BMF): JSON of benchmarks and their measures."""

from __future__ import annotations

import json
from typing import Any

from warpgauge.outcome.limits import Kept
from warpgauge.outcome.results import CaseResult, Results

FILE = "bencher.json"
READER = "Bencher"
ENTRIES = "benchmarks"
MAX_BYTES = 5_000_000


def entries(results: Results) -> list[str]:
    """A benchmark for each case and architecture, a measure for each number, with the ends of its
    confidence interval where it has one."""
    return list(filter(None, map(_benchmark, results.cases)))


def document(results: Results, kept: Kept) -> str:
    """The number left out is a benchmark, too: the format has no place for a text."""
    lines = list(kept.entries)
    if kept.left_out:
        lines.append(f'"warpgauge: left out": {{"{ENTRIES}": {{"value": {kept.left_out}}}}}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


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

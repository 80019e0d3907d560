"""OpenMetrics text for the metrics reports of GitLab."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache

from warpgauge.facts.catalog import catalog
from warpgauge.outcome.limits import Drawn, Kept
from warpgauge.outcome.results import VERDICTS, CaseResult, Results, Value
from warpgauge.text import printable

FILE = "gl-metrics.txt"
READER = "GitLab metrics reports"
ENTRIES = "samples"
MAX_BYTES = 5_000_000  # merge requests compare all of two files


def entries(results: Results) -> Drawn:
    """A sample for each value. A word is a label of a sample that is 1."""
    known = [(*pair, results) for pair in results.values if pair[1].value is not None]
    return Drawn(_value, known)


def document(results: Results, kept: Kept) -> str:
    """A gauge for each metric, the number of values by verdict, and the exit code."""
    lines = _head("warpgauge_verdicts", "Values of cases by verdict.")
    lines += [
        _sample("warpgauge_verdicts", {"verdict": verdict}, results.counts.get(verdict, 0))
        for verdict in VERDICTS
    ]
    lines += _head("warpgauge_exit_code", "Exit code of the gate.")
    lines.append(f"warpgauge_exit_code {results.exit_code}")
    lines += _head("warpgauge_left_out", "Samples that this file has no room for.")
    lines.append(f"warpgauge_left_out {kept.left_out}")
    samples: dict[str, list[str]] = defaultdict(list)
    for sample in kept.entries:
        samples[sample.partition("{")[0]].append(sample)
    for metric_name in catalog().in_order(value.metric for _, value in results.values):
        metric, name = catalog()[metric_name], _name(metric_name)
        if name in samples:
            lines += _head(name, f"{metric.meaning} Unit: {metric.unit}.") + samples[name]
    return "\n".join([*lines, "# EOF"]) + "\n"


def _name(metric: str) -> str:
    return "warpgauge_" + metric.replace(".", "_")


def _head(name: str, meaning: str) -> list[str]:
    return [f"# TYPE {name} gauge", f"# HELP {name} {_escaped(meaning)}"]


def _value(case: CaseResult, value: Value, results: Results) -> str:
    labels = {"id": case.case, "arch": case.arch or ""}
    measured = value.value
    assert measured is not None
    if isinstance(measured, str):
        return _sample(_name(value.metric), labels | {results.unit(value): measured}, 1)
    return _sample(_name(value.metric), labels, measured)


def _sample(name: str, labels: dict[str, str], value: float) -> str:
    text = ",".join(f'{key}="{_escaped(label)}"' for key, label in labels.items())
    return f"{name}{{{text}}} {value}"


@lru_cache(4096)  # the values of a case share its labels
def _escaped(text: str) -> str:
    """Text in quotes, without "#", at which GitLab cuts a line."""
    text = printable(text).replace("\\", "\\\\").replace('"', '\\"')
    return text.replace("#", "%23")

"""OpenMetrics text for the metrics reports of GitLab."""

from __future__ import annotations

from collections import defaultdict

from warpgauge.facts.catalog import catalog
from warpgauge.facts.records import Fact
from warpgauge.outcome.results import VERDICTS, Results
from warpgauge.text import printable

FILE = "gl-metrics.txt"
READER = "GitLab metrics reports"


def render(results: Results) -> str:
    """A gauge for each metric, with a sample for each case and architecture, the number of facts by
    verdict, and the exit code. A value that is a word is a label of a sample that is 1."""
    samples: dict[str, list[Fact]] = defaultdict(list)
    for fact in results.facts:
        if fact.value is not None:
            samples[fact.metric].append(fact)
    lines = _head("warpgauge_verdicts", "Values of cases by verdict.")
    lines += [
        _sample("warpgauge_verdicts", {"verdict": verdict}, results.counts[verdict])
        for verdict in VERDICTS
    ]
    if results.demands.exit_code is not None:
        lines += _head("warpgauge_exit_code", "Exit code of the gate.")
        lines.append(f"warpgauge_exit_code {results.demands.exit_code}")
    for metric in catalog().values():
        if metric.id in samples:
            name = "warpgauge_" + metric.id.replace(".", "_")
            lines += _head(name, f"{metric.meaning} Unit: {metric.unit}.")
            lines += [_value(name, fact) for fact in samples[metric.id]]
    return "\n".join([*lines, "# EOF"]) + "\n"


def _head(name: str, meaning: str) -> list[str]:
    return [f"# TYPE {name} gauge", f"# HELP {name} {_escaped(meaning)}"]


def _value(name: str, fact: Fact) -> str:
    labels = {"id": fact.id, "arch": fact.arch or ""}
    if isinstance(fact.value, str):
        return _sample(name, labels | {fact.unit: fact.value}, 1)
    return _sample(name, labels, fact.value)


def _sample(name: str, labels: dict[str, str], value: float) -> str:
    text = ",".join(f'{key}="{_escaped(label)}"' for key, label in labels.items())
    return f"{name}{{{text}}} {value}"


def _escaped(text: str) -> str:
    return printable(text).replace("\\", "\\\\").replace('"', '\\"')

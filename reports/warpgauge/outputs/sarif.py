"""SARIF 2.1.0 for GitHub code scanning: a run for each architecture, a result for each finding."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote

from warpgauge.facts.catalog import Metric, catalog
from warpgauge.facts.records import Fact
from warpgauge.outcome import words
from warpgauge.outcome.results import Results
from warpgauge.text import printable

FILE = "warpgauge.sarif"
READER = "GitHub code scanning"

# What GitHub takes of one file.
MAX_RUNS = 20
MAX_RESULTS = 25_000  # of one run

_OTHER_LINES = 10  # named with a result


def render(results: Results) -> str:
    """SARIF: a run for each architecture, so that what is mended is closed, with a result for each
    metric that is wrong. What was required and not measured is no result, but a notification of the
    run. What is beyond GitHub's limits is left out, the least bad first, and a notification of the
    run says how much."""
    findings: dict[str | None, list[Fact]] = {}
    wrong = [fact for fact in results.wrong if fact.verdict != "unmeasured"]
    for fact in [*wrong, *results.having("environment")]:
        findings.setdefault(fact.arch, []).append(fact)
    # Those with findings lead in the order of their worst; so only the least bad are cut off.
    archs = [*findings, *(arch for arch in results.archs if arch not in findings)]
    runs = [_run(arch, findings.get(arch, []), results) for arch in archs[:MAX_RUNS]]
    if cut := archs[MAX_RUNS:]:
        names = ", ".join(printable(str(arch)) for arch in cut)
        _notify(runs[0], f"Left out, because GitHub takes {MAX_RUNS} runs of a file: {names}.")
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": runs,
    }
    return json.dumps(log, ensure_ascii=False) + "\n"


def _run(arch: str | None, facts: list[Fact], results: Results) -> dict[str, Any]:
    shown = facts[:MAX_RESULTS]
    metrics = list(dict.fromkeys(fact.metric for fact in shown))
    run = {
        "tool": {
            "driver": {
                "name": "warpgauge",
                "rules": [_rule(catalog()[metric]) for metric in metrics],
            }
        },
        "automationDetails": {"id": f"warpgauge/{printable(arch) if arch else 'no-device'}/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": all(fact.verdict != "error" for fact in facts),
                "toolExecutionNotifications": [],
            }
        ],
        "results": [_result(fact, metrics.index(fact.metric), results) for fact in shown],
    }
    missing = words.required(fact for fact in results.missing if fact.arch == arch)
    for why in [*missing, results.unexplained]:
        if why:
            _notify(run, why, "error")
            run["invocations"][0]["executionSuccessful"] = False
    if cut := len(facts) - len(shown):
        _notify(run, f"Left out, because GitHub takes {MAX_RESULTS} results of a run: {cut}.")
    return run


def _notify(run: dict[str, Any], text: str, level: str = "warning") -> None:
    notifications = run["invocations"][0]["toolExecutionNotifications"]
    notifications.append({"level": level, "message": {"text": _message(text)}})


def _rule(metric: Metric) -> dict[str, Any]:
    return {
        "id": metric.id,
        "name": "".join(part.capitalize() for part in re.split(r"[._]", metric.id)),
        "shortDescription": {"text": f"{metric.id} is not within its budget"},
        "fullDescription": {"text": metric.meaning},
        "help": {
            "text": f"{metric.meaning}\n{metric.cure}",
            "markdown": f"**{metric.id}** ({metric.unit}): {metric.meaning}\n\n{metric.cure}",
        },
        "defaultConfiguration": {"level": "error"},
        "properties": {
            "precision": "very-high" if metric.cls == "exact" else "medium",
            "problem.severity": "error",
            "tags": ["performance", "cuda"],
        },
    }


def _result(fact: Fact, rule: int, results: Results) -> dict[str, Any]:
    others = results.other_lines(fact, _OTHER_LINES)
    text = _message(f"{words.title(fact)}: {words.problem(fact)}. {words.advice(fact)}".strip())
    if others:
        links = [f"[{_message(words.place(line))}]({i})" for i, line in enumerate(others)]
        text += f" Also at {', '.join(links)}."
    result = {
        "ruleId": fact.metric,
        "ruleIndex": rule,
        "level": "warning" if fact.verdict == "environment" else "error",
        "message": {"text": text},
        "locations": [{"physicalLocation": _location(fact, results)}],
        "partialFingerprints": {
            "primaryLocationLineHash": f"{words.line_fingerprint(fact, results)}:1"
        },
    }
    if others:
        result["relatedLocations"] = [
            {
                "id": i,
                "physicalLocation": _location(line, results),
                "message": {"text": _message(words.value_text(line))},
            }
            for i, line in enumerate(others)
        ]
    return result


def _location(fact: Fact, results: Results) -> dict[str, Any]:
    """GitHub refuses results without a place: the family stands for a file that is not known."""
    text = results.sources.text(fact.file, fact.line).rstrip()
    start = len(text) - len(text.lstrip()) + 1
    line = fact.line or 1
    return {
        "artifactLocation": {"uri": _uri(fact.file or fact.family)},
        "region": {
            "startLine": line,
            "startColumn": start,
            "endLine": line,
            "endColumn": max(len(text), start) + 1,
        },
    }


def _uri(file: str) -> str:
    return f"file://{quote(file)}" if file.startswith("/") else quote(file)


def _message(text: str) -> str:
    """Text in which nothing is a placeholder ({0}) or a link ([text](0)) of SARIF."""
    text = text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    return text.replace("{", "{{").replace("}", "}}")

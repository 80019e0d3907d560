"""SARIF 2.1.0 for GitHub code scanning: a result for each finding."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote

from warpgauge.facts.catalog import Metric, catalog
from warpgauge.outcome.limits import Kept
from warpgauge.outcome.results import Finding, Place, Results
from warpgauge.text import printable

FILE = "warpgauge.sarif"
READER = "GitHub code scanning"
ENTRIES = "results"
MAX_BYTES = 20_000_000  # GitHub takes 10 MB of them packed, which makes them ten times smaller
MAX_ENTRIES = 5_000  # GitHub shows so many of an analysis


def entries(results: Results) -> list[str]:
    """The findings that make the run red as errors, and those that moved as warnings."""
    rules = {metric: i for i, metric in enumerate(_metrics(results))}
    return [
        json.dumps(_result(finding, rules[finding.metric]), ensure_ascii=False)
        for finding in _shown(results)
    ]


def document(results: Results, kept: Kept) -> str:
    """Faults of the run, and what was left out, are notifications."""
    rules = [_rule(catalog()[metric]) for metric in _metrics(results)]
    notes = [_note(fault, "error") for fault in results.faults]
    notes += [_note(text, "warning") for text in filter(None, [*results.left_out, kept.sentence])]
    run = {
        "tool": {"driver": {"name": "warpgauge", "rules": rules}},
        "automationDetails": {"id": "warpgauge/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": results.exit_code in (0, 1),
                "toolExecutionNotifications": notes,
            }
        ],
        "results": [],
    }
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    log = {"$schema": schema, "version": "2.1.0", "runs": [run]}
    head = json.dumps(log, ensure_ascii=False).removesuffix("]}]}")
    return f"{head}{', '.join(kept.entries)}]}}]}}\n"


def _shown(results: Results) -> list[Finding]:
    findings = [
        *results.wrong,
        *(finding for finding in results.noted if finding.verdict == "moved"),
    ]
    return [finding for finding in findings if finding.verdict != "unmeasured"]


def _metrics(results: Results) -> list[str]:
    """The metrics of all findings: each is a rule."""
    return list(dict.fromkeys(finding.metric for finding in _shown(results)))


def _note(text: str, level: str) -> dict[str, Any]:
    return {"level": level, "message": {"text": _message(text)}}


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


def _result(finding: Finding, rule: int) -> dict[str, Any]:
    also = f" Also {finding.also}." if finding.also else ""
    advice = "" if finding.verdict == "error" else finding.advice
    text = _message(f"{finding.title}: {finding.problem}.{also} {advice}".strip())
    others = finding.blame[1:]
    if others:
        links = [f"[{_message(place.name)}]({i})" for i, place in enumerate(others)]
        text += f" Lines: {', '.join(links)}."
    result = {
        "ruleId": finding.metric,
        "ruleIndex": rule,
        "level": "error" if finding.wrong else "warning",
        "message": {"text": text},
        "locations": [{"physicalLocation": _location(finding.place, finding.family)}],
        "partialFingerprints": {"primaryLocationLineHash": f"{finding.fingerprint}:1"},
    }
    if others:
        result["relatedLocations"] = [
            {"id": i, "physicalLocation": _location(place, finding.family)}
            for i, place in enumerate(others)
        ]
    return result


def _location(place: Place | None, family: str) -> dict[str, Any]:
    """GitHub refuses results without a place: the family stands for a file that is not known."""
    line = (place and place.line) or 1
    return {
        "artifactLocation": {"uri": _uri(place.file if place else family)},
        "region": {"startLine": line, "endLine": line},
    }


def _uri(file: str) -> str:
    return f"file://{quote(file)}" if file.startswith("/") else quote(file)


def _message(text: str) -> str:
    """Text in which nothing is a placeholder ({0}) or a link ([text](0)) of SARIF."""
    text = printable(text).replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    return text.replace("{", "{{").replace("}", "}}")

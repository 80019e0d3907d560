"""GitLab Code Quality: a JSON list of issues, which GitLab shows in merge requests."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from warpgauge.outcome.limits import Kept
from warpgauge.outcome.results import Finding, Results
from warpgauge.text import printable

FILE = "gl-code-quality.json"
READER = "GitLab Code Quality"
ENTRIES = "issues"
MAX_BYTES = 4_000_000  # merge requests load all of it
_SEVERITIES = {"error": "critical", "unmeasured": "critical", "fail": "major", "better": "major"}


def entries(results: Results) -> list[str]:
    """An issue for each finding that makes the run red or moved, and one for each fault of the run.
    GitLab wants a path: the family stands for a file that is not known."""
    findings = [
        *results.wrong,
        *(finding for finding in results.noted if finding.verdict == "moved"),
    ]
    issues = [json.dumps(_run_issue(fault), ensure_ascii=False) for fault in results.faults]
    issues += [json.dumps(_issue(finding), ensure_ascii=False) for finding in findings]
    return issues


def document(results: Results, kept: Kept) -> str:
    lines = list(kept.entries)
    if kept.left_out:
        lines.append(json.dumps(_run_issue(kept.sentence), ensure_ascii=False))
    return "[\n" + ",\n".join(lines) + "\n]\n"


def _issue(finding: Finding) -> dict[str, Any]:
    place = finding.place
    line = place.line if place and place.line else 1
    return {
        "description": printable(f"{finding.title}: {finding.problem}"),
        "check_name": finding.metric,
        "fingerprint": finding.fingerprint,
        "severity": _SEVERITIES.get(finding.verdict, "minor"),
        "location": {
            "path": printable(place.file if place else finding.family),
            "lines": {"begin": line},
        },
    }


def _run_issue(text: str) -> dict[str, Any]:
    return {
        "description": text,
        "check_name": "run",
        "fingerprint": hashlib.sha256(text.encode()).hexdigest()[:16],
        "severity": "critical",
        "location": {"path": "warpgauge", "lines": {"begin": 1}},
    }

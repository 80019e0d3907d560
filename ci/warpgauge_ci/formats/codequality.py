"""GitLab Code Quality: a JSON list of issues, which GitLab shows in merge requests."""

from __future__ import annotations

import json

from warpgauge_report.output import printable

from warpgauge_ci import words
from warpgauge_ci.results import Results

_SEVERITIES = {"error": "critical", "fail": "major", "environment": "minor"}


def render(results: Results) -> str:
    """An issue for each metric of a case and architecture that is wrong. What names no file is an
    issue of a path with the name of the family, because GitLab wants one."""
    issues = [
        {
            "description": f"{words.title(fact)}: {words.problem(fact)}",
            "check_name": fact.metric,
            "fingerprint": words.line_fingerprint(fact, results),
            "severity": _SEVERITIES[fact.verdict],
            "location": {
                "path": printable(fact.file or fact.family),
                "lines": {"begin": fact.line or 1},
            },
        }
        for fact in results.having(*_SEVERITIES)
    ]
    return "[\n" + ",\n".join(json.dumps(issue, ensure_ascii=False) for issue in issues) + "\n]\n"

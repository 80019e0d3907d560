"""GitLab Code Quality: a JSON list of issues, which GitLab shows in merge requests."""

from __future__ import annotations

import json

from warpgauge.outcome import words
from warpgauge.outcome.results import Results
from warpgauge.text import printable

FILE = "gl-code-quality.json"
READER = "GitLab Code Quality"

_SEVERITIES = {"error": "critical", "fail": "major", "better": "major", "environment": "minor"}


def render(results: Results) -> str:
    """An issue for each metric of a case and architecture that is wrong, and one for each reason
    why something required is missing. What names no file is an issue of a path with the name of
    the family, because GitLab wants one."""
    shown = [fact for fact in results.wrong if fact.verdict != "unmeasured"]
    shown += results.having("environment")
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
        for fact in shown
    ]
    of_the_run = words.required(results.wrong)
    if results.unexplained:
        of_the_run.append(results.unexplained)
    issues += [
        {
            "description": text,
            "check_name": "run",
            "fingerprint": words.fingerprint("run", text),
            "severity": "critical",
            "location": {"path": "warpgauge", "lines": {"begin": 1}},
        }
        for text in of_the_run
    ]
    return "[\n" + ",\n".join(json.dumps(issue, ensure_ascii=False) for issue in issues) + "\n]\n"

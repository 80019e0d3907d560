"""The Test Anything Protocol, version 14: a test point for each case and architecture."""

from __future__ import annotations

import json

from warpgauge.outcome import words
from warpgauge.outcome.results import Case, Results
from warpgauge.text import printable

FILE = "results.tap"
READER = "TAP harnesses"


def render(results: Results) -> str:
    """TAP with what makes the run red as YAML blocks; cases of which nothing was judged are
    skipped."""
    points = [line for i, case in enumerate(results.cases, 1) for line in _point(i, case, results)]
    number = len(results.cases)
    if results.unexplained:
        number += 1
        points.append(f"not ok {number} - run: {results.unexplained}")
    lines = ["TAP version 14", f"1..{number}", *points]
    return "\n".join(lines) + "\n"


def _point(number: int, case: Case, results: Results) -> list[str]:
    line = f"{'not ok' if case.wrong else 'ok'} {number} - {_escaped(words.title(case.facts[0]))}"
    if not case.wrong and not case.is_judged:
        reasons = sorted({words.reason(fact) for fact in case.having("unmeasured")})
        why = words.some(reasons, 3) or "no budget for any of its values"
        return [f"{line} # SKIP {_escaped(why)}"]
    if not case.wrong:
        return [line]
    lines = [line, "  ---", "  findings:"]
    for fact in case.wrong:
        if fact.verdict == "unmeasured":
            continue
        entries = {
            "metric": fact.metric,
            "verdict": fact.verdict,
            "message": words.problem(fact),
            "at": words.place(fact),
            "source": printable(results.sources.text(fact.file, fact.line).strip()),
            "repeat": words.repeat(fact),
        }
        known = [f"{key}: {_quoted(text)}" for key, text in entries.items() if text]
        lines += [f"    {'-' if i == 0 else ' '} {entry}" for i, entry in enumerate(known)]
    for why in words.required(case.wrong):
        lines += ['    - verdict: "unmeasured"', f"      message: {_quoted(why)}"]
    return [*lines, "  ..."]


def _escaped(text: str) -> str:
    """Text without "#": many readers do not know its escape, and would skip a failure for it."""
    return text.replace("#", "?")


def _quoted(text: str) -> str:
    """A string of YAML, of which those of JSON are some."""
    return json.dumps(text, ensure_ascii=False)

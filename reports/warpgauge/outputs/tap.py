"""The Test Anything Protocol, version 14: a test point for each case and architecture."""

from __future__ import annotations

import json

from warpgauge.outcome.limits import Kept
from warpgauge.outcome.results import CaseResult, Results, Value
from warpgauge.text import printable

FILE = "results.tap"
READER = "TAP harnesses"
ENTRIES = "test points"
MAX_BYTES = 10_000_000  # no harness names a limit; they keep all points in memory


def entries(results: Results) -> list[str]:
    """Test points, with what makes the run red as YAML blocks; cases of which nothing was judged
    are skipped."""
    points = [f"not ok {i} - run: {_escaped(fault)}" for i, fault in enumerate(results.faults, 1)]
    for i, case in enumerate(results.cases, len(points) + 1):
        points.append("\n".join(_point(i, case, results)))
    return points


def document(results: Results, kept: Kept) -> str:
    lines = ["TAP version 14", f"1..{len(kept.entries)}", *kept.entries]
    lines += [f"# {kept.sentence}"] if kept.left_out else []
    return "\n".join(lines) + "\n"


def _point(number: int, case: CaseResult, results: Results) -> list[str]:
    wrong = case.wrong_values
    line = f"{'not ok' if wrong else 'ok'} {number} - {_escaped(case.title)}"
    if not wrong and not case.is_judged:
        reasons = (value.problem(results.unit(value)) for value in case.values)
        return [f"{line} # SKIP {_escaped(next(reasons, 'no budget for any of its values'))}"]
    if not wrong:
        return [line]
    lines = [line, "  ---", "  findings:"]
    for value in wrong:
        lines += _entry(case, value, results)
    return [*lines, "  ..."]


def _entry(case: CaseResult, value: Value, results: Results) -> list[str]:
    entries = {
        "metric": value.metric,
        "verdict": value.verdict,
        "at": printable(f"{value.file}:{value.line}") if value.file else "",
        "message": value.problem(results.unit(value)),
        "repeat": printable(case.repeat),
    }
    known = [f"{key}: {_quoted(text)}" for key, text in entries.items() if text]
    return [f"    {'-' if i == 0 else ' '} {entry}" for i, entry in enumerate(known)]


def _escaped(text: str) -> str:
    """Text without "#": many readers ignore its escape and would take a failure as skipped."""
    return text.replace("#", "?")


def _quoted(text: str) -> str:
    """A string of YAML, of which those of JSON are some."""
    return json.dumps(text, ensure_ascii=False)

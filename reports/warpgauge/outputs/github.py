"""Annotations of GitHub Actions: commands that a step prints to its output."""

from __future__ import annotations

from warpgauge.outcome.limits import Kept
from warpgauge.outcome.results import Finding, Results
from warpgauge.text import printable

FILE = "github.txt"
READER = "annotations of GitHub Actions"
ENTRIES = "annotations"
MAX_BYTES = 500_000  # GitHub takes 64 KB of a message
MAX_ENTRIES = 9  # GitHub shows 10 of a step; the last one counts all


def entries(results: Results) -> list[str]:
    """The findings that the base has not, as errors where they make the run red and else as
    warnings."""
    results = results.without_known
    commands = [_command("error", None, "warpgauge", [fault]) for fault in results.faults]
    commands += [_finding("error", finding) for finding in results.wrong]
    commands += [_finding("warning", finding) for finding in results.noted if _is_shown(finding)]
    return commands


def document(results: Results, kept: Kept) -> str:
    """The annotations, and a notice that counts all."""
    delta = [results.delta.headline] if results.delta else []
    total = [*delta, results.headline, *results.left_out, _known(len(results.known))]
    total = [*map(printable, total), kept.sentence]
    return "\n".join([*kept.entries, _command("notice", None, "warpgauge", total)]) + "\n"


def _known(count: int) -> str:
    if count == 0:
        return ""
    them = "findings are not new; the summary has them"
    return "1 finding is not new; the summary has it" if count == 1 else f"{count} {them}"


def _is_shown(finding: Finding) -> bool:
    """Whether a finding that does not make the run red is worth an annotation."""
    return finding.verdict == "moved" or finding.would == "fail"


def _finding(kind: str, finding: Finding) -> str:
    lines = [f"{finding.problem}{f' (also {finding.also})' if finding.also else ''}"]
    if finding.verdict != "error":
        lines.append(finding.advice)
    if finding.repeat:
        lines.append(f"Repeat: {finding.repeat}")
    return _command(kind, finding, finding.title, lines)


def _command(kind: str, finding: Finding | None, title: str, lines: list[str]) -> str:
    properties = {"title": printable(title)}
    if finding and finding.place:
        properties["file"] = printable(finding.place.file)
        if finding.place.line:
            properties["line"] = properties["endLine"] = str(finding.place.line)
    text = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{kind} {text}::{_data(chr(10).join(printable(line) for line in lines if line))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

"""Markdown for the summary of a job, below what GitHub takes of one."""

from __future__ import annotations

import html
import re

from warpgauge.facts.records import Run
from warpgauge.outcome.limits import Kept
from warpgauge.outcome.results import VERDICTS, Finding, Results
from warpgauge.text import printable

FILE = "summary-ci.md"
READER = "job summaries"
ENTRIES = "lines"
MAX_BYTES = 1_000_000  # GitHub shows nothing at all of more than 1 MiB


def entries(results: Results) -> list[str]:
    """Verdicts by family, then what is wrong, the worst first, then what is only noted."""
    lines = [f"# warpgauge: {_text(results.headline)}", ""]
    lines += [f"**{_text(fault)}**\n" for fault in results.faults]
    lines += [f"{_run(run)}\n" for run in results.runs]
    lines += _families(results)
    lines += _findings("Failures", results.wrong)
    lines += _meanings(results.wrong)
    noted = results.noted
    for title, found in (
        ("Moved by the environment", [one for one in noted if one.verdict == "moved"]),
        ("Not sure enough to fail", [one for one in noted if one.would == "fail"]),
    ):
        lines += _findings(title, found)
    lines += _list("Unmeasured", [one.text for one in results.unmeasured if not one.required])
    lines += _list("Left out", list(results.left_out))
    return lines


def document(results: Results, kept: Kept) -> str:
    lines = [*kept.entries, f"\n{kept.sentence}"] if kept.left_out else kept.entries
    return "\n".join(lines) + "\n"


def _run(run: Run) -> str:
    """A sentence on a run."""
    commit = f"commit {run.commit[:12]}{' with changes' if run.dirty else ''}" if run.commit else ""
    toolkit = f"CUDA {run.toolkit}" if run.toolkit else ""
    devices = ", ".join(device.name for device in run.devices) or "no device"
    parts = (f"Run {run.id} at {run.time}", commit, toolkit, devices)
    return _text(", ".join(filter(None, parts))) + "."


def _families(results: Results) -> list[str]:
    columns = [verdict for verdict in VERDICTS if verdict != "unbudgeted"]
    lines = [f"| family | cases | {' | '.join(columns)} |"]
    lines.append("|---|" + "---:|" * (len(columns) + 1))
    for one in results.families:
        numbers = [one.cases, *(one.counts.get(verdict, 0) for verdict in columns)]
        lines.append(f"| {_code(one.family)} | {' | '.join(map(str, numbers))} |")
    return lines


def _findings(title: str, findings: list[Finding]) -> list[str]:
    if not findings:
        return []
    lines = ["", f"## {title}", "", "| case | metric | value | budget | at | why |"]
    lines.append("|---|---|---:|---|---|---|")
    for finding in findings:
        fault = finding.verdict == "error"
        cells = [
            _code(finding.title) + (f" {_text(finding.also)}" if finding.also else ""),
            _code(finding.metric),
            "" if fault else _text(finding.value_text),
            _text(finding.budget),
            _code(finding.place.name if finding.place else ""),
            _text(finding.reason),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _meanings(findings: list[Finding]) -> list[str]:
    """Meaning and cure of each metric that is wrong, and the command that repeats its worst."""
    worst: dict[str, Finding] = {}
    for finding in findings:
        worst.setdefault(finding.metric, finding)
    lines = []
    for metric, finding in worst.items():
        lines += ["", f"**{_text(metric)}**: {_text(finding.advice)}"]
        if finding.repeat:
            lines += ["", f"Repeat: {_code(finding.repeat)}"]
    return lines


def _list(title: str, texts: list[str]) -> list[str]:
    return ["", f"## {title}", "", *(f"- {_text(text)}" for text in texts)] if texts else []


def _text(text: str) -> str:
    """Text that is shown as it is: no markup of Markdown or HTML, no link, no cell's end."""
    text = html.escape(printable(text), quote=False)
    text = re.sub(r"[`*_\[\]~#\\|@$]", _shown, text)
    return text.replace("://", ":&#47;/")


def _shown(match: re.Match[str]) -> str:
    """A letter of markup as a letter; where a backslash before it is markup as well, its number."""
    letter = match[0]
    return f"&#{ord(letter)};" if letter in "\\|@$" else f"\\{letter}"


def _code(text: str) -> str:
    """The same in the letters of code; not in backticks, which text may hold itself."""
    return f"<code>{_text(text)}</code>" if text else ""

"""Markdown for the summary of a job, below what GitHub takes of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpgauge.facts.records import Run
from warpgauge.markdown import code, row, text
from warpgauge.outcome.limits import Kept
from warpgauge.outcome.results import VERDICTS, Finding, Results

if TYPE_CHECKING:
    from warpgauge.changes.delta import Delta

FILE = "summary-ci.md"
READER = "job summaries"
ENTRIES = "lines"
MAX_BYTES = 1_000_000  # GitHub shows nothing at all of more than 1 MiB
CHANGES = 25  # shown of a delta; diff.json has all


def entries(results: Results) -> list[str]:
    """What changed since the base, verdicts by family, then what is wrong, the worst first, then
    what is only noted."""
    lines = _delta(results.delta) if results.delta else []
    lines += [f"{'##' if lines else '#'} warpgauge: {text(results.headline)}", ""]
    lines += [f"**{text(fault)}**\n" for fault in results.faults]
    lines += [f"{_run(run)}\n" for run in results.runs]
    lines += _families(results)
    lines += _findings("Failures", results.wrong)
    lines += _meanings(results.wrong)
    noted = results.noted
    for title, found in (
        ("Moved by the environment", [finding for finding in noted if finding.verdict == "moved"]),
        ("Not sure enough to fail", [finding for finding in noted if finding.would == "fail"]),
    ):
        lines += _findings(title, found)
    lines += _list("Unmeasured", [value.text for value in results.unmeasured if not value.required])
    lines += _list("Left out", list(results.left_out))
    return lines


def document(results: Results, kept: Kept) -> str:
    lines = [*kept.entries, f"\n{kept.sentence}"] if kept.left_out else kept.entries
    return "\n".join(lines) + "\n"


def _delta(delta: Delta) -> list[str]:
    """The changes, the worst first; nothing else heads the page."""
    from warpgauge.changes.diff_markdown import changes  # which few runs have

    lines = [f"# warpgauge: {text(delta.headline)}", "", f"The base: {text(delta.origin)}."]
    return [*lines, *changes(delta.document, CHANGES), ""]


def _run(run: Run) -> str:
    """A sentence on a run."""
    commit = f"commit {run.commit[:12]}{' with changes' if run.dirty else ''}" if run.commit else ""
    toolkit = f"CUDA {run.toolkit}" if run.toolkit else ""
    devices = ", ".join(device.name for device in run.devices) or "no device"
    parts = (f"Run {run.id} at {run.time}", commit, toolkit, devices)
    return text(", ".join(filter(None, parts))) + "."


def _families(results: Results) -> list[str]:
    columns = [verdict for verdict in VERDICTS if verdict != "unbudgeted"]
    lines = [row(["family", "cases", *columns])]
    lines.append("|---|" + "---:|" * (len(columns) + 1))
    for family in results.families:
        numbers = [family.cases, *(family.counts.get(verdict, 0) for verdict in columns)]
        lines.append(row([code(family.family), *numbers]))
    return lines


def _findings(title: str, findings: list[Finding]) -> list[str]:
    if not findings:
        return []
    lines = ["", f"## {title}", "", "| case | metric | value | budget | at | why |"]
    lines.append("|---|---|---:|---|---|---|")
    for finding in findings:
        fault = finding.verdict == "error"
        cells = [
            code(finding.title) + (f" {text(finding.also)}" if finding.also else ""),
            code(finding.metric),
            "" if fault else text(finding.value_text),
            text(finding.budget),
            code(finding.place.name if finding.place else ""),
            text(finding.reason),
        ]
        lines.append(row(cells))
    return lines


def _meanings(findings: list[Finding]) -> list[str]:
    """Meaning and cure of each metric that is wrong, and the command that repeats its worst."""
    worst: dict[str, Finding] = {}
    for finding in findings:
        worst.setdefault(finding.metric, finding)
    lines = []
    for metric, finding in worst.items():
        advice = f": {text(finding.advice)}" if finding.advice else ""
        lines += ["", f"**{text(metric)}**{advice}"]
        if finding.repeat:
            lines += ["", f"Repeat: {code(finding.repeat)}"]
    return lines


def _list(title: str, texts: list[str]) -> list[str]:
    return ["", f"## {title}", "", *(f"- {text(item)}" for item in texts)] if texts else []

"""GitHub-flavoured Markdown for the summary of a job."""

from __future__ import annotations

import html
import re
from collections import Counter, defaultdict

from warpgauge.facts.catalog import catalog
from warpgauge.facts.records import Fact
from warpgauge.outcome import words
from warpgauge.outcome.results import VERDICTS, Results, unmeasured_reasons
from warpgauge.text import printable

FILE = "summary-ci.md"
READER = "job summaries"

MAX_BYTES = 1_000_000  # GitHub takes 1 MiB of a step, and nothing at all of more
_REST = 300  # bytes kept for the line that says what was left out


class _Page:
    """Lines of Markdown, no more than MAX_BYTES of them."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._left = MAX_BYTES - _REST
        self._cut = 0

    def add(self, *lines: str) -> None:
        """Adds these lines, or none of them and nothing that follows, if they are too many."""
        size = sum(len(line.encode()) + 1 for line in lines)
        if self._cut or size > self._left:
            self._cut += len(lines)
            return
        self._left -= size
        self.lines += lines

    def text(self) -> str:
        if self._cut:
            self.lines += ["", f"{self._cut} more lines were left out; the facts have them all."]
        return "\n".join(self.lines) + "\n"


def render(results: Results) -> str:
    """The verdicts by family, then what is wrong, the worst first, then what was only noted."""
    page = _Page()
    page.add(f"# warpgauge: {_text(words.headline(results))}", "")
    if results.unexplained:
        page.add(f"**{_text(results.unexplained)}**", "")
    _add_runs(page, results)
    _add_families(page, results)
    failures = [fact for fact in results.wrong if fact.verdict != "unmeasured"]
    _add_findings(page, "Failures", failures)
    _add_meanings(page, failures)
    _add_list(page, "Required, but not measured", words.required(results.wrong))
    _add_findings(page, "Moved by the environment", results.having("environment"))
    _add_findings(page, "Not sure enough to fail", results.unsure)
    _add_findings(page, "Waived", results.having("waived"))
    better = [fact for fact in results.noted if fact.verdict == "better"]
    _add_findings(page, "Better than budget", better)
    unmeasured = unmeasured_reasons(results.noted)
    _add_list(page, "Unmeasured", [f"{len(facts)} {reason}" for reason, facts in unmeasured])
    return page.text()


def _add_runs(page: _Page, results: Results) -> None:
    """A sentence for each run that facts are of."""
    runs: dict[str, list[Fact]] = defaultdict(list)
    for fact in results.facts:
        runs[fact.run].append(fact)
    for run, facts in runs.items():
        commits = words.commits(facts, digits=12)
        toolkits = words.each(fact.toolkit for fact in facts)
        parts = [
            f"Run {run} at {min(fact.time for fact in facts)}",
            commits and f"commit {commits}",
            toolkits and f"CUDA {toolkits}",
            words.devices(facts) or "no device",
        ]
        page.add(_text(", ".join(part for part in parts if part)) + ".", "")


def _add_list(page: _Page, title: str, texts: list[str]) -> None:
    if texts:
        page.add("", f"## {title}", "", *(f"- {_text(text)}" for text in texts))


def _add_families(page: _Page, results: Results) -> None:
    """A row for each family, those with failures first."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    cases: dict[str, set[str]] = defaultdict(set)
    for fact in results.facts:
        counts[fact.family][fact.verdict] += 1
        cases[fact.family].add(fact.id)
    columns = [verdict for verdict in VERDICTS if verdict != "unbudgeted"]
    page.add(f"| family | cases | {' | '.join(columns)} |", "|---|" + "---:|" * (len(columns) + 1))
    for family, verdicts in counts.items():
        numbers = [len(cases[family]), *(verdicts[verdict] for verdict in columns)]
        page.add(f"| {_code(family)} | {' | '.join(map(str, numbers))} |")


def _add_findings(page: _Page, title: str, facts: list[Fact]) -> None:
    if not facts:
        return
    page.add("", f"## {title}", "")
    page.add(
        "| case | arch | metric | value | budget | why | at |", "|---|---|---|---:|---|---|---|"
    )
    for fact in facts:
        fault = fact.verdict == "error"
        budget = f"{fact.budget or ''} {f'({fact.budget_reason})' if fact.budget_reason else ''}"
        cells = [
            _code(fact.id),
            _text(fact.arch or ""),
            _code(fact.metric),
            "" if fault else _text(words.value_text(fact)),
            _text(budget.strip()),
            _text(words.more_than_the_budget(fact)),
            _code(words.place(fact)),
        ]
        page.add(f"| {' | '.join(cells)} |")


def _add_meanings(page: _Page, facts: list[Fact]) -> None:
    """What each metric means that failed, what to do, and how to see its worst failure again."""
    worst: dict[str, Fact] = {}
    for fact in facts:
        worst.setdefault(fact.metric, fact)
    for metric, fact in worst.items():
        row = catalog()[metric]
        page.add("", f"**{_text(metric)}**: {_text(words.advice(fact) or row.meaning)}")
        page.add("", f"Repeat: {_code(words.repeat(fact))}")


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

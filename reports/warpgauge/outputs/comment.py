"""The comment on a pull request: what happened, at which line, and what to type, on ten lines; the
rest is folded."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from warpgauge.changes.kernel_rows import facts_text, kernel_name, place_of, why
from warpgauge.markdown import code, row, text
from warpgauge.outcome.limits import Kept
from warpgauge.outcome.results import Finding, Results
from warpgauge.outputs import markdown
from warpgauge.text import count, shortened_inside

if TYPE_CHECKING:
    from warpgauge.changes.delta import Key

FILE = "comment.md"
READER = "comments on pull requests"
ENTRIES = "lines"
MAX_BYTES = 60_000  # GitHub takes 65,536 letters
_REASON = 300  # letters of one: the fold has all
ROWS = 5  # of the table above the fold, which ten lines have room for
_CHOSEN = 5  # kernels that a command names; of more it takes all
_MARKS = {"fail": "over budget", "error": "error"}
_WITHIN = {"worse": "worse, not over budget", "lost": "no longer measured"}


def entries(results: Results) -> list[str]:
    """The lines above the fold, and then those of the summary, in it."""
    rows = _rows(results)
    lines = [f"### warpgauge: {text(results.headline)}", ""]
    if results.delta:
        lines += [f"{text(results.delta.headline)}.", ""]
    lines += [f"**{text(fault)}**\n" for fault in results.faults[:ROWS]]
    if rows:
        shown = _shown(rows)
        lines += [row(["", "kernel", "what", "line", "cure or cause"]), "|---|---|---|---|---|"]
        lines += [cells for _, cells in shown]
        if left := len(rows) - len(shown):
            lines += ["", f"and {left} more, below"]
    return [*lines, "", "<details><summary>All of it</summary>\n", *markdown.entries(results)]


def document(results: Results, kept: Kept) -> str:
    """The fold is closed, and then it says what to type."""
    lines = [*kept.entries, *([f"\n{kept.sentence}"] if kept.left_out else []), "\n</details>"]
    return "\n".join([*lines, *_typed(results)]) + "\n"


def _rows(results: Results) -> list[tuple[str, str]]:
    """Mark and row of each kernel: over budget, then worse, then better."""
    rows, over = [], set()
    by_kernel: dict[str, list[Finding]] = {}
    for finding in results.wrong:
        by_kernel.setdefault(finding.case.partition("@")[0], []).append(finding)
    before = results.delta.values_before if results.delta else {}
    for name, findings in by_kernel.items():
        over.add(name)
        rows.append((findings[0].verdict, _finding_row(findings, before)))
    for kernel in results.delta.kernels if results.delta else []:
        if kernel["name"] not in over and kernel["mark"] in ("worse", "lost", "better"):
            rows.append((kernel["mark"], _kernel_row(kernel)))
    return rows


def _shown(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """So many as there is room for: of losses and gains one at least, in the order of all."""
    first = {mark: i for i, (mark, _) in reversed(list(enumerate(rows)))}
    needed = [first[mark] for mark in ("worse", "lost", "better") if mark in first]
    others = [i for i in range(len(rows)) if i not in needed]
    return [rows[i] for i in sorted([*needed, *others[: max(0, ROWS - len(needed))]])]


def _finding_row(findings: list[Finding], before: dict[Key, str]) -> str:
    worst = findings[0]
    more = len(findings) - 1 + sum(len(finding.others) for finding in findings)
    place = worst.place
    source = f"<br>{code(place.text.strip())}" if place and place.text.strip() else ""
    cells = [
        f"**{_MARKS.get(worst.verdict, worst.verdict)}**",
        code(worst.name) + (f" and {count(more, 'more value')}" if more else ""),
        _problem(worst, before.get((worst.case, worst.arch, worst.metric), "")),
        (code(place.name) if place else "") + source,
        text(worst.cure if worst.verdict == "fail" else ""),
    ]
    return row(cells)


def _problem(finding: Finding, before: str) -> str:
    """ "shared.bank_conflicts 0 → 352 wavefronts, budget = 0", or what failed."""
    if finding.verdict == "error":
        return text(shortened_inside(finding.reason or finding.problem, _REASON))
    budget = f", budget {text(finding.budget)}" if finding.budget else ""
    since = f"{text(before)} →" if before else "is"
    return f"{code(finding.metric)} {since} {text(finding.value_text)}{budget}"


def _kernel_row(kernel: dict[str, Any]) -> str:
    mark = _WITHIN.get(kernel["mark"], kernel["mark"])
    cells = [mark, kernel_name(kernel), facts_text(kernel), place_of(kernel)]
    return row([*cells, why(kernel)])


def _typed(results: Results) -> list[str]:
    """What to type: the repeat command, and what accepts a budget that is meant to move."""
    repeat = next((finding.repeat for finding in results.wrong if finding.repeat), "")
    lines = [f"- again, on your machine: {code(repeat)}"] if repeat else []
    meant = [finding.case for finding in results.found if finding.verdict == "fail"]
    if meant:
        options = [*_chosen(meant), *_budget_file(repeat), "--reason 'why it is meant'"]
        words = ["accept out/facts.jsonl", *options]
        command = code(f"warpgauge {' '.join(words)}")
        lines.append(f"- if it is meant, after that run: {command}, and commit what it wrote")
    return ["", *lines] if lines else []


def _budget_file(repeat: str) -> list[str]:
    """The option that names the budget file of a program, as the command that ran it does."""
    try:
        words = shlex.split(repeat.partition(" -- ")[0])
    except ValueError:  # of an environment that is quoted in another way
        return []
    if words[1:2] not in (["emulate"], ["attach"]):
        return []
    named = words[words.index("--budgets") + 1] if "--budgets" in words[:-1] else "budgets.toml"
    return [f"--budgets {shlex.quote(named)}"]


def _chosen(cases: Iterable[str]) -> list[str]:
    """The option that chooses the kernels of these cases; none where they are many, or have names
    that no list of globs can have."""
    kernels = dict.fromkeys(case.partition("@")[0] for case in cases)
    if len(kernels) > _CHOSEN or any(set(kernel) & set("*?[],") for kernel in kernels):
        return []
    return [f"--filter {shlex.quote(','.join(f'{kernel}@*' for kernel in kernels))}"]

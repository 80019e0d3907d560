"""The runs that a page is of: those of one branch, without labels, unless others are asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from warpgauge.errors import CommandError
from warpgauge.history import Run, nights_of
from warpgauge.text import printable

MAIN = "main"


@dataclass(frozen=True, slots=True)
class RunsOfPage:
    """Runs of any of the branches that have the label. "": runs without one."""

    branches: frozenset[str]
    label: str

    def takes(self, run: Run) -> bool:
        return (run.branch or "") in self.branches and (run.label or "") == self.label


def runs_of_page(runs: Sequence[Run], branch: str | None, label: str | None) -> RunsOfPage:
    """The runs with the branch and the label that are asked for. Without a label those that have
    none, or if all have one, those with the one of most nights. Without a branch that is any for a
    label, and else main, or the branch of most nights; runs that name none belong to it."""
    of_label = _usual("", runs, lambda run: run.label or "") if label is None else label
    labelled = [run for run in runs if (run.label or "") == of_label]
    if branch is not None:
        branches = frozenset((branch,))
    elif label is not None:
        branches = frozenset(run.branch or "" for run in labelled)
    else:
        branches = frozenset((_usual(MAIN, labelled, lambda run: run.branch or ""), ""))
    chosen = RunsOfPage(branches, of_label)
    if (branch is not None or label is not None) and not any(map(chosen.takes, runs)):
        raise CommandError(_nothing_of(runs, branch, label))
    return chosen


def pages_of(runs: Sequence[Run]) -> list[RunsOfPage]:
    """The runs of each page that there can be: the usual one, and one of each other branch and
    label. They have no run in common."""
    usual = runs_of_page(runs, None, None)
    others = {(run.branch or "", run.label or "") for run in runs if not usual.takes(run)}
    return [usual, *(RunsOfPage(frozenset((branch,)), label) for branch, label in sorted(others))]


def _usual(preferred: str, runs: Iterable[Run], name_of: Callable[[Run], str]) -> str:
    """The preferred name if there is a run with it, or the one of most nights."""
    nights = Counter(name for night in nights_of(runs) for name in set(map(name_of, night)))
    if preferred in nights:
        return preferred
    return max(sorted(nights), key=nights.__getitem__, default="")


def _nothing_of(runs: Sequence[Run], branch: str | None, label: str | None) -> str:
    wishes = (("branch", branch), ("label", label))
    asked = [(what, printable(wish)) for what, wish in wishes if wish is not None]
    there = []
    for what, _ in asked:
        names = sorted({f"'{printable(name)}'" for run in runs if (name := getattr(run, what))})
        of_these = f"the {what} {', '.join(names)}" if names else f"no {what}"
        there.append(f"the runs have {of_these}")
    options = " ".join(f"--{what} '{wish}'" for what, wish in asked)
    return f"no run of the history matches {options}; {', '.join(there)}"


def other_nights(left_out: Iterable[Run]) -> list[tuple[str, int]]:
    """Runs that a page leaves out, in words, and their number of nights."""
    groups: dict[str, list[Run]] = {}
    for run in left_out:
        words = f"of branch {run.branch}" if run.branch else "without a branch"
        words += f", labelled {run.label}" if run.label else ""
        groups.setdefault(words, []).append(run)
    return [(words, len(nights_of(group))) for words, group in sorted(groups.items())]

"""What of a run becomes a budget, and what must not."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass

from warpgauge_report.catalog import catalog
from warpgauge_report.facts import Fact
from warpgauge_report.output import ReportError

from warpgauge_ci.budget_file import BudgetFile
from warpgauge_ci.budget_limits import (
    BUILT_IN,
    Limit,
    asked_for,
    is_same,
    is_storable,
    limit_text,
)
from warpgauge_ci.placing import Move

_MOST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Wish:
    """What the user asked for. metrics: those that --baseline adds where there is no budget."""

    reason: str | None
    tighten_only: bool
    baseline: bool
    metrics: frozenset[str]
    today: datetime.date

    def takes(self, fact: Fact) -> bool:
        """Whether the fact is to become a budget, if that is allowed."""
        if self.baseline:
            breaks_default = fact.verdict == "fail" and is_built_in(fact)
            return breaks_default or (fact.verdict == "unbudgeted" and fact.metric in self.metrics)
        return fact.verdict == "better" or (fact.verdict == "fail" and not self.tighten_only)

    def reason_for(self, move: Move) -> str | None:
        """The reason that is written into the line; None: it keeps its own, if it has one."""
        if self.baseline and self.reason is None:
            return f"baseline of {move.fact.time[:10]}"
        return self.reason if move.loosens else None


def is_built_in(fact: Fact) -> bool:
    return (fact.budget_reason or "").startswith(BUILT_IN)


def find_moves(facts: Iterable[Fact], files: dict[str, BudgetFile], wish: Wish) -> list[Move]:
    """The facts that are to become budgets, but for those that are one already.

    Raises ReportError if a budget file is not the one that the facts were held against.
    """
    moves, stale = [], []
    for fact in facts:
        if not wish.takes(fact):
            continue
        file, row = files[fact.family], catalog()[fact.metric]
        holder = file.holder(fact)
        old = _built_in(fact) if holder is None else file.limit(holder, fact.metric)
        new = asked_for(fact, row, old, wish.today)
        if old is not None and is_same(old, new, row):
            continue  # accepted before
        known = None if old is None else limit_text(old, row)
        if fact.budget != known or (holder is None and fact.budget and not is_built_in(fact)):
            stale.append(
                f"{name(fact)} was held against '{fact.budget}', but {file.name} says "
                f"'{known or 'nothing'}': run the gate again"
            )
        moves.append(Move(fact, old, new, loosens=fact.verdict != "better"))
    if stale:
        raise ReportError("\n".join([*_some(stale), "nothing was written"]))
    return moves


def refusals(moves: Iterable[Move], wish: Wish) -> list[str]:
    """Why these must not become budgets, a sentence for each; empty if they may."""
    found = [f"{name(m.fact)}: {why}" for m in moves if (why := _objection(m, wish))]
    return _some(found)


def name(fact: Fact) -> str:
    return f"{fact.id}{f' on {fact.arch}' if fact.arch else ''}: {fact.metric}"


def _objection(move: Move, wish: Wish) -> str | None:
    fact = move.fact
    row = catalog()[fact.metric]
    if fact.metric == "result.correct":
        return "a wrong result is never a budget; mend the kernel"
    if row.cls == "exact" and fact.confidence != "exact":
        return (
            f"{fact.value} is only {fact.confidence} ({fact.confidence_reason}); measure it where "
            "it is exact"
        )
    if fact.dirty:
        return (
            "measured from sources with changes that are not committed; commit them, and run the "
            "gate again"
        )
    if fact.machine is not None and fact.machine.disturbance is not None:
        return f"the GPU was disturbed ({fact.machine.disturbance}); measure again"
    if not is_storable(move.new):
        return f"{fact.value} is more than a budget file can hold (2^53)"
    if move.loosens and not wish.baseline and wish.reason is None:
        return (
            f"{fact.value} is over its budget {fact.budget}; say why it may be with --reason, or "
            "leave it out with --tighten"
        )
    return None


def _built_in(fact: Fact) -> Limit | None:
    """The built-in limit as the fact tells it."""
    if not is_built_in(fact) or not (fact.budget or "").startswith("= "):
        return None
    return {"equal": float(fact.budget[2:])}


def _some(sentences: list[str]) -> list[str]:
    left = len(sentences) - _MOST_SHOWN
    return sentences[:_MOST_SHOWN] + ([f"and {left} more"] if left > 0 else [])

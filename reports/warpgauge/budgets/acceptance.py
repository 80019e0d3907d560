"""Selects the values of a run that become budgets."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath
from typing import NamedTuple

from warpgauge.budgets.budget_file import BudgetFile
from warpgauge.budgets.limits import Limit, asked_for, is_limit, is_same, limit_text, of_held
from warpgauge.budgets.placing import Move
from warpgauge.errors import CommandError
from warpgauge.facts.catalog import catalog
from warpgauge.facts.records import Fact

_MOST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Wish:
    """The options of the user. metrics: those that --baseline adds where there is no budget; code:
    whether their lines name the code that was measured."""

    reason: str | None
    tighten_only: bool
    baseline: bool
    metrics: frozenset[str]
    code: bool
    today: datetime.date

    def takes(self, fact: Fact) -> bool:
        """Whether the fact is to become a budget, if its budget file and the rest allow it."""
        if self.baseline:
            is_new = fact.verdict == "unbudgeted" and fact.metric in self.metrics
            return is_new or fact.verdict == "fail"
        return fact.verdict == "better" or (fact.verdict == "fail" and not self.tighten_only)

    def reason_for(self, move: Move) -> str | None:
        """The reason that is written into the line; None: it keeps its own, if it has one."""
        if self.baseline and self.reason is None:
            return f"baseline of {move.fact.run.time[:10]}"
        return self.reason if move.loosens else None


class Moves(NamedTuple):
    """The values that become budgets, and the number of values over budget that do not."""

    moves: list[Move]
    left: int


def find_moves(facts: Iterable[Fact], files: dict[str, BudgetFile], wish: Wish) -> Moves:
    """The facts that are to become budgets, but for those that are one already.

    Raises CommandError if a budget file is not the one that the facts were held against.
    """
    moves, stale, left = [], [], 0
    for fact in facts:
        if not wish.takes(fact):
            left += fact.verdict == "fail"
            continue
        file, row = files[fact.family], catalog()[fact.metric]
        holder = file.holder(fact)
        old = _in_no_line(fact, file) if holder is None else file.limit(holder, fact.metric)
        new = asked_for(fact, row, old, wish.today, wish.code)
        if old is not None and is_same(old, new, row):
            continue  # accepted before
        if not is_limit(fact.limit, old, row):
            held = fact.limit.text if fact.limit else "nothing"
            says = "nothing" if old is None else limit_text(old, row)
            stale.append(
                f"{name(fact)} was held against '{held}', but {file.name} says '{says}': "
                "run the gate again"
            )
        moves.append(Move(fact, old, new, loosens=fact.verdict != "better"))
    if stale:
        raise CommandError(*first_of(stale), "nothing was written")
    return Moves(moves, left)


def name(fact: Fact) -> str:
    return f"{fact.id}{f' on {fact.arch}' if fact.arch else ''}: {fact.metric}"


def first_of(sentences: list[str]) -> list[str]:
    """So many of the sentences as people read, and how many are left."""
    left = len(sentences) - _MOST_SHOWN
    return sentences[:_MOST_SHOWN] + ([f"and {left} more"] if left > 0 else [])


def _in_no_line(fact: Fact, file: BudgetFile) -> Limit | None:
    """The limit of a fact that comes from elsewhere than its family's budget file: a built-in
    default, or a line of the project's file. None if there is none."""
    if fact.limit is None:
        return None
    origin = PurePath(fact.limit.origin.rpartition(":")[0])
    return None if origin.name == file.path.name else of_held(fact.limit)

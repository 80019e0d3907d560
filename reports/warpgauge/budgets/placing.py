"""Chooses the table of a budget file for the new limit of a case.

That of the old line, if all its values have moved to the same limit; otherwise the widest table
that touches nothing else. So one case that breaks a line of its family does not loosen it for the
others: it gets a section of its own. Nor is a line loosened for cases that may exist and were not
measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from warpgauge.budgets.budget_file import BudgetFile, Place
from warpgauge.budgets.limits import Limit, is_same
from warpgauge.errors import CommandError
from warpgauge.facts.catalog import Metric
from warpgauge.facts.records import Fact


class Move(NamedTuple):
    """A value that is to have another limit."""

    fact: Fact
    old: Limit | None
    new: Limit
    loosens: bool


class Placing:
    """Finds the tables for one metric in one file."""

    def __init__(
        self, metric: Metric, moves: Sequence[Move], facts: Sequence[Fact], file: BudgetFile
    ) -> None:
        """`facts`: all of the metric, those that do not move or have no value among them."""
        self._metric, self._file = metric, file
        self._moves = {(move.fact.id, move.fact.arch): move for move in moves}
        self._facts = [(fact, file.places_of(fact), file.holder(fact)) for fact in facts]

    def lines(self) -> dict[Place, list[Move]]:
        """The moves by the table that their new limit stands in; the first of each has the limit
        that all of them keep to. Without those that would tighten a line for others that do not
        move: kernels of several files can have one section."""
        found: dict[Place, list[Move]] = {}
        for move in self._moves.values():
            found.setdefault(self.place(move), []).append(move)
        lines = {}
        for place, moves in found.items():
            if any(move.loosens for move in moves) or not self._is_for_others(place):
                loosest = self._loosest(place, moves)
                lines[place] = [loosest, *(move for move in moves if move is not loosest)]
        return lines

    def _is_for_others(self, place: Place) -> bool:
        """Whether a table would hold for values that do not move."""
        return any(
            fact.value is not None
            and (fact.id, fact.arch) not in self._moves
            and _holds(place, places, holder)
            for fact, places, holder in self._facts
        )

    def _loosest(self, place: Place, moves: Sequence[Move]) -> Move:
        """The move whose limit holds for the others, too."""
        loosest, *others = [move for move in moves if move.loosens] or moves
        for move in others:
            if is_same(move.new, loosest.new, self._metric):
                continue
            value, other = move.fact.value, loosest.fact.value
            are_numbers = isinstance(value, int | float) and isinstance(other, int | float)
            if not are_numbers or self._metric.direction == "none":
                raise CommandError(
                    f"{self._file.name}: {place.header()} {self._metric.id} would be of "
                    f"{move.fact.id}, {value}, and of {loosest.fact.id}, {other}: write "
                    "the line by hand"
                )
            if self._metric.is_better(move.fact.numeric, loosest.fact.numeric):
                loosest = move
        return loosest

    def place(self, move: Move) -> Place:
        """The table for the new limit of a move; that of its own case if no other will do."""
        *wider, own = self._candidates(move.fact)
        return next((place for place in wider if self._fits(place, own, move)), own)

    def _candidates(self, fact: Fact) -> list[Place]:
        """The old line's table and those within it, the widest first."""
        holder = self._file.holder(fact)
        names = self._file.sections_of(fact)[::-1]
        names = names[names.index(holder.section) :] if holder else names[1:]
        archs = [fact.arch] if holder and holder.arch else dict.fromkeys([None, fact.arch])
        return [Place(name, arch) for name in names for arch in archs]

    def _fits(self, place: Place, own: Place, move: Move) -> bool:
        """Whether a table holds for moves to the same limit only, and is not too wide for them."""
        touched = [fact for fact, places, holder in self._facts if _holds(place, places, holder)]
        if not self._all_move_alike(touched, move):
            return False
        of_several_cases = len({fact.id for fact in touched if fact.value is not None}) > 1
        if place.section == "default":  # it is for cases, too, that the facts do not have
            return of_several_cases and not move.loosens
        # One case has a section of its own, or stays in that of the old line unless this loosens.
        holder = self._file.holder(move.fact)
        is_old = holder is not None and place.section == holder.section
        is_for_one = place.section == own.section or (is_old and not move.loosens)
        if not of_several_cases and not is_for_one:
            return False
        return is_old or place.arch is not None or not self._hides_archs(place, move.fact)

    def _all_move_alike(self, touched: Sequence[Fact], move: Move) -> bool:
        """Whether all values move to the limit of `move`; it may loosen none that is missing."""
        measured = [fact for fact in touched if fact.value is not None]
        known = {(fact.id, fact.arch) for fact in measured}
        if move.loosens and any((fact.id, fact.arch) not in known for fact in touched):
            return False
        others = [self._moves.get((fact.id, fact.arch)) for fact in measured]
        return all(
            other is not None and is_same(other.new, move.new, self._metric) for other in others
        )

    def _hides_archs(self, place: Place, fact: Fact) -> bool:
        """Whether a wider section has lines for single architectures, which need not be in the
        facts."""
        names = self._file.sections_of(fact)
        wider = names[names.index(place.section) + 1 :]
        return any(self._file.archs_with(name, fact.metric) for name in wider)


def _holds(place: Place, places: list[Place], holder: Place | None) -> bool:
    """Whether a line in this table would be the one that holds for a fact with these places."""
    if place not in places:
        return False
    return holder is None or places.index(place) <= places.index(holder)

"""A report, and what tables and pictures need of it, worked out once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from warpgauge.changes.change import Change
from warpgauge.page import curves, generations, speeds
from warpgauge.page.cards import Card, cards
from warpgauge.page.groups import Blame, Group, blame_of, groups, range_of
from warpgauge.page.regressions import Regression
from warpgauge.page.report import Report
from warpgauge.page.rows import Move, Row
from warpgauge.page.speeds import Roofline, Speed
from warpgauge.repository import Range, Repository


@dataclass(frozen=True)
class Contents:
    """A report with the tables that pictures and page draw. The repository knows the commits."""

    report: Report
    repository: Repository | None = None

    def groups(self, moves: Iterable[Move]) -> list[Group]:
        """Changes by commits and cause, with what lies between the commits."""
        return groups(moves, self.repository)

    def range_of(self, change: Change) -> Range | None:
        """The commits that can have made a change, if they are known."""
        return range_of(change, self.repository)

    def blame_of(self, change: Change) -> Blame | None:
        """The commit that is to blame for a change, if one can be and it is known."""
        return blame_of(change, self.range_of(change))

    def group_of(self, row: Row) -> Group | None:
        """The newest change that made a value worse and lasts, with its commits."""
        found = [Move((row,), change) for change in row.changes if change.is_open]
        return self.groups(found[-1:])[0] if found else None

    @cached_property
    def new(self) -> list[Group]:
        """What was found with the last night."""
        return self.groups(self.report.new)

    @cached_property
    def open(self) -> list[Regression]:
        """The open ones of values that are not over budget anyway."""
        return [
            regression
            for regression in self.report.regressions
            if regression.is_open
            and {row.number for row in regression.rows} - self.report.wrong_rows
        ]

    @cached_property
    def losses(self) -> list[Card]:
        """What is over budget, then what is open, last what looks to be back."""
        still, back = (
            [regression.move for regression in self.open if bool(regression.back) == is_back]
            for is_back in (False, True)
        )
        over = [(finding, self.group_of(finding.rows[0])) for finding in self.report.over]
        return cards(over, [*self.groups(still), *self.groups(back)])

    @cached_property
    def wins(self) -> list[Card]:
        """What got better, the newest first."""
        found = self.groups(self.report.wins)
        return cards((), sorted(found, key=lambda group: group.run.time, reverse=True))

    @cached_property
    def values(self) -> generations.Values:
        return generations.latest_values(self.report.current)

    @cached_property
    def matrix(self) -> generations.Matrix:
        return generations.matrix(self.values)

    @cached_property
    def speeds(self) -> list[Speed]:
        return speeds.speeds(self.report.current)

    @cached_property
    def rooflines(self) -> list[Roofline]:
        return speeds.rooflines(self.speeds)

    @cached_property
    def curves(self) -> list[curves.Curves]:
        return curves.curves(self.speeds)

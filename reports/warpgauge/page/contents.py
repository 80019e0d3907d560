"""A report, and what tables and pictures need of it, worked out once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from warpgauge.changes.change import Change
from warpgauge.page import curves, generations, speeds
from warpgauge.page.groups import Group, groups, range_of
from warpgauge.page.report import Report
from warpgauge.page.rows import Move
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

    @cached_property
    def new(self) -> list[Group]:
        """What was found with the last night."""
        return self.groups(self.report.new)

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

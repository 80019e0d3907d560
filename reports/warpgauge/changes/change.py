"""A change of a series: from what to what, when, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from warpgauge.changes.causes import Cause, cause_of, details_of, is_of_the_machine
from warpgauge.facts.catalog import Metric
from warpgauge.history.model import Point, Run

Value = float | str  # in the unit of the series, or words


@dataclass(frozen=True, slots=True)
class PlacedPoint:
    """A point, and its place in the series."""

    index: int
    point: Point


@dataclass(frozen=True, slots=True)
class Change:
    """A series changed at points[index], in `run`. What was measured last before is
    points[previous_index], in `previous`."""

    index: int
    run: Run
    before: Value  # of noisy metrics before and after are the medians of the levels, as they were
    after: Value  # when the change was found
    ratio: float | None  # after / before; None for words and where before is 0
    better: bool | None  # None where no direction is the better one
    cause: Cause
    details: tuple[str, ...]  # sentences of what else changed between the two runs
    previous: Run
    previous_index: int
    detected: Run  # the run with which the change was found
    recovered: Run | None  # the run with which the value was back; None: it is not
    nights: int | None = None  # of a drift: how long it took; None: from one night to the next
    sources: tuple[str, ...] = ()  # the files that facts blame, the likeliest first
    registered: str | None = None  # the file of the registration
    back: Run | None = None  # since then it looks to be back, which more nights confirm or not

    @property
    def mark(self) -> Literal["worse", "better", "moved", "changed"]:
        """The mark that `warpgauge diff` has for it; "moved": by the machine, to either side."""
        if is_of_the_machine(self.cause):
            return "moved"
        return "changed" if self.better is None else "better" if self.better else "worse"

    @property
    def bad(self) -> Run:
        """The first run that has all of it, as it was found: a drift has nothing yet in `run`."""
        return self.detected if self.nights else self.run

    @property
    def is_open(self) -> bool:
        """Whether the value got worse, and has not recovered."""
        return self.mark == "worse" and self.recovered is None


def change_between(
    metric: Metric, old: PlacedPoint, new: PlacedPoint, before: Value, after: Value
) -> Change:
    """The change of a metric from one point of a series to another one."""
    better = ratio = None
    if not isinstance(before, str) and not isinstance(after, str):
        ratio = after / before if before != 0 else None
        costs = metric.cost != "explains" or _has_budget(old.point) or _has_budget(new.point)
        if costs:
            better = metric.is_better(before, after)
    return Change(
        index=new.index,
        run=new.point.run,
        before=before,
        after=after,
        ratio=ratio,
        better=better,
        cause=cause_of(old.point, new.point, noisy=metric.cls != "exact"),
        details=details_of(old.point, new.point),
        previous=old.point.run,
        previous_index=old.index,
        detected=new.point.run,
        recovered=None,
        sources=tuple(dict.fromkeys(new.point.sources + old.point.sources)),
        registered=new.point.registered,
    )


def _has_budget(point: Point) -> bool:
    """Whether a budget was held against it: what only explains other values costs then, too."""
    return point.verdict not in ("unbudgeted", "unmeasured")

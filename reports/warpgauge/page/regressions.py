"""The values that got worse and did not recover: open until they do, or until someone acknowledges
them (`warpgauge report ack`)."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from warpgauge.changes import series as changes
from warpgauge.changes.change import Change
from warpgauge.command_line import as_started
from warpgauge.history import Acknowledgement, Run, SeriesKey
from warpgauge.page.rows import TIME, Move, Row, is_derived, place_of
from warpgauge.text import printable

FOR_GOOD = date(2999, 1, 1)  # days from here on mean that it never runs out
Acknowledgements = Mapping[SeriesKey, Sequence[Acknowledgement]]  # the newest last


@dataclass(frozen=True, slots=True)
class Regression:
    """Rows of one case and metric that got worse alike. `age` is the number of nights since that
    was found. `acknowledgement` is the newest of it; one that has run out leaves it open."""

    move: Move
    age: int
    acknowledgement: Acknowledgement | None
    is_open: bool

    @property
    def rows(self) -> tuple[Row, ...]:
        return self.move.rows

    @property
    def known(self) -> str | None:
        """Until when and why it is acknowledged; that of a year like 2999 is for good."""
        found = self.acknowledgement
        if found is None:
            return None
        until = "for good" if found.until >= FOR_GOOD else f"until {found.until}"
        return f"{until}: {found.reason}"

    @property
    def command(self) -> str:
        """The line of a shell that acknowledges these rows; reason and day are to be filled in."""
        key = self.move.key
        name = key.name if len(self.rows) == 1 else f"{key.id}/{key.metric}"
        line = f"warpgauge report ack {shlex.quote(printable(name))} --reason REASON --until DATE"
        return as_started(line)

    @property
    def back(self) -> Run | None:
        """The run since which it looks to be back, where that is not confirmed yet."""
        return self.move.change.back


def regressions(
    rows: Iterable[Row], ages: dict[str, int], acknowledged: Acknowledgements, night: date
) -> list[Regression]:
    """Those of the rows on a night: the open ones first, then by effect and size. A speed that
    follows from a time is not listed beside it."""
    worse = [row for row in rows if changes.regressions(row.changes, row.metric)]
    times = {place_of(row.key) for row in worse if row.key.metric == TIME}
    groups: dict[tuple, list[Row]] = defaultdict(list)
    for row in worse:
        if is_derived(row.key) and place_of(row.key) in times:
            continue
        change, found = _state(row, acknowledged.get(row.key, ()), night)
        age = ages[change.detected.id]
        now = row.last.text or row.last.value
        alike = (row.key.id, row.key.metric, change.before, change.after, now, age, found)
        groups[alike].append(row)
    listed = []
    for (*_, age, found), group in groups.items():
        change, _ = _state(group[0], acknowledged.get(group[0].key, ()), night)
        is_open = found is None or found.until < night
        listed.append(Regression(Move(tuple(group), change), age, found, is_open))
    return sorted(listed, key=_rank)


def _rank(regression: Regression) -> tuple:
    return (not regression.is_open, regression.move.gravity)


def _state(
    row: Row, acknowledged: Sequence[Acknowledgement], night: date
) -> tuple[Change, Acknowledgement | None]:
    """The first change of a row that makes it worse, and its acknowledgement. What was found after
    an acknowledgement is not part of it."""
    found = changes.regressions(row.changes, row.metric)
    states = [(change, _newest(change, acknowledged)) for change in found]
    still = [state for state in states if not state[1] or state[1].until < night]
    return (still or states)[0]


def _newest(change: Change, acknowledged: Sequence[Acknowledgement]) -> Acknowledgement | None:
    covering = (
        acknowledgement
        for acknowledgement in reversed(acknowledged)
        if change.detected.time <= acknowledgement.covers
    )
    return next(covering, None)

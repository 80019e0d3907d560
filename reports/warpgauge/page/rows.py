"""The state of each series: its newest value, its changes, and since when it is bad."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from warpgauge.changes.change import Change
from warpgauge.changes.suspicions import suspicion
from warpgauge.facts.catalog import Metric, catalog
from warpgauge.history.model import Point, Run, Series, SeriesKey

BAD = ("error", "fail")  # what makes a night red
NOTEWORTHY = ("moved", "waived", "unmeasured", "better")  # listed in this order
TIME, _DERIVED = "time.median_us", ("throughput.", "time.relative_to")
_COSTS = ("direct", "occupancy", "size", "explains")  # of metrics, the dearest first
SPARK = 40  # newest values that a sparkline shows


@dataclass(frozen=True, slots=True)
class Row:
    """A series on the page. `number` is its place in the page's data, which links name.

    `age` is the number of nights since it was last there: 0 for the last night. `bad_since` is the
    first run of the stretch over budget that lasts until now, None if it is within its budget.
    `hidden` is the number of points that the page does not show because they are too old.
    `suspicion` is a change that the last night makes suspect.
    """

    number: int
    key: SeriesKey
    last: Point
    changes: tuple[Change, ...]
    spark: tuple[float | None, ...]
    age: int
    bad_since: Run | None
    hidden: int
    suspicion: Change | None = None

    @property
    def metric(self) -> Metric:
        return catalog()[self.key.metric]

    @property
    def finder(self) -> str:
        return finder_of(self.key)

    @property
    def where(self) -> str:
        return where_of(self.key)


def finder_of(key: SeriesKey) -> str:
    """The GPU or the program that a value is from."""
    if key.device_name == f"Emulated GPU ({key.arch})":
        return "emulator"
    return key.device_name or key.source or "not measured"


def where_of(key: SeriesKey) -> str:
    """The architecture, and the GPU or program that the value is from."""
    return f"{key.arch or 'no architecture'}, {finder_of(key)}"


@dataclass(frozen=True, slots=True)
class Move:
    """Rows of one case and metric that changed alike: on several architectures, for instance."""

    rows: tuple[Row, ...]
    change: Change

    @property
    def key(self) -> SeriesKey:
        return self.rows[0].key

    @property
    def now(self) -> Change:
        """The change up to the newest value, if that can be compared."""
        last = self.rows[0].last
        value = last.text if last.value is None else last.value
        if value is None or last.disturbance:
            return self.change
        return replace(self.change, after=value, nights=None)

    @property
    def is_as_before(self) -> bool:
        """Whether the newest value does not differ from the one before the change, or only to the
        other side."""
        before, after, now = self.change.before, self.change.after, self.now.after
        if isinstance(before, str) or isinstance(after, str) or isinstance(now, str):
            return now == before
        return (now - before) * (after - before) <= 0

    @property
    def before_index(self) -> int | None:
        """The place of the point before the change, of those of its series that the page shows."""
        return _shown(self.rows[0], self.change.previous_index)

    @property
    def index(self) -> int | None:
        """That of the change."""
        return _shown(self.rows[0], self.change.index)

    @property
    def size(self) -> float:
        """The size of the change in either direction: |ln(after / before)|; infinite where one
        of them is 0 or a word."""
        before, after = self.change.before, self.change.after
        if isinstance(before, str) or isinstance(after, str) or before * after <= 0:
            return math.inf
        return abs(math.log(after / before))

    @property
    def effect(self) -> tuple[bool, bool, int]:
        """Less where a worse value matters more: what is over budget, then, as `warpgauge diff` has
        it, what every kernel has a budget for, then times and what they follow from, then what
        costs occupancy, then size, then what only explains."""
        metric = self.rows[0].metric
        is_over = any(row.last.verdict in BAD for row in self.rows)
        return not is_over, metric.built_in is None, _COSTS.index(metric.cost)

    @property
    def gravity(self) -> tuple:
        """What matters most first, and of that the largest."""
        return self.effect, self.rank

    @property
    def rank(self) -> tuple:
        """The largest first; of those that are infinitely large the worse ones, then by amount."""
        amounts = [v for v in (self.change.before, self.change.after) if not isinstance(v, str)]
        amount = max(map(abs, amounts), default=0)
        return (-self.size, self.change.better is not False, -amount, self.key.id, self.key.metric)


def _shown(row: Row, index: int) -> int | None:
    return index - row.hidden if index >= row.hidden else None


def make_row(
    number: int, series: Series, changes: Sequence[Change], ages: dict[str, int], hidden: int
) -> Row:
    """A row of a series that has points; `ages` has the nights since each run, by its id."""
    points = series.points
    return Row(
        number,
        series.key,
        points[-1],
        tuple(changes),
        tuple(point.value for point in points[-SPARK:]),
        ages[points[-1].run.id],
        _bad_since(points),
        hidden,
        suspicion(series, catalog()[series.key.metric], changes),
    )


def _bad_since(points: Sequence[Point]) -> Run | None:
    since = None
    for point in reversed(points):
        if point.verdict not in BAD:
            break
        since = point.run
    return since


def moves(rows: Iterable[Row], ages: dict[str, int], youngest: int, oldest: int) -> list[Move]:
    """The changes detected in nights of these ages, the largest first."""
    groups: dict[tuple, list[tuple[Row, Change]]] = defaultdict(list)
    for row in rows:
        for change in row.changes:
            if youngest <= ages[change.detected.id] <= oldest:
                alike = (row.key.id, row.key.metric, change.before, change.after, change.cause)
                ages_of = (ages[change.run.id], ages[change.detected.id], change.is_open)
                groups[*alike, *ages_of].append((row, change))
    found = [Move(tuple(row for row, _ in group), group[0][1]) for group in groups.values()]
    return sorted(found, key=lambda move: move.rank)


def wins(rows: Iterable[Row], ages: dict[str, int], nights: int) -> list[Move]:
    """What got better, as the newest nights found, and did not change since; the largest first."""
    lasting = [
        replace(row, changes=(own[-1],))
        for row in rows
        if (own := [change for change in row.changes if change.mark != "moved"])
        and own[-1].mark == "better"
    ]
    return without_derived([move for move in moves(lasting, ages, 0, nights - 1) if matters(move)])


def suspicions(rows: Iterable[Row]) -> list[Move]:
    """What the last night makes suspect, the largest first."""
    found = [Move((row,), row.suspicion) for row in rows if row.age == 0 and row.suspicion]
    return sorted(found, key=lambda move: move.rank)


def is_derived(key: SeriesKey) -> bool:
    """Whether it says in other units what a time of the same case says."""
    return key.metric.startswith(_DERIVED)


def place_of(key: SeriesKey) -> tuple:
    """What a time and the speeds that follow from it have in common."""
    return key.id, key.arch, key.device_name


def without_derived(found: Sequence[Move]) -> list[Move]:
    """Without speeds that say in other units what a time of the same case says that moved in the
    same run."""
    times = {
        (*place_of(row.key), move.change.run.id)
        for move in found
        if move.key.metric == TIME
        for row in move.rows
    }
    return [
        move
        for move in found
        if not is_derived(move.key)
        or any((*place_of(row.key), move.change.run.id) not in times for row in move.rows)
    ]


def disturbed(rows: Iterable[Row]) -> list[Row]:
    """What something disturbed in the last night, by case; without speeds that follow from a time
    that was."""
    found = [row for row in rows if row.age == 0 and row.last.disturbance]
    times = {place_of(row.key) for row in found if row.key.metric == TIME}
    kept = (row for row in found if not (is_derived(row.key) and place_of(row.key) in times))
    return sorted(kept, key=lambda row: (row.key.id, row.key.metric, row.where))


def values_of(moves: Iterable[Move]) -> int:
    """How many values changed."""
    return sum(len(move.rows) for move in moves)


def matters(move: Move) -> bool:
    """False for what is only a description: of metrics that have no better direction, or that
    are never judged."""
    return move.change.better is not None and move.rows[0].metric.cls != "info"


def current(rows: Sequence[Row]) -> list[Row]:
    """Without cases that are no more: those that their family had in a place once, and did not when
    the same metric was last measured there."""
    newest: dict[tuple, int] = {}
    for row in rows:
        group = _group(row)
        newest[group] = min(row.age, newest.get(group, row.age))
    return [row for row in rows if row.age == newest[_group(row)]]


def _group(row: Row) -> tuple:
    key = row.key
    return key.family, key.metric, key.arch, key.source, key.device_name


@dataclass(frozen=True, slots=True)
class Missing:
    """Values of the night before that the last night lacks: all values of a place or a
    case of which nothing else was measured either, or those of one case and metric (`value`)."""

    rows: tuple[Row, ...]
    what: Literal["place", "case", "value"]


def missing(rows: Sequence[Row]) -> list[Missing]:
    """First the places that are missing as a whole, then cases, then single values. An error of a
    case that was measured by the same in the last night is over, not missing."""
    places = {row.where for row in rows if row.age == 0}
    finders = {row.finder for row in rows if row.age == 0}
    cases = {row.key.id for row in rows if row.age == 0}
    measured = {(row.key.id, row.finder) for row in rows if row.age == 0}
    groups: dict[tuple, list[Row]] = defaultdict(list)
    for row in rows:
        if row.age != 1 or row.key.source is None:
            continue
        if row.last.verdict == "error" and (row.key.id, row.finder) in measured:
            continue
        # (Errors have no architecture, and would be a place of their own.)
        if row.finder not in finders or (row.key.arch and row.where not in places):
            groups["place", row.where].append(row)
        elif row.key.id not in cases:
            groups["case", row.key.id].append(row)
        else:
            groups["value", row.key.id, row.key.metric].append(row)
    order = ("place", "case", "value")
    found = [Missing(tuple(gone), what) for (what, *_), gone in groups.items()]
    return sorted(found, key=lambda lost: order.index(lost.what))


def new_cases(rows: Iterable[Row], known: Set[str]) -> list[tuple[Row, ...]]:
    """The rows of each case that was not known before the last night."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.key.id not in known:
            groups[row.key.id].append(row)
    return [tuple(groups[id]) for id in sorted(groups)]


@dataclass(frozen=True, slots=True)
class Finding:
    """Rows of one case and metric that have the same verdict, value and budget."""

    rows: tuple[Row, ...]

    @property
    def key(self) -> SeriesKey:
        return self.rows[0].key

    @property
    def last(self) -> Point:
        return self.rows[0].last

    @property
    def bad_since(self) -> Run | None:
        """The first run of the oldest of the stretches."""
        runs = [row.bad_since for row in self.rows if row.bad_since]
        return min(runs, key=lambda run: run.time, default=None)


def _since_when(finding: Finding) -> datetime:
    assert finding.bad_since is not None  # its last value is bad
    return finding.bad_since.time


def findings(rows: Iterable[Row], verdict: str) -> list[Finding]:
    """The values of the last night with a verdict, those that became bad last first."""
    groups: dict[tuple, list[Row]] = defaultdict(list)
    for row in rows:
        if row.age == 0 and row.last.verdict == verdict:
            last = row.last
            groups[row.key.id, row.key.metric, last.value, last.text, last.budget].append(row)
    found = [Finding(tuple(group)) for group in groups.values()]
    found.sort(key=lambda finding: (finding.key.id, finding.key.metric))
    if verdict in BAD:
        found.sort(key=_since_when, reverse=True)
    return found

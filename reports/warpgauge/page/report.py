"""Everything the page and the digest say, found in one walk over the history."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from warpgauge.changes.change import Change
from warpgauge.changes.series import changes
from warpgauge.changes.series import regressions as regressions_of
from warpgauge.command_line import as_started
from warpgauge.errors import CommandError
from warpgauge.facts.case_filter import EVERY_CASE, CaseFilter
from warpgauge.facts.catalog import catalog
from warpgauge.history import Run, Series, is_possible, nights_of
from warpgauge.page.differences import Difference, differences
from warpgauge.page.encode import Encoder
from warpgauge.page.headline import headline
from warpgauge.page.moved import moved
from warpgauge.page.regressions import Acknowledgements, Regression, regressions
from warpgauge.page.rows import (
    BAD,
    NOTEWORTHY,
    Finding,
    Missing,
    Move,
    Row,
    current,
    disturbed,
    findings,
    make_row,
    matters,
    missing,
    moves,
    new_cases,
    suspicions,
    values_of,
    wins,
    without_derived,
)
from warpgauge.text import count, printable

RECENT = 7  # nights after which a win is no news


@dataclass(frozen=True, slots=True)
class Report:
    """Findings, changes and all rows of a history. Rows and findings are of the newest values.

    `new` is what was first found with the last night, the gravest first, `earlier` what was found
    before, both without speeds that follow from a time; `described` are changes of metrics that are
    never judged.
    `wins` is what got better in the RECENT nights, and lasts.
    `moved` is what the machine moved and is not back, one change of each series. `suspected` is
    what the last night makes suspect to be worse, and `disturbed` what it could not compare.
    `regressions` is what got worse in any night, also before those shown, and did not recover.
    `current` are the rows without cases that are no more. `missing` was there the night before and
    not in the last one; `new_cases` were in no night before it. `data` is the JSON of the page's
    script; `cut` series have only their newest values in it. `misdated` runs are in no night,
    because their times are impossible; `others` are of other branches or labels.
    """

    nights: tuple[tuple[Run, ...], ...]
    all_nights: int
    rows: tuple[Row, ...]
    current: tuple[Row, ...]
    differences: tuple[Difference, ...]
    verdicts: Counter[str]
    over: tuple[Finding, ...]
    noteworthy: dict[str, tuple[Finding, ...]]
    new: tuple[Move, ...]
    wins: tuple[Move, ...]
    described: tuple[Move, ...]
    earlier: tuple[Move, ...]
    moved: tuple[Move, ...]
    suspected: tuple[Move, ...]
    disturbed: tuple[Row, ...]
    regressions: tuple[Regression, ...]
    missing: tuple[Missing, ...]
    new_cases: tuple[tuple[Row, ...], ...]
    data: str
    cut: int
    misdated: tuple[Run, ...]
    others: tuple[Run, ...]

    @property
    def last_night(self) -> tuple[Run, ...]:
        return self.nights[-1]

    @property
    def judged(self) -> int:
        """Values of the last night that were held against a budget."""
        return sum(self.verdicts[v] for v in ("pass", "better", "waived", "moved", *BAD))

    @property
    def gone(self) -> int:
        """Values of the night before that are missing."""
        return sum(len(lost.rows) for lost in self.missing)

    @property
    def worse(self) -> int:
        """Values that got worse, as the last night found, and are not acknowledged."""
        return len(self.worse_rows)

    @property
    def open(self) -> int:
        """Values that got worse, as earlier nights found, and have not recovered."""
        return len(self.open_rows)

    @property
    def still(self) -> int:
        """Those of the open ones that do not look to be back."""
        return len(self.still_rows)

    @property
    def back(self) -> int:
        """Those of the open ones that look to be back, which is not confirmed yet."""
        return len(self.back_rows)

    @property
    def acknowledged(self) -> int:
        """Values that got worse, have not recovered, and are acknowledged."""
        return len(self.acknowledged_rows)

    @property
    def better(self) -> int:
        return values_of(move for move in self.new if move.change.better)

    @property
    def cut_off(self) -> int:
        """Runs of the last night without an end: what they would have found is not known."""
        return sum(run.exit_code is None for run in self.last_night)

    @property
    def is_wrong(self) -> bool:
        """Whether a value is over its budget, there is an error, or a run was cut off."""
        return any(self.verdicts[verdict] for verdict in BAD) or self.cut_off > 0

    @property
    def tone(self) -> str:
        """The tone of the headline: "bad", "attention" or "good"."""
        if not self.judged or self.is_wrong:
            return "bad"
        missing = self.verdicts["unmeasured"] or self.gone
        moved = self.verdicts["moved"] or self.moved
        return "attention" if self.worse or self.open or missing or moved else "good"

    @property
    def exit_code(self) -> int:
        """1 where something is wrong or got worse, 3 where nothing was judged. What the machine
        moved is no fault of a kernel, and what is suspected may be none."""
        if self.is_wrong or self.worse or self.open:
            return 1
        return 0 if self.judged else 3

    @property
    def headline(self) -> str:
        """What is wrong, and what the machine moved, in one sentence."""
        return headline(self)

    # Sets of the numbers of rows.

    @property
    def worse_rows(self) -> set[int]:
        worse = {row.number for m in self.new if m.change.mark == "worse" for row in m.rows}
        return worse - self.acknowledged_rows

    @property
    def open_rows(self) -> set[int]:
        still = [
            regression
            for regression in self.regressions
            if regression.is_open and regression.age > 0
        ]
        return {row.number for regression in still for row in regression.rows}

    @property
    def still_rows(self) -> set[int]:
        return self.open_rows - self.back_rows

    @property
    def wrong_rows(self) -> set[int]:
        """Those over budget, and errors."""
        return {row.number for finding in self.over for row in finding.rows}

    @property
    def back_rows(self) -> set[int]:
        """Those of the open ones that look to be back."""
        found = [regression for regression in self.regressions if regression.back]
        return self.open_rows & {row.number for regression in found for row in regression.rows}

    @property
    def acknowledged_rows(self) -> set[int]:
        return {
            row.number
            for regression in self.regressions
            if not regression.is_open
            for row in regression.rows
        }


def build(
    runs: Iterable[Run],
    all_series: Iterable[Series],
    cases: CaseFilter = EVERY_CASE,
    *,
    nights: int | None = None,
    acknowledged: Acknowledgements | None = None,
    others: Iterable[Run] = (),
) -> Report:
    """The report of series of these cases in these runs; the history has `others`, too. It shows
    the last so many `nights`, and regressions of all. Raises CommandError where nothing is
    selected."""
    runs = list(runs)
    every_night = nights_of(runs)
    misdated = tuple(run for run in runs if not is_possible(run.time))
    if not every_night:
        but = f" but {count(len(misdated), 'run')} with an impossible date" if misdated else ""
        raise CommandError(
            as_started(f"the history has no runs{but}; `warpgauge report ingest` adds some")
        )
    ages = {run.id: age for age, night in enumerate(reversed(every_night)) for run in night}
    encoder = Encoder([run for night in every_night for run in night])
    rows: list[Row] = []
    silent: list[Row] = []  # not measured in the nights shown
    known: set[str] = set()  # cases that were there before the last night
    oldest = 0
    for series in all_series:
        if not series.points or not cases.takes(series.key.id):
            continue
        metric = catalog().get(series.key.metric)
        if metric is None:
            name = printable(series.key.metric)
            raise CommandError(f"the history has the metric {name}, which this version lacks")
        if ages[series.points[0].run.id] > 0:
            known.add(series.key.id)
        found = changes(series, metric)
        hidden = _hidden(series, ages, nights or len(every_night))
        is_silent = hidden == len(series.points)
        if is_silent and not regressions_of(found, metric):
            continue
        hidden -= is_silent  # the newest value of it
        number = _encode(encoder, series, found, hidden)
        (silent if is_silent else rows).append(make_row(number, series, found, ages, hidden))
        if not is_silent:
            oldest = max(oldest, ages[series.points[hidden].run.id])
    if not rows:
        which = f" that matches {cases}" if str(cases) else ""
        raise CommandError(f"the history has no case{which}")
    sources = _sources([*rows, *silent])
    rows, silent = ([_with_sources(row, sources) for row in of] for of in (rows, silent))
    shown = every_night[-1 - oldest :]
    last_day = every_night[-1][-1].time.date()
    data, cut = encoder.json()
    newest = without_derived(moves(rows, ages, 0, 0))
    new = [move for move in newest if move.change.mark != "moved"]
    over = tuple(finding for verdict in BAD for finding in findings(rows, verdict))
    older = without_derived(moves(rows, ages, 1, oldest))
    return Report(
        nights=tuple(map(tuple, shown)),
        all_nights=len(every_night),
        rows=tuple(rows),
        current=tuple(current(rows)),
        differences=tuple(differences(*shown[-2:])) if len(shown) > 1 else (),
        verdicts=Counter(row.last.verdict for row in rows if row.age == 0),
        over=over,
        noteworthy={verdict: tuple(findings(rows, verdict)) for verdict in NOTEWORTHY},
        new=tuple(_gravest_first(filter(matters, new), over)),
        wins=tuple(wins(rows, ages, RECENT)),
        described=tuple(move for move in newest if not matters(move)),
        earlier=tuple(filter(matters, older)),
        moved=tuple(moved(rows, ages)),
        disturbed=tuple(disturbed(rows)),
        suspected=tuple(without_derived(suspicions(rows))),
        regressions=tuple(regressions([*rows, *silent], ages, acknowledged or {}, last_day)),
        missing=tuple(missing(rows)),
        new_cases=tuple(new_cases(rows, known)) if len(shown) > 1 else (),
        data=data,
        cut=cut,
        misdated=misdated,
        others=tuple(others),
    )


def _sources(rows: Iterable[Row]) -> dict[str, tuple[str, ...]]:
    """The files that facts of each kernel blame: what one metric names is to blame for the changes
    of others, too."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for row in rows:
        for sources in (row.last.sources, *(change.sources for change in row.changes)):
            found[row.key.kernel] |= dict.fromkeys(sources)
    return {kernel: tuple(sources) for kernel, sources in found.items()}


def _with_sources(row: Row, sources: dict[str, tuple[str, ...]]) -> Row:
    """The same row, whose changes have the sources of its kernel after their own."""
    more = sources[row.key.kernel]
    if not row.changes or not more:
        return row
    changes = (
        replace(change, sources=tuple(dict.fromkeys(change.sources + more)))
        for change in row.changes
    )
    return replace(row, changes=tuple(changes))


def _gravest_first(moves: Iterable[Move], over: Iterable[Finding]) -> list[Move]:
    """Those of kernels over budget first, of each what is worse, and what matters most."""
    kernels = {finding.key.kernel for finding in over}
    return sorted(
        moves,
        key=lambda m: (m.key.kernel not in kernels, m.change.mark != "worse", m.gravity),
    )


def _hidden(series: Series, ages: dict[str, int], nights: int) -> int:
    """The number of points that are older than so many nights."""
    return bisect_left(series.points, True, key=lambda point: ages[point.run.id] < nights)


def _encode(encoder: Encoder, series: Series, found: list[Change], hidden: int) -> int:
    """The number of a series in the page's data, without the points that are hidden."""
    shown = Series(series.key, series.points[hidden:]) if hidden else series
    kept = [
        replace(change, index=change.index - hidden) for change in found if change.index >= hidden
    ]
    return encoder.add(shown, kept, important=series.points[-1].verdict in BAD or bool(kept))

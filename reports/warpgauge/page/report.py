"""Everything the page and the digest say, found in one walk over the history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from warpgauge.changes.series import changes
from warpgauge.command_line import as_started
from warpgauge.errors import CommandError
from warpgauge.facts.catalog import catalog
from warpgauge.history import Run, Series, is_possible, nights_of
from warpgauge.page.differences import Difference, differences
from warpgauge.page.encode import Encoder
from warpgauge.page.rows import (
    BAD,
    NOTEWORTHY,
    Finding,
    Missing,
    Move,
    Row,
    current,
    findings,
    make_row,
    matters,
    missing,
    moves,
    without_derived,
)
from warpgauge.text import printable


@dataclass(frozen=True, slots=True)
class Report:
    """Findings, changes and all rows of a history. Rows and findings are of the newest values.

    `new` is what was first found with the last night, `earlier` what was found before, both without
    speeds that follow from a time; `described` are changes of metrics that are never judged.
    `current` are the rows without cases that are no more. `missing` was there the night before and
    not in the last one. `data` is the JSON of the page's script; `cut` series have only their
    newest values in it. `misdated` runs are in no night, because their times are impossible.
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
    described: tuple[Move, ...]
    earlier: tuple[Move, ...]
    missing: tuple[Missing, ...]
    data: str
    cut: int
    misdated: tuple[Run, ...]

    @property
    def last_night(self) -> tuple[Run, ...]:
        return self.nights[-1]

    def is_oldest(self, run: Run) -> bool:
        """True of runs of the first night shown, if the history has earlier ones."""
        return self.all_nights > len(self.nights) and run in self.nights[0]

    @property
    def judged(self) -> int:
        """Values of the last night that were held against a budget."""
        return sum(self.verdicts[v] for v in ("pass", "better", "waived", "moved", *BAD))

    @property
    def gone(self) -> int:
        """Values of the night before that are missing."""
        return sum(len(one.rows) for one in self.missing)

    @property
    def worse(self) -> int:
        return sum(len(move.rows) for move in self.new if move.change.better is False)

    @property
    def open(self) -> int:
        """Values that got worse in earlier nights and have not recovered."""
        worse = [m for m in self.earlier if m.change.better is False and not m.change.is_over]
        return len({row.number for move in worse for row in move.rows})

    @property
    def better(self) -> int:
        return sum(len(move.rows) for move in self.new if move.change.better)

    @property
    def tone(self) -> str:
        """The tone of the headline: "bad", "attention" or "good"."""
        if not self.judged or any(self.verdicts[verdict] for verdict in BAD):
            return "bad"
        missing = self.verdicts["unmeasured"] or self.gone
        return (
            "attention" if self.worse or self.open or missing or self.verdicts["moved"] else "good"
        )

    @property
    def headline(self) -> str:
        """Whether something is wrong, in one sentence."""
        wrong = [
            f"{count(self.verdicts['fail'], 'value')} over budget" if self.verdicts["fail"] else "",
            count(self.verdicts["error"], "error") if self.verdicts["error"] else "",
        ]
        if wrong := " and ".join(filter(None, wrong)):
            return f"Something is wrong: {wrong}"
        if not self.judged:
            return "Nothing was judged last night"
        within = f"{count(self.judged, 'value')} within budget"
        still = f"{count(self.open, 'value')} got worse before and did not recover"
        if self.worse:
            more = f", and {still}" if self.open else ""
            return f"{within}, but {count(self.worse, 'value')} got worse{more}"
        if self.open:
            return f"{within}, but {still}"
        if self.gone:
            return f"{within}, but {count(self.gone, 'value')} of the night before missing"
        return f"Nothing is wrong: {within}"


def count(number: int, noun: str) -> str:
    """ "1 value", "1,234 values"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def build(runs: Iterable[Run], all_series: Iterable[Series], pattern: str = "*") -> Report:
    """The report of series whose case matches the glob; `runs` are all that the history has, and
    the series may be of the newest of them only. Raises CommandError where nothing is selected."""
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
    rows, oldest = [], 0
    for series in all_series:
        if not series.points or not fnmatchcase(series.key.id, pattern):
            continue
        metric = catalog().get(series.key.metric)
        if metric is None:
            name = printable(series.key.metric)
            raise CommandError(f"the history has the metric {name}, which this version lacks")
        found = changes(series, metric)
        bad = series.points[-1].verdict in BAD
        number = encoder.add(series, found, important=bad or bool(found))
        rows.append(make_row(number, series, found, ages))
        oldest = max(oldest, ages[series.points[0].run.id])
    if not rows:
        raise CommandError(f"the history has no case that matches --filter '{pattern}'")
    shown = every_night[-1 - oldest :]
    data, cut = encoder.json()
    new = without_derived(moves(rows, ages, 0, 0))
    older = without_derived(moves(rows, ages, 1, oldest))
    return Report(
        nights=tuple(map(tuple, shown)),
        all_nights=len(every_night),
        rows=tuple(rows),
        current=tuple(current(rows)),
        differences=tuple(differences(*shown[-2:])) if len(shown) > 1 else (),
        verdicts=Counter(row.last.verdict for row in rows if row.age == 0),
        over=tuple(finding for verdict in BAD for finding in findings(rows, verdict)),
        noteworthy={verdict: tuple(findings(rows, verdict)) for verdict in NOTEWORTHY},
        new=tuple(filter(matters, new)),
        described=tuple(move for move in new if not matters(move)),
        earlier=tuple(filter(matters, older)),
        missing=tuple(missing(rows)),
        data=data,
        cut=cut,
        misdated=misdated,
    )

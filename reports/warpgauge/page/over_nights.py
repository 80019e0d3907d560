"""Series of a history as the trends that `warpgauge report trend` draws."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import datetime

from warpgauge.changes.change import Change
from warpgauge.changes.series import changes
from warpgauge.drawing.trend import Line, Mark, Night, Trend
from warpgauge.facts.catalog import catalog
from warpgauge.history import History, RunChoice, Series, SeriesKey, nights_of
from warpgauge.page.groups import label, range_of
from warpgauge.page.rows import where_of
from warpgauge.page.sections import change_text
from warpgauge.repository import Repository
from warpgauge.text import shortened

_MOST_MARKS, _LONGEST = 4, 40  # changes that are marked, and letters of a name
_COLOURS = {"worse": "worse", "better": "better"}
Name = tuple[str, str]  # case and metric


def over_nights(
    history: History,
    groups: Mapping[Name, Collection[SeriesKey]],
    nights: int,
    runs: RunChoice,
    repository: Repository | None = None,
) -> list[Trend]:
    """A trend of each case and metric with these series, of the newest nights; none of what was not
    measured in them. Changes are found in all nights, as on the page. The repository knows the
    commits."""
    shown = {run.id for night in nights_of(history.runs(runs))[-nights:] for run in night}
    keys = {key for group in groups.values() for key in group}
    found: dict[Name, list[Series]] = defaultdict(list)
    for family, metric in sorted({(key.family, key.metric) for key in keys}):
        for series in history.series(family, metric, runs=runs):
            if series.key in keys:
                found[series.key.id, series.key.metric].append(series)
    trends = (_trend(found[name], shown, repository) for name in groups if name in found)
    return [trend for trend in trends if trend.lines]


def _trend(found: list[Series], shown: Collection[str], repository: Repository | None) -> Trend:
    key = found[0].key
    lines = [(series, _line(series, shown)) for series in found]
    drawn = [(series, line) for series, line in lines if line.nights]
    metric = catalog()[key.metric]
    marks: dict[tuple[datetime, str], Mark] = {}
    for series, _ in drawn:
        for change in changes(series, metric):
            if change.bad.id in shown:
                name = label(change, range_of(change, repository))
                marks[change.bad.time, name] = _mark(change, name)
    limits = {series.points[-1].budget for series, _ in drawn}
    return Trend(
        shortened(key.id, 2 * _LONGEST),
        key.metric,
        key.unit,
        tuple(line for _, line in drawn),
        tuple(marks[name] for name in sorted(marks)[-_MOST_MARKS:]),
        _limit(limits.pop()) if len(limits) == 1 else None,
    )


def _line(series: Series, shown: Collection[str]) -> Line:
    nights = [
        Night(point.run.time, point.value, point.interval)
        for point in series.points
        if point.run.id in shown and point.value is not None and not point.disturbance
    ]
    return Line(shortened(where_of(series.key), _LONGEST), tuple(nights))


def _mark(change: Change, name: str) -> Mark:
    text = f"{shortened(name, _LONGEST)}, {change_text(change)}"
    return Mark(change.bad.time, text, _COLOURS.get(change.mark, "faint"))


def _limit(budget: str | None) -> float | None:
    """The number of a budget that is one: "= 0", "<= 13 ± 5%"."""
    found = re.match(r"[<>]?= ([0-9.e+-]+)(?: |$)", budget or "")
    try:
        return float(found[1]) if found else None
    except ValueError:
        return None

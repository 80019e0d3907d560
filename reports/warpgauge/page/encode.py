"""The values behind the page, as compact JSON that its script draws trends and tables from.

A series is an array: [case, metric, where, origin, judged, values, intervals, changes, left out],
without what is empty at its end. `where` is the number of [architecture, source, device, runs,
place], `origin` of [place, machine code], `judged` of [budget, verdict, confidence, disturbance,
reason] in tables that stand beside the series; origin and judged are such an array of columns
instead, where not every run has the same. Names are indices into tables as well (-1: none).

Columns have one entry a run, and are written as run lengths: [entry, times, entry, times, ...],
where the last entry goes on to the end and has no times. Values that are all the same are that one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from warpgauge.changes.change import Change
from warpgauge.facts.catalog import catalog
from warpgauge.history.model import Point, Run, Series
from warpgauge.page.rows import where_of

MAX_BYTES = 9_000_000  # of all series; the page is to stay under 15 MB
SHORT = 7  # values that a series keeps where there is no room for all
_LEAST = 6  # members of a series that are always there


class Table:
    """Gives each different entry a number, in the order in which they come."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}

    def number(self, entry: Any) -> int:
        if entry is None:
            return -1
        return self._numbers.setdefault(entry, len(self._numbers))

    def entries(self) -> list[Any]:
        return list(self._numbers)


class Encoder:
    """Takes the series one after the other, and keeps no more than their JSON."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._runs = runs
        self._run_numbers = {run.id: number for number, run in enumerate(runs)}
        names = [
            "cases",
            "metrics",
            "archs",
            "sources",
            "devices",
            "axes",
            "texts",
            "wheres",
            "origins",
            "judged",
        ]
        self._tables = {name: Table() for name in names}
        self._axes: dict[tuple[int, ...], tuple[int, tuple[Run, ...]]] = {}
        self._known: dict[tuple, int] = {}  # columns that are the same in all runs
        self._whole: list[str] = []
        self._short: list[str | None] = []  # None where it would be no shorter
        self._important: list[bool] = []

    def add(self, series: Series, changes: Sequence[Change], important: bool) -> int:
        """Takes a series; returns its number. `important` ones are the last to be shortened."""
        whole = self._series(series, changes, 0)
        self._whole.append(whole)
        spare = len(series.points) - SHORT
        if spare > 0 and len(whole) > 200:
            newest = Series(series.key, series.points[spare:])
            kept = [change for change in changes if change.index >= spare]
            self._short.append(self._series(newest, kept, spare))
        else:
            self._short.append(None)
        self._important.append(important)
        return len(self._whole) - 1

    def json(self) -> tuple[str, int]:
        """The data, and how many series had to be cut to their newest values."""
        chosen, cut = self._chosen()
        known = catalog()
        names = {name: table.entries() for name, table in self._tables.items()}
        metrics = [known[name] for name in names.pop("metrics")]
        rows = [[m.id, m.unit, m.direction, m.cls, m.source, m.meaning, m.cure] for m in metrics]
        data = {"runs": [_run(run) for run in self._runs], "metrics": rows, **names}
        return f'{compact(data)[:-1]},"series":[{",".join(chosen)}]}}', cut

    def _chosen(self) -> tuple[list[str], int]:
        size, cut = sum(map(len, self._whole)), set()
        order = sorted(range(len(self._whole)), key=lambda i: (self._important[i], -self._saved(i)))
        for number in order:
            if size <= MAX_BYTES or self._important[number]:
                break
            if self._saved(number) > 0:
                size -= self._saved(number)
                cut.add(number)
        both = zip(self._short, self._whole, strict=True)
        chosen = [short if short and i in cut else whole for i, (short, whole) in enumerate(both)]
        return chosen, len(cut)

    def _saved(self, number: int) -> int:
        short = self._short[number]
        return len(self._whole[number]) - len(short) if short else 0

    def _series(self, series: Series, changes: Sequence[Change], left_out: int) -> str:
        key, tables = series.key, self._tables
        # Column by column: a year of nights has millions of points.
        columns = dict(zip(Point._fields, zip(*series.points, strict=True), strict=True))
        case = (key.family, key.variant, key.type, key.size)
        values = columns["value"]
        if words := any(columns["text"]):
            values = tuple(
                v if t is None else t for v, t in zip(values, columns["text"], strict=True)
            )
        code = columns["sass_hash"] if any(columns["sass_hash"]) else columns["code_hash"]
        where = (
            tables["archs"].number(key.arch),
            tables["sources"].number(key.source),
            tables["devices"].number(key.device_name),
            self._axis(columns["run"]),
            tables["texts"].number(where_of(key)),
        )
        judged = [columns[name] for name in ("budget", "verdict", "confidence", "disturbance")]
        entry = [
            tables["cases"].number(case),
            tables["metrics"].number(key.metric),
            tables["wheres"].number(where),
            self._shared("origins", [_places(columns["file"], columns["line"]), code]),
            self._shared("judged", [*judged, columns["reason"][-1:]]),
            _alone(lengths(values, _rounded)),
            [] if words else _intervals(columns["interval"], values),
            [_change(change, left_out) for change in changes],
            left_out,
        ]
        while not entry[-1] and len(entry) > _LEAST:
            entry.pop()
        return compact(entry)

    def _shared(self, name: str, columns: Sequence[Sequence[str | None]]) -> Any:
        """The number of columns of texts that are the same in all runs (nearly always); others as
        they are."""
        text = self._tables["texts"].number
        if any(column.count(column[0]) != len(column) for column in columns):
            return [lengths(column, text) for column in columns]
        key = name, *(column[0] for column in columns)
        if key not in self._known:
            self._known[key] = self._tables[name].number(tuple(map(text, key[1:])))
        return self._known[key]

    def _axis(self, runs: tuple[Run, ...]) -> int:
        """The number of a list of runs. Most series have the same, of the same objects."""
        objects = tuple(map(id, runs))
        if objects not in self._axes:
            axis = tuple(self._run_numbers[run.id] for run in runs)
            self._axes[objects] = (self._tables["axes"].number(axis), runs)  # keeps ids in use
        return self._axes[objects][0]


compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def lengths(column: Sequence[Any], of: Callable[[Any], Any] = lambda entry: entry) -> list[Any]:
    """A column as run lengths, of what `of` makes of its entries; the last entry has none."""
    first = column[0]
    if column.count(first) == len(column):  # nearly all
        return [of(first)]
    runs: list[Any] = []
    for entry, group in groupby(column):
        runs += [of(entry), sum(1 for _ in group)]
    return runs[:-1]


def _alone(column: list[Any]) -> Any:
    """The entry of a column that has only one."""
    return column[0] if len(column) == 1 else column


def _rounded(value: float | str | None) -> float | int | str | None:
    """Whole numbers without a point; others with nine digits, more than any clock resolves."""
    if value is None or isinstance(value, str):
        return value
    if abs(value) < 2**53 and value == int(value):
        return int(value)
    return float(f"{value:.9g}")


def _intervals(intervals: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """Half-widths below and above each value, with three digits; nothing where no point has any."""
    if not any(intervals):
        return []
    column: list[list[float] | int] = []
    for interval, value in zip(intervals, values, strict=True):
        if interval and value is not None:
            low, high = interval
            column.append([float(f"{v:.3g}") for v in (value - low, high - value)])
        else:
            column.append(0)
    return lengths(column)


def _places(files: Sequence[Any], lines: Sequence[Any]) -> Sequence[str | None]:
    if files.count(files[0]) == len(files) and lines.count(lines[0]) == len(lines):
        return (_place(files[0], lines[0]),) * len(files)
    return [_place(file, line) for file, line in zip(files, lines, strict=True)]


def _place(file: str | None, line: int | None) -> str | None:
    return f"{file}:{line}" if file and line else file


def _change(change: Change, left_out: int) -> list[Any]:
    better = {"better": 1, "worse": -1}.get(change.mark, 0)
    return [change.index - left_out, better, change.cause]


def _run(run: Run) -> list[Any]:
    device = run.device
    return [
        run.id,
        run.time.strftime("%Y-%m-%dT%H:%M:%SZ"),
        run.commit,
        run.dirty,
        run.toolkit,
        run.flags,
        device.name if device else None,
        device.driver if device else None,
        run.emulated,
    ]

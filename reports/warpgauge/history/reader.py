"""Runs and series out of the database, a few hundred series at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from warpgauge.history import driver, rows
from warpgauge.history.model import Device, Point, Run, Series, SeriesKey
from warpgauge.history.nights import nights_of
from warpgauge.history.tables import devices, runs, series

_SERIES_AT_ONCE = 500  # times 365 nights: 30 MB of points
_WITHOUT_GPU = ("ptxas", "emulator")
_EMULATOR = "emulator"  # the driver of the emulator's devices


@dataclass(frozen=True, slots=True)
class Selection:
    """Which series are meant: those that agree with all that is not None."""

    family: str | None = None
    metric: str | None = None
    arch: str | None = None

    def conditions(self) -> list[sa.ColumnElement[bool]]:
        wanted = ((series.c.family, self.family), (series.c.metric, self.metric))
        wanted += ((series.c.arch, self.arch),)
        return [column == value for column, value in wanted if value is not None]


def read_runs(connection: Connection) -> dict[int, Run]:
    """All runs by their number in the database, oldest first."""
    gpus: dict[int, Device] = {}
    order = (devices.c.run_id, devices.c.name)
    for row in connection.execute(sa.select(devices).order_by(*order)):
        if row.driver != _EMULATOR:
            texts = (row.chip, row.compute_capability, row.driver, row.uuid_hash)
            gpus.setdefault(row.run_id, Device(row.name, *(text or None for text in texts)))
    question = sa.select(runs).order_by(runs.c.time, runs.c.name)
    return {
        row.id: Run(
            id=row.name,
            time=rows.time_of(row.time),
            commit=row.commit or None,
            dirty=row.dirty,
            toolkit=row.toolkit or None,
            flags=row.flags or None,
            device=gpus.get(row.id),
            emulated=row.emulated,
        )
        for row in connection.execute(question)
    }


def read_keys(connection: Connection, selection: Selection) -> dict[int, SeriesKey]:
    """The series by their number in the database, in the order in which they came."""
    question = sa.select(series).where(*selection.conditions()).order_by(series.c.id)
    return {row.id: _key(row) for row in connection.execute(question)}


def read_series(
    connection: Connection, selection: Selection, last_nights: int | None
) -> Iterator[Series]:
    """The series that have points in the last nights."""
    wanted = _last_nights(read_runs(connection), last_nights)
    keys = read_keys(connection, selection)
    numbers = list(keys)
    for start in range(0, len(numbers), _SERIES_AT_ONCE):
        part = numbers[start : start + _SERIES_AT_ONCE]
        yield from _read_part(connection, wanted, {number: keys[number] for number in part})


def _read_part(
    connection: Connection, wanted: dict[int, Run], keys: dict[int, SeriesKey]
) -> Iterator[Series]:
    first, last = min(keys), max(keys)
    chosen, values = "BETWEEN ? AND ?", (first, last)
    if last - first >= len(keys):  # others lie in between
        chosen, values = f"IN ({', '.join('?' * len(keys))})", tuple(keys)
    question = (
        f"SELECT series_id, state_id FROM observations WHERE run_id = ? AND series_id {chosen}"
    )
    states_of = [
        (run, dict(driver.fetch(connection, question, (number, *values))))
        for number, run in wanted.items()
    ]
    found = _read_states(connection, {state for _, seen in states_of for state in seen.values()})
    new = tuple.__new__  # Point(...) by name takes twice as long
    for number, key in keys.items():
        points = [
            new(Point, (run, *found[seen[number]])) for run, seen in states_of if number in seen
        ]
        if points:
            yield Series(key, tuple(points))


def _read_states(connection: Connection, wanted: set[int]) -> dict[int, tuple[Any, ...]]:
    """The members of a Point after its run, by the number of the state."""
    question = (
        "SELECT s.id, s.value, s.word, s.low, s.high, s.verdict, c.budget, s.reason, s.confidence, "
        "c.sass_hash, c.source_hash, c.file, c.line, s.machine, c.code_hash, c.launch "
        "FROM states s JOIN contexts c ON c.id = s.context_id WHERE s.id IN ({})"
    )
    found = {}
    for part in driver.fetch_where_in(connection, question, sorted(wanted)):
        found |= {number: _members(*members) for number, *members in part}
    return found


def _members(
    value,
    word,
    low,
    high,
    verdict,
    budget,
    reason,
    confidence,
    sass,
    source,
    file,
    line,
    machine,
    code,
    launch,
) -> tuple[Any, ...]:
    quiet = not machine or '"disturbance":null' in machine  # most: no need to read it all
    texts = (budget, reason, confidence, sass, source, file)
    return (
        value,
        word or None,
        None if low is None else (low, high),
        verdict,
        *(text or None for text in texts),
        line,
        None if quiet else json.loads(machine)["disturbance"],
        code or None,
        rows.launch_of(launch),
    )


def _key(row: sa.Row) -> SeriesKey:
    return SeriesKey(
        **{name: getattr(row, name) for name in ("family", "variant", "type", "size")},
        metric=row.metric,
        unit=row.unit,
        arch=row.arch or None,
        source=row.source or None,
        device_name=None if row.source in _WITHOUT_GPU else row.device or None,
    )


def _last_nights(known: dict[int, Run], last_nights: int | None) -> dict[int, Run]:
    if last_nights is None:
        return known
    wanted = {run.id for night in nights_of(known.values())[-last_nights:] for run in night}
    return {number: run for number, run in known.items() if run.id in wanted}

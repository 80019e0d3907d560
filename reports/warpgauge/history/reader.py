"""Runs and series out of the database, a few hundred series at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from warpgauge.facts.limit import Limit
from warpgauge.facts.records import EMULATOR
from warpgauge.history import driver, rows
from warpgauge.history.model import Device, Point, Run, Series, SeriesKey
from warpgauge.history.nights import nights_of
from warpgauge.history.run_filter import EVERY_RUN, RunChoice
from warpgauge.history.tables import observations, runs, series, states

_SERIES_AT_ONCE = 500  # times 365 nights: 30 MB of points
_OCCUPANCY = "occupancy.theoretical"
_WITHOUT_GPU = ("ptxas", "cubin", EMULATOR)


@dataclass(frozen=True, slots=True)
class Selection:
    """Selected series: those that agree with all members that are not None."""

    family: str | None = None
    metric: str | None = None
    arch: str | None = None

    def conditions(self) -> list[sa.ColumnElement[bool]]:
        columns = series.c
        wanted = (
            (columns.family, self.family),
            (columns.metric, self.metric),
            (columns.arch, self.arch),
        )
        return [column == value for column, value in wanted if value is not None]


def read_runs(connection: Connection, chosen: RunChoice = EVERY_RUN) -> dict[int, Run]:
    """The runs by their number in the database, oldest first."""
    question = sa.select(runs).order_by(runs.c.time, runs.c.name)
    found = {row.id: _run(row) for row in connection.execute(question)}
    return {number: run for number, run in found.items() if chosen.takes(run)}


def _run(row: sa.Row) -> Run:
    """A run with the GPU that is first by name."""
    run = rows.run_from(row.record, row.exit_code)
    gpus = sorted(
        (device for device in run.devices if not device.is_emulated), key=lambda device: device.name
    )
    names = ("name", "chip", "compute_capability", "driver", "uuid_hash")
    return Run(
        id=run.id,
        time=rows.time_of(row.time),
        commit=run.commit,
        dirty=run.dirty,
        toolkit=run.toolkit,
        flags=run.flags,
        device=Device(*(getattr(gpus[0], name) for name in names)) if gpus else None,
        emulated=row.emulated,
        branch=run.branch,
        label=run.label,
        exit_code=run.exit_code,
    )


def read_verdicts(connection: Connection, chosen: RunChoice) -> list[tuple[Run, dict[str, int]]]:
    """The runs, oldest first, each with how many of its values have which verdict."""
    counted = (
        sa.select(states.c.verdict, sa.func.count())
        .join_from(observations, states, states.c.id == observations.c.state_id)
        .where(observations.c.run_id == sa.bindparam("run"))
        .group_by(states.c.verdict)
    )
    return [
        (run, dict(map(tuple, connection.execute(counted, {"run": number}))))
        for number, run in read_runs(connection, chosen).items()
    ]


def read_keys(connection: Connection, selection: Selection) -> dict[int, SeriesKey]:
    """The series by their number in the database, in the order in which they came."""
    question = sa.select(series).where(*selection.conditions()).order_by(series.c.id)
    return {row.id: _key(row) for row in connection.execute(question)}


def read_series(
    connection: Connection, selection: Selection, last_nights: int | None, chosen: RunChoice
) -> Iterator[Series]:
    """The series that have points in the last nights of the chosen runs."""
    wanted = _last_nights(read_runs(connection, chosen), last_nights)
    keys = read_keys(connection, selection)
    of_occupancy = read_keys(connection, replace(selection, metric=_OCCUPANCY)).values()
    cases = {(key.id, key.arch) for key in of_occupancy}
    numbers = list(keys)
    for start in range(0, len(numbers), _SERIES_AT_ONCE):
        part = {number: keys[number] for number in numbers[start : start + _SERIES_AT_ONCE]}
        for key, points in _read_part(connection, wanted, part):
            yield Series(key, points, has_occupancy=(key.id, key.arch) in cases)


def _read_part(
    connection: Connection, wanted: dict[int, Run], keys: dict[int, SeriesKey]
) -> Iterator[tuple[SeriesKey, tuple[Point, ...]]]:
    first, last = min(keys), max(keys)
    chosen, values = "BETWEEN ? AND ?", [first, last]
    if last - first >= len(keys):  # others lie in between
        chosen, values = f"IN ({', '.join('?' * len(keys))})", list(keys)
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
            yield key, tuple(points)


def _read_states(connection: Connection, wanted: set[int]) -> dict[int, tuple[Any, ...]]:
    """The members of a Point after its run, by the number of the state."""
    question = (
        "SELECT s.id, s.value, s.word, s.low, s.high, s.verdict, s.reason, s.confidence, s.machine,"
        " c.record, k.record FROM states s JOIN contexts c ON c.id = s.context_id "
        "JOIN cases k ON k.id = c.case_id WHERE s.id IN ({})"
    )
    found: dict[int, tuple[Any, ...]] = {}
    for part in driver.fetch_where_in(connection, question, sorted(wanted)):
        found |= {number: _members(*members) for number, *members in part}
    return found


def _members(
    value: float | None,
    word: str,
    low: float | None,
    high: float | None,
    verdict: str,
    reason: str,
    confidence: str,
    machine: str,
    context: str,
    case_text: str,
) -> tuple[Any, ...]:
    case = rows.case_from(case_text)
    rows.hold_types((value, low, high), repeat(rows.NUMBER))
    rows.hold_types((word, verdict, reason, confidence), repeat(str))
    if (low is None) != (high is None):
        raise ValueError("a row has half an interval")
    of = rows.object_of(context)
    kernel = case.kernel(of.get("kernel"))
    limit = of.get("limit")
    place = (of["file"], of.get("line")) if "file" in of else (case.file, case.line)
    quiet = not machine or '"disturbance"' not in machine  # most: no need to read it all
    return (
        value,
        word or None,
        None if low is None else (low, high),
        verdict,
        Limit(**limit).text if limit else None,
        reason or None,
        confidence or None,
        kernel.sass_hash if kernel else None,
        kernel.source_hash if kernel else None,
        *place,
        None if quiet else rows.object_of(machine)["disturbance"],
        case.code_hash,
        kernel.launches if kernel else (),
        len(case.kernels),
        _sources(of),
        case.file,
    )


def _sources(of: dict[str, Any]) -> tuple[str, ...]:
    """The files that a context blames: its own, and those of the calls it was inlined through."""
    if "file" not in of:
        return ()
    called = (call["file"] for call in of.get("inlined", ()))
    return tuple(dict.fromkeys((of["file"], *called)))


def _key(row: sa.Row) -> SeriesKey:
    rows.hold_types(row[1:], repeat(str))
    return SeriesKey(
        **{name: getattr(row, name) for name in ("family", "variant", "type", "size")},
        metric=row.metric,
        arch=row.arch or None,
        source=row.source or None,
        device_name=None if row.source in _WITHOUT_GPU else row.device or None,
    )


def _last_nights(known: dict[int, Run], last_nights: int | None) -> dict[int, Run]:
    nights = nights_of(known.values())
    wanted = {run.id for night in nights[-(last_nights or len(nights)) :] for run in night}
    return {number: run for number, run in known.items() if run.id in wanted}

"""Reads runs and series from the database, a few hundred series at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from warpgauge.facts import records
from warpgauge.facts.limit import Limit
from warpgauge.history import driver, rows
from warpgauge.history.model import Device, Point, Run, Series, SeriesKey
from warpgauge.history.nights import nights_of
from warpgauge.history.run_filter import EVERY_RUN, RunChoice
from warpgauge.history.tables import observations, runs, series, states

_SERIES_AT_ONCE = 500  # times 365 nights: 30 MB of points
_OCCUPANCY = "occupancy.theoretical"
_WITHOUT_GPU = ("ptxas", "cubin", records.EMULATOR)
_NO_RUN: Any = None


@dataclass(frozen=True, slots=True)
class Selection:
    """The series that agree with each member that is not None."""

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
    run = rows.run_from(row.record, row.exit_code)
    return Run(
        id=run.id,
        time=rows.time_of(row.time),
        commit=run.commit,
        dirty=run.dirty,
        toolkit=run.toolkit,
        flags=run.flags,
        device=_gpu_of(run),
        emulated=row.emulated,
        branch=run.branch,
        label=run.label,
        exit_code=run.exit_code,
    )


def _gpu_of(run: records.Run) -> Device | None:
    """The GPU of a run; of several the first by name."""
    gpus = [device for device in run.devices if not device.is_emulated]
    if not gpus:
        return None
    gpu = min(gpus, key=lambda device: device.name)
    return Device(gpu.name, gpu.chip, gpu.compute_capability, gpu.driver, gpu.uuid_hash)


def read_verdicts(connection: Connection, chosen: RunChoice) -> list[tuple[Run, dict[str, int]]]:
    """The runs, oldest first, each with the number of its values by verdict."""
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
    wanted = _runs_of_last_nights(read_runs(connection, chosen), last_nights)
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
    among, values = _among(list(keys))
    question = (
        f"SELECT series_id, state_id FROM observations WHERE run_id = ? AND series_id {among}"
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


def _among(numbers: list[int]) -> tuple[str, list[int]]:
    """A condition for one of the numbers, and its values: a range where no other lies in it."""
    first, last = min(numbers), max(numbers)
    if last - first < len(numbers):
        return "BETWEEN ? AND ?", [first, last]
    return f"IN ({', '.join('?' * len(numbers))})", numbers


def _read_states(connection: Connection, wanted: set[int]) -> dict[int, tuple[Any, ...]]:
    """The members of a Point behind its run, by the number of the state."""
    question = (
        "SELECT s.id, s.value, s.word, s.low, s.high, s.verdict, s.reason, s.confidence, s.machine,"
        " c.record, k.record FROM states s JOIN contexts c ON c.id = s.context_id "
        "JOIN cases k ON k.id = c.case_id WHERE s.id IN ({})"
    )
    found: dict[int, tuple[Any, ...]] = {}
    for part in driver.fetch_where_in(connection, question, sorted(wanted)):
        found |= {number: _point_of(*columns)[1:] for number, *columns in part}
    return found


def _point_of(
    value: float | None,
    word: str,
    low: float | None,
    high: float | None,
    verdict: str,
    reason: str,
    confidence: str,
    machine: str,
    context_text: str,
    case_text: str,
) -> Point:
    """The point of a row of _read_states(), still without its run."""
    case = rows.case_from(case_text)
    rows.require_types((value, low, high), repeat(rows.NUMBER))
    rows.require_types((word, verdict, reason, confidence), repeat(str))
    if (low is None) != (high is None):
        raise ValueError("a row has half an interval")
    context = rows.object_of(context_text)
    kernel = case.kernel(context.get("kernel"))
    limit = context.get("limit")
    own_place = "file" in context
    # Most rows have none, and need not be parsed.
    is_disturbed = bool(machine) and '"disturbance"' in machine
    return Point(
        run=_NO_RUN,
        value=value,
        text=word or None,
        interval=None if low is None or high is None else (low, high),
        verdict=verdict,
        budget=Limit(**limit).text if limit else None,
        reason=reason or None,
        confidence=confidence or None,
        sass_hash=kernel.sass_hash if kernel else None,
        source_hash=kernel.source_hash if kernel else None,
        file=context["file"] if own_place else case.file,
        line=context.get("line") if own_place else case.line,
        disturbance=rows.object_of(machine)["disturbance"] if is_disturbed else None,
        code_hash=case.code_hash,
        launches=kernel.launches if kernel else (),
        kernels=len(case.kernels),
        sources=_sources(context),
        registered=case.file,
    )


def _sources(context: dict[str, Any]) -> tuple[str, ...]:
    """The files that a context blames: its own, and those of the calls it was inlined through."""
    if "file" not in context:
        return ()
    callers = (call["file"] for call in context.get("inlined", ()))
    return tuple(dict.fromkeys((context["file"], *callers)))


def _key(row: sa.Row) -> SeriesKey:
    rows.require_types(row[1:], repeat(str))
    return SeriesKey(
        **{name: getattr(row, name) for name in ("family", "variant", "type", "size")},
        metric=row.metric,
        arch=row.arch or None,
        source=row.source or None,
        device_name=None if row.source in _WITHOUT_GPU else row.device or None,
    )


def _runs_of_last_nights(known: dict[int, Run], count: int | None) -> dict[int, Run]:
    nights = nights_of(known.values())
    wanted = {run.id for night in nights[-(count or len(nights)) :] for run in night}
    return {number: run for number, run in known.items() if run.id in wanted}

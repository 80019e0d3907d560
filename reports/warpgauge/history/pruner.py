"""Deletes what is old, or a run, and what nothing needs any more then."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from warpgauge.command_line import as_started
from warpgauge.errors import CommandError
from warpgauge.history.database import Database
from warpgauge.history.model import SeriesKey
from warpgauge.history.nights import nights_of
from warpgauge.history.reader import Selection, read_keys, read_runs
from warpgauge.history.tables import (
    acknowledgements,
    cases,
    contexts,
    observations,
    runs,
    series,
    states,
)


@dataclass(frozen=True, slots=True)
class Keep:
    """The values to keep: the newest `values` of each series, or nights of the last `days`."""

    values: int | None = None
    days: int | None = None

    @staticmethod
    def parse(text: str) -> Keep:
        """ "30" or "365d". Raises CommandError for anything else."""
        found = re.fullmatch(r"([1-9][0-9]{0,5})(d?)", text)
        if not found:
            raise CommandError(
                f"--keep: '{text}' is neither a number such as 30 nor days as in 365d"
            )
        number = int(found[1])
        return Keep(days=number) if found[2] else Keep(values=number)


@dataclass(frozen=True, slots=True)
class PruneResult:
    """What was deleted: numbers of values and series, and the runs of which nothing is left."""

    values: int
    runs: tuple[str, ...]
    series: int


def prune(database: Database, keep: Keep, spared: Collection[SeriesKey], dry: bool) -> PruneResult:
    """The last days are counted from the newest run, so that a history that no longer
    grows does not vanish. A night stays as a whole if any run of it is so young. Of the series
    that are spared all values stay."""
    return _delete(database, lambda connection: _delete_old(connection, keep, spared), dry)


def delete_run(database: Database, name: str, dry: bool) -> PruneResult:
    """CommandError if there is no such run."""

    def delete(connection: Connection) -> int:
        number = connection.scalar(sa.select(runs.c.id).where(runs.c.name == name))
        if number is None:
            raise CommandError(
                f"{database.name}: there is no run '{name}'; "
                + as_started("`warpgauge report runs` lists them")
            )
        of_run = sa.delete(observations).where(observations.c.run_id == number)
        return connection.execute(of_run).rowcount

    return _delete(database, delete, dry)


def _delete(
    database: Database, delete_values: Callable[[Connection], int], dry: bool
) -> PruneResult:
    """Deletes values, and what nothing needs any more then. If `dry`, all of it is taken back."""
    with database.writing() as connection:
        values = delete_values(connection)
        result = _delete_unused(connection, values) if values else PruneResult(0, (), 0)
        if dry:
            connection.rollback()
    if values and not dry:
        database.give_back_space()
    return result


def _delete_old(connection: Connection, keep: Keep, spared: Collection[SeriesKey]) -> int:
    columns = observations.c
    keys = read_keys(connection, Selection()) if spared else {}
    numbers = [number for number, key in keys.items() if key in spared]
    # Written out: a statement takes 1 MB of text, but not as many parameters.
    kept: sa.BindParameter[Any] = sa.bindparam(
        "kept", numbers, expanding=True, literal_execute=True
    )
    others = columns.series_id.not_in(kept)
    if keep.days is not None:
        start = _start_of_what_stays(connection, timedelta(days=keep.days))
        old = sa.select(runs.c.id).where(runs.c.time < start)
        delete = sa.delete(observations).where(columns.run_id.in_(old), others)
        return connection.execute(delete).rowcount
    place = sa.func.row_number().over(
        partition_by=columns.series_id, order_by=(runs.c.time.desc(), runs.c.name.desc())
    )
    placed = (
        sa.select(columns.run_id, columns.series_id, place.label("place"))
        .join_from(observations, runs, runs.c.id == columns.run_id)
        .subquery()
    )
    old = sa.select(placed.c.run_id, placed.c.series_id).where(placed.c.place > keep.values)
    chosen = sa.tuple_(columns.run_id, columns.series_id).in_(old)
    return connection.execute(sa.delete(observations).where(chosen, others)).rowcount


def _start_of_what_stays(connection: Connection, age: timedelta) -> int:
    nights = nights_of(read_runs(connection).values())
    young = [night for night in nights if nights[-1][-1].time - night[-1].time <= age]
    return int(young[0][0].time.timestamp()) if young else 0


def _delete_unused(connection: Connection, values: int) -> PruneResult:
    seen = sa.exists().where(observations.c.run_id == runs.c.id)
    gone = connection.execute(
        sa.select(runs.c.name).where(~seen).order_by(runs.c.time, runs.c.name)
    ).scalars()
    deleted_runs = tuple(gone)
    connection.execute(sa.delete(runs).where(~seen))
    for table, column, used in (
        (states, states.c.id, observations.c.state_id),
        (contexts, contexts.c.id, states.c.context_id),
        (cases, cases.c.id, contexts.c.case_id),
    ):
        connection.execute(sa.delete(table).where(column.not_in(sa.select(used).distinct())))
    of_states = sa.select(states.c.series_id).distinct()
    forgotten = acknowledgements.c.series_id.not_in(of_states)
    connection.execute(sa.delete(acknowledgements).where(forgotten))
    deleted_series = connection.execute(
        sa.delete(series).where(series.c.id.not_in(of_states))
    ).rowcount
    return PruneResult(values, deleted_runs, deleted_series)

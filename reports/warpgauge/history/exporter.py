"""Facts out of the database again, as they were read."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from warpgauge.history import rows
from warpgauge.history.reader import Selection, read_keys, read_runs
from warpgauge.history.tables import (
    columns_of,
    contexts,
    devices,
    observations,
    runs,
    series,
    states,
)

_FOUND_BY = ("run_id", "name")


def read_members(
    connection: Connection, selection: Selection, case: str, run: str | None
) -> Iterator[dict[str, Any]]:
    """The members of each fact in the order of the schema; oldest run first. `case` is a glob."""
    keys = read_keys(connection, selection)
    wanted = {number for number, key in keys.items() if fnmatchcase(key.id, case)}
    question = _question()
    for number, known in read_runs(connection).items():
        if run is None or known.id == run:
            found = connection.execution_options(yield_per=5000).execute(question, {"run": number})
            for row in found.mappings():
                if row["series_id"] in wanted:
                    yield rows.members_of(row)


def _question() -> sa.Select:
    device_columns = [column for column in columns_of(devices) if column.name not in _FOUND_BY]
    run_columns = [column for column in columns_of(runs) if column.name != "name"]
    tables = (
        observations.join(runs, runs.c.id == observations.c.run_id)
        .join(series, series.c.id == observations.c.series_id)
        .join(states, states.c.id == observations.c.state_id)
        .join(contexts, contexts.c.id == states.c.context_id)
        .outerjoin(
            devices,
            (devices.c.run_id == observations.c.run_id) & (devices.c.name == series.c.device),
        )
    )
    return (
        sa.select(
            observations.c.series_id,
            runs.c.name.label("run"),
            *run_columns,
            *device_columns,
            *columns_of(series),
            *columns_of(states),
            *columns_of(contexts),
        )
        .select_from(tables)
        .where(observations.c.run_id == sa.bindparam("run"))
        .order_by(observations.c.series_id)
    )

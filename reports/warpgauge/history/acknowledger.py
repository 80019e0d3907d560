"""Writes and reads what someone knows of series that got worse."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from datetime import date

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from warpgauge.history import driver, rows
from warpgauge.history.model import Acknowledgement, SeriesKey
from warpgauge.history.nights import nights_of
from warpgauge.history.reader import Selection, read_keys, read_runs
from warpgauge.history.tables import acknowledgements


def acknowledge(
    connection: Connection, keys: Collection[SeriesKey], reason: str, until: date
) -> None:
    """Adds an acknowledgement, of all that the nights in the history show, to each series."""
    last_run = nights_of(read_runs(connection).values())[-1][-1]
    covers = int(last_run.time.timestamp())
    last = connection.scalar(sa.select(sa.func.max(acknowledgements.c.id))) or 0
    numbers = [number for number, key in read_keys(connection, Selection()).items() if key in keys]
    added = [
        (last + i, number, covers, until.isoformat(), reason)
        for i, number in enumerate(numbers, start=1)
    ]
    driver.insert(connection, acknowledgements, added)


def read_acknowledgements(connection: Connection) -> dict[SeriesKey, list[Acknowledgement]]:
    """Those of each series, the newest last."""
    kept = list(connection.execute(sa.select(acknowledgements).order_by(acknowledgements.c.id)))
    if not kept:
        return {}
    keys = read_keys(connection, Selection())
    found: dict[SeriesKey, list[Acknowledgement]] = defaultdict(list)
    for row in kept:
        covers, until = rows.time_of(row.covers), date.fromisoformat(row.until)
        found[keys[row.series_id]].append(Acknowledgement(covers, until, row.reason))
    return dict(found)

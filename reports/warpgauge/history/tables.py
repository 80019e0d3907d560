"""The tables of the database.

A night mostly repeats the night before. So what a value says besides its run is kept once, as a
state, and a night is rows of three small numbers: run, series, state. Rows are in the order of
runs: a new one is appended, and reading a series takes a step for each run.

`record` is JSON with the members of a record in facts. Absent texts are empty, since a unique
constraint takes nulls for different. There are no foreign keys: they would need indexes as large as
the values, and only the one writer at a time (database.py) adds and deletes.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

FORM = 1  # of these tables: who changes them counts it up
metadata = MetaData()
form = Table("history_form", metadata, Column("number", Integer, nullable=False))  # one row


def _text(name: str, **options: Any) -> Column:
    return Column(name, Text, nullable=False, **options)


# `time` is in seconds since 1970, UTC. `emulated`: some values are the emulator's. `exit_code`: of
# a run that has ended.
runs = Table(
    "runs",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    _text("name"),
    Column("time", BigInteger, nullable=False),
    Column("emulated", Boolean, nullable=False),
    Column("exit_code", Integer),
    _text("record"),
    UniqueConstraint("name", name="runs_name"),
)

# The keys of comparable values; `device` is the name of the device in the facts, of any source.
series = Table(
    "series",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    *map(_text, ("family", "variant", "type", "size", "metric", "arch", "source", "device")),
    UniqueConstraint(
        *("family", "variant", "type", "size", "metric", "arch", "source", "device"),
        name="series_key",
    ),
)

# Case records, by their name in facts.
cases = Table(
    "cases",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("digest", LargeBinary, nullable=False),
    _text("record"),
    UniqueConstraint("digest", name="cases_digest"),
)

# The members of values that hardly ever change: kernel, place, limit and cure. `record` is part of
# a value's.
contexts = Table(
    "contexts",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("digest", LargeBinary, nullable=False),
    Column("case_id", Integer, nullable=False),
    _text("record"),
    UniqueConstraint("digest", name="contexts_digest"),
)

# All that a value says besides its run. `digest` is that of the bytes it was read from. `value` is
# a number, `word` a text value, `low` and `high` the interval; `machine` is JSON.
states = Table(
    "states",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("digest", LargeBinary, nullable=False),
    Column("series_id", Integer, nullable=False),
    Column("context_id", Integer, nullable=False),
    Column("value", Double),
    _text("word"),
    Column("low", Double),
    Column("high", Double),
    Column("stable", Boolean),
    *map(_text, ("confidence", "confidence_reason", "verdict", "would", "cause", "reason")),
    _text("machine"),
    UniqueConstraint("digest", name="states_digest"),
)

# The value of a series in a run.
observations = Table(
    "observations",
    metadata,
    Column("run_id", Integer, primary_key=True, autoincrement=False),
    Column("series_id", Integer, primary_key=True, autoincrement=False),
    Column("state_id", Integer, nullable=False),
    sqlite_with_rowid=False,
)


# Someone knows that a series got worse. `covers` is the time of the newest run then, in seconds as
# in runs; `until` is a day, 2026-01-31. Of two the one with the higher id counts.
acknowledgements = Table(
    "acknowledgements",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("series_id", Integer, nullable=False),
    Column("covers", BigInteger, nullable=False),
    *map(_text, ("until", "reason")),
)


def columns_of(table: Table) -> list[Column]:
    """The columns with data: no numbers and digests, by which tables find each other."""
    return [column for column in table.c if column.name != "digest" and not _is_id(column)]


def _is_id(column: Column) -> bool:
    return column.name == "id" or column.name.endswith("_id")

"""The tables of the database. Migrations make them, and a test holds the two equal.

A night mostly repeats the night before. So what a fact says besides its run is kept once, as a
state, and a night is rows of three small numbers: run, series, state. Rows are in the order of
runs: a new one is appended, and reading a series takes a step for each run.

Texts that the schema lets be null are never empty there; here empty means null, since a unique
constraint takes nulls for different. There are no foreign keys: they would need indexes as large as
the values, and one writer at a time (database.py) is the only one who adds and deletes.
"""

from __future__ import annotations

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

metadata = MetaData()


def _text(name: str, **options: bool) -> Column:
    return Column(name, Text, nullable=False, **options)


# `time` is in seconds since 1970, UTC. `emulated`: some values are the emulator's.
runs = Table(
    "runs",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    _text("name"),
    Column("time", BigInteger, nullable=False),
    _text("commit"),
    Column("dirty", Boolean, nullable=False),
    _text("toolkit"),
    _text("flags"),
    Column("emulated", Boolean, nullable=False),
    UniqueConstraint("name", name="runs_name"),
)

# The devices of a run, by name; clocks in MHz, as found.
devices = Table(
    "devices",
    metadata,
    Column("run_id", Integer, primary_key=True, autoincrement=False),
    _text("name", primary_key=True),
    _text("chip"),
    _text("compute_capability"),
    _text("driver"),
    _text("uuid_hash"),
    Column("sm_clock_mhz", Integer),
    Column("memory_clock_mhz", Integer),
)

# What makes values comparable; `device` is the name of the device in the facts, of any source.
series = Table(
    "series",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    *map(_text, ("family", "variant", "type", "size", "metric", "arch", "source", "device")),
    _text("unit"),
    UniqueConstraint(
        *("family", "variant", "type", "size", "metric", "arch", "source", "device"),
        name="series_key",
    ),
)

# What the values of a case share. `launch` is JSON, the list of the schema's members.
contexts = Table(
    "contexts",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("digest", LargeBinary, nullable=False),
    *map(_text, ("kernel", "launch", "file")),
    Column("line", Integer),
    *map(_text, ("sass_hash", "source_hash", "code_hash", "budget", "budget_reason")),
    UniqueConstraint("digest", name="contexts_digest"),
)

# All that a fact says besides its run. `digest` is that of the bytes it was read from. `value` is a
# number, `word` a text value, `low` and `high` the interval; `machine` is JSON as `launch` is.
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
    *map(_text, ("confidence", "confidence_reason", "verdict", "reason", "machine")),
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


def columns_of(table: Table) -> list[Column]:
    """The columns with data: no numbers and digests, by which tables find each other."""
    return [column for column in table.c if column.name != "digest" and not _is_id(column)]


def _is_id(column: Column) -> bool:
    return column.name == "id" or column.name.endswith("_id")

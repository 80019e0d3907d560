"""SQL by the driver alone: for millions of rows, SQLAlchemy takes as long as the database.

Placeholders are "?" here, and are converted to the driver's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

AT_ONCE = 500  # values in one question; SQLite takes 32,766, and compiles them again if they differ


def fetch(connection: Connection, question: str, values: Sequence[Any] = ()) -> list[tuple]:
    """All rows."""
    cursor = connection.connection.cursor()
    try:
        cursor.execute(_with_places_of(connection, question), values)
        return list(cursor.fetchall())
    finally:
        cursor.close()


def fetch_where_in(
    connection: Connection, question: str, values: Sequence[Any]
) -> Iterator[list[tuple]]:
    """The rows for "IN ({})" in the question, however many values there are."""
    for start in range(0, len(values), AT_ONCE):
        part = tuple(values[start : start + AT_ONCE])
        yield fetch(connection, question.format(", ".join("?" * len(part))), part)


def insert(connection: Connection, table: sa.Table, rows: list[tuple]) -> None:
    """Adds rows with all columns of the table in their order."""
    if not rows:
        return
    quote = connection.dialect.identifier_preparer.quote
    columns = ", ".join(quote(column.name) for column in table.c)
    cursor = connection.connection.cursor()
    try:
        if connection.dialect.name == "postgresql":
            with cursor.copy(f"COPY {table.name} ({columns}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            places = ", ".join("?" * len(table.c))
            cursor.executemany(f"INSERT INTO {table.name} ({columns}) VALUES ({places})", rows)
    finally:
        cursor.close()


def _with_places_of(connection: Connection, question: str) -> str:
    return question if connection.dialect.paramstyle == "qmark" else question.replace("?", "%s")

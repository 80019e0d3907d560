"""Opens the database: URL, transactions, one writer at a time, and its form."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine

from warpgauge.command_line import as_started
from warpgauge.errors import CommandError, FactError, lacks
from warpgauge.history.tables import FORM, form, metadata
from warpgauge.text import printable

WAIT_SECONDS = 300  # for another writer: a large file takes seconds, deleting from a year a minute
_POSTGRESQL = "postgresql+psycopg"
_LOCK = 0x77617270_67617567  # PostgreSQL's lock of writers: "warpgaug"


class Database:
    """A database of this version's form; `writing()` and `reading()` are its transactions.

    Raises CommandError, which never shows a password, for everything that a database refuses.
    """

    def __init__(self, where: str, *, create: bool) -> None:
        self._url = _parse_url(where)
        self.name = _shown(self._url)
        path = Path(self._url.database or "") if self.is_sqlite else None
        if path and path.exists() and not path.is_file():
            raise CommandError(f"{path}: is no file; name that of a history")
        if path and not path.is_file():
            if not create:
                raise CommandError(
                    f"{path}: there is no history; "
                    + as_started("`warpgauge report ingest` makes it")
                )
            _make_folder(path.parent)
        with _option_faults():
            self._engine = self._new_engine()
        with _option_faults(), self._faults():
            if create and self.is_sqlite:
                self._let_readers_and_writer_be()
            self._require_tables(create)

    @property
    def is_sqlite(self) -> bool:
        return self._url.get_backend_name() == "sqlite"

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that waits until no other one writes; an exception takes all of it back."""
        with self._faults(), self._engine.connect() as connection:
            if self.is_sqlite:
                connection = connection.execution_options(begin="BEGIN IMMEDIATE")
            with connection.begin():
                if not self.is_sqlite:
                    connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{WAIT_SECONDS}s'")
                    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
                yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of the database while others write."""
        with self._faults(), self._engine.connect() as connection:
            if not self.is_sqlite:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    def give_back_space(self) -> None:
        """Hands the space of what was deleted back to the file system."""
        with self._faults(), self._engine.connect() as connection:
            connection = connection.execution_options(isolation_level="AUTOCOMMIT", begin="")
            if self.is_sqlite:
                connection.exec_driver_sql("VACUUM")
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
            else:
                connection.exec_driver_sql(f"VACUUM FULL {', '.join(metadata.tables)}")

    def close(self) -> None:
        self._engine.dispose()

    def _new_engine(self) -> Engine:
        try:
            if not self.is_sqlite:
                return sa.create_engine(self._url)
            engine = sa.create_engine(self._url, connect_args={"timeout": WAIT_SECONDS})
        except ModuleNotFoundError as error:
            raise CommandError(f"{self.name}: this Python {lacks(str(error.name))}") from error
        sa.event.listen(engine, "connect", _prepare_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
        return engine

    def _let_readers_and_writer_be(self) -> None:
        """They need not wait for each other in this mode, in which the file stays. SQLite does not
        wait by itself where two programs bring a new file into it at once."""
        deadline = time.monotonic() + WAIT_SECONDS
        with self._engine.connect() as connection:
            while True:
                try:
                    connection.connection.execute("PRAGMA journal_mode = WAL")
                    return
                except sqlite3.OperationalError as error:
                    is_busy = error.sqlite_errorcode == sqlite3.SQLITE_BUSY
                    if not is_busy or time.monotonic() > deadline:
                        raise
                time.sleep(0.02)

    def _require_tables(self, create: bool) -> None:
        with self.reading() as connection:
            if self.is_sqlite:
                self._require_tables_alone(connection)
            if self._has_tables(connection):
                return
            if set(sa.inspect(connection).get_table_names()) & set(metadata.tables):
                raise CommandError(
                    f"{self.name}: has tables of another program, or of an older warpgauge, with "
                    "the history's names; ingest the facts into a new history"
                )
        if not create:
            raise CommandError(f"{self.name}: there is no history in this database")
        with self.writing() as connection:
            if not self._has_tables(connection):  # else another program was faster
                metadata.create_all(connection, checkfirst=False)
                connection.execute(sa.insert(form).values(number=FORM))

    def _has_tables(self, connection: Connection) -> bool:
        """Whether a history is there, which is then of this version's form."""
        if form.name not in sa.inspect(connection).get_table_names():
            return False
        numbers = connection.scalars(sa.select(form.c.number)).all()
        if numbers != [FORM]:
            has = ", ".join(map(repr, numbers)) or "no number"
            raise CommandError(
                f"{self.name}: has form {has}, and this version reads form {FORM}; use the "
                "version of warpgauge that made it, or ingest the facts into a new history"
            )
        return True

    def _require_tables_alone(self, connection: Connection) -> None:
        """Refuses a file that has queries of its own, which may never end."""
        kinds = "type IN ('view', 'trigger') OR sql LIKE 'CREATE VIRTUAL%'"
        found = connection.exec_driver_sql(f"SELECT name FROM sqlite_schema WHERE {kinds}")
        if (name := found.scalar()) is not None:
            raise CommandError(
                f"{self.name}: has the view or trigger '{printable(str(name))}', and a history "
                "has tables alone: restore a copy, or ingest the facts into a new history"
            )

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except (CommandError, FactError):
            raise
        except OSError as error:
            raise CommandError(f"{self.name}: {error.strerror or error}") from None
        except (sa.exc.DBAPIError, self._engine.dialect.loaded_dbapi.Error) as error:
            error = getattr(error, "orig", error)  # the driver's
            reason = " ".join(str(error).split()) or type(error).__name__
            raise CommandError(f"{self.name}: {reason}") from None
        except _OF_DAMAGE as error:
            raise CommandError(
                f"{self.name}: holds what warpgauge does not write ({type(error).__name__}: "
                f"{error}); it is damaged: restore a copy, or ingest the facts into a new history"
            ) from error


# What code that reads rows runs into where they are not what was written.
_OF_DAMAGE = (ArithmeticError, LookupError, TypeError, ValueError, sa.exc.SQLAlchemyError)


@contextmanager
def _option_faults() -> Iterator[None]:
    """Replaces errors of SQLAlchemy on options, which can show a password."""
    try:
        yield
    except sa.exc.ArgumentError:
        raise CommandError("--db: an option in the URL is invalid") from None


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"{path}: cannot be created: {error.strerror}") from None


def _parse_url(where: str) -> URL:
    # SQLite takes these for a database that is gone when the program ends.
    if where.strip().removeprefix("sqlite:///") in ("", ":memory:"):
        raise CommandError(f"--db: '{where}' keeps nothing; name a file or a database")
    if "://" not in where:
        return URL.create("sqlite", database=where)
    try:
        url = sa.make_url(where)
    except (sa.exc.ArgumentError, ValueError):
        raise CommandError("--db: not a URL of a database and not the path of a file") from None
    if url.drivername in ("postgresql", "postgres"):
        url = url.set(drivername=_POSTGRESQL)
    if url.drivername not in ("sqlite", _POSTGRESQL):
        raise CommandError(f"--db: {url.drivername} is not supported: sqlite or postgresql")
    is_path = url == URL.create("sqlite", database=url.database or "FILE")
    if url.drivername == "sqlite" and not is_path:
        raise CommandError("--db: an SQLite file is sqlite:///PATH, or just the path")
    return url


def _shown(url: URL) -> str:
    """The URL without secrets: options can hold a password, too."""
    if url.get_backend_name() == "sqlite":
        return url.database or ""
    return url.set(query={}).render_as_string(hide_password=True)


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # transactions begin where they say so, see _begin_sqlite
    connection.execute("PRAGMA synchronous = FULL")  # a power cut loses nothing that was committed
    connection.execute("PRAGMA cache_size = -131072")  # in KiB


def _begin_sqlite(connection: Connection) -> None:
    if begin := connection.get_execution_options().get("begin", "BEGIN"):
        connection.exec_driver_sql(begin)

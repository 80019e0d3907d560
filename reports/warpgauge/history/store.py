"""The history: what the rest of the package does with it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import date, datetime
from pathlib import Path

from warpgauge.facts.case_filter import EVERY_CASE, CaseFilter
from warpgauge.facts.records import Fact
from warpgauge.history import acknowledger, exporter, pruner, reader, writer
from warpgauge.history.database import Database
from warpgauge.history.model import Acknowledgement, Run, Series, SeriesKey
from warpgauge.history.pruner import Keep, PruneResult
from warpgauge.history.reader import Selection
from warpgauge.history.run_filter import EVERY_RUN, RunChoice
from warpgauge.history.writer import IngestResult


class History:
    """Values of all runs. Every method sees one state of the database, even while others write,
    and raises CommandError, which never shows a password, for what the database refuses."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def __enter__(self) -> History:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    @property
    def name(self) -> str:
        """The path or URL, without a password."""
        return self._database.name

    def runs(self, chosen: RunChoice = EVERY_RUN) -> list[Run]:
        """The runs, oldest first."""
        with self._database.reading() as connection:
            return list(reader.read_runs(connection, chosen).values())

    def keys(
        self, family: str | None = None, metric: str | None = None, arch: str | None = None
    ) -> list[SeriesKey]:
        """The series that there are, cases in the order in which they came."""
        with self._database.reading() as connection:
            return list(reader.read_keys(connection, Selection(family, metric, arch)).values())

    def series(
        self,
        family: str | None = None,
        metric: str | None = None,
        arch: str | None = None,
        last_nights: int | None = None,
        runs: RunChoice = EVERY_RUN,
    ) -> Iterator[Series]:
        """The series with their points in these runs, a few hundred in memory at a time; with
        `last_nights` only those of the last so many nights. Nights are those of nights_of()."""
        with self._database.reading() as connection:
            selection = Selection(family, metric, arch)
            yield from reader.read_series(connection, selection, last_nights, runs)

    def verdicts(self, chosen: RunChoice = EVERY_RUN) -> list[tuple[Run, dict[str, int]]]:
        """The runs, oldest first, each with how many of its values have which verdict."""
        with self._database.reading() as connection:
            return reader.read_verdicts(connection, chosen)

    def ingest(
        self,
        path: str | Path,
        branch: str | None = None,
        label: str | None = None,
        time: datetime | None = None,
    ) -> IngestResult:
        """All of a file of facts or nothing; the same file again changes nothing. Runs of which the
        facts say no branch or label get these; all get the time, in UTC, in place of their own.

        Raises FactError with file and line for what is no fact, or contradicts the history.
        """
        return writer.ingest(self._database, path, branch, label, time)

    def prune(
        self, keep: Keep, spared: Collection[SeriesKey] = (), dry: bool = False
    ) -> PruneResult:
        """Deletes what is not to be kept, and gives the space back. The series that are spared stay
        as they are. If `dry`, everything stays, and the result says what would go."""
        return pruner.prune(self._database, keep, spared, dry)

    def delete_run(self, name: str, dry: bool = False) -> PruneResult:
        """Deletes a run with its values, as prune() does. Raises CommandError if there is none."""
        return pruner.delete_run(self._database, name, dry)

    def acknowledge(self, keys: Collection[SeriesKey], reason: str, until: date) -> None:
        """Keeps that someone knows of these series, as they are now, until the end of a day."""
        with self._database.writing() as connection:
            acknowledger.acknowledge(connection, keys, reason, until)

    def acknowledgements(self) -> dict[SeriesKey, list[Acknowledgement]]:
        """Those of each series, the newest last."""
        with self._database.reading() as connection:
            return acknowledger.read_acknowledgements(connection)

    def export(
        self,
        cases: CaseFilter = EVERY_CASE,
        metric: str | None = None,
        arch: str | None = None,
        runs: RunChoice = EVERY_RUN,
    ) -> Iterator[Fact]:
        """Facts, those of the oldest run first."""
        with self._database.reading() as connection:
            selection = Selection(None, metric, arch)
            yield from exporter.read_facts(connection, selection, cases, runs)


def open_history(url: str | Path, *, create: bool = False) -> History:
    """The history at a URL of SQLAlchemy or in an SQLite file. `create` makes a new one where there
    is none; otherwise that is a CommandError."""
    return History(Database(str(url), create=create))

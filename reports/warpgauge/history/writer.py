"""Brings a file of facts into the database: all of it or nothing, and only once."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import count
from operator import itemgetter
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from warpgauge.errors import FactError
from warpgauge.facts.reader import Fact
from warpgauge.history import driver, rows, tables
from warpgauge.history.database import Database
from warpgauge.history.lines import FactFile, Head
from warpgauge.history.tables import contexts, devices, observations, runs, series, states


@dataclass(frozen=True, slots=True)
class IngestResult:
    """What came of a file: its runs, and how many values were new to the history, were there
    already, or belong to source lines and are not kept."""

    path: str
    runs: tuple[str, ...]
    new: int
    known: int
    of_source_lines: int


def ingest(database: Database, path: str | Path) -> IngestResult:
    """Raises FactError with file and line for what is not a fact, and for a value that a run has
    already and has otherwise; CommandError for what the database refuses."""
    with _without_garbage_collection():
        file = FactFile(path)
        with database.writing() as connection:
            return _Writer(connection, file).write()


class _Writer:
    def __init__(self, connection: Connection, file: FactFile) -> None:
        self._connection = connection
        self._file = file

    def write(self) -> IngestResult:
        states_of = self._write_states()
        found = map(states_of.get, self._file.digests)
        lines = [line for line in zip(count(1), self._file.heads, found) if line[2]]  # of cases
        first: dict[Head, int] = {}
        for number, head, _ in lines:
            first.setdefault(head, number)
        run_ids = self._write_runs(first)
        observed = {run: self._observed(run) for run in run_ids.values()}
        added = []
        for number, head, (state, of_series) in lines:
            run = run_ids[head.run]
            before = observed[run].get(of_series)
            if before is None:
                observed[run][of_series] = state
                added.append((run, of_series, state))
            elif before != state:
                self._compare(number, before, state)
        driver.insert(self._connection, observations, added)
        for run in run_ids.values():
            self._mark_emulated(run)
        return IngestResult(
            path=str(self._file.path),
            runs=tuple(run_ids),
            new=len(added),
            known=len(lines) - len(added),
            of_source_lines=len(self._file.digests) - len(lines),
        )

    # ---- runs and devices

    def _write_runs(self, first: dict[Head, int]) -> dict[str, int]:
        """The ids of the file's runs, by name; those that are new are written. `first` has the
        number of the first line with each head."""
        names = dict.fromkeys(head.run for head in first)
        there = {
            row.name: row._mapping
            for row in _where_in(self._connection, sa.select(runs), runs.c.name, names)
        }
        next_id = self._next_id(runs)
        added, ids = [], {name: there[name]["id"] if name in there else None for name in names}
        for head, line in first.items():
            row = self._run_row(head, line)
            before = there.setdefault(head.run, row)
            if before is row:
                ids[head.run] = next_id + len(added)
                added.append(row | {"id": ids[head.run], "emulated": False})
            self._hold_same(line, f"run '{head.run}'", before, row)
        _insert(self._connection, runs, added)
        self._write_devices(first, ids)
        return ids

    def _run_row(self, head: Head, line: int) -> dict[str, Any]:
        try:
            time = rows.seconds(head.time)
        except ValueError:
            raise self._error(line, f"key 'time': there is no time '{head.time}'") from None
        texts = {key: getattr(head, key) or "" for key in ("commit", "toolkit", "flags")}
        return {"name": head.run, "time": time, "dirty": head.dirty, **texts}

    def _write_devices(self, first: dict[Head, int], ids: dict[str, int]) -> None:
        question = _where_in(
            self._connection, sa.select(devices), devices.c.run_id, set(ids.values())
        )
        there = {(row.run_id, row.name): dict(row._mapping) for row in question}
        changed = {}
        for head, line in first.items():
            if not head.device:
                continue
            row = asdict(head.device) | {"run_id": ids[head.run]}
            row |= {key: row[key] or "" for key in row if isinstance(devices.c[key].type, sa.Text)}
            key = (row["run_id"], row["name"])
            before = there.setdefault(key, dict.fromkeys(row))
            # Not all that measures knows all of the device: the chip is known by the counters only.
            known = {key: value for key, value in row.items() if value and before[key]}
            self._hold_same(line, f"device '{row['name']}' of run '{head.run}'", before, known)
            merged = {key: before[key] or value for key, value in row.items()}
            if merged != before:
                changed[key] = there[key] = merged
        for run_id, name in changed:
            mine = (devices.c.run_id == run_id) & (devices.c.name == name)
            self._connection.execute(sa.delete(devices).where(mine))
        _insert(self._connection, devices, list(changed.values()))

    def _mark_emulated(self, run: int) -> None:
        emulated = (
            sa.select(1)
            .select_from(observations.join(series, series.c.id == observations.c.series_id))
            .where(observations.c.run_id == run, series.c.source == "emulator")
        )
        mark = sa.update(runs).where(runs.c.id == run, sa.exists(emulated)).values(emulated=True)
        self._connection.execute(mark)

    # ---- states

    def _write_states(self) -> dict[bytes, tuple[int, int]]:
        """State and series of every digest but those of source lines; what is new is written."""
        asked_for = set(self._file.digests)
        found = self._known_states(asked_for)
        read = self._file.read_unknown(found)
        found |= self._known_states(read.keys() - asked_for)  # reading can change digests
        new = {digest: fact for digest, fact in read.items() if digest not in found}
        if not new:
            return found
        series_ids = self._write_series(new)
        context_ids, context_of = self._write_contexts(new)
        added = []
        for state_id, (digest, fact) in enumerate(new.items(), self._next_id(states)):
            series_id = series_ids[rows.series_key(fact)]
            found[digest] = (state_id, series_id)
            keys = {"id": state_id, "digest": digest, "series_id": series_id}
            keys["context_id"] = context_ids[context_of[digest]]
            added.append(keys | rows.state_row(fact))
        _insert(self._connection, states, added)
        return found

    def _write_series(self, new: dict[bytes, Fact]) -> dict[tuple[str, ...], int]:
        keys = [column for column in series.c if column.name not in ("id", "unit")]
        question = sa.select(series.c.id, series.c.unit, *keys)
        question = question.where(series.c.metric.in_({fact.metric for fact in new.values()}))
        families = {fact.family for fact in new.values()}
        ids, units, added = {}, {}, []
        for number, unit, *key in _where_in(self._connection, question, series.c.family, families):
            ids[tuple(key)], units[tuple(key)] = number, unit
        next_id = self._next_id(series)
        for digest, fact in new.items():
            key = rows.series_key(fact)
            if key not in ids:
                ids[key], units[key] = next_id + len(added), fact.unit
                added.append((ids[key], *key, fact.unit))
            elif units[key] != fact.unit:  # another version's
                line = self._file.digests.index(digest) + 1
                self._hold_same(line, fact.metric, {"unit": units[key]}, {"unit": fact.unit})
        driver.insert(self._connection, series, added)
        return ids

    def _write_contexts(self, new: dict[bytes, Fact]) -> tuple[dict[bytes, int], dict]:
        by_digest, context_of = {}, {}
        for digest, fact in new.items():
            row = rows.context_row(fact)
            by_digest[row["digest"]] = row
            context_of[digest] = row["digest"]
        question = sa.select(contexts.c.digest, contexts.c.id)
        there = _where_in(self._connection, question, contexts.c.digest, set(by_digest))
        ids = {bytes(digest): number for digest, number in there}
        missing = [row for digest, row in by_digest.items() if digest not in ids]
        for number, row in enumerate(missing, self._next_id(contexts)):
            ids[row["digest"]] = row["id"] = number
        _insert(self._connection, contexts, missing)
        return ids, context_of

    def _known_states(self, digests: set[bytes]) -> dict[bytes, tuple[int, int]]:
        """State and series of those digests that the database has, and of others."""
        if not digests:
            return {}
        question = "SELECT s.digest, s.id, s.series_id FROM states s"
        # Most are those of the last run, which lie in a row.
        last = "WHERE o.run_id = (SELECT max(run_id) FROM observations)"
        of_last = f"{question} JOIN observations o ON o.state_id = s.id {last}"
        found = {row[0]: row[1:] for row in driver.fetch(self._connection, of_last)}
        others = sorted(digests - found.keys())
        question += " WHERE s.digest IN ({})"
        for part in driver.fetch_where_in(self._connection, question, others):
            found |= {row[0]: row[1:] for row in part}
        return found

    # ---- the rest

    def _next_id(self, table: sa.Table) -> int:
        return (self._connection.scalar(sa.select(sa.func.max(table.c.id))) or 0) + 1

    def _observed(self, run: int) -> dict[int, int]:
        columns = observations.c
        question = sa.select(columns.series_id, columns.state_id).where(columns.run_id == run)
        return dict(tuple(row) for row in self._connection.execute(question))

    def _compare(self, line: int, before: int, state: int) -> None:
        """Two states of one value in one run must say the same, however it is written."""
        columns = (*tables.columns_of(states), *tables.columns_of(contexts))
        question = sa.select(states.c.id, *columns).join_from(
            states, contexts, contexts.c.id == states.c.context_id
        )
        question = question.where(states.c.id.in_((before, state)))
        found = {row.id: row._mapping for row in self._connection.execute(question)}
        fact = self._file.fact(line)
        what = f"{fact.metric} of {fact.id} ({fact.arch}, {fact.source}) in run '{fact.run}'"
        self._hold_same(line, what, found[before], found[state])

    def _hold_same(self, line: int, what: str, before: Any, row: dict[str, Any]) -> None:
        for key, value in row.items():
            if key != "id" and before[key] != value:
                raise self._error(
                    line, f"{what} has {key} {before[key]!r} in the history, and {value!r} here"
                )

    def _error(self, line: int, message: str) -> FactError:
        return FactError(f"{self._file.path}:{line}: {message}")


def _where_in(
    connection: Connection, question: sa.Select, column: sa.Column, values: Iterable[Any]
) -> Iterator[sa.Row]:
    """The rows whose column is one of the values, however many these are."""
    values = sorted(values)
    listed = sa.bindparam("values", expanding=True, type_=sa.types.NullType())  # as they are
    chosen = question.where(column.in_(listed))
    for start in range(0, len(values), driver.AT_ONCE):
        yield from connection.execute(
            chosen, {"values": values[start : start + driver.AT_ONCE]}
        ).all()


def _insert(connection: Connection, table: sa.Table, added: list[dict[str, Any]]) -> None:
    names = [column.name for column in table.c]
    driver.insert(connection, table, list(map(itemgetter(*names), added)))


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Nothing here refers to itself, and looking for what does takes a fifth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()

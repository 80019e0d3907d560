"""Brings a file of facts into the database: all of it or nothing, and only once."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from warpgauge.errors import FactError
from warpgauge.facts.reader import FactFile, Value
from warpgauge.facts.records import Device, Fact, Run
from warpgauge.history import driver, rows, tables
from warpgauge.history.database import Database
from warpgauge.history.nights import is_possible
from warpgauge.history.tables import cases, contexts, observations, runs, series, states


@dataclass(frozen=True, slots=True)
class IngestResult:
    """The result of a file: its runs, and how many values were new to the history, were there
    already, or belong to source lines and are not kept. `exit_codes` are those of all runs of the
    file, None for one without its closing record; `misdated` are the runs, with their times, that
    only a wrong clock can have dated."""

    path: str
    runs: tuple[str, ...]
    new: int
    known: int
    of_source_lines: int
    exit_codes: tuple[int | None, ...]
    misdated: tuple[tuple[str, str], ...]


def ingest(
    database: Database,
    path: str | Path,
    branch: str | None,
    label: str | None,
    time: datetime | None,
) -> IngestResult:
    """Raises FactError with file and line for what is not a fact, and for a value that a run has
    already and has otherwise. Raises CommandError for what the database refuses."""
    with _without_garbage_collection():
        file = FactFile(path)
        for name, run in file.runs.items():
            file.runs[name] = replace(
                run,
                branch=run.branch or branch,
                label=run.label or label,
                time=f"{time:{rows.TIME_FORM}}" if time else run.time,
            )
        with database.writing() as connection:
            return _Writer(connection, file).write()


class _Writer:
    def __init__(self, connection: Connection, file: FactFile) -> None:
        self._connection = connection
        self._file = file
        self._waived = 0  # findings

    def write(self) -> IngestResult:
        states_of = self._write_states()
        values = self._file.values
        found = zip(values, map(states_of.get, self._digests), strict=True)
        kept = [(value, state) for value, state in found if state]  # of cases
        first: dict[str, int] = {}
        for value, _ in kept:
            first.setdefault(value.run, value.number)
        run_ids = self._write_runs(first)
        observed = {run: self._observed(run) for run in run_ids.values()}
        added = []
        for value, (state, of_series) in kept:
            run = run_ids[value.run]
            before = observed[run].get(of_series)
            if before is None:
                observed[run][of_series] = state
                added.append((run, of_series, state))
            elif before != state:
                self._compare(value, before, state)
        driver.insert(self._connection, observations, added)
        for run in run_ids.values():
            self._mark_emulated(run)
        return IngestResult(
            path=str(self._file.path),
            runs=tuple(run_ids),
            new=len(added),
            known=len(kept) - len(added),
            of_source_lines=len(values) - len(kept) - self._waived,
            exit_codes=tuple(run.exit_code for run in self._file.runs.values()),
            misdated=tuple(
                (name, self._file.runs[name].time)
                for name in run_ids
                if not is_possible(rows.time_of(rows.seconds(self._file.runs[name].time)))
            ),
        )

    # ---- runs

    def _write_runs(self, first: dict[str, int]) -> dict[str, int]:
        """The ids of the file's runs, by name; those that are new are written. `first` has the line
        of the first value of each."""
        question = _where_in(self._connection, sa.select(runs), runs.c.name, first)
        there = {row.name: row for row in question}
        next_id = self._next_id(runs)
        added: list[dict[str, Any]] = []
        ids: dict[str, int] = {}
        for name, line in first.items():
            run = self._file.runs[name]
            if name in there:
                ids[name] = there[name].id
                self._complete(line, there[name], run)
            else:
                ids[name] = next_id + len(added)
                added.append({"id": ids[name], "name": name, **self._run_row(line, run)})
        _insert(self._connection, runs, added)
        return ids

    def _run_row(self, line: int, run: Run) -> dict[str, Any]:
        try:
            time = rows.seconds(run.time)
        except ValueError:
            raise self._error(line, f"key 'time': '{run.time}' is not a time") from None
        kept = {"emulated": False, "exit_code": run.exit_code, "record": rows.run_text(run)}
        return {"time": time, **kept}

    def _complete(self, line: int, row: sa.Row, run: Run) -> None:
        """Completes a run in the history with the facts of another file of it."""
        before = rows.run_from(row.record, row.exit_code)
        what = f"run '{run.id}'"
        self._hold_same(line, what, *(_sources(record) for record in (before, run)))
        called: dict[str, Any] = _names(run) | _names(before)
        self._hold_same(line, what, called, _names(run))
        devices = {device.name: device for device in before.devices}
        for device in run.devices:
            devices[device.name] = self._merged(line, run, devices.get(device.name), device)
        ends = [record.exit_code for record in (before, run) if record.exit_code is not None]
        ended = max(ends, default=None)
        merged = replace(before, devices=tuple(devices.values()), exit_code=ended, **called)
        if merged != before:
            values = {"record": rows.run_text(merged), "exit_code": merged.exit_code}
            self._connection.execute(sa.update(runs).where(runs.c.id == row.id).values(values))

    def _merged(self, line: int, run: Run, before: Device | None, device: Device) -> Device:
        """One device from two files: only counters, for instance, give the chip."""
        if before is None:
            return device
        old, new = asdict(before), asdict(device)
        both = {key for key in new if old[key] is not None and new[key] is not None}
        what = f"device '{device.name}' of run '{run.id}'"
        self._hold_same(line, what, old, {key: new[key] for key in new if key in both})
        return Device(**{key: new[key] if old[key] is None else old[key] for key in new})

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
        """State and series of every digest but those of source lines and nodes; what is new is
        written."""
        found = self._known_states(set(self._digests))
        new: dict[bytes, Fact] = {}
        for value in self._file.values:
            if value.digest not in found and value.digest not in new:
                fact = self._file.fact(value)
                if _is_waived_finding(fact):
                    self._waived += 1
                elif fact.scope == "case":
                    new[value.digest] = fact
        if not new:
            return found
        series_ids = self._write_series(new.values())
        context_of = self._write_contexts(new, self._write_cases(new.values()))
        added = []
        for state_id, (digest, fact) in enumerate(new.items(), self._next_id(states)):
            series_id = series_ids[rows.series_key(fact)]
            found[digest] = (state_id, series_id)
            keys = {"id": state_id, "digest": digest, "series_id": series_id}
            keys["context_id"] = context_of[digest]
            added.append(keys | rows.state_row(fact))
        _insert(self._connection, states, added)
        return found

    @cached_property
    def _digests(self) -> list[bytes]:
        return [value.digest for value in self._file.values]

    def _write_series(self, new: Iterable[Fact]) -> dict[tuple[str, ...], int]:
        keys = [column for column in series.c if column.name != "id"]
        question = sa.select(series.c.id, *keys)
        question = question.where(series.c.metric.in_({fact.metric for fact in new}))
        families = {fact.family for fact in new}
        found = _where_in(self._connection, question, series.c.family, families)
        ids = {tuple(key): number for number, *key in found}
        next_id = self._next_id(series)
        added: list[tuple[Any, ...]] = []
        for fact in new:
            key = rows.series_key(fact)
            if key not in ids:
                ids[key] = next_id + len(added)
                added.append((ids[key], *key))
        driver.insert(self._connection, series, added)
        return ids

    def _write_cases(self, new: Iterable[Fact]) -> dict[str, int]:
        """The ids of the cases of these facts, by their keys."""
        made = {fact.case.key: fact.case for fact in new}
        row_of = {key: rows.case_row(case) for key, case in made.items()}
        ids = self._write_by_digest(cases, row_of.values())
        return {key: ids[row["digest"]] for key, row in row_of.items()}

    def _write_contexts(self, new: dict[bytes, Fact], case_ids: dict[str, int]) -> dict[bytes, int]:
        """The ids of the contexts of these facts, by the digests of the facts."""
        row_of = {
            digest: rows.context_row(fact) | {"case_id": case_ids[fact.case.key]}
            for digest, fact in new.items()
        }
        ids = self._write_by_digest(contexts, row_of.values())
        return {digest: ids[row["digest"]] for digest, row in row_of.items()}

    def _write_by_digest(self, table: sa.Table, made: Iterable[dict[str, Any]]) -> dict[bytes, int]:
        """The ids of rows by their digest; those that the table lacks are written."""
        by_digest = {row["digest"]: row for row in made}
        question = sa.select(table.c.digest, table.c.id)
        there = _where_in(self._connection, question, table.c.digest, set(by_digest))
        ids = {bytes(digest): number for digest, number in there}
        missing = [row for digest, row in by_digest.items() if digest not in ids]
        for number, row in enumerate(missing, self._next_id(table)):
            ids[row["digest"]] = row["id"] = number
        _insert(self._connection, table, missing)
        return ids

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

    def _compare(self, value: Value, before: int, state: int) -> None:
        """Two states of one value in one run must say the same, however it is written. Only
        errors differ, where a check has found one of them: the history keeps the first."""
        question = sa.select(
            states.c.id,
            *tables.columns_of(states),
            contexts.c.record.label("context"),
            cases.c.record.label("case_record"),
        ).select_from(
            states.join(contexts, contexts.c.id == states.c.context_id).join(
                cases, cases.c.id == contexts.c.case_id
            )
        )
        question = question.where(states.c.id.in_((before, state)))
        found = {row.id: _said(row) for row in self._connection.execute(question)}
        if "rule" in found[before] or "rule" in found[state]:
            return
        fact = self._file.fact(value)
        what = f"{fact.metric} of {fact.id} ({fact.arch}, {fact.source}) in run '{fact.run.id}'"
        self._hold_same(value.number, what, found[before], found[state])

    def _hold_same(self, line: int, what: str, before: dict[str, Any], row: dict[str, Any]) -> None:
        for key, value in row.items():
            if before.get(key) != value:
                raise self._error(
                    line, f"{what} has {key} {before.get(key)!r} in the history, and {value!r} here"
                )

    def _error(self, line: int, message: str) -> FactError:
        return FactError(f"{self._file.path}:{line}: {message}")


def _is_waived_finding(fact: Fact) -> bool:
    """Whether it is known and says nothing of a value: the history does not keep it."""
    return fact.rule is not None and fact.verdict == "waived"


def _sources(run: Run) -> dict[str, Any]:
    """The members of a run that all of its files share."""
    return {name: getattr(run, name) for name in ("time", "commit", "dirty", "toolkit", "flags")}


def _names(run: Run) -> dict[str, str]:
    """What a run is called: any of its files can say it."""
    names = {"branch": run.branch, "label": run.label}
    return {name: text for name, text in names.items() if text is not None}


def _said(row: sa.Row) -> dict[str, Any]:
    """All members of a state, its context and its case; of kernels the first that differs."""
    case = json.loads(row.case_record)
    kernels = {f"kernel {kernel['name']}": kernel for kernel in case.pop("kernels", ())}
    own = {key: value for key, value in row._mapping.items() if key not in _RECORDS}
    del case["case"], own["id"]
    return own | case | kernels | json.loads(row.context)


_RECORDS = ("context", "case_record")


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

"""Write values of the history as facts (JSON lines), as CSV or as Parquet.

JSON lines are the records of facts as they were ingested, oldest run first;
the history has no values of single source lines. CSV has a row for each value,
with the members of its run, its case and its limit as run.time, case.id and so
on, and lists as JSON. Text that a spreadsheet would take for a formula (it
begins with =, +, - or @) gets an apostrophe in front. Parquet has the same
columns, called run_id, case_id and so on, with words (of metrics that are no
numbers) in columns of their own; it needs the Python package pyarrow.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from warpgauge.command_line import (
    add_database_option,
    add_filter_options,
    add_run_options,
    case_filter,
    date_of,
)
from warpgauge.errors import CommandError
from warpgauge.facts import table
from warpgauge.facts.catalog import catalog
from warpgauge.facts.records import Fact
from warpgauge.facts.writer import compact, records_of
from warpgauge.files import write_parts
from warpgauge.history import RunFilter, open_history

EPILOG = """\
exit codes:
  0  written
  2  an error: no history, nothing selected

examples:
  warpgauge report export --out all.jsonl
  warpgauge report export --metric registers --arch sm_90 --format csv
  warpgauge report export --run 20261122T073303Z-f10e5ebe --out night.jsonl
  warpgauge report export --branch main --since 2026-11-01 --out november.jsonl
  warpgauge report export --format parquet --out values.parquet
"""

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_database_option(parser)
    add_filter_options(parser)
    parser.add_argument("--metric", metavar="METRIC", help="only this metric")
    parser.add_argument("--arch", metavar="ARCH", help="only this architecture, such as sm_90")
    parser.add_argument("--run", dest="run_id", metavar="ID", help="only this run")
    add_run_options(parser)
    parser.add_argument(
        "--since", type=date_of, metavar="DATE", help="only runs of this day (UTC) and later ones"
    )
    parser.add_argument(
        "--until", type=date_of, metavar="DATE", help="only runs of this day (UTC) and earlier ones"
    )
    parser.add_argument("--format", choices=_FORMATS, default="jsonl", help="the output format")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="file to write (default: standard output)"
    )


def run(options: argparse.Namespace) -> int:
    """Writes the file as a whole, or to stdout as it comes."""
    if options.metric and options.metric not in catalog():
        raise CommandError(f"--metric: unknown metric '{options.metric}'")
    chosen = RunFilter(options.branch, options.label, options.run_id, options.since, options.until)
    form = _FORMATS[options.format]
    with open_history(options.db) as history:
        facts = history.export(case_filter(options), options.metric, options.arch, chosen)
        parts = form(_something(facts, history.name))
        if options.out:
            write_parts(options.out, parts)
        else:
            _print(parts)
    return 0


def _print(parts: Iterable[bytes]) -> None:
    try:
        sys.stdout.buffer.writelines(parts)
        sys.stdout.buffer.flush()
    except BrokenPipeError:  # `| head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _something(facts: Iterator[Fact], where: str) -> Iterator[Fact]:
    first = next(facts, None)
    if first is None:
        raise CommandError(f"{where}: nothing in the history matches")
    yield first
    yield from facts


def _json_lines(facts: Iterable[Fact]) -> Iterator[bytes]:
    for record in records_of(facts):
        yield f"{compact(record)}\n".encode()


def _parquet(facts: Iterable[Fact]) -> Iterator[bytes]:
    from warpgauge.facts import parquet  # pyarrow need not be there

    return parquet.parts_of(facts)


def _csv(facts: Iterable[Fact]) -> Iterator[bytes]:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns("."))
    for fact in facts:
        writer.writerow(map(_cell, table.cells(fact)))
        yield text.getvalue().encode()
        text.seek(0)
        text.truncate()


def _cell(value: Any) -> Any:
    if isinstance(value, tuple):
        return json.dumps(value)
    if isinstance(value, bool):
        return str(value).lower()
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


_FORMATS = {"jsonl": _json_lines, "csv": _csv, "parquet": _parquet}

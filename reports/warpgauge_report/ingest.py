"""warpgauge report ingest: facts into the history."""

from __future__ import annotations

import argparse
import sys

from warpgauge_report.command_line import Page
from warpgauge_report.database_option import add_database_option
from warpgauge_report.facts import FactError
from warpgauge_report.history import IngestResult, open_history
from warpgauge_report.output import ReportError, printable

PAGE = Page(
    about="""\
The history keeps the values of cases; those of single source lines are checked and left out, being
detail of one run: keep the files of facts for them. A file is brought in as a whole or, if
anything in it is wrong, not at all; the other files are brought in all the same. What is there
already is left as it is, so that the same command again changes nothing, and a run may come in
several files. A value that differs from what its run has in the history is an error.

The database is made where there is none, and brought to this version's form where it is older.
Several programs may write at the same time: they take turns. An SQLite file must lie
on a local disk, or on a shared one that locks files where no two programs use it at a time; for
several machines take PostgreSQL.
""",
    exit_codes={
        0: "all files are in the history",
        2: "a fault: a file is not, or none of them has a value",
    },
    examples=(
        "warpgauge report ingest out/facts.jsonl",
        "warpgauge report ingest h100.jsonl l4.jsonl --db nights/history.db",
        "warpgauge report ingest h100.jsonl --db postgresql://ci@db.example/facts",
    ),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "facts", nargs="+", metavar="FACTS", help="files of facts, plain or compressed (gzip, xz)"
    )
    add_database_option(parser)


def run(arguments: argparse.Namespace) -> None:
    """Prints a line for each file. Raises ReportError after the last one if any was refused."""
    bad, values = 0, 0
    with open_history(arguments.db, create=True) as history:
        for path in arguments.facts:
            try:
                result = history.ingest(path)
            except FactError as error:
                bad += 1
                print(printable(str(error)), file=sys.stderr)
            else:
                values += result.new + result.known
                print(printable(_sentence(result)))
        where = history.name
    if bad:
        count = len(arguments.facts)
        raise ReportError(f"{where}: {bad} of {count} files not brought in, none of their values")
    if values == 0:
        raise ReportError(f"{', '.join(arguments.facts)}: no value of a case")


def _sentence(result: IngestResult) -> str:
    runs = f"run {result.runs[0]}" if len(result.runs) == 1 else f"{len(result.runs)} runs"
    left_out = f", {result.of_source_lines} of source lines left out"
    return (
        f"{result.path}: {runs}: {result.new} new values, {result.known} there already"
        f"{left_out if result.of_source_lines else ''}"
    )

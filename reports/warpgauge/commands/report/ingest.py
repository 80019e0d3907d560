"""Add the facts of runs to the history, a database.

The history keeps the values of cases. Those of single source lines are checked
and left out: keep the files of facts for them. A file is added whole or, if it
has an error, not at all; the other files are added all the same. Values in the
history stay as they are: the same command again changes nothing, and a run may
be spread over several files. A value that differs from the one in the history
is an error.

A database that does not exist is created, and an older one is brought to this
version's form. Several programs may write at the same time: they take turns.
Keep an SQLite file on a local disk, or on a shared disk that locks files and
for one program at a time; for several machines use PostgreSQL.
"""

from __future__ import annotations

import argparse
import sys

from warpgauge.command_line import add_database_option
from warpgauge.errors import CommandError, FactError
from warpgauge.history import IngestResult, open_history
from warpgauge.text import printable

EPILOG = """\
exit codes:
  0  all files are in the history
  2  an error: a file was not added, or no file has a value

examples:
  warpgauge report ingest out/facts.jsonl
  warpgauge report ingest h100.jsonl l4.jsonl --db nights/history.db
  warpgauge report ingest h100.jsonl --db postgresql://ci@db.example/facts
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "facts", nargs="+", metavar="FACTS", help="files of facts, plain or compressed (gzip, xz)"
    )
    add_database_option(parser)


def run(options: argparse.Namespace) -> int:
    """Prints a line for each file. Raises CommandError after the last one if any was refused."""
    bad, values = 0, 0
    with open_history(options.db, create=True) as history:
        for path in options.facts:
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
        count = len(options.facts)
        raise CommandError(f"{where}: {bad} of {count} files not added, none of their values")
    if values == 0:
        raise CommandError(f"{', '.join(options.facts)}: no value of a case")
    return 0


def _sentence(result: IngestResult) -> str:
    runs = f"run {result.runs[0]}" if len(result.runs) == 1 else f"{len(result.runs)} runs"
    left_out = f", {result.of_source_lines} of source lines left out"
    return (
        f"{result.path}: {runs}: {result.new} new values, {result.known} there already"
        f"{left_out if result.of_source_lines else ''}"
    )

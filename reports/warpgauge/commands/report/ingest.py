"""Add the facts of runs to the history, a database.

The history keeps the values of cases. Those of single source lines are checked
and left out: keep the files of facts for them. A file is added whole or, if it
has an error, not at all; the other files are added all the same. Values in the
history stay as they are: the same command again changes nothing, and a run may
be spread over several files. A value that differs from the one in the history
is an error.

A database that does not exist is created. Several programs may write at the
same time: they take turns. A run whose date only a wrong clock can have given
is kept and belongs to no night; a warning says so.

--branch and --label say what the runs are called, where the facts do not: a
night that is brought in by hand, for instance. A run that is called nothing has
neither. The commands that read the history select runs by both.

--time dates the runs of the files, in place of what the facts say: for trials,
in which runs of one afternoon are to be nights. Once a run is in the history
its time stays.

With --night the files are the results of one night: their runs decide the exit
code, as the gate recorded it, and a file with nothing new, a run without its
closing record, or with an impossible date is a fault, listed as "lost: FILE".

Keep an SQLite file on a local disk, or on a shared disk that locks files and
for one program at a time; for several machines use PostgreSQL.
"""

from __future__ import annotations

import argparse
import sys
from datetime import datetime

from warpgauge.command_line import add_database_option, time_of
from warpgauge.errors import CommandError, FactError
from warpgauge.history import IngestResult, is_possible, open_history
from warpgauge.text import is_blank, printable

EPILOG = """\
exit codes:
  0  all files are in the history
  1  with --night: over budget
  2  an error: a file was not added, or no file has a value
  3  with --night: something required was not measured

examples:
  warpgauge report ingest out/facts.jsonl
  warpgauge report ingest h100.jsonl l4.jsonl --db nights/history.db
  warpgauge report ingest h100.jsonl --db postgresql://ci@db.example/facts
  warpgauge report ingest facts.jsonl --branch fix-sort --label 'by hand'
  warpgauge report ingest monday.jsonl --time 2026-01-12T02:00:00Z --db trial.db
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "facts", nargs="+", metavar="FACTS", help="files of facts, plain or compressed (gzip, xz)"
    )
    add_database_option(parser)
    parser.add_argument(
        "--branch", type=_name, metavar="NAME", help="branch of runs whose facts name none"
    )
    parser.add_argument(
        "--label", type=_name, metavar="TEXT", help="label of runs whose facts name none"
    )
    parser.add_argument(
        "--time",
        type=_time,
        metavar="TIME",
        help="time of the runs, such as 2026-01-12T02:00:00Z or 2026-01-12 (UTC where it names no "
        "zone), in place of their own",
    )
    parser.add_argument(
        "--night",
        action="store_true",
        help="the files are a night's results: their runs decide the exit code",
    )


def run(options: argparse.Namespace) -> int:
    """Prints a line for each file. Raises CommandError after the last one if any was refused."""
    bad, values, codes = 0, 0, [0]
    with open_history(options.db, create=True) as history:
        for path in options.facts:
            try:
                result = history.ingest(path, options.branch, options.label, options.time)
            except FactError as error:
                bad += 1
                print(printable(str(error)), file=sys.stderr)
                if options.night:
                    print(printable(f"lost: {path}: not added"))
            else:
                values += result.new + result.known
                print(printable(_sentence(result)))
                _warn(result)
                if options.night:
                    codes += _codes(result)
        where = history.name
    if bad:
        count = len(options.facts)
        raise CommandError(f"{where}: {bad} of {count} files not added, none of their values")
    if values == 0:
        raise CommandError(f"{', '.join(options.facts)}: no value of a case")
    return max(codes, key=_WORST_LAST.index)


def _name(text: str) -> str:
    if is_blank(text):
        raise argparse.ArgumentTypeError("is empty: name it, or leave the option out")
    return text


def _time(text: str) -> datetime:
    time = time_of(text)
    if not is_possible(time):
        raise argparse.ArgumentTypeError(
            f"'{printable(text)}' belongs to no night: name a time from 2020 to now"
        )
    return time


_WORST_LAST = (0, 3, 1, 2)


def _warn(result: IngestResult) -> None:
    for run, time in result.misdated:
        print(
            printable(
                f"{result.path}: warning: run {run} is dated {time}, which only a wrong clock can "
                "give: it belongs to no night; set the clock of its machine"
            ),
            file=sys.stderr,
        )


def _codes(result: IngestResult) -> list[int]:
    """The exit codes of a file of a night; prints what is lost of it."""
    lost = [
        "nothing new" if result.new == 0 else "",
        "a run has no closing record" if None in result.exit_codes else "",
        "a run has an impossible date" if result.misdated else "",
    ]
    reasons = ", ".join(filter(None, lost))
    if reasons:
        print(printable(f"lost: {result.path}: {reasons}"))
    ended = [code if code in _WORST_LAST else 2 for code in result.exit_codes]
    return [*ended, 2] if reasons else ended


def _sentence(result: IngestResult) -> str:
    runs = f"run {result.runs[0]}" if len(result.runs) == 1 else f"{len(result.runs)} runs"
    left_out = f", {result.of_source_lines} of source lines left out"
    return (
        f"{result.path}: {runs}: {result.new} new values, {result.known} there already"
        f"{left_out if result.of_source_lines else ''}"
    )

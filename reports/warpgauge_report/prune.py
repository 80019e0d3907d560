"""warpgauge report prune: old values out of the history."""

from __future__ import annotations

import argparse

from warpgauge_report.command_line import Page
from warpgauge_report.database_option import add_database_option
from warpgauge_report.history import Keep, open_history

PAGE = Page(
    about="""\
--keep 30 keeps the newest 30 values of each series (a case, a metric, an architecture, a source, a
device); --keep 365d keeps the nights that ended no more than 365 days before the newest run. Runs
and cases of which nothing is left go as well. A night is what ran without a pause of more than 6
hours, and within 24. The database is written anew: for a moment that takes as much
space again, and others wait. A file of facts whose values were deleted can be ingested again.
""",
    exit_codes={0: "done", 2: "a fault: no history, a --keep that is neither"},
    examples=(
        "warpgauge report prune --keep 365d",
        "warpgauge report prune --keep 100 --db nights/history.db",
    ),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--keep", required=True, metavar="N|Nd", help="values of each series, or days"
    )
    add_database_option(parser)


def run(arguments: argparse.Namespace) -> None:
    """Prints what was deleted."""
    keep = Keep.parse(arguments.keep)
    with open_history(arguments.db) as history:
        result = history.prune(keep)
    print(f"deleted: {result.values} values, {result.runs} runs, {result.series} series")

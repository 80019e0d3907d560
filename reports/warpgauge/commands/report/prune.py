"""Delete old values from the history, and give their space back.

--keep 30 keeps the newest 30 values of each series (a case, a metric, an
architecture, a source, a device); --keep 365d keeps the nights that ended no
more than 365 days before the newest run. Runs and cases without values go as
well. A series that got worse and has not recovered keeps all of its values.
A night is runs without a pause of more than 6 hours, within 24 hours.
The database is written again: for a moment that takes as much space again, and
other programs wait. A file of facts whose values were deleted can be ingested
again.
"""

from __future__ import annotations

import argparse

from warpgauge.command_line import add_database_option
from warpgauge.history import Keep, open_history

EPILOG = """\
exit codes:
  0  done
  2  an error: no history, a --keep that is neither

examples:
  warpgauge report prune --keep 365d
  warpgauge report prune --keep 100 --db nights/history.db
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--keep", required=True, metavar="N|Nd", help="values of each series, or days"
    )
    add_database_option(parser)


def run(options: argparse.Namespace) -> int:
    """Prints what was deleted."""
    keep = Keep.parse(options.keep)
    with open_history(options.db) as history:
        from warpgauge.changes.series import is_regressed  # loading the analysis takes a second

        spared = {series.key for series in history.series() if is_regressed(series)}
        result = history.prune(keep, spared)
    print(f"deleted: {result.values} values, {result.runs} runs, {result.series} series")
    return 0

"""Delete old values or one run from the history, and give their space back.

--keep 30 keeps the newest 30 values of each series (a case, a metric, an
architecture, a source, a device); --keep 365d keeps the nights that ended no
more than 365 days before the newest run. A series that got worse and has not
recovered, in the runs of any branch or label, keeps all of its values. A night
is runs without a pause of more than 6 hours, within 24 hours.

--run ID deletes that run with all of its values, such as a night that was
brought in by mistake.

Runs and cases without values go as well. The database is written again: for a
moment that takes as much space again, and other programs wait. A file of facts
whose values were deleted can be ingested again.
"""

from __future__ import annotations

import argparse

from warpgauge.command_line import add_database_option
from warpgauge.history import History, Keep, SeriesKey, open_history
from warpgauge.page.runs_of_page import pages_of
from warpgauge.text import printable

EPILOG = """\
exit codes:
  0  done
  2  an error: no history, a --keep that is neither, no such run

examples:
  warpgauge report prune --keep 365d
  warpgauge report prune --keep 100 --db nights/history.db
  warpgauge report prune --run 20261122T073303Z-f10e5ebe --dry-run
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--keep", metavar="N|Nd", help="values of each series, or days")
    what.add_argument("--run", dest="run_id", metavar="ID", help="the run to delete")
    parser.add_argument("--dry-run", action="store_true", help="delete nothing, say what would go")
    add_database_option(parser)


def run(options: argparse.Namespace) -> int:
    """Prints the runs that go, and how much was deleted."""
    keep = Keep.parse(options.keep) if options.keep is not None else None
    with open_history(options.db) as history:
        if keep:
            result = history.prune(keep, _regressed(history), dry=options.dry_run)
        else:
            result = history.delete_run(options.run_id, dry=options.dry_run)
    would = "would delete" if options.dry_run else "deleted"
    for name in result.runs:
        print(printable(f"{would}: run {name}"))
    print(f"{would}: {result.values} values, {len(result.runs)} runs, {result.series} series")
    return 0


def _regressed(history: History) -> set[SeriesKey]:
    """What is open on any page of the history."""
    from warpgauge.changes.series import is_regressed  # loading the analysis takes a second

    return {
        series.key
        for runs in pages_of(history.runs())
        for series in history.series(runs=runs)
        if is_regressed(series)
    }

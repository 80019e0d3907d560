"""Acknowledge that a value got worse.

A value that got worse is open on the page, in its digest and in the exit code
of `warpgauge report html`, until it recovers. One that is acknowledged is
shown with the reason, and is open again from the day after --until. What the
history finds later about the same series is not part of it.

SERIES is CASE/METRIC, CASE/METRIC/ARCH or CASE/METRIC/ARCH/DEVICE, or a glob of
these; all series that match and got worse are acknowledged. The newest
acknowledgement of a series counts: --until with the date of today ends one.

Worse is what the page of these runs shows to be: without --branch and --label
the usual page, that `warpgauge report html` makes.
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

from warpgauge.changes.worse import worse_series
from warpgauge.command_line import add_database_option, add_run_options, date_of
from warpgauge.errors import CommandError
from warpgauge.history import open_history
from warpgauge.page.runs_of_page import runs_of_page
from warpgauge.text import is_blank, printable

EPILOG = """\
exit codes:
  0  acknowledged
  2  an error: no such series, nothing that got worse, no reason, a past date

examples:
  warpgauge report ack 'sort.radix.u32@65536/time.median_us' \\
      --reason 'issue 12: the new driver' --until 2027-03-31
  warpgauge report ack 'sort.*/time.median_us/sm_90' --db nights/history.db \\
      --reason 'the new algorithm needs less memory' --until 2999-12-31
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("series", metavar="SERIES", help="what got worse")
    parser.add_argument("--reason", required=True, metavar="TEXT", help="why that is all right")
    parser.add_argument(
        "--until", required=True, type=date_of, metavar="DATE", help="last day, such as 2027-03-31"
    )
    add_database_option(parser)
    add_run_options(parser)


def run(options: argparse.Namespace) -> int:
    """Prints a line for each series."""
    if is_blank(options.reason):
        raise CommandError("--reason is empty: say why the value may be worse")
    today = datetime.now(UTC).date()
    if options.until < today:
        raise CommandError(f"--until: {options.until} is past; name a day from {today} on")
    with open_history(options.db) as history:
        runs = runs_of_page(history.runs(), options.branch, options.label)
        found = {series.key for series in worse_series(history, options.series, runs)}
        history.acknowledge(found, options.reason, options.until)
    for name in sorted(key.name for key in found):
        print(printable(f"acknowledged until {options.until}: {name}"))
    return 0

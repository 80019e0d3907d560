"""Acknowledge that a value got worse.

A value that got worse is open on the page, in its digest and in the exit code
of `warpgauge report html`, until it recovers. One that is acknowledged is
shown with the reason, and is open again from the day after --until. What the
history finds later about the same series is not part of it.

SERIES is CASE/METRIC, CASE/METRIC/ARCH or CASE/METRIC/ARCH/DEVICE, or a glob of
these; all series that match and got worse are acknowledged. The newest
acknowledgement of a series counts: --until with the date of today ends one.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection
from datetime import UTC, datetime

from warpgauge.command_line import add_database_option, date_of
from warpgauge.errors import CommandError
from warpgauge.facts.case_filter import fits
from warpgauge.history import History, SeriesKey, open_history
from warpgauge.text import is_blank, nearest, printable

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


def run(options: argparse.Namespace) -> int:
    """Prints a line for each series."""
    if is_blank(options.reason):
        raise CommandError("--reason is empty: say why the value may be worse")
    today = datetime.now(UTC).date()
    if options.until < today:
        raise CommandError(f"--until: {options.until} is past; name a day from {today} on")
    with open_history(options.db) as history:
        found = _regressed(history, options.series)
        history.acknowledge(found, options.reason, options.until)
    for name in sorted(key.name for key in found):
        print(printable(f"acknowledged until {options.until}: {name}"))
    return 0


def _regressed(history: History, pattern: str) -> set[SeriesKey]:
    """The series that match and got worse."""
    keys = history.keys()
    chosen = {key for key in keys if _matches(key.name, pattern)}
    if not chosen:
        raise CommandError(_unknown(history.name, keys, pattern))
    from warpgauge.changes.series import is_regressed  # loading the analysis takes a second

    found = {
        series.key
        for family, metric in {(key.family, key.metric) for key in chosen}
        for series in history.series(family, metric)
        if series.key in chosen and is_regressed(series)
    }
    if not found:
        raise CommandError(
            f"{history.name}: nothing to acknowledge: of {len(chosen)} series that match "
            f"'{pattern}' none is worse than before"
        )
    return found


def _matches(name: str, pattern: str) -> bool:
    """Whether a name or its beginning, up to a slash, is the pattern or matches it."""
    is_it = name == pattern or name.startswith(f"{pattern}/")
    return is_it or fits(pattern, name) or fits(f"{pattern}/*", name)


def _unknown(where: str, keys: Collection[SeriesKey], pattern: str) -> str:
    meant = nearest(pattern, {f"{key.id}/{key.metric}" for key in keys})
    hint = f"did you mean '{meant}'?" if meant else "SERIES is CASE/METRIC, as the page shows it"
    return f"{where}: no series matches '{pattern}'; {hint}"

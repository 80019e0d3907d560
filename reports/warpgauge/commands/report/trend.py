"""Draw a metric of a case over the nights of a history.

Draws one picture, as SVG and as PNG, for each case and metric that SERIES
names: trend-CASE-METRIC.svg and .png. Each architecture and GPU is a line,
with its confidence interval where it has one; dotted lines mark the newest
changes and what made them, as the page does, and a dashed one the budget.
Values that something disturbed are left out.

SERIES is CASE/METRIC, CASE/METRIC/ARCH or CASE/METRIC/ARCH/DEVICE, or a glob of
these. The nights are those of the page with the same options.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from pathlib import Path

from warpgauge.command_line import add_database_option, add_nights_option, add_run_options
from warpgauge.errors import CommandError
from warpgauge.facts.catalog import catalog
from warpgauge.files import write_and_tell
from warpgauge.history import History, SeriesKey, matching, open_history
from warpgauge.repository import Repository
from warpgauge.text import safe_stem

MOST = 50  # pictures at once
MOST_LINES = 18  # of a picture: more have no colour and dashes of their own

EPILOG = """\
exit codes:
  0  pictures drawn
  2  an error: no history, no such series, or nothing measured in these nights

examples:
  warpgauge report trend matmul.tiled.f32@256x256/registers --out out
  warpgauge report trend 'softmax.*/time.median_us/sm_90' --nights 30 --out out
  warpgauge report trend 'sort.*/registers' --branch fix-sort --out out
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("series", metavar="SERIES", help="what to draw")
    parser.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="folder for the pictures"
    )
    add_nights_option(parser, "draw")
    add_database_option(parser)
    add_run_options(parser)
    parser.add_argument(
        "--repo",
        type=Path,
        metavar="DIR",
        help="local repository of git, for the commit to blame of several; it is only read",
    )


def run(options: argparse.Namespace) -> int:
    """Draws, writes, and prints the path of each file. Nothing is written if anything is wrong."""
    repository = Repository(options.repo) if options.repo else None
    with open_history(options.db, create=False) as history:
        groups = _groups(history, options.series)
        # Loading the analysis and matplotlib takes seconds: not before there is what to draw.
        from warpgauge.drawing import trend
        from warpgauge.page.over_nights import over_nights
        from warpgauge.page.runs_of_page import runs_of_page

        runs = runs_of_page(history.runs(), options.branch, options.label)
        trends = over_nights(history, groups, options.nights, runs, repository)
    for problem in repository.problems if repository else ():
        print(f"commits that are not known: {problem}", file=sys.stderr)
    if not trends:
        raise CommandError(
            f"{history.name}: nothing that matches '{options.series}' was measured in the nights "
            "drawn; --nights, --branch and --label choose others"
        )
    pictures = [(safe_stem("trend", of.case, of.metric), trend.draw(of)) for of in trends]
    for stem, picture in pictures:
        write_and_tell(options.out, ((f"{stem}.{ending}", c) for ending, c in picture.items()))
    return 0


def _groups(history: History, pattern: str) -> dict[tuple[str, str], list[SeriesKey]]:
    """The series that match, by case and metric. Raises CommandError if there is nothing to draw,
    or too much."""
    groups: dict[tuple[str, str], list[SeriesKey]] = defaultdict(list)
    chosen = matching(history, pattern)
    for key in chosen:
        if not catalog()[key.metric].is_word:
            groups[key.id, key.metric].append(key)
    if not groups:
        raise CommandError(f"{chosen[0].metric}: its values are words, which have no height")
    if len(groups) > MOST:
        raise CommandError(
            f"'{pattern}' names {len(groups):,} pictures, and {MOST} are drawn at once: name fewer"
        )
    if crowded := next((name for name, keys in groups.items() if len(keys) > MOST_LINES), None):
        raise CommandError(
            f"{'/'.join(crowded)} has {len(groups[crowded])} series, and {MOST_LINES} fit in a "
            "picture: name an architecture, or a glob of devices"
        )
    return groups

"""Write one page on the nights in a history: what is wrong, what changed, and why.

Writes DIR/index.html, which needs no network and no other file, DIR/digest.md
for a chat or a mail, DIR/badge.svg (and badge.json for shields.io), with
--address an Atom feed of what got worse and what recovered (feed.xml), and the
page's pictures (generations, rooflines, heat maps) as SVG and PNG. The page
answers, in this order: is something wrong, what got worse and did not recover,
what changed since the night before and why, what is over budget, and how do the
GPU generations compare. It shows the gate's verdicts. The exit code is that of
the headline: a value that got worse is open until it recovers or `warpgauge
report ack` acknowledges it. What driver or environment moved is counted apart,
and is no failure.

The page is of one branch: main, or the one of most nights, with the runs that
name no branch. Runs with another branch or a label are left out and counted.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from warpgauge.command_line import (
    add_database_option,
    add_filter_options,
    add_nights_option,
    add_run_options,
    case_filter,
)
from warpgauge.files import write_and_tell
from warpgauge.history import open_history
from warpgauge.page import links
from warpgauge.repository import Repository
from warpgauge.text import printable

EPILOG = """\
exit codes:
  0  written; nothing is wrong
  1  written; something is over budget, got worse and is open, or a run was cut off
  2  an error: no history, nothing selected; nothing is written
  3  written; nothing was judged last night

examples:
  warpgauge report html --db history.db --out site
  warpgauge report html --out site --nights 365 --filter 'transpose.*'
  warpgauge report html --db history.db --out trial --branch faster-transpose
  warpgauge report html --db history.db --out site --repo . \\
      --source-link 'https://git.example/project/blob/{commit}/{file}#L{line}' \\
      --commit-link 'https://git.example/project/commit/{commit}' \\
      --compare-link 'https://git.example/project/compare/{base}...{commit}'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_database_option(parser)
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="folder to write to")
    add_nights_option(parser, "show")
    add_filter_options(parser)
    add_run_options(parser)
    parser.add_argument("--title", default="warpgauge", help="title (default: %(default)s)")
    for name, kind, what in (
        ("--source-link", links.SOURCE, "address of a source line, with {file}, {commit}, {line}"),
        ("--commit-link", links.COMMIT, "address of a commit, with {commit}"),
        ("--compare-link", links.COMPARE, "address of a comparison, with {base} and {commit}"),
    ):
        pattern = partial(links.pattern, kind=kind)
        parser.add_argument(name, type=_address(pattern), metavar="PATTERN", help=what)
    parser.add_argument(
        "--address",
        type=_address(links.folder),
        metavar="URL",
        help="address of the folder that the page is published in; writes feed.xml, too",
    )
    parser.add_argument(
        "--repo",
        type=Path,
        metavar="DIR",
        help="local repository of git, for the subjects and authors of commits; it is only read",
    )


def run(options: argparse.Namespace) -> int:
    """Writes the files and prints their paths, the page last. Nothing is written after an error."""
    repository = Repository(options.repo) if options.repo else None
    with open_history(options.db, create=False) as history:
        # Loading the analysis and matplotlib takes seconds: not before there is a history.
        from warpgauge.page import files, report, runs_of_page

        every = history.runs()
        chosen = runs_of_page.runs_of_page(every, options.branch, options.label)
        found = report.build(
            filter(chosen.takes, every),
            history.series(runs=chosen),
            case_filter(options),
            nights=options.nights,
            acknowledged=history.acknowledgements(),
            others=itertools.filterfalse(chosen.takes, every),
        )
    to = links.Links(
        options.source_link, options.commit_link, options.compare_link, options.address
    )
    written = files.page_files(found, printable(options.title), to, repository)
    for problem in repository.problems if repository else ():
        print(f"commits without subjects: {problem}", file=sys.stderr)
    write_and_tell(options.out, written.items())
    return found.exit_code


def _address(check: Callable[[str], str]) -> Callable[[str], str]:
    def checked(text: str) -> str:
        try:
            return check(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(printable(str(error))) from error

    return checked

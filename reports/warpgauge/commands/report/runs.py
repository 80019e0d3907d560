"""List the runs in the history.

Oldest first. A commit with "+" had changes that were not committed.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import asdict

from warpgauge.command_line import add_database_option
from warpgauge.history import Run, open_history
from warpgauge.text import printable

EPILOG = """\
exit codes:
  0  listed
  2  an error: no history

examples:
  warpgauge report runs
  warpgauge report runs --db nights/history.db --json
"""

_HEADER = ("run", "time (UTC)", "commit", "toolkit", "device", "driver")
_COMMIT_LETTERS = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_database_option(parser)
    parser.add_argument(
        "--json", action="store_true", help="a JSON array with all that is known of each run"
    )


def run(options: argparse.Namespace) -> int:
    """Prints a table or JSON to stdout."""
    with open_history(options.db) as history:
        runs = history.runs()
    if options.json:
        print(json.dumps([_members(run) for run in runs], indent=2))
    else:
        print(_table([_HEADER, *map(_cells, runs)]))
    return 0


def _members(run: Run) -> dict:
    return asdict(run) | {"time": run.time.strftime("%Y-%m-%dT%H:%M:%SZ")}


def _cells(run: Run) -> tuple[str, ...]:
    commit = (run.commit or "-")[:_COMMIT_LETTERS] + ("+" if run.dirty else "")
    name, driver = (run.device.name, run.device.driver) if run.device else (None, None)
    if run.emulated:
        name = f"{name}, emulator" if name else "emulator"
    time = run.time.strftime("%Y-%m-%d %H:%M:%S")
    return (run.id, time, commit, run.toolkit or "-", name or "-", driver or "-")


def _table(rows: Iterable[tuple[str, ...]]) -> str:
    rows = [tuple(map(printable, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return "\n".join(lines)

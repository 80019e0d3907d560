"""warpgauge report runs: which runs the history has."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import asdict

from warpgauge_report.command_line import Page
from warpgauge_report.database_option import add_database_option
from warpgauge_report.history import Run, open_history
from warpgauge_report.output import printable

PAGE = Page(
    about="""\
Oldest first. A commit with "+" had changes that were not committed.
""",
    exit_codes={0: "listed", 2: "a fault: no history"},
    examples=(
        "warpgauge report runs",
        "warpgauge report runs --db nights/history.db --json",
    ),
)

_HEADER = ("run", "time (UTC)", "commit", "toolkit", "device", "driver")
_COMMIT_LETTERS = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_database_option(parser)
    parser.add_argument(
        "--json", action="store_true", help="a JSON array with all that is known of each run"
    )


def run(arguments: argparse.Namespace) -> None:
    """Prints a table or JSON to stdout."""
    with open_history(arguments.db) as history:
        runs = history.runs()
    if arguments.json:
        print(json.dumps([_members(run) for run in runs], indent=2))
    else:
        print(_table([_HEADER, *map(_cells, runs)]))


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

"""List the runs in the history.

Oldest first, with the exit code and how many values have which verdict. A
commit with "+" had changes that were not committed; a run without its closing
record was cut off.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict

from warpgauge.command_line import add_database_option, add_run_options
from warpgauge.history import Run, RunFilter, open_history
from warpgauge.outcome.results import VERDICTS
from warpgauge.text import count, printable

EPILOG = """\
exit codes:
  0  listed
  2  an error: no history

examples:
  warpgauge report runs
  warpgauge report runs --branch main --db nights/history.db --json
"""

_HEADER = (
    *("run", "time (UTC)", "commit", "branch", "label", "toolkit", "device", "driver"),
    *("exit", "verdicts"),
)
_COMMIT_LETTERS = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_database_option(parser)
    add_run_options(parser)
    parser.add_argument(
        "--json", action="store_true", help="a JSON array with all that is known of each run"
    )


def run(options: argparse.Namespace) -> int:
    """Prints a table or JSON to stdout, and of which history to stderr."""
    chosen = RunFilter(branch=options.branch, label=options.label)
    with open_history(options.db) as history:
        found, about = history.verdicts(chosen), history.name
    if options.json:
        print(json.dumps([_members(run, verdicts) for run, verdicts in found], indent=2))
    else:
        print(_table([_HEADER, *(_cells(run, verdicts) for run, verdicts in found)]))
    print(f"{about}: {count(len(found), 'run')}", file=sys.stderr)
    return 0


def _members(run: Run, verdicts: Mapping[str, int]) -> dict:
    time = run.time.strftime("%Y-%m-%dT%H:%M:%SZ")
    return asdict(run) | {"time": time, "verdicts": verdicts}


def _cells(run: Run, verdicts: Mapping[str, int]) -> tuple[str, ...]:
    commit = (run.commit or "-")[:_COMMIT_LETTERS] + ("+" if run.dirty else "")
    name, driver = (run.device.name, run.device.driver) if run.device else (None, None)
    if run.emulated:
        name = f"{name}, emulator" if name else "emulator"
    time = run.time.strftime("%Y-%m-%d %H:%M:%S")
    about = (run.branch, run.label, run.toolkit, name, driver)
    ended = "cut off" if run.exit_code is None else str(run.exit_code)
    counts = ", ".join(
        f"{verdicts[verdict]:,} {verdict}" for verdict in VERDICTS if verdict in verdicts
    )
    return (run.id, time, commit, *(text or "-" for text in about), ended, counts)


def _table(rows: Iterable[tuple[str, ...]]) -> str:
    rows = [tuple(map(printable, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return "\n".join(lines)

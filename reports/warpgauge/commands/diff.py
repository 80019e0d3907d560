"""Show what changed between two runs, the worst first, and why.

Noisy values count as changed if their confidence intervals do not overlap and
they differ by more than --noise: an interval covers one process, and processes
differ too. A value that A measured and B did not is lost.

Causes: code (the kernel's source changed), compiler (same source, other
machine code), launch (same machine code, launched otherwise), input or counter
(an exact count of the same machine code), driver (a noisy value of the same
machine code and launches under another driver), environment (the same under
the same driver). A change by driver or environment is shown and counted as
moved, neither better nor worse. Estimates need not repeat: without another
cause than input or counter they are not compared.

Of several runs in a file the newest value or error counts; noisy values of
several GPUs are kept apart. Budgets are not looked at: that is the gate.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from warpgauge.budgets.limits import fraction
from warpgauge.command_line import add_filter_option
from warpgauge.diff.differences import Change, find_changes
from warpgauge.diff.text import differences_json, differences_text, headline, origin
from warpgauge.errors import CommandError
from warpgauge.facts.selection import matching, read_all
from warpgauge.files import write_whole
from warpgauge.text import printable

EPILOG = """\
exit codes:
  0  nothing is worse
  1  something is worse
  2  an error, such as runs with nothing in common
  3  nothing is worse, but a value of A was not measured in B

examples:
  warpgauge diff main.jsonl out/facts.jsonl
  warpgauge diff a.jsonl b.jsonl --filter 'transpose.*' --json diff.json --all
"""


def run(options: argparse.Namespace) -> int:
    sides = [matching(read_all([path]), options.filter) for path in (options.a, options.b)]
    changes = find_changes(*sides, options.noise)
    _need_something_in_common(changes, options)
    code = _exit_code(changes)
    names = [
        {"file": str(p), "origin": origin(s)}
        for p, s in zip((options.a, options.b), sides, strict=True)
    ]
    if options.json is not None:
        write_whole(options.json, differences_json(changes, *names, code).encode())
    for letter, name in zip("AB", names, strict=True):
        print(f"{letter}: {printable(name['file'])} ({name['origin']})")
    text = differences_text(changes, options.all, _wants_colours())
    print(f"\n{text}\n{headline(changes)}" if text else f"\n{headline(changes)}")
    return code


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("a", type=Path, metavar="A", help="facts of the run before")
    parser.add_argument("b", type=Path, metavar="B", help="facts of the run after")
    add_filter_option(parser)
    parser.add_argument(
        "--noise",
        type=_share,
        default=0.03,
        metavar="SHARE",
        help="by what share of A noisy values differ anyway (default: 3%%)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the changes there, too")
    parser.add_argument(
        "--all", action="store_true", help="show what did not change, and what is never judged, too"
    )


def _share(text: str) -> float:
    try:
        return fraction(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"'{text}' is no share such as 3% or 0.03") from error


def _need_something_in_common(changes: Sequence[Change], options: argparse.Namespace) -> None:
    if not any(c.a is not None and (c.b is not None or c.mark == "worse") for c in changes):
        raise CommandError(
            f"{options.a} and {options.b} measured nothing in common: compare runs of the same "
            "cases on the same architecture (times: on the same kind of GPU)"
        )


def _exit_code(changes: Sequence[Change]) -> int:
    marks = {change.mark for change in changes}
    return 1 if "worse" in marks else 3 if "lost" in marks else 0


def _wants_colours() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")

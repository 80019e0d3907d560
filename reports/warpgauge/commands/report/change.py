"""Draw what changed between two files of facts, such as those of a pull request.

Draws one picture, change.svg and change.png: a bar for each metric of a kernel
that changed most, as a factor, with its values before and after. Blue is
better and orange is worse, as the metric's direction says. Sizes and
architectures of a kernel share a bar, that of the one that changed most. A
noisy value counts as changed where the intervals of both files lie apart.
Whether a change is allowed is for `warpgauge diff` and the budgets to say: a
picture judges nothing.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from warpgauge.changes.before_after import BeforeAfter, Step, before_after
from warpgauge.command_line import add_filter_options, case_filter
from warpgauge.errors import CommandError
from warpgauge.facts.catalog import unknown_metric
from warpgauge.facts.records import Fact, Run
from warpgauge.facts.selection import matching, read_all
from warpgauge.files import write_and_tell
from warpgauge.text import count, printable, shortened

if TYPE_CHECKING:
    from warpgauge.drawing.before_after import Bar

MOST, MOST_TO_ASK_FOR = 10, 40  # bars
_LONGEST = 60

EPILOG = """\
exit codes:
  0  picture drawn
  2  an error: unreadable facts, or nothing that changed

examples:
  warpgauge report change main.jsonl out/facts.jsonl --out out
  warpgauge report change a.jsonl b.jsonl --metric registers --out out
  warpgauge report change a.jsonl b.jsonl --title 'Pad the tile' --out out
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", metavar="BEFORE", help="the facts of the base")
    parser.add_argument("after", metavar="AFTER", help="the facts of the change")
    parser.add_argument(
        "--metric",
        action="append",
        default=[],
        metavar="METRIC",
        help="only this metric (repeatable); `warpgauge metrics` lists all",
    )
    add_filter_options(parser)
    parser.add_argument("--title", default="Before and after", help="title (default: %(default)s)")
    parser.add_argument(
        "--bars",
        type=_bars,
        default=MOST,
        metavar="N",
        help="at most so many (default: %(default)s)",
    )
    parser.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="folder for the picture"
    )


def run(options: argparse.Namespace) -> int:
    """Draws, writes, and prints the path of each file. Nothing is written if anything is wrong."""
    for metric in options.metric:
        if problem := unknown_metric(metric):
            raise CommandError(f"--metric: {problem}")
    cases = case_filter(options)
    before, after = (matching(read_all([path]), cases) for path in (options.before, options.after))
    found = before_after(before, after, options.metric)
    if not found.steps:
        raise CommandError(_why_nothing(options, found))
    from warpgauge.drawing.before_after import Picture, draw

    bars = tuple(_bar(step) for step in found.steps[: options.bars])
    title = shortened(options.title, 2 * _LONGEST)
    picture = draw(Picture(title, _caption(found, options.bars, (before, after)), bars))
    write_and_tell(options.out, ((f"change.{ending}", c) for ending, c in picture.items()))
    return 0


def _bar(step: Step) -> Bar:
    from warpgauge.drawing.before_after import Bar
    from warpgauge.page.sections import before_text, quantity, ratio_text

    unit = step.metric.unit
    factor = step.after / step.before if step.before else math.inf
    text = f"{before_text(step.before, unit)} → {quantity(step.after, unit)}"
    if math.isfinite(step.size):
        text += f", {ratio_text(factor)}"
    kernel = shortened(f"{step.id}, {step.arch}" if step.arch else step.id, _LONGEST)
    kernel += f" and {step.more:,} more" if step.more else ""
    return Bar(kernel, step.metric.id, factor, step.better, text)


def _caption(found: BeforeAfter, most: int, sides: Iterable[Iterable[Fact]]) -> str:
    """ "commit 3f2a1c0d5e → 9b8a7c6d5e; 2 smaller changes are not drawn; 9 values are alike"."""
    left = len(found.steps) - most
    parts = [
        _commits(sides),
        f"{count(left, 'smaller change')} {'is' if left == 1 else 'are'} not drawn"
        if left > 0
        else "",
        f"{count(found.same, 'value')} did not change" if found.same else "",
        f"{count(found.alone, 'value')} in one of the files only" if found.alone else "",
    ]
    return "; ".join(filter(None, parts))


def _commits(sides: Iterable[Iterable[Fact]]) -> str:
    """The newest commit of each side, where both have one and they differ."""
    newest = [max((fact.run for fact in facts), key=lambda run: run.time) for facts in sides]
    names = [_commit(run) for run in newest]
    return f"commit {' → '.join(names)}" if all(names) and len(set(names)) > 1 else ""


def _commit(run: Run) -> str:
    name = shortened((run.commit or "")[:10], _LONGEST)
    return f"{name} with uncommitted changes" if name and run.dirty else name


def _why_nothing(options: argparse.Namespace, found: BeforeAfter) -> str:
    files = f"{options.before} and {options.after}"
    what = " and ".join(options.metric) or "no metric"
    if found.same:
        return f"{files}: nothing to draw: none of {count(found.same, 'value')} changed"
    if found.alone:
        return f"{files}: nothing to draw: they have no case and metric in common"
    return f"{files}: {what}: no numbers that could be drawn"


def _bars(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= MOST_TO_ASK_FOR:
        raise argparse.ArgumentTypeError(
            f"'{printable(text)}' is not a number of bars from 1 to {MOST_TO_ASK_FOR}"
        )
    return int(text)

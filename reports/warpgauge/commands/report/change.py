"""Draw what changed from one run to another, as `warpgauge diff --json` wrote it.

Draws one picture, change.svg and change.png: a bar for each fact of a kernel
that diff tells, as a factor, with its values before and after, the worst
kernel first. Blue is better and orange is worse, as diff judged it. Sizes and
architectures of a kernel share a bar, that of the one that says most.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpgauge.changes.delta import REMEDY, Delta, read_delta
from warpgauge.changes.kernel_rows import told
from warpgauge.errors import CommandError
from warpgauge.facts.catalog import unknown_metric
from warpgauge.files import write_and_tell
from warpgauge.text import count, printable, shortened

if TYPE_CHECKING:
    from warpgauge.drawing.before_after import Bar

MOST, MOST_TO_ASK_FOR = 10, 40  # bars
_LONGEST = 60

EPILOG = """\
exit codes:
  0  picture drawn
  2  an error: no such file, or nothing in it to draw

examples:
  warpgauge diff main.jsonl out/facts.jsonl --json out/diff.json
  warpgauge report change out/diff.json --out out
  warpgauge report change out/diff.json --metric registers --out out
  warpgauge report change out/diff.json --title 'Pad the tile' --out out
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "diff", metavar="FILE", type=Path, help="what `warpgauge diff --json` wrote"
    )
    parser.add_argument(
        "--metric",
        action="append",
        default=[],
        metavar="METRIC",
        help="this metric, also where diff leaves it out (repeatable; `warpgauge metrics`)",
    )
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
    delta = read_delta(options.diff)
    if delta.document["kind"] != "values":
        raise CommandError(f"{options.diff}: counts of two sources are no change to draw; {REMEDY}")
    changes = _named(delta, options.metric) if options.metric else _told(delta)
    drawn = [(change, more) for change, more in changes if _is_drawn(change)]
    if not drawn:
        named = " and ".join(options.metric)
        what = f"{named} did not change" if named else "no number changed"
        raise CommandError(f"{options.diff}: nothing to draw: {what}; {delta.headline}")
    from warpgauge.drawing.before_after import Picture, draw

    bars = tuple(_bar(change, more) for change, more in drawn[: options.bars])
    left = len(drawn) - len(bars)
    more = f"{count(left, 'more change')} {'is' if left == 1 else 'are'} not drawn" if left else ""
    caption = "; ".join(filter(None, (delta.headline, more)))
    picture = draw(Picture(shortened(options.title, 2 * _LONGEST), caption, bars))
    write_and_tell(options.out, ((f"change.{ending}", c) for ending, c in picture.items()))
    return 0


def _told(delta: Delta) -> Iterator[tuple[dict[str, Any], int]]:
    """The facts of kernels that diff tells, each with how many more cases of the kernel moved."""
    for kernel in delta.kernels:
        for fact in told(kernel):
            yield fact, kernel["cases"] - 1


def _named(delta: Delta, metrics: list[str]) -> Iterator[tuple[dict[str, Any], int]]:
    """The gravest change of each of these metrics of a kernel, and in how many more cases it
    changed."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for change in delta.document["changes"]:
        if change["metric"] in metrics:
            kernel = change["id"].partition("@")[0]
            groups.setdefault((kernel, change["metric"]), []).append(change)
    for first, *others in groups.values():
        yield first, len(others)


def _is_drawn(change: dict[str, Any]) -> bool:
    a, b = change.get("a"), change.get("b")
    return isinstance(a, int | float) and isinstance(b, int | float) and a != b


def _bar(change: dict[str, Any], more: int) -> Bar:
    from warpgauge.drawing.before_after import Bar
    from warpgauge.page.sections import before_text, quantity, ratio_text

    before, after, unit = change["a"], change["b"], change["unit"]
    factor = after / before if before else math.inf
    text = f"{before_text(before, unit)} → {quantity(after, unit)}"
    if before and after:
        text += f", {ratio_text(factor)}"
    name = change.get("kernel", change["id"])
    name = shortened(f"{name}, {change['arch']}" if "arch" in change else name, _LONGEST)
    name += f" and {more:,} more" if more else ""
    better = {"better": True, "worse": False}.get(change["mark"])
    return Bar(name, change["metric"], factor, better, text)


def _bars(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= MOST_TO_ASK_FOR:
        raise argparse.ArgumentTypeError(
            f"'{printable(text)}' is not a number of bars from 1 to {MOST_TO_ASK_FOR}"
        )
    return int(text)

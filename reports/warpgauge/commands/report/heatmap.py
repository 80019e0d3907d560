"""Draw kernels whose sizes span a grid, such as block shapes, as heat maps.

Draws one picture, as SVG and as PNG, for each variant and type, architecture
and device whose sizes span a grid: two extents with 4 or more values each.
Cells show their values, and the best is framed. Of several runs of a case the
newest value counts. Extents are called blockDim.x and so on where the launches
in the facts show it.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections import Counter
from pathlib import Path

from warpgauge.command_line import add_filter_options, as_started, case_filter
from warpgauge.drawing import heat_map as heatmap_picture
from warpgauge.drawing.grid import LEAST, Grid, find_grids
from warpgauge.errors import CommandError
from warpgauge.facts.catalog import catalog
from warpgauge.facts.reader import read_facts
from warpgauge.facts.records import Fact
from warpgauge.files import write_and_tell
from warpgauge.text import nearest, safe_stem

EPILOG = """\
exit codes:
  0  pictures drawn
  2  an error: unreadable facts, or nothing that spans a grid

examples:
  warpgauge-bench --filter 'transpose_blocks.*' --facts out/times.jsonl
  warpgauge report heatmap out/times.jsonl --out out
  warpgauge report heatmap out/facts.jsonl --metric registers --out out
  warpgauge report heatmap a.jsonl b.jsonl --filter '*.naive.*' --out out
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "facts", nargs="+", metavar="FACTS", help="files of facts (warpgauge gate, warpgauge-bench)"
    )
    parser.add_argument(
        "--metric",
        default="time.median_us",
        metavar="METRIC",
        help="what to show; `warpgauge metrics` lists all (default: %(default)s)",
    )
    add_filter_options(parser)
    parser.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="folder for the pictures"
    )


def run(options: argparse.Namespace) -> int:
    """Draws, writes, and prints the path of each file. Nothing is written if anything is wrong."""
    _check_metric(options.metric)
    facts = [fact for path in options.facts for fact in read_facts(path)]
    grids, unmeasured = find_grids(facts, options.metric, case_filter(options))
    if not grids:
        raise CommandError(_why_nothing(facts, options, unmeasured))
    pictures = [heatmap_picture.draw(grid) for grid in grids]
    for stem, picture in zip(_stems(grids), pictures, strict=True):
        write_and_tell(options.out, ((f"{stem}.{ending}", c) for ending, c in picture.items()))
    for sentence in unmeasured:
        print(f"no picture of {sentence}", file=sys.stderr)
    return 0


def _check_metric(metric: str) -> None:
    if metric not in catalog():
        meant = nearest(metric, list(catalog()))
        hint = f"did you mean {meant}?" if meant else as_started("`warpgauge metrics` lists all")
        raise CommandError(f"--metric: unknown metric '{metric}'; {hint}")


def _why_nothing(facts: list[Fact], options: argparse.Namespace, unmeasured: list[str]) -> str:
    files = ", ".join(options.facts)
    if not facts:
        return f"{files}: no facts"
    if unmeasured:
        return f"{files}: nothing to draw: {unmeasured[0]}"
    if not any(fact.metric == options.metric for fact in facts):
        return f"{files}: no fact of {options.metric}; --metric chooses another one"
    cases = str(case_filter(options))
    among = f" among the cases of {cases}" if cases else ""
    return (
        f"{files}: no sizes that span a grid in {options.metric}{among}: "
        f"two extents with {LEAST} or more values each"
    )


def _stems(grids: list[Grid]) -> list[str]:
    """File names without endings: short ones; where those are the same, with device and source;
    where those still are, with a hash of the names as they were before they were made safe."""
    stems = [safe_stem("heatmap", grid.case, grid.metric, grid.arch or "no_arch") for grid in grids]
    for tail in (_where, _hash):
        count = Counter(stem.lower() for stem in stems)  # some file systems ignore case
        stems = [
            safe_stem(stem, tail=tail(grid)) if count[stem.lower()] > 1 else stem
            for stem, grid in zip(stems, grids, strict=True)
        ]
    if len({stem.lower() for stem in stems}) < len(stems):
        raise CommandError("two pictures would have the same file name; choose one with --filter")
    return stems


def _where(grid: Grid) -> str:
    return f"{grid.device or 'no_device'}-{grid.source}"


def _hash(grid: Grid) -> str:
    whole = repr((grid.case, grid.arch, grid.device, grid.source))
    return hashlib.sha256(whole.encode()).hexdigest()[:12]

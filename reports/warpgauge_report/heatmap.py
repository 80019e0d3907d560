"""warpgauge report heatmap: pictures of kernels whose sizes span a grid, such as block shapes."""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections import Counter
from pathlib import Path

from warpgauge_report import heatmap_picture
from warpgauge_report.command_line import Page, as_started, nearest
from warpgauge_report.facts import Fact, metric_names, read_facts
from warpgauge_report.grid import LEAST, Grid, find_grids
from warpgauge_report.output import ReportError, safe_stem, write_whole

PAGE = Page(
    about=f"""\
Draws one picture, as SVG and as PNG, for each variant and type, architecture and device whose
sizes span a grid: two extents with {LEAST} or more values each. Cells show their values, and the
best is framed. Where several runs measured a case, the newest value counts. Extents are called
blockDim.x and so on where the launches in the facts show it.
""",
    exit_codes={0: "pictures drawn", 2: "a fault: unreadable facts, or nothing that spans a grid"},
    examples=(
        "warpgauge-bench --filter 'transpose_blocks.*' --facts out/times.jsonl",
        "warpgauge report heatmap out/times.jsonl --out out",
        "warpgauge report heatmap out/facts.jsonl --metric registers --out out",
        "warpgauge report heatmap a.jsonl b.jsonl --filter '*.naive.*' --out out",
    ),
)


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
    parser.add_argument(
        "--filter", default="*", metavar="GLOB", help="only cases whose id matches this glob"
    )
    parser.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="folder for the pictures"
    )


def run(arguments: argparse.Namespace) -> None:
    """Draws, writes, and prints the path of each file. Nothing is written if anything is wrong."""
    _check_metric(arguments.metric)
    facts = [fact for path in arguments.facts for fact in read_facts(path)]
    grids, unmeasured = find_grids(facts, arguments.metric, arguments.filter)
    if not grids:
        raise ReportError(_why_nothing(facts, arguments, unmeasured))
    pictures = [heatmap_picture.draw(grid) for grid in grids]
    for stem, picture in zip(_stems(grids), pictures, strict=True):
        for ending, content in picture.items():
            path = arguments.out / f"{stem}.{ending}"
            write_whole(path, content)
            print(path)
    for sentence in unmeasured:
        print(f"no picture of {sentence}", file=sys.stderr)


def _check_metric(metric: str) -> None:
    known = metric_names()
    if metric not in known:
        meant = nearest(metric, known)
        hint = f"did you mean {meant}?" if meant else as_started("`warpgauge metrics` lists all")
        raise ReportError(f"--metric: unknown metric '{metric}'; {hint}")


def _why_nothing(facts: list[Fact], arguments: argparse.Namespace, unmeasured: list[str]) -> str:
    files = ", ".join(arguments.facts)
    if not facts:
        return f"{files}: no facts"
    if unmeasured:
        return f"{files}: nothing to draw: {unmeasured[0]}"
    if not any(fact.metric == arguments.metric for fact in facts):
        return f"{files}: no fact of {arguments.metric}; --metric chooses another one"
    among = "" if arguments.filter == "*" else f" among the cases of --filter '{arguments.filter}'"
    return (
        f"{files}: no sizes that span a grid in {arguments.metric}{among}: "
        f"two extents with {LEAST} or more values each"
    )


def _stems(grids: list[Grid]) -> list[str]:
    """File names without endings: short ones; where those are the same, with device and source;
    where those still are, with a hash of the names as they were before they were made safe."""
    stems = [safe_stem("heatmap", grid.case, grid.metric, grid.arch or "no_arch") for grid in grids]
    for tail in (_where, _hash):
        count = Counter(stem.lower() for stem in stems)  # file systems may not tell case apart
        stems = [
            safe_stem(stem, tail=tail(grid)) if count[stem.lower()] > 1 else stem
            for stem, grid in zip(stems, grids, strict=True)
        ]
    if len({stem.lower() for stem in stems}) < len(stems):
        raise ReportError("two pictures would have the same file name; choose one with --filter")
    return stems


def _where(grid: Grid) -> str:
    return f"{grid.device or 'no_device'}-{grid.source}"


def _hash(grid: Grid) -> str:
    whole = repr((grid.case, grid.arch, grid.device, grid.source))
    return hashlib.sha256(whole.encode()).hexdigest()[:12]

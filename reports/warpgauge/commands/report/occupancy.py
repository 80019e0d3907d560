"""Draw the curves that `warpgauge occupancy --over ... --json` prints.

Draws one picture, as SVG and as PNG, for each of threads, registers and shared
memory that the curves are over: occupancy-threads.svg and so on. Architectures
with the same curve share a line; a dotted line marks the block asked about.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path

from warpgauge.drawing import occupancy_curves
from warpgauge.drawing.occupancy_curves import Curve, Curves
from warpgauge.errors import CommandError
from warpgauge.files import read_whole, write_and_tell

EPILOG = """\
exit codes:
  0  pictures drawn
  2  an error: an unreadable file, or one without curves

examples:
  warpgauge occupancy --threads 256 --registers 40 --over threads --json >x.json
  warpgauge report occupancy x.json --out out
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "curves", metavar="CURVES", type=Path, help="what `warpgauge occupancy --json` printed"
    )
    parser.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="folder for the pictures"
    )


def run(options: argparse.Namespace) -> int:
    """Draws, writes, and prints the path of each file. Nothing is written if anything is wrong."""
    pictures = [(of.resource, occupancy_curves.draw(of)) for of in _curves(options.curves)]
    for resource, picture in pictures:
        files = ((f"occupancy-{resource}.{ending}", c) for ending, c in picture.items())
        write_and_tell(options.out, files)
    return 0


def _curves(path: Path) -> list[Curves]:
    try:
        return _curves_of(json.loads(read_whole(path)))
    except OSError as error:
        raise CommandError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CommandError(
            f"{path}: not what `warpgauge occupancy --over threads --json` prints"
        ) from error


def _curves_of(table: dict) -> list[Curves]:
    """Curves by resource; raises ValueError where there is none."""
    archs: dict[str, dict[tuple, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in table["architectures"]:
        for resource, points in row["over"].items():
            shape = tuple((int(point["amount"]), float(point["occupancy"])) for point in points)
            archs[resource][shape].append(row["arch"])
    if not archs or not set(archs) <= set(occupancy_curves.LABELS):
        raise ValueError("no curves")
    return [
        Curves(
            resource,
            int(table[resource]),
            _rest(table, resource),
            tuple(Curve(tuple(names), shape) for shape, names in by_shape.items()),
        )
        for resource, by_shape in archs.items()
    ]


def _rest(table: dict, resource: str) -> str:
    """What stays while the resource varies."""
    words = {
        "threads": f"{table['threads']} threads",
        "registers": f"{table['registers']} registers each",
        "shared": f"{table['shared']} bytes of shared memory",
    }
    return ", ".join(text for name, text in words.items() if name != resource)

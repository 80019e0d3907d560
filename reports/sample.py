"""The sample reports: pages of nights that were recorded, and of nights that are simulated.

    build/venv/bin/python reports/sample.py --out sample                # a minute
    build/venv/bin/python reports/sample.py --out sample --pictures     # and those of the documents

DIR/recorded has the page of the nights in tests/data/nights, DIR/simulated that of sixty nights of
reports/simulated_nights.py, and their commits: index.html, what belongs to it, and the history,
history.db. Exit codes: 0 written, 2 a fault.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import simulated_nights
from warpgauge.errors import CommandError
from warpgauge.program import main as warpgauge

RECORDED = Path(__file__).parents[1] / "tests" / "data" / "nights"
FAULT = 2


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    code = write_recorded(options.out / "recorded") or write_simulated(options.out / "simulated")
    if code or not options.pictures:
        return code
    try:
        import pictures  # a browser is needed for nothing else

        pages = {name: options.out / name / "index.html" for name in pictures.SHOTS}
        pictures.write(pages, pictures.OF_DOCUMENTS)
    except CommandError as error:
        print(f"sample.py: {error}", file=sys.stderr)
        return 2
    return 0


def write_recorded(out: Path) -> int:
    facts = sorted(RECORDED.glob("*.jsonl.xz"))
    return write_page(
        [["ingest", *map(str, facts)]], ["--title", "warpgauge, recorded nights"], out
    )


def write_simulated(out: Path) -> int:
    event = simulated_nights.ACKNOWLEDGED
    repository = out / "repository.git"
    page = ["--title", "warpgauge, simulated nights", "--repo", str(repository)]
    with tempfile.TemporaryDirectory() as folder:
        files = list(map(str, simulated_nights.write(Path(folder), repository)))
        known = event.change.night + 5  # the night after which someone knows it
        series = f"{event.change.case}/*"
        why = ["--reason", "twice the tiles: one launch in place of two", "--until", "2999-12-31"]
        steps = [["ingest", *files[:known]], ["ack", series, *why], ["ingest", *files[known:]]]
        return write_page(steps, page, out)


def write_page(steps: Sequence[Sequence[str]], options: Sequence[str], out: Path) -> int:
    """A history that these commands of `warpgauge report` make, and its page with these options;
    the exit code."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out) as folder:
        database = Path(folder) / "history.db"
        page = ["html", "--out", str(out), *options]
        for step in (*steps, page):
            code = warpgauge(["report", *step, "--db", str(database)])
            if code == FAULT:
                return code
        database.replace(out / "history.db")  # with a page, whatever it says
    return 0


def _parser() -> argparse.ArgumentParser:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="folder to write to")
    words = "take docs/pictures again, too; needs Chromium and chromedriver"
    parser.add_argument("--pictures", action="store_true", help=words)
    return parser


if __name__ == "__main__":
    sys.exit(main())

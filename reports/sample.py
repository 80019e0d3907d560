"""The sample report: the page of the nights that are recorded in tests/data/nights.

    build/venv/bin/python reports/sample.py --out sample                # a minute
    build/venv/bin/python reports/sample.py --out sample --pictures     # and those of the documents

Brings the recorded facts into a new history, history.db, and writes its page, index.html, with what
belongs to it, all into the folder. Exit codes: 0 written, 2 a fault.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from warpgauge.errors import CommandError
from warpgauge.program import main as warpgauge

RECORDED = Path(__file__).parents[1] / "tests" / "data" / "nights"
FAULT = 2
TITLE = "warpgauge, recorded nights"


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if code := write_page(sorted(RECORDED.glob("*.jsonl.xz")), options.out):
        return code
    if not options.pictures:
        return 0
    try:
        import pictures  # a browser is needed for nothing else

        pictures.write(options.out / "index.html", pictures.OF_DOCUMENTS)
    except CommandError as error:
        print(f"sample.py: {error}", file=sys.stderr)
        return 2
    return 0


def write_page(facts: list[Path], out: Path) -> int:
    """A history that has these files of facts and nothing else, and its page; the exit code."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out) as folder:
        database = Path(folder) / "history.db"
        page = ["--out", str(out), "--title", TITLE]
        code = warpgauge(["report", "ingest", *map(str, facts), "--db", str(database)])
        code = code or warpgauge(["report", "html", "--db", str(database), *page])
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

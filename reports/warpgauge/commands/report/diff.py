"""Write a diff as Markdown, for the comment on a pull request.

Draws the file that `warpgauge diff A B --json FILE` writes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from warpgauge.changes.delta import read_delta
from warpgauge.changes.diff_markdown import markdown
from warpgauge.files import write_whole

EPILOG = """\
exit codes:
  0  written
  2  an error: no file, or not one of this version

examples:
  warpgauge diff main.jsonl out/facts.jsonl --json diff.json
  warpgauge report diff diff.json --out comment.md
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("diff", type=Path, metavar="DIFF", help="the file of diff --json")
    parser.add_argument("--out", type=Path, metavar="FILE", help="the file (default: stdout)")


def run(options: argparse.Namespace) -> int:
    """Returns 0; raises CommandError."""
    page = markdown(read_delta(options.diff).document)
    if options.out:
        write_whole(options.out, page.encode())
    else:
        sys.stdout.write(page)
    return 0

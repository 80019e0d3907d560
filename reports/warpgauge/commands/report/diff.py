"""Write a diff as Markdown, for the comment on a pull request.

Draws the file that `warpgauge diff A B --json FILE` writes.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from warpgauge.changes.diff_markdown import markdown
from warpgauge.errors import CommandError
from warpgauge.files import write_whole

SCHEMA = "warpgauge.diff/1"
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
    page = markdown(_read(options.diff))
    if options.out:
        write_whole(options.out, page.encode())
    else:
        sys.stdout.write(page)
    return 0


def _read(path: Path) -> dict:
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise CommandError(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise CommandError(f"{path}: not JSON: {error}") from error
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != SCHEMA:
        raise CommandError(
            f"{path}: schema is '{schema}', and this version reads '{SCHEMA}'; write it with "
            "`warpgauge diff A B --json FILE`"
        )
    return document

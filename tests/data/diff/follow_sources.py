"""Carries the line numbers in h100.jsonl.gz along with sources that were edited since.

build/venv/bin/python tests/data/diff/follow_sources.py

A comment or another kernel above a recorded one moves its lines, but not its counts. The recorded
lines are those of the commit that last changed the recording; they become those of the working
tree. Code that was changed itself compiles to other machine code, which the comparison leaves out:
record it again on an H100.
"""

import gzip
import json
import subprocess
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
RECORDED = Path(__file__).parent / "h100.jsonl.gz"


def git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


BASE = git("log", "-1", "--format=%H", "--", str(RECORDED)).strip()


@cache
def moved(path: str) -> dict[int, int]:
    """Where the lines of a file at BASE stand now; lines that are gone are absent."""
    before = git("show", f"{BASE}:{path}").splitlines()
    after = (ROOT / path).read_text().splitlines()
    lines = {}
    for tag, a, a_end, b, b_end in SequenceMatcher(None, before, after, False).get_opcodes():
        if tag == "equal" or (tag == "replace" and a_end - a == b_end - b):
            lines.update({a + i + 1: b + i + 1 for i in range(a_end - a)})
    return lines


def main() -> None:
    recorded = gzip.decompress(RECORDED.read_bytes()).decode()
    records = [json.loads(line) for line in recorded.splitlines()]
    gone = 0
    for record in records:
        if "line" not in record or not (ROOT / record["file"]).exists():
            continue
        line = moved(record["file"]).get(record["line"])
        gone += line is None
        record["line"] = line or record["line"]
    text = "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)
    RECORDED.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{len(records)} records, {gone} of lines that are gone")


if __name__ == "__main__":
    main()

"""Carries the line numbers in h100.jsonl.gz along with sources that were edited since.

build/venv/bin/python tests/data/diff/follow_sources.py

A comment or another kernel above a recorded one moves its lines, but not its counts; a new file
beside it may take some of them. The recorded lines are those of the commit that last changed the
recording; they become those of the working tree. Code that was changed itself compiles to other
machine code, which the comparison leaves out: record it again on an H100.
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


def new_neighbours(path: str) -> list[str]:
    """The files in the folder of a file that were not there at BASE."""
    folder = Path(path).parent.as_posix()
    known = git("ls-tree", "--name-only", BASE, f"{folder}/").splitlines()
    files = (file.relative_to(ROOT).as_posix() for file in sorted((ROOT / folder).iterdir()))
    return [file for file in files if file not in known]


@cache
def moved(path: str) -> dict[int, tuple[str, int]]:
    """In which file and line those of a file at BASE stand now; lines that are gone are absent."""
    before = git("show", f"{BASE}:{path}").splitlines()
    places = {}
    for file in (*new_neighbours(path), path):  # the file itself has the last word
        after = (ROOT / file).read_text().splitlines()
        for tag, a, a_end, b, b_end in SequenceMatcher(None, before, after, False).get_opcodes():
            changed = tag == "replace" and a_end - a == b_end - b and file == path
            if tag == "equal" or changed:
                places.update({a + i + 1: (file, b + i + 1) for i in range(a_end - a)})
    return places


def main() -> None:
    recorded = gzip.decompress(RECORDED.read_bytes()).decode()
    records = [json.loads(line) for line in recorded.splitlines()]
    gone = 0
    for record in records:
        if "line" not in record or not (ROOT / record["file"]).exists():
            continue
        place = moved(record["file"]).get(record["line"])
        gone += place is None
        record["file"], record["line"] = place or (record["file"], record["line"])
    text = "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)
    RECORDED.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{len(records)} records, {gone} of lines that are gone")


if __name__ == "__main__":
    main()

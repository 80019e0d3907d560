"""Fuzzes the readers in Python: the history's import of facts, and results.json.

Files are mutated by seed. One that leads to a new message becomes a file to start from, so that the
search goes on behind the first checks. A finding is written to build/fuzz/TARGET: fix the cause and
add the file to tests/fuzz/corpus/TARGET_fuzz, which the tests replay. Exit codes: 0 nothing found,
1 a finding, 2 a fault."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import re
import shutil
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "reports"), str(Path(__file__).parent)]
CORPUS = ROOT / "tests/fuzz/corpus"

from mutations import mutated  # noqa: E402
from warpgauge.program import main as warpgauge  # noqa: E402

MOST_MESSAGES = 2000


class Finding(Exception):
    """A promise that does not hold for a file."""


def require(holds: bool, promise: str, *said: object) -> None:
    if not holds:
        raise Finding(f"{promise}: {' '.join(map(str, said))}")


def run(*arguments: object) -> tuple[int, str, str]:
    """Exit code, output and complaints of a command."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = warpgauge([str(argument) for argument in arguments])
        out.flush()
    require("Traceback" not in err.getvalue(), "no error is a traceback", err.getvalue())
    return code, out.buffer.getvalue().decode("utf-8"), err.getvalue()


class History:
    """A file is added whole, and a second time changes nothing; or one error says where and why,
    and the database is as before."""

    def __init__(self, folder: Path) -> None:
        self._file, self._db = folder / "fuzz.jsonl", folder / "history.db"
        self._fresh = folder / "fresh.db"
        first = CORPUS / "history_fuzz/good.jsonl"
        require(run("report", "ingest", first, "--db", self._fresh)[0] == 0, "the first is whole")

    def try_file(self, content: bytes) -> str:
        """What was said. Raises Finding."""
        self._file.write_bytes(content)
        shutil.copyfile(self._fresh, self._db)
        before = self._rows()
        code, out, err = self._ingest()
        if code == 2 and "no value of a case" in err:
            require(len(err.splitlines()) <= 2, "one error", err)
            return "no value"
        if code == 2:
            require(self._rows() == before, "a refused file changes nothing", err)
            lines = [line for line in err.splitlines() if "was cut off" not in line]
            require(len(lines) == 2, "one error and its sum", err)
            where = re.escape(str(self._file)) + r"(:\d+: |: cannot be read: |: unpacks to ).+"
            require(re.fullmatch(where, lines[0]) is not None, "the error names the place", err)
            return lines[0]
        require(code == 0, "0 or 2", code, err)
        new, known, left_out = self._numbers(out)
        after = self._rows()
        again, out, err = self._ingest()
        require(again == 0, "what was added can be added again", err)
        require(self._numbers(out) == (0, new + known, left_out), "and is there already", out)
        require(self._rows() == after, "a second time changes nothing", out)
        return f"added {min(new, 3)}"

    def _ingest(self) -> tuple[int, str, str]:
        return run("report", "ingest", self._file, "--db", self._db)

    def _numbers(self, out: str) -> tuple[int, int, int]:
        found = re.search(r": (\d+) new values, (\d+) there already", out)
        require(found is not None, "it says what came in", out)
        left_out = re.search(r", (\d+) of source lines left out", out)
        return int(found[1]), int(found[2]), int(left_out[1]) if left_out else 0

    def _rows(self) -> dict[str, list]:
        tables = "SELECT name FROM sqlite_master WHERE type = 'table'"
        with contextlib.closing(sqlite3.connect(self._db)) as db:
            names = [name for (name,) in db.execute(tables)]
            return {name: db.execute(f'SELECT * FROM "{name}"').fetchall() for name in names}


class ResultsFile:
    """A file becomes all outputs, or one error names it and nothing is written."""

    def __init__(self, folder: Path) -> None:
        self._file, self._out = folder / "results.json", folder / "out"

    def try_file(self, content: bytes) -> str:
        """What was said. Raises Finding."""
        self._file.write_bytes(content)
        shutil.rmtree(self._out, ignore_errors=True)
        self._out.mkdir()
        code, _, err = run("emit", self._file, "--all", self._out)
        written = {path.name for path in self._out.iterdir()}
        if code == 2:
            require(written == set(), "a refused file writes nothing", written)
            require(len(err.splitlines()) == 1, "one error", err)
            require(err.startswith(f"{self._file}: "), "the error names the file", err)
            return err
        require(code == 0 and "junit.xml" in written, "0 or 2", code, err)
        exit_code = json.loads(content)["exit_code"]
        require(exit_code in (0, 1, 2, 3), "what is drawn has an exit code", exit_code)
        return "drawn"


TARGETS = {"history": History, "results": ResultsFile}


def shape(message: str) -> str:
    """The message without what is of this file."""
    return re.sub(r"'[^']*'|\"[^\"]*\"|[\d.]+", "", message)[:200]


def fuzz(target: History | ResultsFile, name: str, seconds: float, seed: int) -> int:
    draw = random.Random(seed)
    pool = [path.read_bytes() for path in sorted((CORPUS / f"{name}_fuzz").iterdir())]
    found, known, tried = 0, set(), 0
    for content in pool:
        known.add(shape(target.try_file(content)))
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        content = mutated(draw.choice(pool), pool, draw)
        tried += 1
        try:
            said = shape(target.try_file(content))
        except Finding as finding:
            said = shape(str(finding))
            if said not in known:
                found += 1
                path = ROOT / f"build/fuzz/{name}/finding-{found}"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
                print(f"{path}: {finding}", flush=True)
        if said not in known and len(known) < MOST_MESSAGES:
            known.add(said)
            if len(content) < 100_000:
                pool.append(content)
    print(f"{name}: {tried} files, {len(known)} different answers, {found} findings, seed {seed}")
    return 1 if found else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("seconds", type=float, nargs="?", default=600)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="warpgauge-fuzz-") as folder:
        target = TARGETS[options.target](Path(folder))
        return fuzz(target, options.target, options.seconds, options.seed)


if __name__ == "__main__":
    sys.exit(main())

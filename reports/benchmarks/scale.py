"""How the history does with a year of nights: ingest rate, size, reading, deleting, memory.

    python reports/benchmarks/scale.py [--nights 365] [--cases 300] [--lines] [--db URL] [--keep]

Prints a table in Markdown. Rates count values of cases; --lines adds facts of source lines, which
are checked and left out. CPU seconds (without those of a PostgreSQL server) stand beside the time,
since other work on the machine makes it longer; the load average says how much there was.
The default needs 1 GB in the folder of --db (default: a temporary one) and takes about ten minutes.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]

from nights import Plan, nights, year  # noqa: E402
from warpgauge.history import Keep, open_history  # noqa: E402

MEGA = 1e6


class Timer:
    """Wall and CPU seconds between two lines."""

    def __enter__(self):
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_):
        self.wall = time.perf_counter() - self._wall
        self.cpu = time.process_time() - self._cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nights", type=int, default=365)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--lines", action="store_true")
    parser.add_argument("--db")
    parser.add_argument("--keep", action="store_true", help="do not prune at the end")
    arguments = parser.parse_args()
    plan = year(arguments.nights, arguments.cases, arguments.lines)
    with tempfile.TemporaryDirectory() as folder:
        url = arguments.db or str(Path(folder) / "history.db")
        print("| step | values | seconds | CPU seconds | values/s | MB |")
        print("|---|--:|--:|--:|--:|--:|", flush=True)
        _ingest(plan, url, Path(folder) / "facts.jsonl")
        _read(url)
        _page(url, Path(folder) / "page")
        if not arguments.keep:
            _prune(url, plan)


def _ingest(plan: Plan, url: str, path: Path) -> None:
    rates, of_source_lines = [], 0
    with open_history(url, create=True) as history:
        for _, content in nights(plan):
            path.write_bytes(content)
            with Timer() as timer:
                result = history.ingest(path)
            rates.append((result.new, timer.wall, timer.cpu))
            of_source_lines += result.of_source_lines
        with Timer() as timer:
            again = history.ingest(path)
        assert again.new == 0
    _row("ingest, first night", *rates[0])
    for name, part in (("2nd to 30th night", rates[1:30]), ("last 30 nights", rates[-30:])):
        _row(f"ingest, {name}", *map(sum, zip(*part, strict=True)))
    values, wall, cpu = map(sum, zip(*rates, strict=True))
    _row("ingest, all nights", values, wall, cpu, _size(url))
    if of_source_lines:
        _row("the same with facts of source lines", values + of_source_lines, wall, cpu)
    _row("ingest, a night again", again.known, timer.wall, timer.cpu)


def _read(url: str) -> None:
    for name, options in (
        ("read all series", {}),
        ("read one metric", {"metric": "registers"}),
        ("read the last 2 nights", {"last_nights": 2}),
    ):
        with open_history(url) as history, Timer() as timer:
            points = sum(len(series.points) for series in history.series(**options))
        _row(name, points, timer.wall, timer.cpu)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    load = " ".join(f"{load:.1f}" for load in os.getloadavg())
    print(f"\npeak memory of ingesting and reading: {peak:.0f} MB; load average: {load}\n")


def _page(url: str, out: Path) -> None:
    command = [sys.executable, "-m", "warpgauge", "report", "html", "--db", url, "--out", str(out)]
    with Timer() as timer:
        ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode == 2:
        print(f"no page: {ended.stderr.strip().splitlines()[-1:]}")
        return
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    size = sum(path.stat().st_size for path in out.glob("*.html")) / MEGA
    # The peak of a child begins with what this process had when it was forked.
    print(f"page: {timer.wall:.1f} s, memory at most {peak:.0f} MB, {size:.1f} MB\n", flush=True)


def _prune(url: str, plan: Plan) -> None:
    for text in (f"{plan.nights * 3 // 4}", f"{plan.nights // 2}d"):
        with open_history(url) as history, Timer() as timer:
            result = history.prune(Keep.parse(text))
        _row(f"prune --keep {text}", result.values, timer.wall, timer.cpu, _size(url))


def _size(url: str) -> float | None:
    paths = [Path(url + ending) for ending in ("", "-wal")]
    sizes = [path.stat().st_size for path in paths if path.is_file()]
    return sum(sizes) / MEGA if sizes else None


def _row(name: str, values: int, wall: float, cpu: float, size: float | None = None) -> None:
    size_text = "" if size is None else f"{size:.0f}"
    print(
        f"| {name} | {values:,} | {wall:.2f} | {cpu:.2f} | {values / wall:,.0f} | {size_text} |",
        flush=True,
    )


if __name__ == "__main__":
    main()

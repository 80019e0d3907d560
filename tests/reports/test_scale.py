"""The benchmark of the history runs, and its figures are those of its plan."""

import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[2] / "reports" / "benchmarks"


def test_the_benchmark_runs(tmp_path):
    command = [sys.executable, BENCHMARKS / "scale.py", "--nights", "8", "--cases", "5"]
    command += ["--db", tmp_path / "history.db"]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    for step, values in (("ingest, all nights", 3840), ("read all series", 3840)):
        assert f"| {step} | {values:,} |" in ended.stdout
    assert "| prune --keep 6 | 960 |" in ended.stdout

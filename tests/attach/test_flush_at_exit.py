"""A process flushes once before it ends, and ends as it would without that."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ["WARPGAUGE_BINARY_DIR"])
PROGRAM = BUILD / "programs" / "flush_at_exit"
pytestmark = pytest.mark.skipif(
    "WARPGAUGE_SANITIZE:BOOL=ON" in (BUILD / "CMakeCache.txt").read_text(),
    reason="sanitizers end a program in their own way",
)


@pytest.mark.parametrize(
    ("way", "code", "flushes"),
    [
        ("return", 0, 1),
        ("exit", 3, 1),
        ("abort", -signal.SIGABRT, 1),
        ("crash", -signal.SIGSEGV, 1),
        ("terminate", -signal.SIGTERM, 1),
        ("pipe", -signal.SIGPIPE, 1),
        ("chained_handler", -signal.SIGHUP, 1),
        ("own_handler", 4, 0),  # a signal that the program handles ends nothing by itself
        ("last_thread", 0, 1),
        ("fork", 0, 1),  # forked children do not flush by themselves
        ("fork_flush", 0, 2),
        ("fork_terminate", 0, 2),
    ],
)
def test_a_process_flushes_and_ends_in_the_same_way(tmp_path, way, code, flushes):
    file = tmp_path / "flushed"
    result = subprocess.run([PROGRAM, way, file], timeout=20, capture_output=True, text=True)
    assert result.returncode == code
    assert file.read_text() == "flushed\n" * flushes
    assert (result.stdout, result.stderr) == ("", "")

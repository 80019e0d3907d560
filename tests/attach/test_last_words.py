"""A process that ends says what it has to say first, once, and still ends in its own way."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ["WARPGAUGE_BINARY_DIR"])
PROGRAM = BUILD / "programs" / "last_words"
pytestmark = pytest.mark.skipif(
    "WARPGAUGE_SANITIZE:BOOL=ON" in (BUILD / "CMakeCache.txt").read_text(),
    reason="sanitizers end a program in their own way",
)


@pytest.mark.parametrize(
    ("way", "code", "said"),
    [
        ("return", 0, 1),
        ("exit", 3, 1),
        ("abort", -signal.SIGABRT, 1),
        ("crash", -signal.SIGSEGV, 1),
        ("terminate", -signal.SIGTERM, 1),
        ("pipe", -signal.SIGPIPE, 1),
        ("before", -signal.SIGHUP, 1),
        ("own", 4, 0),  # a signal that the program handles is the program's
        ("fork", 0, 1),  # a child that it forks does not speak
    ],
)
def test_last_words(tmp_path, way, code, said):
    file = tmp_path / "said"
    result = subprocess.run([PROGRAM, way, file], timeout=20, capture_output=True, text=True)
    assert result.returncode == code
    assert file.read_text() == "spoken\n" * said
    assert (result.stdout, result.stderr) == ("", "")

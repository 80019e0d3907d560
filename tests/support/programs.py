"""Runs the programs of the build under test, WARPGAUGE_BINARY_DIR."""

import os
import subprocess
from pathlib import Path

BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]).resolve() / "bin"


def run(program, *arguments, cwd=None):
    """What the program printed, and its exit code, whatever it is."""
    return subprocess.run(
        [BIN / program, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        cwd=cwd,
    )

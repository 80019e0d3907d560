"""Runs the programs of the build under test, WARPGAUGE_BINARY_DIR."""

import os
import subprocess
from pathlib import Path

BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]).resolve() / "bin"


def run(program, *arguments, cwd=None, env=None, code=None):
    """What the program printed, and its exit code, which must be `code` where that is given. `env`
    has changes to the environment."""
    done = subprocess.run(
        [BIN / program, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        cwd=cwd,
        env=os.environ | (env or {}),
    )
    assert code in (None, done.returncode), done.stdout + done.stderr
    return done

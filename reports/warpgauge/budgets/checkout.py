"""The commit of a source tree."""

from __future__ import annotations

import subprocess
from pathlib import Path

from warpgauge.errors import CommandError
from warpgauge.started import in_path


def head_commit(root: Path) -> str:
    """The commit that is checked out, as facts name it; CommandError where git names none."""
    words = ["-C", str(root), "rev-parse", "--verify", "HEAD"]
    try:
        result = subprocess.run(
            [in_path("git"), *words], capture_output=True, text=True, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _no_commit(root, str(error)) from error
    if result.returncode != 0:
        raise _no_commit(root, result.stderr.strip())
    return result.stdout.strip()


def _no_commit(root: Path, problem: str) -> CommandError:
    return CommandError(
        f"{root}: git names no commit ({problem}); name the source tree with "
        "--root, or pass --any-commit"
    )

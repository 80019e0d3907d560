"""The commit of a source tree, and what was changed since."""

from __future__ import annotations

import subprocess
from pathlib import Path

from warpgauge.errors import CommandError
from warpgauge.started import in_path
from warpgauge.text import printable

_NAMED = 3  # files


def head_commit(root: Path) -> str:
    """The commit that is checked out, as facts name it. Raises CommandError if git names none."""
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


def changes_now(root: Path) -> str | None:
    """A sentence on what git shows as changed now, as facts count it; None where it fails."""
    words = ["-C", str(root), "-c", "core.fsmonitor=false", "--no-optional-locks"]
    words += ["status", "--porcelain", "-z", "--no-renames"]
    try:
        result = subprocess.run([in_path("git"), *words], capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if result.returncode != 0:
        return None
    lines = [line for line in result.stdout.decode("utf-8", "replace").split("\0") if line]
    if not lines:
        return "git shows no changes now: build again, and run the gate again"
    files = [
        printable(line[3:]) + (" (untracked)" if line.startswith("??") else "")
        for line in lines[:_NAMED]
    ]
    more = f" and {len(lines) - _NAMED} more" if len(lines) > _NAMED else ""
    return (
        f"git shows these changes now: {', '.join(files)}{more}; untracked files count unless "
        ".gitignore names them"
    )


def _no_commit(root: Path, problem: str) -> CommandError:
    return CommandError(
        f"{root}: git names no commit ({problem}); name the source tree with "
        "--root, or pass --any-commit"
    )

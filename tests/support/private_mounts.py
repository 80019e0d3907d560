"""Mounts that one process alone sees: another budget file, a disk that is full."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest


def _own_mounts() -> list[str] | None:
    """The command that gives this user mounts of its own; None where the machine allows none."""
    for command in (["unshare", "--mount"], ["unshare", "--map-root-user", "--mount"]):
        probe = [*command, "mount", "--bind", __file__, __file__]
        if subprocess.run(probe, capture_output=True).returncode == 0:
            return command
    return None


OWN_MOUNTS = _own_mounts()
needs_mounts = pytest.mark.skipif(
    OWN_MOUNTS is None, reason="this machine allows no mounts for one process"
)


def with_file(content: Path, at: Path) -> Sequence[str | Path]:
    """The prefix for a command, which then finds the file `content` at the path `at`."""
    assert OWN_MOUNTS is not None, "mark the test with needs_mounts"
    script = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'
    return [*OWN_MOUNTS, "sh", "-c", script, "sh", content, at]

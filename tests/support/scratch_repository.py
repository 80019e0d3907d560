"""A small repository of git for tests, with commits made to order."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_KEPT = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}


class ScratchRepository:
    """A new repository; nothing of the user's configuration counts in it."""

    def __init__(self, folder: Path, *, is_there: bool = False) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=is_there)
        self.git("init", "-q", "-b", "main")

    def git(self, *words: object) -> str:
        names = {"user.name": "Test", "user.email": "test@x.example"}
        options = [word for name, text in names.items() for word in ("-c", f"{name}={text}")]
        done = subprocess.run(
            ["git", "-C", self.folder, *options, *map(str, words)],
            check=True,
            capture_output=True,
            text=True,
            env=_KEPT | {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"},
        )
        return done.stdout.strip()

    def commit(self, message: str, *options: str, author: str = "Test <test@x.example>") -> str:
        """Commits all that is there; returns the hash."""
        self.git("add", "-A")
        self.git(
            *("commit", "-q", "--allow-empty", "-m", message, "--author", author),
            *("--cleanup=verbatim", *options),
        )
        return self.git("rev-parse", "HEAD")

"""A git repository for simulated nights: its commits have no files."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from datetime import datetime
from hashlib import sha1
from pathlib import Path
from typing import NamedTuple


class Commit(NamedTuple):
    subject: str
    author: str
    time: datetime


def hashes_of(commits: Sequence[Commit]) -> tuple[str, ...]:
    """Their names in git, the first commit first."""
    return tuple(name for name, _ in _objects(commits))[1:]


def write_repository(folder: Path, commits: Sequence[Commit]) -> None:
    """A bare repository whose branch main is these commits."""
    name = ""
    for name, content in _objects(commits):
        path = folder / "objects" / name[:2] / name[2:]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(zlib.compress(content))
    heads = folder / "refs" / "heads"
    heads.mkdir(parents=True, exist_ok=True)
    (heads / "main").write_text(f"{name}\n")
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = true\n")


def _objects(commits: Sequence[Commit]) -> Iterator[tuple[str, bytes]]:
    """Names and contents of git's objects: the empty tree, then the commits."""
    tree, content = _object("tree", "")
    yield tree, content
    parent = ""
    for commit in commits:
        who = f"{commit.author} <{commit.author.split()[0].lower()}@example.invalid>"
        who += f" {int(commit.time.timestamp())} +0000"
        name, content = _object(
            "commit",
            f"tree {tree}\n{parent}author {who}\ncommitter {who}\n\n{commit.subject}\n",
        )
        yield name, content
        parent = f"parent {name}\n"


def _object(kind: str, text: str) -> tuple[str, bytes]:
    content = f"{kind} {len(text.encode())}\0{text}".encode()
    return sha1(content, usedforsecurity=False).hexdigest(), content

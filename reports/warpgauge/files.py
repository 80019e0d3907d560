"""The one writer of files: content is written beside its place and renamed, so that no reader ever
sees half of a file."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from warpgauge.errors import CommandError


def write_whole(path: Path, content: bytes) -> None:
    """Writes one file, and the folders above it; CommandError names the path."""
    write_parts(path, [content])


def write_parts(path: Path, parts: Iterable[bytes]) -> None:
    """As write_whole(), for content that comes in parts; if they fail, nothing is written. Goes
    through symbolic links, and into what is there and no file (/dev/stdout, a pipe)."""
    try:
        place = path.resolve()
        if place.exists() and not (place.is_file() or place.is_dir()):
            with path.open("wb") as stream:
                stream.writelines(parts)
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            os.replace(_staged(stack, place, parts).new, place)
    except OSError as error:
        raise CommandError(f"{path}: cannot be written: {error.strerror}") from error


def replace_files(contents: Mapping[Path, bytes]) -> None:
    """Replaces all files or, if that fails (CommandError), none. Keeps modes, and writes through
    symbolic links."""
    path = Path()
    done: list[_Staged] = []
    with ExitStack() as stack:
        try:
            staged = []
            for path, content in contents.items():
                staged.append(_staged(stack, path.resolve(), [content]).with_old())
            for path, file in zip(contents, staged, strict=True):  # noqa: B007  the error names it
                os.replace(file.new, file.place)
                done.append(file)
        except OSError as error:
            for file in done:
                file.take_back()
            raise CommandError(
                f"{path}: cannot be written: {error.strerror}; nothing was"
            ) from error


class _Staged(NamedTuple):
    """New content beside the place that it is for, and the old content where it is kept."""

    place: Path
    new: Path
    old: Path | None = None

    def with_old(self) -> _Staged:
        if not self.place.exists():
            return self
        old = self.new.with_name("old")
        shutil.copy2(self.place, old)
        shutil.copymode(self.place, self.new)
        return self._replace(old=old)

    def take_back(self) -> None:
        if self.old is None:
            self.place.unlink()
        else:
            os.replace(self.old, self.place)


def _staged(stack: ExitStack, place: Path, parts: Iterable[bytes]) -> _Staged:
    prefix = f".{place.name[:40]}."
    beside = stack.enter_context(tempfile.TemporaryDirectory(prefix=prefix, dir=place.parent))
    new = Path(beside) / "new"
    with new.open("wb") as file:
        file.writelines(parts)
    return _Staged(place, new)

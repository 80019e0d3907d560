"""The one reader and writer of files. Content is written beside its place and renamed, so that no
reader ever sees half of a file."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

from warpgauge.errors import CommandError
from warpgauge.text import printable

_KINDS = {
    stat.S_IFIFO: "it is a pipe; write it to a file first",
    stat.S_IFCHR: "it is a device; write it to a file first",
    stat.S_IFBLK: "it is a device; write it to a file first",
    stat.S_IFSOCK: "it is a socket; write it to a file first",
}


def read_whole(path: str | Path) -> bytes:
    """The bytes of a file. Pipes and devices are not opened, because they can have no end, or wait
    for a writer. Raises OSError, whose strerror is a text for users."""
    kind = stat.S_IFMT(os.stat(path).st_mode)
    if kind in _KINDS:
        raise OSError(errno.EINVAL, _KINDS[kind], str(path))
    return Path(path).read_bytes()


def write_whole(path: Path, content: bytes) -> None:
    """Writes one file, and the folders above it. Raises CommandError, which names the path."""
    write_parts(path, [content])


def write_and_tell(folder: Path, contents: Iterable[tuple[str | Path, bytes]]) -> None:
    """Writes the files of a folder by their names, and prints the path of each."""
    for name, content in contents:
        write_whole(folder / name, content)
        print(printable(str(folder / name)))


def write_parts(path: Path, parts: Iterable[bytes]) -> None:
    """As write_whole(), for content that comes in parts; if they fail, nothing is written. Goes
    through symbolic links, and into what is there and no file (/dev/stdout, a pipe)."""
    try:
        place = _place(path)
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
    """Writes all files, and the folders above them, or if that fails (CommandError) none. Keeps
    modes, and writes through symbolic links."""
    path = Path()
    done: list[_Staged] = []
    with ExitStack() as stack:
        try:
            staged = []
            for path, content in contents.items():
                place = _place(path)
                _make_folder(stack, place.parent)
                staged.append(_staged(stack, place, [content]).with_old())
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


def _place(path: Path) -> Path:
    """The place that a path leads to through links. Raises OSError for links that lead nowhere."""
    with suppress(FileNotFoundError):
        path.stat()
    return path.resolve()


def _make_folder(stack: ExitStack, folder: Path) -> None:
    """Makes a folder and those above it; they go with the stack if they are empty then."""
    if folder.exists():
        return
    _make_folder(stack, folder.parent)
    folder.mkdir()
    stack.callback(_remove_if_empty, folder)


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def _staged(stack: ExitStack, place: Path, parts: Iterable[bytes]) -> _Staged:
    prefix = f".{place.name[:40]}."
    beside = stack.enter_context(tempfile.TemporaryDirectory(prefix=prefix, dir=place.parent))
    new = Path(beside) / "new"
    with new.open("wb") as file:
        file.writelines(parts)
    return _Staged(place, new)

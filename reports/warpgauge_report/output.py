"""What the commands share: their error, text and file names made of data, files written whole."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

MAX_STEM = 160  # characters of a file name without its ending; file systems take 255 bytes


class ReportError(Exception):
    """A report that cannot be made: says why in a sentence."""


def printable(text: str) -> str:
    """The text with "?" for what is not shown but obeyed: control characters, line breaks."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def shortened(text: str, length: int) -> str:
    """The text as printable(), and cut to so many characters."""
    text = printable(text)
    return text if len(text) <= length else text[: length - 1] + "…"


def safe_stem(*parts: str, tail: str = "") -> str:
    """A file name without ending, the parts joined by "-": letters, digits, "_", "-" and "." only,
    and no leading dot. A name that is too long loses its end, but never its tail."""
    name, end = (re.sub(r"[^A-Za-z0-9_.-]+", "_", text) for text in ("-".join(parts), tail))
    end = f"-{end[: MAX_STEM // 2]}" if end else ""
    return name.lstrip(".")[: MAX_STEM - len(end)] + end


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file beside its place and renames it, so that no one ever sees half of it.

    Raises ReportError that names the path.
    """
    write_parts(path, [content])


def write_parts(path: Path, parts: Iterable[bytes]) -> None:
    """As write_whole(), for content that comes in parts; if they fail, nothing is written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{path.name[:40]}.", dir=path.parent) as beside:
            new = Path(beside) / "new"
            with new.open("wb") as file:
                file.writelines(parts)
            os.replace(new, path)
    except OSError as error:
        raise ReportError(f"{path}: cannot be written: {error.strerror}") from error

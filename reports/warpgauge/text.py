"""Text made of data: what is printed, names of files, the nearest known word."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable

MAX_STEM = 160  # characters of a file name without its ending; file systems take 255 bytes


def printable(text: str) -> str:
    """The text with "?" for control characters and line breaks, which a terminal would obey."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def is_blank(text: str) -> bool:
    """True for a text of which nothing can be seen: white space, control and zero-width
    characters."""
    return all(unicodedata.category(c)[0] in "ZC" or c in "\u2800\u3164" for c in text)


def shortened(text: str, length: int) -> str:
    """The text as printable(), and cut to so many characters."""
    text = printable(text)
    return text if len(text) <= length else text[: length - 1] + "…"


def shortened_inside(text: str, length: int) -> str:
    """The text as printable(), and cut to so many characters in the middle, where both its begin
    and its end say something."""
    text = printable(text)
    head = (length - 1) // 2
    return text if len(text) <= length else f"{text[:head]}…{text[head + 1 - length :]}"


def rounded(value: float | str) -> str:
    """A value as people read it: whole numbers without a point, others with up to 6 significant
    digits (all digits before the point are kept), words as they are."""
    if isinstance(value, str):
        return printable(value)
    return f"{value:.0f}" if value == int(value) or abs(value) >= 1e6 else f"{value:.6g}"


def safe_stem(*parts: str, tail: str = "") -> str:
    """A file name without ending, the parts joined by "-": letters, digits, "_", "-" and "." only,
    and no leading dot. A name that is too long loses its end, but never its tail."""
    name, end = (re.sub(r"[^A-Za-z0-9_.-]+", "_", text) for text in ("-".join(parts), tail))
    end = f"-{end[: MAX_STEM // 2]}" if end else ""
    return name.lstrip(".")[: MAX_STEM - len(end)] + end


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that a mistyped one is nearest to, if any is near."""
    return next(iter(difflib.get_close_matches(word, list(known), n=1)), None)


def count(number: int, noun: str) -> str:
    """ "1 value", "1,234 values"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"

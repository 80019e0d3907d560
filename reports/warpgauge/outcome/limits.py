"""Cuts a format to what its reader takes, the least bad of it last, and says what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Kept(NamedTuple):
    """The first entries of a format, and the number of all."""

    entries: Sequence[str]
    total: int
    noun: str

    @property
    def left_out(self) -> int:
        return self.total - len(self.entries)

    @property
    def sentence(self) -> str:
        """ "12 of 60 lines are left out, the least bad ones; ..."; nothing where all fit."""
        if not self.left_out:
            return ""
        head = f"{self.left_out} of {self.total} {self.noun}"
        return f"{head} are left out, the least bad ones; facts.jsonl has all"


def kept(entries: Sequence[str], noun: str, most_bytes: int, most: int | None) -> Kept:
    """The first entries that fit into so many bytes, with two for what parts them, and no more
    than `most` of them."""
    size, fit = 0, 0
    for entry in entries[:most]:
        size += len(entry.encode()) + 2
        if size > most_bytes:
            break
        fit += 1
    return Kept(entries[:fit], len(entries), noun)

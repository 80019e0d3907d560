"""Cuts a format to the size that its reader takes, and says what was left out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Kept(NamedTuple):
    """The parts that fit, and how many did not."""

    parts: list[str]
    left_out: int

    @property
    def sentence(self) -> str:
        """ "12 more are left out; facts.jsonl has all."; nothing where all fit."""
        return f"{self.left_out} more are left out; facts.jsonl has all." if self.left_out else ""


def kept(parts: Iterable[str], most_bytes: int) -> Kept:
    """The first parts that fit into so many bytes, each with a line end."""
    fit: list[str] = []
    left_out, size = 0, 0
    for part in parts:
        size += len(part.encode()) + 1
        if size > most_bytes:
            left_out += 1
        else:
            fit.append(part)
    return Kept(fit, left_out)

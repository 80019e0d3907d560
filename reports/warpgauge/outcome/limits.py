"""Cuts a format to what its reader takes, the least bad of it last, and says what was left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, NamedTuple


class Drawn(Sequence[str]):
    """The entries for some parts, each drawn when it is taken: those beyond a limit never are."""

    def __init__(self, draw: Callable[..., str], parts: Sequence[tuple[Any, ...]]) -> None:
        self._draw, self._parts = draw, parts

    def __len__(self) -> int:
        return len(self._parts)

    def __getitem__(self, i: int) -> str:  # type: ignore[override]  # nothing takes slices
        return self._draw(*self._parts[i])


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
    size, fit = 0, []
    for entry in islice(entries, most):
        size += len(entry.encode()) + 2
        if size > most_bytes:
            break
        fit.append(entry)
    return Kept(fit, len(entries), noun)

"""Lines of facts in two parts: the head, which says the run, and the tail, which says the rest.

A night repeats most tails of the night before byte by byte. A tail that is in the database was read
and held against the schema (its digest is that schema's, too) when it came there, so a line with a
known head and a known tail is a fact, and need not be read again. This is only so if neither part
says what the other should: then, and for any line in another form than warpgauge writes, the whole
line is read, and its digest is that of its members.
"""

from __future__ import annotations

import json
from collections.abc import Container
from dataclasses import dataclass, fields
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from warpgauge.facts.reader import Device, Fact, lines_of, read_line, schema_text

_SPLIT = b',"id":'  # a raw quote ends a string of JSON, so that this is the key wherever it stands
_KEYS = [member.name for member in fields(Fact)]
_HEAD_KEYS, _TAIL_KEYS = _KEYS[: _KEYS.index("id")], _KEYS[_KEYS.index("id") :]
_NOT_IN_TAILS = frozenset(key.encode() for key in _HEAD_KEYS)
DIGEST_BYTES = 16


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """The members of a fact that say its run."""

    run: str
    time: str
    commit: str | None
    dirty: bool
    toolkit: str | None
    flags: str | None
    device: Device | None
    start: Any  # of digests of tails: with another schema or device it is another state


class FactFile:
    """A file of facts, each line of which is read only as far as needed.

    Line by line, `heads` says the run and `digests` the rest: the same digest is the same state.
    """

    def __init__(self, path: str | Path) -> None:
        """Raises FactError with file and line."""
        self.path = path
        self.heads: list[Head] = []
        self.digests: list[bytes] = []
        self._read_for_heads: dict[int, Fact] = {}
        self._texts = lines_of(path)
        self._plain_heads: dict[bytes, Head] = {}
        for number, text in enumerate(self._texts, start=1):
            split = text.find(_SPLIT)
            if head := self._plain_heads.get(text[:split]):
                digest = _digest(head, text[split:])
            else:
                head, digest = self._read_whole(number, text)
            self.heads.append(head)
            self.digests.append(digest)

    def fact(self, number: int) -> Fact:
        """The fact in a line, from 1; FactError with file and line."""
        known = self._read_for_heads.get(number)
        return known or read_line(self.path, number, self._texts[number - 1])

    def read_unknown(self, known: Container[bytes]) -> dict[bytes, Fact]:
        """The facts of cases that the digests that are not known stand for. A line in another form
        has another digest from here on."""
        found: dict[bytes, Fact] = {}
        for index, digest in enumerate(self.digests):
            if digest in known or digest in found:
                continue
            fact = self.fact(index + 1)
            if fact.scope != "case":
                continue
            if not _is_plain_tail(_parts(self._texts[index])[1]):
                self.heads[index], digest = _whole(fact)
                self.digests[index] = digest
            found.setdefault(digest, fact)
        return found

    def _read_whole(self, number: int, text: bytes) -> tuple[Head, bytes]:
        fact = self._read_for_heads[number] = read_line(self.path, number, text)
        head, digest = _whole(fact)
        start, tail = _parts(text)
        if _is_plain_tail(tail) and _is_plain_head(start):
            self._plain_heads[start] = head
            digest = _digest(head, tail)
        return head, digest


def _parts(text: bytes) -> tuple[bytes, bytes]:
    """Head and tail; no tail where the line is in another form."""
    split = text.find(_SPLIT)
    return (text, b"") if split < 0 else (text[:split], text[split:])


def _is_plain_head(start: bytes) -> bool:
    pairs = json.loads(start + b"}", object_pairs_hook=list)
    return [key for key, _ in pairs] == _HEAD_KEYS


def _is_plain_tail(tail: bytes) -> bool:
    """Whether no key in it is one of the head's. (Between two raw quotes stands all of a key, or of
    a text, which is taken for a key, too; and only \\u can spell a letter otherwise.)"""
    return bool(tail) and b"\\u" not in tail and _NOT_IN_TAILS.isdisjoint(tail.split(b'"'))


def _digest(head: Head, tail: bytes) -> bytes:
    digest = head.start.copy()
    digest.update(tail)
    return digest.digest()


def _whole(fact: Fact) -> tuple[Head, bytes]:
    """Head and digest of a line that is not taken apart: the digest is that of its members."""
    key = _key(schema_text(), fact.device.name if fact.device else "")
    start = blake2b(digest_size=DIGEST_BYTES, person=key)
    head = Head(*(getattr(fact, name) for name in _HEAD_KEYS[1:]), start)
    members = repr([getattr(fact, name) for name in _TAIL_KEYS]).encode()
    return head, blake2b(members, digest_size=DIGEST_BYTES, person=key, salt=b"members").digest()


@lru_cache(maxsize=64)
def _key(schema: str, device: str) -> bytes:
    return blake2b(f"{schema}\0{device}".encode(), digest_size=DIGEST_BYTES).digest()

"""Lines of facts in two parts: the head, which says the run, and the tail, which says the rest.

A night repeats most tails of the night before byte by byte. A tail that is in the database was read
and held against the schema (its digest is that schema's, too) when it came there, so a line with a
known head and a known tail is a fact, and need not be read again. This is only so if neither part
says what the other should: then, and for any line in another form than warpgauge writes, the whole
line is read.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from hashlib import blake2b
from itertools import count
from pathlib import Path

from warpgauge_report.facts import Device, Fact, lines_of, read_line, schema_text

# A raw quote ends a string of JSON, so that this is the key wherever it stands.
_SPLIT = b',"id":'
_KEYS = [member.name for member in fields(Fact)]
_HEAD_KEYS, _TAIL_KEYS = _KEYS[: _KEYS.index("id")], _KEYS[_KEYS.index("id") :]
_NOT_IN_TAILS = [b"\\u", *(f'"{key}":'.encode() for key in _HEAD_KEYS)]
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
    key: bytes  # of the digests of tails: with another schema or device it is another state


@dataclass(slots=True)
class Line:
    """A line of a file. `fact` is None until it had to be read."""

    number: int
    text: bytes
    head: Head
    digest: bytes  # of the tail: the same digest is the same state
    fact: Fact | None


class LineReader:
    """Reads the lines of one file, each only as far as needed."""

    def __init__(self, path: str | Path) -> None:
        self.path = path
        self.of_source_lines = 0
        self._heads: dict[bytes, Head] = {}

    def lines(self) -> list[Line]:
        """The lines of cases. Those of source lines are held against the schema and left out."""
        lines = map(self._line, count(1), lines_of(self.path))
        return [line for line in lines if line]

    def read(self, line: Line) -> Fact:
        """The fact of a line whose digest the database does not know."""
        if line.fact is None:
            line.fact = read_line(self.path, line.number, line.text)
            if not _is_plain_tail(line.text.partition(_SPLIT)[2]):
                line.head, line.digest = _whole(line.fact)
        return line.fact

    def _line(self, number: int, text: bytes) -> Line | None:
        start, _, tail = text.partition(_SPLIT)
        head = self._heads.get(start)
        if head and b'"scope":"line"' not in tail:
            return Line(number, text, head, _digest(head.key, tail), None)
        fact = read_line(self.path, number, text)
        if fact.scope != "case":
            self.of_source_lines += 1
            return None
        head, digest = _whole(fact)
        if _is_plain_tail(tail) and _is_plain_head(start):
            self._heads[start] = head
            digest = _digest(head.key, tail)
        return Line(number, text, head, digest, fact)


def _is_plain_head(start: bytes) -> bool:
    pairs = json.loads(start + b"}", object_pairs_hook=list)
    return [key for key, _ in pairs] == _HEAD_KEYS


def _is_plain_tail(tail: bytes) -> bool:
    return bool(tail) and not any(part in tail for part in _NOT_IN_TAILS)


def _digest(key: bytes, tail: bytes) -> bytes:
    return blake2b(tail, digest_size=DIGEST_BYTES, key=key).digest()


def _whole(fact: Fact) -> tuple[Head, bytes]:
    """Head and digest of a line that is not taken apart: the digest is that of its members."""
    name = fact.device.name if fact.device else ""
    key = blake2b(f"{schema_text()}\0{name}".encode(), digest_size=DIGEST_BYTES).digest()
    head = Head(*(getattr(fact, name) for name in _HEAD_KEYS[1:]), key)
    members = repr([getattr(fact, name) for name in _TAIL_KEYS]).encode()
    return head, blake2b(members, digest_size=DIGEST_BYTES, key=key, person=b"members").digest()

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
from pathlib import Path

from warpgauge_report.facts import Device, Fact, lines_of, read_line, schema_text

# A raw quote ends a string of JSON, so that this is the key wherever it stands.
_SPLIT = b',"id":'
_OF_SOURCE_LINE = b'"scope":"line"'  # of these the database has none
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
        heads, kept = self._heads, []
        for number, text in enumerate(lines_of(self.path), start=1):
            split = text.find(_SPLIT)
            if (head := heads.get(text[:split])) and _OF_SOURCE_LINE not in text:
                kept.append(Line(number, text, head, _digest(head.key, text[split:]), None))
            elif line := self._read_whole(number, text):
                kept.append(line)
        return kept

    def read(self, line: Line) -> Fact:
        """The fact of a line whose digest the database does not know."""
        if line.fact is None:
            line.fact = read_line(self.path, line.number, line.text)
            if not _is_plain_tail(_parts(line.text)[1]):
                line.head, line.digest = _whole(line.fact)
        return line.fact

    def _read_whole(self, number: int, text: bytes) -> Line | None:
        fact = read_line(self.path, number, text)
        if fact.scope != "case":
            self.of_source_lines += 1
            return None
        head, digest = _whole(fact)
        start, tail = _parts(text)
        if _is_plain_tail(tail) and _is_plain_head(start):
            self._heads[start] = head
            digest = _digest(head.key, tail)
        return Line(number, text, head, digest, fact)


def _parts(text: bytes) -> tuple[bytes, bytes]:
    """Head and tail; no tail where the line is in another form."""
    split = text.find(_SPLIT)
    return (text, b"") if split < 0 else (text[:split], text[split:])


def _is_plain_head(start: bytes) -> bool:
    pairs = json.loads(start + b"}", object_pairs_hook=list)
    return [key for key, _ in pairs] == _HEAD_KEYS


def _is_plain_tail(tail: bytes) -> bool:
    return bool(tail) and not any(part in tail for part in _NOT_IN_TAILS)


def _digest(key: bytes, tail: bytes) -> bytes:
    return blake2b(tail, digest_size=DIGEST_BYTES, person=key).digest()


def _whole(fact: Fact) -> tuple[Head, bytes]:
    """Head and digest of a line that is not taken apart: the digest is that of its members."""
    name = fact.device.name if fact.device else ""
    key = blake2b(f"{schema_text()}\0{name}".encode(), digest_size=DIGEST_BYTES).digest()
    head = Head(*(getattr(fact, name) for name in _HEAD_KEYS[1:]), key)
    members = repr([getattr(fact, name) for name in _TAIL_KEYS]).encode()
    return head, blake2b(members, digest_size=DIGEST_BYTES, person=key, salt=b"members").digest()

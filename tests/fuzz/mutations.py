"""Damages JSON texts the way accidents and enemies do: bytes, lines, members and values."""

from __future__ import annotations

import gzip
import json
import lzma
import random
from collections.abc import Callable
from typing import Any

# Where readers go wrong: types, ends of ranges, and texts that something else gives a meaning.
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 0.5, 1e308, 2**31, 2**53 + 1, 2**63, 2**64, -(2**63) - 1),
    *(
        "",
        " ",
        "0",
        "x" * 3000,
        "\0",
        "\ud800",
        "\u202e",
        "é",
        "%s{}",
        "../..",
        "'; DROP TABLE runs",
    ),
    *("sm_90", "sm_999", "exact", "fail", "built-in", "1970-01-01", "9999-12-31", "2026-02-30"),
    *("0000-00-00T00:00:00Z", "2026-13-45T99:99:99Z", "9999-12-31T23:59:59Z"),
    *([], {}, [[]], [None], [0, 0], {"": 0}),
)
BYTES = (b"\0", b"\xff", b"\xef\xbb\xbf", b"\n", b"\r\n", b'"', b"{", b"}", b"NaN", b"1e999")
DEEP = b"[" * 3000


def mutated(content: bytes, others: list[bytes], draw: random.Random) -> bytes:
    """One to four changes; `others` are files to take lines and values from."""
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        change = draw.choices((_bytes, _lines, _members), (1, 2, 5))[0]
        content = change(content, others, draw)
    if draw.random() < 0.03:
        packed = draw.choice((gzip.compress, lzma.compress))(content)
        content = packed if draw.random() < 0.5 else _bytes(packed, others, draw)
    return content


def _bytes(content: bytes, others: list[bytes], draw: random.Random) -> bytes:
    start = draw.randint(0, len(content))
    end = min(len(content), start + draw.choice((0, 1, 1, 8, 200, 1 << 30)))
    middle = draw.choice(
        (b"", draw.choice((*BYTES, DEEP)), content[start:end] * 2, draw.randbytes(1))
    )
    return content[:start] + middle + content[end:]


def _lines(content: bytes, others: list[bytes], draw: random.Random) -> bytes:
    lines = content.splitlines(keepends=True) or [b""]
    chosen, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    change = draw.randrange(5)
    if change == 0:
        del lines[chosen]
    elif change == 1:
        lines.insert(other, lines[chosen])
    elif change == 2:
        lines[chosen], lines[other] = lines[other], lines[chosen]
    elif change == 3:
        lines[chosen:chosen] = draw.choice(others).splitlines(keepends=True)
    else:
        lines[chosen] = lines[chosen][: draw.randrange(len(lines[chosen]) + 1)]
    return b"".join(lines)


def _members(content: bytes, others: list[bytes], draw: random.Random) -> bytes:
    """Changes a member of the document, or of the document in one line."""
    lines = content.splitlines() if content.startswith(b'{"') else [content]
    number = draw.randrange(len(lines) or 1)
    try:
        document = json.loads(lines[number])
        places = list(_places(document))
        container, key = draw.choice(places)
    except (ValueError, IndexError, RecursionError):
        return _bytes(content, others, draw)
    change = draw.choice((_drop, _replace, _replace, _replace, _nudge, _rename, _swap))
    change(container, key, places, draw)
    try:
        text = json.dumps(document, ensure_ascii=draw.random() < 0.5, separators=(",", ":"))
        if draw.random() < 0.05:  # a key that occurs twice
            text = text.replace(",", f",{json.dumps(str(key))}:0,", 1)
        lines[number] = text.encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        return content
    return b"\n".join(lines) + b"\n"


def _places(part: Any) -> Any:
    if isinstance(part, (dict, list)):
        for key in part if isinstance(part, dict) else range(len(part)):
            yield part, key
            yield from _places(part[key])


Change = Callable[[Any, Any, list, random.Random], None]


def _drop(container: Any, key: Any, places: list, draw: random.Random) -> None:
    del container[key]


def _replace(container: Any, key: Any, places: list, draw: random.Random) -> None:
    container[key] = draw.choice(VALUES)


def _nudge(container: Any, key: Any, places: list, draw: random.Random) -> None:
    value = container[key]
    if isinstance(value, bool):
        container[key] = not value
    elif isinstance(value, (int, float)):
        container[key] = draw.choice((value + 1, -value, value * 10, value / 3, str(value)))
    elif isinstance(value, str):
        at = draw.randint(0, len(value))
        put = draw.choice(("", "\n", "x", "\x1b[2J", "@", "."))
        container[key] = value[:at] + put + value[at + 1 :]
    elif isinstance(value, list):
        container[key] = value * draw.choice((0, 2, 50))


def _rename(container: Any, key: Any, places: list, draw: random.Random) -> None:
    if isinstance(container, dict):
        names = [name for _, name in places if isinstance(name, str)]
        container[draw.choice((key + "x", "", *names))] = container.pop(key)


def _swap(container: Any, key: Any, places: list, draw: random.Random) -> None:
    other, name = draw.choice(places)
    container[key] = json.loads(json.dumps(other[name]))

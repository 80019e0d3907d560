"""Addresses of the places that the page links to, made of patterns with fields: {commit}."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from warpgauge.history import Point


@dataclass(frozen=True, slots=True)
class Kind:
    """The fields that a pattern must have, and those that it may have as well."""

    needed: tuple[str, ...]
    optional: tuple[str, ...] = ()


SOURCE = Kind(("file",), ("commit", "line"))
COMMIT = Kind(("commit",))
COMPARE = Kind(("base", "commit"))
_NEVER = r"[\x00-\x20\x7f<>\"\\^`|]"  # what no address has as it is


def folder(text: str) -> str:
    """The address of a folder, with a slash at its end. Raises ValueError if it is none."""
    pattern(text, Kind(()))
    if re.search(r"[?#]", text):
        raise ValueError("needs the address of a folder, without ? and #")
    return f"{text.rstrip('/')}/"


def pattern(text: str, kind: Kind) -> str:
    """The text. Raises ValueError if it is no address on the web, or if its fields are not those of
    its kind."""
    needed = "".join(f" and {{{name}}}" for name in kind.needed)
    if not re.match(r"https?://[^\s{}/]+(/\S*)?\Z", text) or re.search(_NEVER, text):
        raise ValueError(f"needs an address with http:// or https://{needed}")
    found = re.findall(r"\{([^{}]*)\}", text)
    unknown = [name for name in found if name not in kind.needed + kind.optional]
    if unknown:
        known = ", ".join(f"{{{name}}}" for name in kind.needed + kind.optional) or "none"
        raise ValueError(f"has the field {{{unknown[0]}}}, which it cannot have; known: {known}")
    if not set(kind.needed) <= set(found):
        raise ValueError(f"needs {needed.removeprefix(' and ')}")
    return text


@dataclass(frozen=True, slots=True)
class Links:
    """Patterns of addresses, and that of the page's folder, with a slash at its end. None: no
    link."""

    source: str | None = None
    commit: str | None = None
    compare: str | None = None
    address: str | None = None

    def to_source(self, point: Point) -> str | None:
        """The address of a point's source line; None if it is not known."""
        if not self.source or not point.file or not point.run.commit:
            return None
        fields = {"commit": _part(point.run.commit), "line": str(point.line or 1)}
        return _filled(self.source, fields | {"file": quote(point.file)})

    def to_commit(self, commit: str | None) -> str | None:
        if not self.commit or not commit:
            return None
        return _filled(self.commit, {"commit": _part(commit)})

    def to_comparison(self, base: str | None, commit: str | None) -> str | None:
        """The address of all that lies between two commits."""
        if not self.compare or not base or not commit:
            return None
        return _filled(self.compare, {"base": _part(base), "commit": _part(commit)})


def _part(text: str) -> str:
    return quote(text, safe="")


def _filled(text: str, fields: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda field: fields[field[1]], text)

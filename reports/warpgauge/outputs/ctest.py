"""Measurements for CTest and CDash: a test of CTest prints them to its output."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from warpgauge.outcome import words
from warpgauge.outcome.results import Results
from warpgauge.text import printable

FILE = "ctest.txt"
READER = "CTest and CDash"

_TYPES = {".png": "image/png", ".svg": "image/svg+xml", ".jpg": "image/jpeg", ".jpeg": "image/jpeg"}


def render(results: Results) -> str:
    """A line for each value, and one for each picture that lies beside the facts."""
    lines = []
    for fact in results.facts:
        if fact.value is not None:
            kind = "text/string" if isinstance(fact.value, str) else "numeric/double"
            name = f"{words.title(fact)}: {fact.metric}"
            lines.append(_element("CTestMeasurement", kind, name, str(fact.value)))
    lines += [_picture(picture) for picture in results.pictures]
    return "".join(line + "\n" for line in lines)


def _picture(path: Path) -> str:
    return _element("CTestMeasurementFile", _TYPES[path.suffix.lower()], path.stem, str(path))


def _element(tag: str, kind: str, name: str, text: str) -> str:
    # CTest looks for whole elements of this very form, one at a time.
    return (
        f'<{tag} type="{kind}" name={quoteattr(printable(name))}>{escape(printable(text))}</{tag}>'
    )

"""Measurements for CTest and CDash: a test of CTest prints them to its output."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from warpgauge.outcome.limits import Kept
from warpgauge.outcome.results import Results
from warpgauge.text import printable

FILE = "ctest.txt"
READER = "CTest and CDash"
ENTRIES = "measurements"
MAX_BYTES = 2_000_000
_TYPES = {".png": "image/png", ".svg": "image/svg+xml", ".jpg": "image/jpeg", ".jpeg": "image/jpeg"}


def entries(results: Results) -> list[str]:
    """An element for each picture beside the results, and one for each value."""
    lines = [_picture(picture) for picture in results.pictures]
    for case, value in results.values:
        if value.value is not None:
            kind = "text/string" if isinstance(value.value, str) else "numeric/double"
            name = f"{case.title}: {value.metric}"
            lines.append(_element("CTestMeasurement", kind, name, str(value.value)))
    return lines


def document(results: Results, kept: Kept) -> str:
    lines = list(kept.entries)
    if kept.left_out:
        lines.append(_element("CTestMeasurement", "text/string", "left out", kept.sentence))
    return "".join(line + "\n" for line in lines)


def _picture(path: Path) -> str:
    return _element("CTestMeasurementFile", _TYPES[path.suffix.lower()], path.stem, str(path))


def _element(tag: str, kind: str, name: str, text: str) -> str:
    # CTest looks for whole elements of this very form, one at a time.
    return (
        f'<{tag} type="{kind}" name={quoteattr(printable(name))}>{escape(printable(text))}</{tag}>'
    )

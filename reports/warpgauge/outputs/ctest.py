"""Measurements for CTest and CDash: a test of CTest prints them to its output."""

from __future__ import annotations

from pathlib import Path

from warpgauge.outcome.limits import Drawn, Kept
from warpgauge.outcome.results import CaseResult, Results, Value
from warpgauge.text import printable
from warpgauge.xml import element, escaped

FILE = "ctest.txt"
READER = "CTest and CDash"
ENTRIES = "measurements"
MAX_BYTES = 2_000_000
_TYPES = {".png": "image/png", ".svg": "image/svg+xml", ".jpg": "image/jpeg", ".jpeg": "image/jpeg"}


def entries(results: Results) -> Drawn:
    """An element for each picture beside the results, and one for each value."""
    known = (pair for pair in results.values if pair[1].value is not None)
    return Drawn(_entry, [*((picture,) for picture in results.pictures), *known])


def document(results: Results, kept: Kept) -> str:
    lines = list(kept.entries)
    if kept.left_out:
        lines.append(_element("CTestMeasurement", "text/string", "left out", kept.sentence))
    return "".join(line + "\n" for line in lines)


def _entry(shown: Path | CaseResult, value: Value | None = None) -> str:
    if isinstance(shown, Path):
        return _picture(shown)
    assert value is not None
    kind = "text/string" if isinstance(value.value, str) else "numeric/double"
    name = f"{shown.title}: {value.metric}"
    return _element("CTestMeasurement", kind, name, str(value.value))


def _picture(path: Path) -> str:
    return _element("CTestMeasurementFile", _TYPES[path.suffix.lower()], path.stem, str(path))


def _element(tag: str, kind: str, name: str, text: str) -> str:
    # CTest looks for whole elements of this very form, one at a time.
    return element(tag, {"type": kind, "name": name}, escaped(printable(text)))

"""diff.json as Markdown, for the comment on a pull request or the summary of a job.

The form of the file is described in harness/diff/diff_json.h; order, marks, causes and the headline
are those of the file.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from warpgauge.markdown import code, row, text
from warpgauge.outcome.limits import kept
from warpgauge.text import rounded, shortened

MAX_BYTES = 60_000  # a comment on GitHub has up to 65,536 letters
_KERNEL = 120  # characters of a kernel's name: those of templates can have thousands
_MARKS = ("worse", "moved", "changed", "better")
_CONFIDENCES = ("exact", "predicted", "estimate")


def markdown(document: dict[str, Any]) -> str:
    """The whole page; what has no room is counted at its end."""
    lines = [f"# warpgauge diff: {text(document['headline'])}", ""]
    for letter in ("a", "b"):
        side = document[letter]
        lines.append(f"- {letter.upper()}: {code(side['file'])} ({text(side['origin'])})")
    lines += changes(document)
    fit = kept(lines, "lines", MAX_BYTES, None)
    left = fit.total - len(fit.entries)
    more = ["", f"{left} of {fit.total} lines are left out, the least bad ones"] if left else []
    return "\n".join([*fit.entries, *more]) + "\n"


def changes(document: dict[str, Any], most: int | None = None) -> list[str]:
    """The tables, the worst first; `most`: of the changes of values, so many."""
    if document["kind"] != "values":
        return _counts(document)
    listed = document["changes"]
    left = len(listed[most:]) if most else 0
    more = ["", f"and {left} more changes; diff.json has all"] if left else []
    return _values(document | {"changes": listed[:most]}) + more


def _values(document: dict[str, Any]) -> list[str]:
    causes = (
        [text(one.get("cause", "a case that fails")), *(one[mark] for mark in _MARKS)]
        for one in document["causes"]
    )
    rows = (
        [
            one["mark"],
            _case(one),
            code(one["metric"]),
            _quantity(one.get("a")),
            _quantity(one.get("b")),
            text(one["unit"]),
            f"{one['relative']:+.1%}" if "relative" in one else "",
            text(", ".join(filter(None, (one.get("cause"), one.get("reason"))))),
            _place((one.get("lines") or [{}])[0]),
        ]
        for one in document["changes"]
    )
    columns = ["", "case", "metric", "A", "B", "unit", "change", "why", "at"]
    return _table(["cause", *_MARKS], causes, numbers=4) + _table(columns, rows)


def _counts(document: dict[str, Any]) -> list[str]:
    def cells(counted: dict[str, Any]) -> list[object]:
        lines = counted["lines"]
        both = [lines[one][which] for one in _CONFIDENCES for which in ("equal", "different")]
        return [counted["cases"], lines["compared"], *both]

    families = [[code(name), *cells(one)] for name, one in document["families"].items()]
    families.append(["total", *cells(document["total"])])
    differences = (
        [
            _case(one),
            code(one["metric"]),
            _quantity(one["a"]),
            _quantity(one["b"]),
            one["confidence"],
            text(one.get("confidence_reason", "")),
            _place(one),
        ]
        for one in document["differences"]
    )
    left_out = [
        f"- {why.replace('_', ' ')}: {code(case)}"
        for why, cases in document["left_out"].items()
        for case in cases
    ]
    columns = ["family", "cases", "lines"]
    columns += [f"{one}, {which}" for one in _CONFIDENCES for which in ("equal", "not")]
    of_differences = ["case", "metric", "A", "B", "confidence", "why", "at"]
    found = _table(columns, families, numbers=8) + _table(of_differences, differences)
    return found + (["", "Not compared:", "", *left_out] if left_out else [])


def _table(columns: list[str], rows: Iterable[list[object]], numbers: int = 0) -> list[str]:
    """A table, whose last columns are numbers; nothing without rows."""
    lines = [row(cells) for cells in rows]
    rule = "|" + "---|" * (len(columns) - numbers) + "---:|" * numbers
    return ["", row(columns), rule, *lines] if lines else []


def _case(one: dict[str, Any]) -> str:
    """Of a kernel of compiled files with its name."""
    case = code(one["id"] + (f" on {one['arch']}" if "arch" in one else ""))
    return f"{case} {code(shortened(one['kernel'], _KERNEL))}" if "kernel" in one else case


def _quantity(value: float | str | None) -> str:
    return "" if value is None else text(rounded(value))


def _place(one: dict[str, Any]) -> str:
    return code(f"{one['file']}:{one['line']}") if "line" in one and "file" in one else ""

"""diff.json as Markdown, for the comment on a pull request or the summary of a job.

The form of the file is described in harness/diff/diff_json.h; order, marks, causes and the headline
are those of the file.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from warpgauge.changes.kernel_rows import facts_text, kernel_name, place_of, why
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
    for letter, word in (("a", "before"), ("b", "after")):
        side = document[letter]
        lines.append(f"- {word}: {code(side['file'])} ({text(side['origin'])})")
    lines += changes(document)
    fit = kept(lines, "lines", MAX_BYTES, None)
    left = fit.total - len(fit.entries)
    more = ["", f"{left} of {fit.total} lines are left out, the least bad ones"] if left else []
    return "\n".join([*fit.entries, *more]) + "\n"


def changes(document: dict[str, Any], most: int | None = None) -> list[str]:
    """The tables, the worst first; `most`: so many kernels, and no list of all values."""
    if document["kind"] != "values":
        return _counts(document)
    kernels = document["kernels"]
    left = len(kernels[most:]) if most else 0
    more = ["", f"and {left} more kernels; diff.json has all"] if left else []
    values = [] if most else ["", "## All values", *_values(document)]
    return [*_causes(document), *kernel_table(kernels[:most]), *more, *values]


def kernel_table(kernels: list[dict[str, Any]]) -> list[str]:
    """A row for each kernel."""
    rows = (
        [kernel["mark"], kernel_name(kernel), facts_text(kernel), place_of(kernel), why(kernel)]
        for kernel in kernels
    )
    return _table(["", "kernel", "what", "at", "why"], rows)


def _causes(document: dict[str, Any]) -> list[str]:
    rows = (
        [text(cause.get("cause", "a case that fails")), *(cause[mark] for mark in _MARKS)]
        for cause in document["causes"]
    )
    return _table(["kernels by cause", *_MARKS], rows, numbers=4)


def _values(document: dict[str, Any]) -> list[str]:
    rows = (
        [
            change["mark"],
            _case(change),
            code(change["metric"]),
            _quantity(change.get("a")),
            _quantity(change.get("b")),
            text(change["unit"]),
            f"{change['relative']:+.1%}" if "relative" in change else "",
            text(", ".join(filter(None, (change.get("cause"), change.get("reason"))))),
            _place((change.get("lines") or [{}])[0]),
        ]
        for change in document["changes"]
    )
    columns = ["", "case", "metric", "before", "after", "unit", "change", "why", "at"]
    return _table(columns, rows)


def _counts(document: dict[str, Any]) -> list[str]:
    def cells(counted: dict[str, Any]) -> list[object]:
        lines = counted["lines"]
        both = [lines[level][which] for level in _CONFIDENCES for which in ("equal", "different")]
        return [counted["cases"], lines["compared"], *both]

    families = [[code(name), *cells(counted)] for name, counted in document["families"].items()]
    families.append(["total", *cells(document["total"])])
    differences = (
        [
            _case(difference),
            code(difference["metric"]),
            _quantity(difference["a"]),
            _quantity(difference["b"]),
            difference["confidence"],
            text(difference.get("confidence_reason", "")),
            _place(difference),
        ]
        for difference in document["differences"]
    )
    left_out = [
        f"- {why.replace('_', ' ')}: {code(case)}"
        for why, cases in document["left_out"].items()
        for case in cases
    ]
    columns = ["family", "cases", "lines"]
    columns += [f"{level}, {which}" for level in _CONFIDENCES for which in ("equal", "not")]
    of_differences = ["case", "metric", "before", "after", "confidence", "why", "at"]
    found = _table(columns, families, numbers=8) + _table(of_differences, differences)
    return found + (["", "Not compared:", "", *left_out] if left_out else [])


def _table(columns: list[str], rows: Iterable[list[object]], numbers: int = 0) -> list[str]:
    """A table, whose last columns are numbers; nothing without rows."""
    lines = [row(cells) for cells in rows]
    rule = "|" + "---|" * (len(columns) - numbers) + "---:|" * numbers
    return ["", row(columns), rule, *lines] if lines else []


def _case(record: dict[str, Any]) -> str:
    """Of a kernel of compiled files with its name."""
    case = code(record["id"] + (f" on {record['arch']}" if "arch" in record else ""))
    return f"{case} {code(shortened(record['kernel'], _KERNEL))}" if "kernel" in record else case


def _quantity(value: float | str | None) -> str:
    return "" if value is None else text(rounded(value))


def _place(record: dict[str, Any]) -> str:
    return (
        code(f"{record['file']}:{record['line']}") if "line" in record and "file" in record else ""
    )

"""Tables of the page that need more than rows: accuracy, and sizes of changes."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from warpgauge.changes.change import Change
from warpgauge.drawing import style
from warpgauge.page.rows import Row

ERRORS = ("result.max_error", "result.mean_absolute_error", "result.mean_relative_error")


@dataclass(frozen=True, slots=True)
class Accuracy:
    """A case with errors against the reference: a row for each place where it ran, and its errors
    by metric."""

    id: str
    where: tuple[Row, ...]
    errors: dict[str, Row]

    @property
    def largest(self) -> float:
        """The mean relative error, by which cases are compared; 0 where it was not measured."""
        row = self.errors.get(ERRORS[-1])
        return row.last.numeric if row else 0


def accuracy(rows: Iterable[Row]) -> list[Accuracy]:
    """Errors by case, the largest first; places that have the same errors share a line."""
    found: dict[tuple[str, str], dict[str, Row]] = defaultdict(dict)
    for row in rows:
        if row.key.metric in ERRORS and row.last.value is not None:
            found[row.key.id, row.where][row.key.metric] = row
    groups: dict[tuple, list[dict[str, Row]]] = defaultdict(list)
    for (id, _), errors in found.items():
        values = tuple(errors[name].last.numeric if name in errors else None for name in ERRORS)
        groups[id, values].append(errors)
    lines = [
        Accuracy(id, tuple(next(iter(errors.values())) for errors in group), group[0])
        for (id, _), group in groups.items()
    ]
    return sorted(lines, key=lambda line: (-line.largest, line.id))


def change_text(change: Change) -> str:
    """By how much: "+12.5 %", "× 8.2", "from 0", "another word", of a drift "+6 % in 30 nights"."""
    over = f" in {change.nights} nights" if change.nights else ""
    return _difference(change.before, change.after) + over


def factor_text(change: Change) -> str:
    """The same; nothing where the two values say it themselves: from 0, to 0, another word."""
    before, after = change.before, change.after
    if isinstance(before, str) or isinstance(after, str) or before * after <= 0:
        return ""
    return change_text(change)


def _difference(before: float | str, after: float | str) -> str:
    if isinstance(before, str) or isinstance(after, str):
        return "another word"
    return ratio_text(after / before if before else math.inf)


def ratio_text(ratio: float) -> str:
    """How many times as large a value became; infinitely many times from 0."""
    if ratio == math.inf:
        return "from 0"
    if ratio == 0:
        return "to 0"
    if ratio < 0 or not math.isfinite(ratio):
        return "another sign"
    if 0.5 < ratio < 2:
        digits = f"{100 * (ratio - 1):+.3g}"
        return f"{digits} %".replace("-", "\N{MINUS SIGN}")
    return f"× {ratio:.3g}" if ratio >= 2 else f"÷ {1 / ratio:.3g}"


def quantity(value: float | str | None, unit: str) -> str:
    """A value with its unit; words are themselves."""
    if value is None:
        return "not measured"
    if isinstance(value, str):
        return value
    return style.quantity_text(value, "" if unit == "fraction" else unit)


def before_text(value: float | str | None, unit: str) -> str:
    """The same of a value before another one, whose unit is that of both: "0 → 24,576 sectors"."""
    return quantity(value, unit) if unit.endswith("/s") else number(value)


def number(value: float | str | None) -> str:
    """The same without unit."""
    if value is None:
        return "not measured"
    return value if isinstance(value, str) else style.number_text(value)

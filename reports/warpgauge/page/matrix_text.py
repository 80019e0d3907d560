"""Cells of the comparison of architectures as text, and how much better or worse they are."""

from __future__ import annotations

import math

from warpgauge.facts.catalog import Metric
from warpgauge.page.generations import Cell

FULL = math.log(2)  # colours are full at half and at double the reference


def gain(cell: Cell, metric: Metric) -> float:
    """From -1 (worse by half or more) to 1 (better); 0 where nothing is known to be either. A case
    that has no ratio still makes the cell a little better or worse."""
    sign = 1 if metric.direction == "higher" else -1
    ratio = math.log(cell.ratio) / FULL if cell.ratio else 0
    if cell.without_ratio:
        ratio += 0.25 * (cell.more > cell.less) - 0.25 * (cell.less > cell.more)
    return max(-1, min(1, sign * ratio))


def cell_text(cell: Cell) -> str:
    """The ratio; and where some cases have none because they were 0, or are, a mark."""
    ratio = "–" if cell.ratio is None else f"{cell.ratio:.3g}"
    if cell.ratio is not None and ratio == "1" and (cell.more or cell.less):
        ratio = "≈1"
    return ratio + ("*" if cell.without_ratio else "")


def mean_change(cell: Cell) -> str:
    """The ratio as a change: "+2.4 %", "× 2.4"; with the mark of cell_text()."""
    if cell.ratio is None:
        return "from 0" if cell.more > cell.less else "to 0"
    percent = 100 * (cell.ratio - 1)
    if abs(percent) < 0.05:
        text = "≈ 0 %"
    elif 0.5 < cell.ratio < 2:
        text = f"{percent:+.2g} %".replace("-", "\N{MINUS SIGN}")
    else:
        text = f"× {cell.ratio:.3g}" if cell.ratio >= 2 else f"÷ {1 / cell.ratio:.3g}"
    return text + ("*" if cell.without_ratio else "")

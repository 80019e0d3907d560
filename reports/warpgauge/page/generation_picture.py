"""Draws metrics by architectures as a heat map: blue is better than the reference, orange worse."""

from __future__ import annotations

import math

from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from warpgauge.drawing import style
from warpgauge.facts.catalog import Metric
from warpgauge.page.generations import Cell, Matrix

FULL = math.log(2)  # colours are full at half and at double the reference
_MAP = LinearSegmentedColormap.from_list(
    "better and worse", [style.PAGE["light"]["worse"], "#f2f2f2", style.PAGE["light"]["better"]]
)


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


def balance(cell: Cell, metric: Metric) -> float:
    """From -1 (all cases got worse) to 1 (all better): the square root of how many more did than
    went the other way, so that a tenth of the cases can be seen as well."""
    net = (cell.better(metric) - cell.worse(metric)) / (cell.moved + cell.same)
    return math.copysign(math.sqrt(abs(net)), net)


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


def draw_matrix(matrix: Matrix) -> Figure:
    rows, columns = len(matrix.rows), len(matrix.archs)
    figure = Figure(figsize=(columns * 0.85, rows * 0.34))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, columns)
    axes.set_ylim(rows, 0)
    axes.set_xticks([i + 0.5 for i in range(columns)], matrix.archs)
    axes.set_yticks([i + 0.5 for i in range(rows)], [_label(metric) for metric, _ in matrix.rows])
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    title = f"Metrics by architecture, relative to {matrix.archs[0]}"
    axes.set_title(title, loc="left", fontsize=style.TITLE_PT, fontweight="bold", pad=10)
    for side in axes.spines.values():
        side.set_visible(False)
    for y, (metric, cells) in enumerate(matrix.rows):
        for x, cell in enumerate(cells):
            _draw_cell(axes, (x, y), cell, metric)
    words = [
        f"Ratio to {matrix.archs[0]}: geometric mean of the cases that both have.",
        "Blue: better, orange: worse; full from half and double on.",
        "* some cases have no ratio, because one of the two values is 0.",
        "● measured on a GPU; all else is told by the compiler or the emulator.",
    ]
    figure.text(
        *(0, -0.25 / figure.get_figheight(), "\n".join(words)),
        va="top",
        fontsize=style.CAPTION_PT,
        color=style.FAINT,
        linespacing=1.4,
    )
    return figure


def _label(metric: Metric) -> str:
    return f"{metric.id} ({metric.direction} is better)"


def _draw_cell(axes, at: tuple[int, int], cell: Cell | None, metric: Metric) -> None:
    if cell is None:
        hatched = {"facecolor": style.MISSING, "edgecolor": style.MISSING_HATCH, "hatch": "///"}
        axes.add_patch(Rectangle(at, 1, 1, linewidth=0, **hatched))
        return
    colour = _MAP((gain(cell, metric) + 1) / 2)[:3]
    axes.add_patch(Rectangle(at, 1, 1, facecolor=colour, edgecolor=to_rgb(style.PAPER)))
    text = cell_text(cell) + (" ●" if cell.measured else "")
    middle = (at[0] + 0.5, at[1] + 0.5)
    colour = style.readable_on(colour)
    axes.text(*middle, text, ha="center", va="center", fontsize=style.CELL_PT, color=colour)

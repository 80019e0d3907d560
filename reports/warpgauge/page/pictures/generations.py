"""Metrics by architecture as a heat map: blue is better than the reference, orange worse."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from warpgauge.drawing import style
from warpgauge.drawing.figure_files import files_of
from warpgauge.facts.catalog import Metric
from warpgauge.page.contents import Contents
from warpgauge.page.generations import Cell, Matrix
from warpgauge.page.matrix_text import cell_text, gain
from warpgauge.page.picture import Gallery, Picture

SECTION = ""  # a file only: the page has it as a table

_MAP = LinearSegmentedColormap.from_list(
    "better and worse", [style.PAGE["light"]["worse"], "#f2f2f2", style.PAGE["light"]["better"]]
)


def gallery(contents: Contents) -> Gallery:
    """Nothing where there are not two architectures to compare."""
    matrix = contents.matrix
    if len(matrix.archs) < 2 or not matrix.rows:
        return Gallery()
    title = f"Metrics by architecture, relative to {matrix.archs[0]}"
    return Gallery([Picture("generations", title, files_of(lambda: _figure(matrix), title))])


def _figure(matrix: Matrix) -> Figure:
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
        "● measured on a GPU; all else is from the compiler or the emulator.",
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


def _draw_cell(axes: Axes, at: tuple[int, int], cell: Cell | None, metric: Metric) -> None:
    if cell is None:
        hatched: dict[str, Any] = {
            "facecolor": style.MISSING,
            "edgecolor": style.MISSING_HATCH,
            "hatch": "///",
        }
        axes.add_patch(Rectangle(at, 1, 1, linewidth=0, **hatched))
        return
    colour = _MAP((gain(cell, metric) + 1) / 2)[:3]
    axes.add_patch(Rectangle(at, 1, 1, facecolor=colour, edgecolor=to_rgb(style.PAPER)))
    text = cell_text(cell) + (" ●" if cell.measured else "")
    middle = (at[0] + 0.5, at[1] + 0.5)
    ink = style.readable_on(colour)
    axes.text(*middle, text, ha="center", va="center", fontsize=style.CELL_PT, color=ink)

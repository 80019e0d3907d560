"""Draws a grid as a heat map: a cell for each size, with its number, coloured by it."""

from __future__ import annotations

import textwrap
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, Locator, LogLocator, MaxNLocator

from warpgauge.drawing import style
from warpgauge.drawing.figure_files import files_of
from warpgauge.drawing.grid import Extents, Grid
from warpgauge.drawing.heat_map_caption import caption
from warpgauge.facts.catalog import catalog
from warpgauge.text import shortened

_MAX_NAME = 60  # characters of a name in the title


def draw(grid: Grid) -> dict[str, bytes]:
    """The heat map as the content of files, by ending: "svg" and "png"."""
    title = f"{shortened(grid.case, _MAX_NAME)}, {_subtitle(grid)}"
    return files_of(lambda: _figure(grid), title)


def _figure(grid: Grid) -> Figure:
    down, across = grid.extents
    width, height = len(across) * style.CELL_IN[0], len(down) * style.CELL_IN[1]
    figure = Figure(figsize=(width, height))
    # The cells fill the figure exactly; labels around them are added when it is saved.
    axes = figure.add_axes((0, 0, 1, 1))
    colours = ScalarMappable(_scale(grid), _map(grid))
    _draw_axes(axes, grid)
    for row, y in enumerate(down):
        for column, x in enumerate(across):
            _draw_cell(axes, grid, (y, x), (column, row), colours)
    best = _best(grid)
    for y, x in best:
        _mark_best(axes, (y, x), (across.index(x), down.index(y)))
    _draw_colour_bar(figure, grid, colours, width)
    _draw_words(axes, grid, best)
    return figure


def _scale(grid: Grid) -> Normalize:
    values = list(grid.values.values())
    low, high = min(values), max(values)
    if style.is_wide(values):
        return LogNorm(low, high)
    if low == high:  # one colour, in the middle
        margin = abs(low) / 10 or 1
        return Normalize(low - margin, high + margin)
    return Normalize(low, high)


def _map(grid: Grid) -> matplotlib.colors.Colormap:
    return matplotlib.colormaps[style.COLOURS[_direction(grid)]]


def _direction(grid: Grid) -> str:
    """The better values: "lower", "higher" or "none"."""
    return catalog()[grid.metric].direction


def _best(grid: Grid) -> list[Extents]:
    """The cells with the best value; none where no value is better than another."""
    values = grid.values
    direction = _direction(grid)
    if direction == "none" or len(set(values.values())) == 1:
        return []
    best = (min if direction == "lower" else max)(values.values())
    return sorted(extents for extents, value in values.items() if value == best)


def _draw_axes(axes: Axes, grid: Grid) -> None:
    down, across = grid.extents
    axes.set_xlim(0, len(across))
    axes.set_ylim(len(down), 0)
    axes.set_yticks([i + 0.5 for i in range(len(down))], [str(y) for y in down])
    axes.set_xticks([i + 0.5 for i in range(len(across))], [str(x) for x in across])
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_ylabel(grid.names[0])
    axes.set_xlabel(grid.names[1])


def _draw_cell(
    axes: Axes, grid: Grid, extents: Extents, at: tuple[int, int], colours: ScalarMappable
) -> None:
    size = "{}x{}".format(*extents)
    if extents not in grid.cells:
        return
    if extents not in grid.measured:
        hatched: dict[str, Any] = {
            "facecolor": style.MISSING,
            "edgecolor": style.MISSING_HATCH,
            "hatch": "///",
        }
        axes.add_patch(Rectangle(at, 1, 1, gid=f"missing-{size}", linewidth=0, **hatched))
        return
    value = grid.values[extents]
    red, green, blue, _ = colours.to_rgba(np.array([value]))[0]
    colour = red, green, blue
    axes.add_patch(Rectangle(at, 1, 1, gid=f"cell-{size}", facecolor=colour, edgecolor=style.PAPER))
    axes.text(
        *(at[0] + 0.5, at[1] + 0.5, style.number_text(value)),
        gid=f"value-{size}",
        ha="center",
        va="center",
        fontsize=style.CELL_PT,
        color=style.readable_on(colour),
    )


def _mark_best(axes: Axes, extents: Extents, at: tuple[int, int]) -> None:
    """A dark frame in a light one, which stands out on any colour."""
    inset = 0.04
    corner, edge = (at[0] + inset, at[1] + inset), 1 - 2 * inset
    frame: dict[str, Any] = {"fill": False, "zorder": 3}
    axes.add_patch(Rectangle(corner, edge, edge, edgecolor=style.PAPER, linewidth=4, **frame))
    axes.add_patch(
        Rectangle(
            *(corner, edge, edge),
            gid="best-{}x{}".format(*extents),
            edgecolor=style.INK,
            linewidth=2,
            **frame,
        )
    )


def _draw_colour_bar(figure: Figure, grid: Grid, colours: ScalarMappable, width: float) -> None:
    bar_axes = figure.add_axes((1 + 0.2 / width, 0, 0.18 / width, 1))  # inches
    bar = figure.colorbar(colours, cax=bar_axes)
    bar.outline.set_visible(False)
    bar.set_ticks(FixedLocator(_ticks(grid, isinstance(colours.norm, LogNorm))))
    bar.minorticks_off()
    bar.formatter = FuncFormatter(lambda value, _: style.number_text(value))
    bar.update_ticks()
    direction = _direction(grid)
    words = [style.unit_text(grid.unit)]
    words += ["log scale"] if isinstance(colours.norm, LogNorm) else []
    words += {"none": []}.get(direction, [f"{direction} is better"])
    bar.set_label(", ".join(filter(None, words)))


def _ticks(grid: Grid, is_log: bool) -> list[float]:
    """Ticks of the colour bar: at the values themselves where they are few."""
    values = sorted(set(grid.values.values()))
    if len(values) <= 8:
        return values
    low, high = values[0], values[-1]
    locator: Locator = MaxNLocator(6)
    if is_log:
        locator = LogLocator(subs=(1, 2, 5) if high / low < 1e3 else (1,))
    return [tick for tick in locator.tick_values(low, high) if low <= tick <= high]


def _subtitle(grid: Grid) -> str:
    """Metric, device and architecture, which distinguish pictures of one case."""
    where = ", ".join(shortened(text, _MAX_NAME) for text in (grid.device, grid.arch) if text)
    return f"{grid.metric} on {where}" if where else grid.metric


def _draw_words(axes: Axes, grid: Grid, best: list[Extents]) -> None:
    """Title above, and below in small letters what the marks mean and where the values are from."""
    above: dict[str, Any] = {
        "xy": (0, 1),
        "xycoords": "axes fraction",
        "textcoords": "offset points",
    }
    axes.annotate(
        shortened(grid.case, _MAX_NAME),
        **above,
        xytext=(0, 24),
        fontsize=style.TITLE_PT,
        fontweight="bold",
    )
    axes.annotate(_subtitle(grid), **above, xytext=(0, 8), fontsize=style.LABEL_PT)
    characters = max(60, 12 * len(grid.extents[1]))
    lines = [
        line for sentence in caption(grid, best) for line in textwrap.wrap(sentence, characters)
    ]
    axes.annotate(
        "\n".join(lines),
        xy=(0, 0),
        xycoords="axes fraction",
        xytext=(0, -42),
        textcoords="offset points",
        va="top",
        fontsize=style.CAPTION_PT,
        color=style.FAINT,
        linespacing=1.4,
    )

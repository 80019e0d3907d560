"""A line the height of a word: the newest values of a series, with the last one marked."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

WIDTH, HEIGHT, MARGIN = 96, 22, 3  # pixels


def sparkline(values: Sequence[float | None], label: str) -> Markup:
    """An SVG of the values, oldest first, and its label for screen readers. Missing values
    leave a gap; a value between two gaps is a dot. Empty where there is nothing to draw."""
    known = [value for value in values if value is not None]
    if not known:
        return Markup()
    low, high = min(known), max(known)
    step = (WIDTH - 2 * MARGIN) / max(len(values) - 1, 1)
    runs: list[list[tuple[float, float]]] = [[]]  # of values without a gap
    for place, value in enumerate(values):
        if value is None:
            runs.append([])
        else:
            runs[-1].append((MARGIN + place * step, _height(value, low, high)))
    runs = [run for run in runs if run]
    drawn = [_line(run) if len(run) > 1 else _dot(run[0], 1) for run in runs]
    if len(runs[-1]) == 1:
        drawn.pop()  # the last value is marked anyway
    drawn.append(_dot(runs[-1][-1], 2.5))
    head = f'<svg class="spark" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    # drawn is made of numbers only; the label is escaped by format().
    return Markup('{} role="img" aria-label="{}">{}</svg>').format(
        Markup(head), label, Markup("".join(drawn))
    )


def _line(points: Sequence[tuple[float, float]]) -> str:
    return f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


def _dot(point: tuple[float, float], radius: float) -> str:
    return f'<circle cx="{point[0]:.1f}" cy="{point[1]:.1f}" r="{radius}"/>'


def _height(value: float, low: float, high: float) -> float:
    """From the top; in the middle where all values are the same."""
    share = (value - low) / (high - low) if high > low and math.isfinite(high - low) else 0.5
    return MARGIN + (1 - share) * (HEIGHT - 2 * MARGIN)

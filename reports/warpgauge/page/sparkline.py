"""A line the height of a word: the newest values of a series, with the last one marked."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

WIDTH, HEIGHT, MARGIN = 96, 22, 3  # pixels


def sparkline(values: Sequence[float | None], label: str) -> Markup:
    """An SVG of the values, oldest first, and its label for screen readers. Missing values
    leave a gap. Empty where there is nothing to draw."""
    known = [value for value in values if value is not None]
    if not known:
        return Markup()
    low, high = min(known), max(known)
    step = (WIDTH - 2 * MARGIN) / max(len(values) - 1, 1)
    lines: list[list[str]] = [[]]
    for place, value in enumerate(values):
        if value is None:
            lines.append([])
        else:
            lines[-1].append(f"{MARGIN + place * step:.1f},{_height(value, low, high):.1f}")
    drawn = "".join(f'<polyline points="{" ".join(line)}"/>' for line in lines if len(line) > 1)
    x, y = [line for line in lines if line][-1][-1].split(",")
    head = f'<svg class="spark" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    dot = f'<circle cx="{x}" cy="{y}" r="2.5"/>'
    # drawn and dot are numbers only; the label is escaped by format().
    return Markup('{} role="img" aria-label="{}">{}</svg>').format(
        Markup(head), label, Markup(drawn + dot)
    )


def _height(value: float, low: float, high: float) -> float:
    """From the top; in the middle where all values are the same."""
    share = (value - low) / (high - low) if high > low and math.isfinite(high - low) else 0.5
    return MARGIN + (1 - share) * (HEIGHT - 2 * MARGIN)

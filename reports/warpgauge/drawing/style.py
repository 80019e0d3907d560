"""The style of reports: colours, fonts, sizes and number formats."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib

# Perceptually uniform, and readable with every kind of colour blindness. Bright is good: the map
# is turned round where lower values are better.
COLOURS = {"higher": "viridis", "lower": "viridis_r", "none": "viridis"}

SERIES = ("#3a8fc4", "#d9661f", "#1f9e78", "#b8609a", "#a88a1a", "#6a7fd0", "#5aa9a0")
OTHERS = "#8a8a8a"  # what is left when each of SERIES has a meaning

INK = "#1a1a1a"  # text
FAINT = "#5c5c5c"  # captions; 6.6 to 1 on white
PAPER = "#ffffff"
MISSING = "#f2f2f2"  # a cell without a value
MISSING_HATCH = "#a8a8a8"

TITLE_PT, LABEL_PT, CELL_PT, CAPTION_PT = 12, 10, 8.5, 8
CELL_IN = (0.66, 0.46)  # width and height of a cell, inches
PNG_DPI = 160

# The page, light and dark. Better is blue and worse is orange, which every reader can distinguish,
# and each always has a sign beside it. Lines: six colours that are far apart with every kind of
# colour blindness, too, with dashes beside them.
PAGE = {
    "light": {
        "paper": PAPER,
        "panel": "#f5f6f8",
        "ink": INK,
        "faint": FAINT,
        "rule": "#d5d8dd",
        "link": "#0b57a4",
        "better": "#0b5fa5",
        "worse": "#b3420a",
        "better-tint": "#dcebf8",
        "worse-tint": "#fbe3d6",
        "lines": ("#184ece", "#d67018", "#0d4813", "#661b6d", "#aa8555", "#209a9e"),
    },
    "dark": {
        "paper": "#14161a",
        "panel": "#1d2127",
        "ink": "#e8e8e8",
        "faint": "#a9aeb6",
        "rule": "#3a3f48",
        "link": "#8ab8ff",
        "better": "#7cb8ff",
        "worse": "#ff9a5c",
        "better-tint": "#17304d",
        "worse-tint": "#4d2712",
        "lines": ("#6e77e3", "#e7492c", "#ccfac5", "#c65f89", "#fed32b", "#53ebf6"),
    },
}

WIDE_RANGE = 8  # largest over smallest value from which colours are logarithmic

_SETTINGS = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "Helvetica"],  # matplotlib has the first
    "font.size": LABEL_PT,
    "text.color": INK,
    "text.parse_math": False,  # a "$" in a name is a "$"
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "figure.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "hatch.color": MISSING_HATCH,
    "hatch.linewidth": 0.8,
    "svg.fonttype": "none",  # text stays text: it can be searched, copied and read aloud
    "svg.hashsalt": "warpgauge",  # the same facts give the same file
    "path.simplify": False,
}

_UNITS = {"us": "µs", "1": ""}  # how a unit is written, where that is not as in the facts


@contextmanager
def applied() -> Iterator[None]:
    """The settings for drawing and saving pictures, independent of the user's own."""
    with matplotlib.rc_context(), warnings.catch_warnings():
        # A letter that the font lacks is an empty box in the PNG, and right in the SVG.
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)  # type: ignore[arg-type]  # its keys are literals
        yield


def css_variables() -> str:
    """The colours of the page as variables of CSS: light, dark where the reader's system is, and
    light on paper. (The class `printing` is for what is drawn before the printer's style holds.)"""
    light, dark = (_declarations(PAGE[scheme]) for scheme in ("light", "dark"))
    return (
        f":root {{ color-scheme: light dark; {light} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root:not(.printing) {{ {dark} }} }}\n"
    )


def _declarations(colours: dict) -> str:
    lines = [(f"line-{i}", colour) for i, colour in enumerate(colours["lines"])]
    plain = [(name, colour) for name, colour in colours.items() if name != "lines"]
    return " ".join(f"--{name}: {colour};" for name, colour in plain + lines)


def unit_text(unit: str) -> str:
    """A unit as people write it."""
    return _UNITS.get(unit, unit)


def number_text(value: float) -> str:
    """A value in at most seven characters: whole numbers below a million in full, others with four
    digits, large ones with a prefix ("1.234 G")."""
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value):,}"
    if abs(value) < 1e-3:
        return f"{value:.2e}"
    for limit, scale, prefix in (
        (1e6, 1, ""),
        (1e9, 1e6, " M"),
        (1e12, 1e9, " G"),
        (1e15, 1e12, " T"),
    ):
        if abs(value) < limit * 0.99995:
            scaled = value / scale
            digits = f"{scaled:,.0f}" if abs(scaled) >= 1e3 else f"{scaled:#,.4g}"
            return digits.rstrip(".") + prefix
    return f"{value:.2e}"


def quantity_text(value: float, unit: str) -> str:
    """A value with its unit: "12.35 µs", "1.235 GB/s", "1.049 M sectors"."""
    number, unit = number_text(value), unit_text(unit)
    prefixed = number[-1].isalpha() and unit.endswith("/s")
    return f"{number}{'' if prefixed else ' '}{unit}".rstrip()


def readable_on(background: tuple[float, float, float]) -> str:
    """Black or white, whichever has more contrast on a colour (red, green, blue; 0 to 1).

    Relative luminance and contrast are those of WCAG 2.1.
    """
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in background]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if (luminance + 0.05) / 0.05 >= 1.05 / (luminance + 0.05) else "#ffffff"


def is_wide(values: list[float]) -> bool:
    """True where colours should be logarithmic: positive values, the largest many times the
    smallest."""
    return min(values) > 0 and max(values) / min(values) >= WIDE_RANGE

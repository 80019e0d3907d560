"""How reports look: numbers, units, and text that can be read on every colour."""

import itertools
import re

import matplotlib
import numpy as np
import pytest
from warpgauge.drawing import style
from warpgauge.page import view


@pytest.mark.parametrize(
    "value, text",
    [
        *((0, "0"), (4, "4"), (4.0, "4"), (917504, "917,504"), (12.3456, "12.35")),
        *((10.0001, "10.00"), (999.96, "1,000"), (1234.5, "1,234"), (0.04217, "0.04217")),
        *((1048576, "1.049 M"), (999999.7, "1.000 M"), (2.5e9, "2.500 G"), (4e12, "4.000 T")),
        *((1e15, "1.00e+15"), (1e-9, "1.00e-09"), (-12.3456, "-12.35"), (1e300, "1.00e+300")),
    ],
)
def test_numbers_are_short(value, text):
    assert style.number_text(value) == text


def test_quantities_read_as_people_write_them():
    assert style.quantity_text(12.345, "us") == "12.35 µs"
    assert style.quantity_text(1234567890, "B/s") == "1.235 GB/s"
    assert style.quantity_text(1048576, "sectors") == "1.049 M sectors"
    assert style.quantity_text(0.5, "1") == "0.5000"


def test_text_is_readable_on_every_colour():
    def luminance(colour):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
        return sum(part * c for part, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    for i in range(256):
        colour = matplotlib.colormaps["viridis"](i)
        text = 0.0 if style.readable_on(colour[:3]) == "#000000" else 1.0
        dark, light = sorted((luminance(colour), text))
        assert (light + 0.05) / (dark + 0.05) >= 4.5


# What each kind of colour blindness makes of linear red, green and blue (Machado and others, 2009).
EYES = {
    "all colours": np.eye(3),
    "no red": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "no green": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "no blue": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}
XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]


def linear_parts(colour):
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(linear):
    x, y, z = np.cbrt(XYZ @ np.clip(linear, 0, 1) / [0.9505, 1, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("scheme", style.PAGE)
@pytest.mark.parametrize("eyes", EYES)
def test_lines_have_six_colours_that_all_eyes_distinguish(scheme, eyes):
    lines = style.PAGE[scheme]["lines"]
    seen = [lab(EYES[eyes] @ linear_parts(colour)) for colour in lines]
    assert len(seen) == 6
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > 20


@pytest.mark.parametrize("scheme", style.PAGE)
def test_lines_have_contrast_on_paper(scheme):
    page = style.PAGE[scheme]
    for colour in page["lines"]:
        dark, light = sorted((linear_parts(of) @ XYZ[1]) for of in (colour, page["paper"]))
        assert (light + 0.05) / (dark + 0.05) >= 3


@pytest.mark.parametrize("scheme", style.PAGE)
@pytest.mark.parametrize("gain", [-1, 1])
def test_text_on_the_strongest_tint_has_contrast(scheme, gain):
    found = re.search(r"var\(--(\w+)\) (\d+)%, var\(--paper\)", view._tint(gain))
    page, share = style.PAGE[scheme], int(found[2]) / 100
    tint, paper = (
        np.array([int(page[name][i : i + 2], 16) for i in (1, 3, 5)])
        for name in (found[1], "paper")
    )
    mixed = "#" + "".join(f"{round(part):02x}" for part in share * tint + (1 - share) * paper)
    dark, light = sorted(linear_parts(of) @ XYZ[1] for of in (mixed, page["ink"]))
    assert (light + 0.05) / (dark + 0.05) >= 4.5

"""How reports look: numbers, units, and text that can be read on every colour."""

import matplotlib
import pytest
from warpgauge.drawing import style


@pytest.mark.parametrize(
    "value, text",
    [
        *((0, "0"), (4, "4"), (4.0, "4"), (917504, "917504"), (12.3456, "12.35")),
        *((10.0001, "10.00"), (999.96, "1000"), (1234.5, "1234"), (0.04217, "0.04217")),
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

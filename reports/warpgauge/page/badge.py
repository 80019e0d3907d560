"""The badge: the headline in two words, for a README. As SVG, and as the JSON of shields.io."""

from __future__ import annotations

import json

from warpgauge.page.report import Report
from warpgauge.text import printable, shortened
from warpgauge.xml import element, escaped

_COLOURS = {"good": "#1a7f37", "attention": "#9a6700", "bad": "#b42318"}  # white is legible on them
_LABEL = "#424a53"
_EDGE, _HEIGHT, _SIZE = 7, 20, 11  # pixels: beside a text, of the badge, of its letters
_NARROW, _WIDE = "ijl .,:;|'!()[]ftrI", "mwMW"
_FONT = "Verdana, DejaVu Sans, sans-serif"


def words(report: Report) -> str:
    """ "passing", "3 over budget", "2 worse": of what is wrong the first that applies."""
    errors = report.verdicts["error"]
    found = (
        (report.verdicts["fail"], "over budget"),
        (errors, "error" if errors == 1 else "errors"),
        (report.cut_off, "cut off"),
        (report.worse + report.still, "worse"),
        (report.back, "recovered, to be confirmed"),
    )
    wrong = next((f"{number:,} {what}" for number, what in found if number), None)
    return wrong or ("passing" if report.judged else "nothing judged")


def svg(report: Report, title: str) -> str:
    """A picture of title and words, which programs that read aloud find as its name."""
    label, text = shortened(title, 40), words(report)
    left, right = (_width(part) + 2 * _EDGE for part in (label, text))
    whole = {"width": str(left + right), "height": str(_HEIGHT)}
    parts = [
        element("title", {}, escaped(f"{label}: {text}")),
        element("rect", whole | {"rx": "3", "fill": _LABEL}),
        element("rect", _box(left, right) | {"rx": "3", "fill": _COLOURS[_tone(report)]}),
        element("rect", _box(left, 4) | {"fill": _COLOURS[_tone(report)]}),  # no round corners
        _text(label, left / 2, left),
        _text(text, left + right / 2, right),
    ]
    about = {"xmlns": "http://www.w3.org/2000/svg", "role": "img", **whole}
    return element("svg", about | {"aria-label": f"{label}: {text}"}, "".join(parts)) + "\n"


def endpoint(report: Report, title: str) -> str:
    """For https://img.shields.io/endpoint?url=..., which draws it in the style of other badges."""
    about = {"schemaVersion": 1, "label": printable(title), "message": words(report)}
    return json.dumps(about | {"color": _COLOURS[_tone(report)]}) + "\n"


def _tone(report: Report) -> str:
    """ "good" where the command exits with 0: what needs attention is not always worse."""
    if report.exit_code == 0:
        return "good"
    return "attention" if report.tone == "attention" else "bad"


def _box(left: int, width: int) -> dict[str, str]:
    return {"x": str(left), "width": str(width), "height": str(_HEIGHT)}


def _width(text: str) -> int:
    """About the pixels that a text takes in the fonts that badges are drawn with."""
    return round(sum(3.6 if c in _NARROW else 9.8 if c in _WIDE else 6.9 for c in text))


def _text(text: str, middle: float, width: int) -> str:
    """In the middle of its box, and as long as it is meant to be in any font."""
    place = {"x": f"{middle:g}", "y": "14", "text-anchor": "middle", "fill": "#fff"}
    font = {"font-family": _FONT, "font-size": str(_SIZE), "textLength": str(width - 2 * _EDGE)}
    return element("text", place | font, escaped(text))

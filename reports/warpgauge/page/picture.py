"""A picture of the page: its files, and its SVG inside the page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup
from matplotlib.figure import Figure

from warpgauge.drawing import style
from warpgauge.drawing.figure_files import files_of
from warpgauge.text import safe_stem

_LINK = re.compile(r'<a xlink:href="#[^"]*fact-(\d+)"[^>]*>')


@dataclass(frozen=True, slots=True)
class Gallery:
    """Pictures of one kind. `note` is the text below them; those `beside` each other are small."""

    pictures: Sequence[Picture] = ()
    note: str = ""
    beside: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture: what it shows in a sentence, and its files' content by ending. `inked`: its lines
    are drawn on the page's paper, not on colours of their own. `linked` is an SVG for the page with
    marks that lead to facts, and `marks` says what these are, by the fact's number."""

    stem: str
    title: str
    files: dict[str, bytes]
    inked: bool = False
    linked: bytes | None = None
    marks: Mapping[int, str] = field(default_factory=dict)

    def inline(self) -> Markup:
        """The SVG as part of a page, its letters in the page's colours."""
        svg = _embedded((self.linked or self.files["svg"]).decode("utf-8"), self.stem)
        if self.inked:
            svg = svg.replace(f"stroke: {style.INK}", "stroke: var(--ink)")
        return Markup(_LINK.sub(self._link, svg))

    def _link(self, found: re.Match) -> str:
        """A mark says what it is where the pointer rests. (The keyboard goes to the tables.)"""
        number = int(found[1])
        title = Markup("<title>{}</title>").format(self.marks.get(number, ""))
        return f'<a href="#fact-{number}" tabindex="-1">{title}'


def of_marks(
    stem: str, title: str, draw: Callable[[], Figure], marks: Mapping[int, str]
) -> Picture:
    """A picture whose marks have the URLs "#fact-NUMBER": links on the page, and nothing in the
    files."""
    files = files_of(draw, title)
    linked = files["svg"]
    files["svg"] = re.sub(rb'<a xlink:href="#fact-\d+"[^>]*>|</a>', b"", linked)
    return Picture(stem, title, files, inked=True, linked=linked, marks=marks)


def different(stems: list[str]) -> list[str]:
    """The names of files, with numbers where they are the same without case."""
    count = Counter(stem.lower() for stem in stems)
    return [
        safe_stem(stem, tail=str(i)) if count[stem.lower()] > 1 else stem
        for i, stem in enumerate(stems)
    ]


def _embedded(svg: str, prefix: str) -> str:
    """The SVG of matplotlib from its root element on: names made unique on the page, letters in
    the page's colours, and no background. Screen readers read the figure's label and the tables."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<style.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\b(id="|href="#)', rf"\1{prefix}-", svg)
    svg = svg.replace("url(#", f"url(#{prefix}-")
    svg = svg.replace(f"fill: {style.PAPER}", "fill: none", 2)  # of the figure and of the axes
    svg = svg.replace(f"fill: {style.INK}", "fill: var(--ink)")
    svg = svg.replace(f"fill: {style.FAINT}", "fill: var(--faint)")
    return re.sub(
        r'<svg[^>]*?viewBox="([^"]*)"[^>]*>', r'<svg viewBox="\1" aria-hidden="true">', svg, count=1
    )

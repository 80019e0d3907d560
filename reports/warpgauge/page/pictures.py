"""The page's large pictures: generations, rooflines and heat maps, as files and inside the page."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from markupsafe import Markup

from warpgauge.drawing import heat_map as heatmap_picture
from warpgauge.drawing import style
from warpgauge.drawing.figure_files import files_of
from warpgauge.drawing.grid import Grid, find_grids
from warpgauge.errors import CommandError
from warpgauge.facts.records import Case, Device, Fact, Kernel, MachineState, Run
from warpgauge.page.generation_picture import draw_matrix
from warpgauge.page.generations import Matrix, generation
from warpgauge.page.roofline_picture import draw_roofline
from warpgauge.page.rows import Row
from warpgauge.page.speeds import Roofline
from warpgauge.text import safe_stem

MOST_HEAT_MAPS = 6
_LINK = re.compile(r'<a xlink:href="#[^"]*fact-(\d+)"[^>]*>')
# Metrics of heat maps: of the first that spans a grid anywhere, all grids are drawn.
_HEAT_MAP_METRICS = ("time.median_us", "global.excess_sectors", "global.store.sectors_per_request")


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


def generation_picture(matrix: Matrix) -> list[Picture]:
    """None where there are not two architectures to compare."""
    if len(matrix.archs) < 2 or not matrix.rows:
        return []
    title = f"Metrics by architecture, relative to {matrix.archs[0]}"
    return [Picture("generations", title, files_of(lambda: draw_matrix(matrix), title))]


def roofline_pictures(rooflines: Sequence[Roofline]) -> list[Picture]:
    stems = _different([safe_stem("roofline", roofline.device) for roofline in rooflines])
    return [_roofline_picture(*pair) for pair in zip(stems, rooflines, strict=True)]


def _roofline_picture(stem: str, roofline: Roofline) -> Picture:
    title = f"Roofline of {roofline.device}"
    marks = {
        case.number: f"{case.id}: {style.quantity_text(case.flops, 'FLOP/s')} "
        f"at {case.intensity:.3g} FLOP/byte"
        for case in roofline.cases
    }
    files = files_of(lambda: draw_roofline(roofline), title)
    linked = files["svg"]
    files["svg"] = re.sub(rb'<a xlink:href="#fact-\d+"[^>]*>|</a>', b"", linked)
    return Picture(stem, title, files, inked=True, linked=linked, marks=marks)


def heat_map_pictures(rows: Sequence[Row]) -> tuple[list[Picture], int]:
    """Heat maps of kernels whose sizes span a grid, and how many more there would be. Architectures
    that have the same values share one."""
    for metric in _HEAT_MAP_METRICS:
        values = [_fact(row) for row in rows if row.key.metric == metric]
        try:
            grids, _ = find_grids(values, metric, "*")
        except CommandError:  # more values than a picture holds
            grids = []
        if grids:
            alike = _alike(grids)
            shown = alike[:MOST_HEAT_MAPS]
            stems = _different(
                [safe_stem("heatmap", g[0].case, metric, g[0].arch or "") for g in shown]
            )
            pictures = [
                Picture(stem, f"{group[0].case}, {metric}", heatmap_picture.draw(_of_all(group)))
                for stem, group in zip(stems, shown, strict=True)
            ]
            return pictures, len(alike) - len(shown)
    return [], 0


def _alike(grids: Iterable[Grid]) -> list[list[Grid]]:
    """Grids of one case and device that have the same values, by architecture; those of a GPU come
    first."""
    groups: dict[tuple, list[Grid]] = defaultdict(list)
    for grid in sorted(grids, key=lambda grid: generation(grid.arch or "")):
        groups[grid.device is None, grid.case, grid.device or "", str(grid.values)].append(grid)
    return [groups[key] for key in sorted(groups, key=lambda key: key[:3])]


def _of_all(group: list[Grid]) -> Grid:
    """One grid for all: what it says is so on all of their architectures."""
    archs = ", ".join(grid.arch for grid in group if grid.arch)
    return replace(group[0], arch=archs or None)


def _different(stems: list[str]) -> list[str]:
    count = Counter(stem.lower() for stem in stems)
    return [
        safe_stem(stem, tail=str(i)) if count[stem.lower()] > 1 else stem
        for i, stem in enumerate(stems)
    ]


def _embedded(svg: str, prefix: str) -> str:
    """What matplotlib wrote, from its root element on: names made unique on the page, letters in
    the page's colours, and no background."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<style.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\b(id="|href="#)', rf"\1{prefix}-", svg)
    svg = svg.replace("url(#", f"url(#{prefix}-")
    svg = svg.replace(f"fill: {style.PAPER}", "fill: none", 2)  # of the figure and of the axes
    svg = svg.replace(f"fill: {style.INK}", "fill: var(--ink)")
    svg = svg.replace(f"fill: {style.FAINT}", "fill: var(--faint)")
    return re.sub(r'<svg[^>]*?viewBox="([^"]*)"[^>]*>', r'<svg viewBox="\1">', svg, count=1)


def _fact(row: Row) -> Fact:
    """The newest value of a row as the fact it came from, as far as the history keeps it."""
    key, last, run = row.key, row.last, row.last.run
    gpu = run.device
    names = ("name", "chip", "compute_capability", "driver", "uuid_hash")
    devices = (Device(*(getattr(gpu, name) for name in names)),) if gpu else ()
    of_run = Run(
        run.id,
        run.time.strftime("%Y-%m-%dT%H:%M:%SZ"),
        run.dirty,
        commit=run.commit,
        devices=devices,
    )
    kernels = (Kernel("", launches=last.launches),) if last.launches else ()
    parts = (key.family, key.variant, key.type, key.size)
    case = Case("", *parts, arch=key.arch, device=key.device_name, kernels=kernels)
    unknown = (None, None)
    disturbed = MachineState(unknown, unknown, unknown, (), None, last.disturbance)
    return Fact(
        *(of_run, case, key.metric, last.value, key.source),
        interval=last.interval,
        confidence=last.confidence,
        machine=disturbed if last.disturbance else None,
    )

"""Heat maps of kernels whose sizes span a grid; architectures with the same values share one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from warpgauge.drawing import heat_map
from warpgauge.drawing.grid import Grid, find_grids
from warpgauge.errors import CommandError
from warpgauge.facts.archs import arch_order
from warpgauge.facts.case_filter import EVERY_CASE
from warpgauge.facts.records import Case, Device, Fact, Kernel, MachineState, Run
from warpgauge.page.contents import Contents
from warpgauge.page.picture import Gallery, Picture, different
from warpgauge.page.rows import Row
from warpgauge.text import safe_stem

SECTION = "grids"
MOST = 6
# Of the first of these metrics that spans a grid anywhere, all grids are drawn.
_METRICS = ("time.median_us", "global.excess_sectors", "global.store.sectors_per_request")


def gallery(contents: Contents) -> Gallery:
    return gallery_of(contents.report.current)


def gallery_of(rows: Sequence[Row]) -> Gallery:
    for metric in _METRICS:
        values = [_fact(row) for row in rows if row.key.metric == metric]
        try:
            grids, _ = find_grids(values, metric, EVERY_CASE)
        except CommandError:  # more values than a picture holds
            grids = []
        if grids:
            return _gallery(_alike(grids), metric)
    return Gallery()


def _gallery(groups: list[list[Grid]], metric: str) -> Gallery:
    shown = groups[:MOST]
    stems = [safe_stem("heatmap", group[0].case, metric, group[0].arch or "") for group in shown]
    pictures = [
        Picture(stem, f"{group[0].case}, {metric}", heat_map.draw(_of_all(group)))
        for stem, group in zip(different(stems), shown, strict=True)
    ]
    more = len(groups) - len(shown)
    note = f"Left out: {more} more heat maps; `warpgauge report heatmap` draws them."
    return Gallery(pictures, note if more else "", beside=True)


def _alike(grids: Iterable[Grid]) -> list[list[Grid]]:
    """Grids of one case and device that have the same values, by architecture; those of a GPU come
    first."""
    groups: dict[tuple, list[Grid]] = defaultdict(list)
    for grid in sorted(grids, key=lambda grid: arch_order(grid.arch)):
        groups[grid.device is None, grid.case, grid.device or "", str(grid.values)].append(grid)
    return [groups[key] for key in sorted(groups, key=lambda key: key[:3])]


def _of_all(group: list[Grid]) -> Grid:
    """One grid for all: what it says is so on all of their architectures."""
    archs = ", ".join(grid.arch for grid in group if grid.arch)
    return replace(group[0], arch=archs or None)


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

"""Finds kernels whose sizes span a grid, such as block shapes, and what is in its cells."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from warpgauge.errors import CommandError
from warpgauge.facts.case_filter import CaseFilter
from warpgauge.facts.records import Fact
from warpgauge.text import printable

LEAST = 4  # values of each extent that make a grid; as in the tables of warpgauge-bench
MOST = 64  # values of each extent that a picture can hold

Extents = tuple[int, int]


@dataclass(frozen=True)
class Grid:
    """One metric of one variant and type, on one device and architecture, from one source.

    `cells` has every size that the facts name: the fact with its value, or None where nothing was
    measured. `names` are those of the two extents.
    """

    case: str  # family.variant.type
    metric: str
    arch: str | None
    device: str | None
    source: str
    cells: dict[Extents, Fact | None]
    names: tuple[str, str]

    @property
    def measured(self) -> dict[Extents, Fact]:
        return {extents: fact for extents, fact in self.cells.items() if fact}

    @property
    def values(self) -> dict[Extents, float]:
        """By extents, in `unit`."""
        return {extents: float(fact.numeric) for extents, fact in self.measured.items()}

    @property
    def unit(self) -> str:
        return next(iter(self.measured.values())).unit

    @property
    def extents(self) -> tuple[list[int], list[int]]:
        """The values of the first and of the second extent, in order."""
        return sorted({y for y, _ in self.cells}), sorted({x for _, x in self.cells})


def find_grids(facts: list[Fact], metric: str, cases: CaseFilter) -> tuple[list[Grid], list[str]]:
    """The grids of a metric among these cases, and a sentence for each grid of which nothing was
    measured.

    Raises CommandError where values are words, or a grid is beyond what a picture can hold.
    """
    launches = {fact.id: fact.launches[0].block for fact in facts if len(fact.launches) == 1}
    groups = defaultdict(list)
    for fact in facts:
        if fact.metric == metric and fact.scope == "case" and cases.takes(fact.id):
            device = fact.device.name if fact.device else None
            groups[fact.id.partition("@")[0], fact.arch, device].append(fact)
    grids, unmeasured = [], []
    for (case, arch, device), group in groups.items():
        found = {fact.case.size: _two_extents(fact.case.size) for fact in group}
        sizes = {size: extents for size, extents in found.items() if extents is not None}
        if len(sizes) < len(found) or not _is_grid(sizes.values()):
            continue
        _check(case, metric, group, sizes)
        sources = {fact.source or "unknown": None for fact in group if fact.value is not None}
        for source in sources:
            cells = _cells(group, sizes, source)
            names = _names_of_extents(cells, launches)
            grids.append(Grid(case, metric, arch, device, source, cells, names))
        if not sources:
            where = ", ".join(filter(None, [arch, device]))
            unmeasured.append(f"{printable(f'{case} on {where}')}: no value of {metric}")
    return grids, unmeasured


def _two_extents(size: str) -> Extents | None:
    """The extents of "8x32"; None unless there are two."""
    found = re.fullmatch(r"(0|[1-9][0-9]{0,17})x(0|[1-9][0-9]{0,17})", size)
    return (int(found[1]), int(found[2])) if found else None


def _is_grid(all_extents: Collection[Extents]) -> bool:
    """True where sizes are so many of so few extents that they span a grid.

    The rule is that of the tables of warpgauge-bench (harness/bench/bench_tables.cpp).
    """
    down, across = ({extents[i] for extents in all_extents} for i in (0, 1))
    return min(len(down), len(across)) >= LEAST and len(all_extents) > max(len(down), len(across))


def _check(case: str, metric: str, group: list[Fact], sizes: dict[str, Extents]) -> None:
    if any(isinstance(fact.value, str) for fact in group):
        raise CommandError(f"{metric} has words for values, and a heat map needs numbers")
    for i in (0, 1):
        if (count := len({extents[i] for extents in sizes.values()})) > MOST:
            raise CommandError(
                f"{printable(case)}: {count} values of one extent, and a heat map holds {MOST}; "
                "choose fewer cases with --filter"
            )


def _cells(group: list[Fact], sizes: dict[str, Extents], source: str) -> dict:
    """The newest value of each size; of two equally new ones that which was read last."""
    cells: dict[Extents, Fact | None] = dict.fromkeys(sizes.values())
    for fact in group:
        if fact.value is None or (fact.source or "unknown") != source:
            continue
        known = cells[sizes[fact.case.size]]
        if known is None or fact.run.time >= known.run.time:
            cells[sizes[fact.case.size]] = fact
    return cells


def _names_of_extents(cells: dict, launches: dict) -> tuple[str, str]:
    """Names of the extents: a member of the block's shape where that is so in every measured case,
    else their order. `launches` has the block's shape (x, y, z) by id."""
    blocks = {key: launches.get(fact.id) for key, fact in cells.items() if fact}
    names = ["first extent of the size", "second extent of the size"]
    for i in (0, 1):
        for axis, member in enumerate(("blockDim.x", "blockDim.y", "blockDim.z")):
            if all(block and block[axis] == key[i] for key, block in blocks.items()):
                names[i] = f"{member} ({names[i]})"
                break
    return names[0], names[1]

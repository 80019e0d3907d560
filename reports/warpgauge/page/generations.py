"""Comparison of architectures: the costs of the same kernels on each of them.

Compared is like with like: what the compiler, the emulator or a GPU says of both.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median

from warpgauge.facts.archs import arch_order
from warpgauge.facts.catalog import Metric, catalog
from warpgauge.page.rows import Row

# Of several sources with the same metric the first of these counts; cases.js reads this list.
SOURCES = ("cupti", "cupti-range", "clock", "harness", "ptxas", "cubin", "emulator")

ByArch = dict[str, dict[str, dict[str, Row]]]  # by architecture, case and source
Values = dict[str, ByArch]  # by metric


@dataclass(frozen=True, slots=True)
class Cell:
    """A metric on an architecture beside another one: the geometric mean of the cases' ratios
    (None where there is none), how many cases have more, less and the same, and how many of them
    have no ratio because one of the two is 0. `measured` on GPUs, not by compiler or emulator.
    `most` is the case that moved most, as it was and as it is; None where nothing did."""

    before: str
    after: str
    ratio: float | None
    more: int
    less: int
    same: int
    without_ratio: int
    measured: bool
    most: tuple[Row, Row] | None

    def better(self, metric: Metric) -> int:
        return self.more if metric.direction == "higher" else self.less

    def worse(self, metric: Metric) -> int:
        return self.less if metric.direction == "higher" else self.more

    @property
    def moved(self) -> int:
        return self.more + self.less


@dataclass(frozen=True, slots=True)
class Matrix:
    """Metrics by architectures: each beside the first one, and beside the one before it."""

    archs: tuple[str, ...]
    rows: tuple[tuple[Metric, tuple[Cell | None, ...]], ...]
    steps: tuple[tuple[Metric, tuple[Cell | None, ...]], ...]


@dataclass(frozen=True, slots=True)
class Step:
    """From one architecture to the next: values of all metrics that are better and worse."""

    before: str
    after: str
    better: int
    worse: int

    @property
    def net(self) -> float:
        """From -1 (all of those that differ are worse) to 1 (all better)."""
        return (self.better - self.worse) / max(1, self.better + self.worse)


@dataclass(frozen=True, slots=True)
class Resources:
    """Resources of the kernels of the cases on an architecture; None: not known."""

    arch: str
    cases: int
    registers: float | None  # median of a thread
    most: Row | None  # the case that takes the most registers
    spilling: int | None  # cases that spill
    stored: float | None  # bytes a thread, of all cases
    loaded: float | None
    occupancy: float | None  # mean of the theoretical one


def latest_values(rows: Iterable[Row]) -> Values:
    """The newest number of each metric, case, architecture and source."""
    found: Values = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    for row in rows:
        key = row.key
        if key.arch is None or key.source not in SOURCES or row.last.value is None:
            continue
        sources = found[key.metric][key.arch][key.id]
        known = sources.get(key.source)
        if known is None or _newness(row) > _newness(known):
            sources[key.source] = row
    return {metric: dict(found[metric]) for metric in catalog().in_order(found)}


def _newness(row: Row) -> tuple:
    return row.last.run.time, row.last.run.id, -row.number


def best_of(values: Values, metric: str, arch: str) -> dict[str, Row]:
    """The row of each case, from the best source that there is."""
    return {
        case: sources[next(source for source in SOURCES if source in sources)]
        for case, sources in values.get(metric, {}).get(arch, {}).items()
    }


def archs_of(values: Values) -> tuple[str, ...]:
    """Oldest generation first."""
    return tuple(sorted({arch for by_arch in values.values() for arch in by_arch}, key=arch_order))


def matrix(values: Values) -> Matrix:
    """Exact metrics that have a better direction and differ anywhere. Times are left out: those of
    two GPUs are compared in the roofline."""
    archs = archs_of(values)
    rows, steps = [], []
    for name, by_arch in values.items():
        metric = catalog()[name]
        if metric.direction == "none" or metric.cls != "exact" or name == "result.correct":
            continue
        beside_first = tuple(_cell(by_arch, archs[0], arch) for arch in archs)
        beside_last = tuple(_cell(by_arch, *pair) for pair in pairwise(archs))
        if any(cell and cell.moved for cell in (*beside_first, *beside_last)):
            rows.append((metric, beside_first))
            steps.append((metric, beside_last))
    return Matrix(archs, tuple(rows), tuple(steps))


def strip(compared: Matrix) -> list[Step]:
    """The steps of a matrix, over all of its metrics."""
    steps = []
    for place, (before, after) in enumerate(pairwise(compared.archs)):
        cells = [(metric, cell) for metric, cells in compared.steps if (cell := cells[place])]
        better = sum(cell.better(metric) for metric, cell in cells)
        steps.append(Step(before, after, better, sum(cell.worse(metric) for metric, cell in cells)))
    return steps


def _cell(by_arch: ByArch, before: str, after: str) -> Cell | None:
    pairs = list(_pairs(by_arch, before, after))
    if not pairs:
        return None
    values = [(old.last.numeric, new.last.numeric) for old, new in pairs]
    ratios = [new / old for old, new in values if old > 0 and new > 0]
    more = sum(new > old for old, new in values)
    less = sum(new < old for old, new in values)
    both_zero = sum(old == new == 0 for old, new in values)
    return Cell(
        *(before, after),
        ratio=math.exp(fmean(map(math.log, ratios))) if ratios else None,
        more=more,
        less=less,
        same=len(pairs) - more - less,
        without_ratio=len(pairs) - len(ratios) - both_zero,
        measured=all(new.key.source == "cupti" for _, new in pairs),
        most=max(pairs, key=_distance) if more or less else None,
    )


def _pairs(by_arch: ByArch, before: str, after: str) -> Iterator[tuple[Row, Row]]:
    cases = by_arch.get(before, {})
    for case, new in by_arch.get(after, {}).items():
        old = cases.get(case, {})
        for source in SOURCES:
            if source in old and source in new:
                yield old[source], new[source]
                break


def _distance(pair: tuple[Row, Row]) -> tuple[float, float]:
    old, new = pair[0].last.numeric, pair[1].last.numeric
    ratio = abs(math.log(new / old)) if old > 0 and new > 0 else math.inf if old != new else 0.0
    return ratio, abs(new - old)


def resources(values: Values) -> list[Resources]:
    """Registers, spills and occupancy of each architecture."""
    return [_resources(values, arch) for arch in archs_of(values)]


def _resources(values: Values, arch: str) -> Resources:
    rows = best_of(values, "registers", arch)
    registers, stores, loads, occupancy = (
        [row.last.numeric for row in best_of(values, name, arch).values()]
        for name in ("registers", "spill.store_bytes", "spill.load_bytes", "occupancy.theoretical")
    )
    return Resources(
        arch,
        cases=len(registers),
        registers=median(registers) if registers else None,
        most=max(rows.values(), key=lambda row: row.last.numeric, default=None),
        spilling=sum(map(bool, stores)) if stores else None,
        stored=sum(stores) if stores else None,
        loaded=sum(loads) if loads else None,
        occupancy=fmean(occupancy) if occupancy else None,
    )

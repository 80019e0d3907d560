"""How architectures compare: what the same kernels cost on each of them."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median

from warpgauge_report.catalog import Metric, catalog
from warpgauge_report.page.rows import Row

# Where several sources tell the same of one architecture, the first of these counts.
_SOURCES = ("cupti", "harness", "ptxas", "emulator")

Values = dict[str, dict[tuple[str, str], Row]]  # by metric, by case and architecture


@dataclass(frozen=True, slots=True)
class Cell:
    """A metric on an architecture beside the reference: the geometric mean of the cases' ratios
    (None where there is none), how many cases cost more, less and the same, and how many of them
    have no ratio because one of the two is 0. `measured` on a GPU, not by compiler or emulator."""

    ratio: float | None
    more: int
    less: int
    same: int
    without_ratio: int
    measured: bool


@dataclass(frozen=True, slots=True)
class Matrix:
    """Metrics by architectures; the first architecture is what the others are compared with."""

    archs: tuple[str, ...]
    rows: tuple[tuple[Metric, tuple[Cell | None, ...]], ...]


@dataclass(frozen=True, slots=True)
class Step:
    """A metric from one generation to the next: how many cases got better, worse, stayed the same,
    and the case that moved most, as it was and as it is."""

    before: str
    after: str
    metric: Metric
    better: int
    worse: int
    same: int
    most: tuple[Row, Row] | None


@dataclass(frozen=True, slots=True)
class Resources:
    """What the kernels of the cases need on an architecture."""

    arch: str
    cases: int
    registers: tuple[float, float] | None  # median and most of a thread
    spilling: int | None  # cases that spill
    spilled: float | None  # bytes a thread, of all of them
    occupancy: float | None  # mean of the theoretical one


def latest_values(rows: Iterable[Row]) -> Values:
    """The newest number of each metric, case and architecture, from the best source there is."""
    found: Values = defaultdict(dict)
    for row in rows:
        key = row.key
        if key.arch is None or key.source not in _SOURCES or row.last.value is None:
            continue
        place = (key.id, key.arch)
        known = found[key.metric].get(place)
        if known is None or _preference(row) < _preference(known):
            found[key.metric][place] = row
    return {metric: found[metric] for metric in catalog() if metric in found}


def _preference(row: Row) -> tuple:
    return (_SOURCES.index(row.key.source), row.age, row.number)


def archs_of(values: Values) -> tuple[str, ...]:
    """Oldest generation first: by the number in the name."""
    names = {arch for by_place in values.values() for _, arch in by_place}
    return tuple(sorted(names, key=_generation))


def _generation(arch: str) -> tuple[int, str]:
    number = re.search(r"[0-9]{1,9}", arch)
    return (int(number[0]) if number else 0, arch)


def matrix(values: Values) -> Matrix:
    """Exact metrics that have a better direction and differ anywhere. Times are left out: those of
    two GPUs are compared in the roofline."""
    archs = archs_of(values)
    rows = []
    for name, by_place in values.items():
        metric = catalog()[name]
        if metric.direction == "none" or metric.cls != "exact" or name == "result.correct":
            continue
        cells = tuple(_cell(by_place, archs[0], arch) for arch in archs)
        if any(cell and (cell.more or cell.less) for cell in cells):
            rows.append((metric, cells))
    return Matrix(archs, tuple(rows))


def _cell(by_place: dict[tuple[str, str], Row], reference: str, arch: str) -> Cell | None:
    pairs = list(_pairs(by_place, reference, arch))
    if not pairs:
        return None
    ratios = [
        after.last.value / before.last.value
        for before, after in pairs
        if before.last.value > 0 and after.last.value > 0
    ]
    more = sum(after.last.value > before.last.value for before, after in pairs)
    less = sum(after.last.value < before.last.value for before, after in pairs)
    both_zero = sum(before.last.value == after.last.value == 0 for before, after in pairs)
    mean = math.exp(fmean(map(math.log, ratios))) if ratios else None
    measured = any(after.key.source in ("cupti", "harness") for _, after in pairs)
    without = len(pairs) - len(ratios) - both_zero
    return Cell(mean, more, less, len(pairs) - more - less, without, measured)


def _pairs(by_place: dict[tuple[str, str], Row], before: str, after: str):
    for (case, arch), row in by_place.items():
        if arch == after and (old := by_place.get((case, before))):
            yield old, row


def steps(values: Values) -> list[Step]:
    """From each generation to the next; metrics of which nothing moved are left out."""
    found = []
    for before, after in pairwise(archs_of(values)):
        for name, by_place in values.items():
            metric = catalog()[name]
            if metric.direction == "none" or metric.cls != "exact":
                continue
            step = _step(metric, before, after, list(_pairs(by_place, before, after)))
            if step.better or step.worse:
                found.append(step)
    return found


def _step(metric: Metric, before: str, after: str, pairs: list[tuple[Row, Row]]) -> Step:
    sign = 1 if metric.direction == "higher" else -1
    gains = [sign * (new.last.value - old.last.value) for old, new in pairs]
    most = max(pairs, key=_distance, default=None)
    return Step(
        *(before, after, metric),
        better=sum(gain > 0 for gain in gains),
        worse=sum(gain < 0 for gain in gains),
        same=sum(gain == 0 for gain in gains),
        most=most,
    )


def _distance(pair: tuple[Row, Row]) -> tuple[float, float]:
    old, new = pair[0].last.value, pair[1].last.value
    ratio = abs(math.log(new / old)) if old > 0 and new > 0 else math.inf if old != new else 0
    return ratio, abs(new - old)


def resources(values: Values) -> list[Resources]:
    """Registers, spills and occupancy of each architecture."""
    return [_resources(values, arch) for arch in archs_of(values)]


def _resources(values: Values, arch: str) -> Resources:
    def of(name: str) -> dict[str, float]:
        by_place = values.get(name, {})
        return {case: row.last.value for (case, at), row in by_place.items() if at == arch}

    registers, occupancy = of("registers").values(), of("occupancy.theoretical").values()
    stores, loads = of("spill.store_bytes"), of("spill.load_bytes")
    spills = {case: stores.get(case, 0) + loads.get(case, 0) for case in stores | loads}
    return Resources(
        arch,
        cases=len(of("registers")),
        registers=(median(registers), max(registers)) if registers else None,
        spilling=sum(map(bool, spills.values())) if spills else None,
        spilled=sum(spills.values()) if spills else None,
        occupancy=fmean(occupancy) if occupancy else None,
    )


def elements(size: str) -> int:
    """The elements of a size: the product of its extents; 1 where it has none."""
    return math.prod(map(int, re.findall(r"[0-9]{1,18}", size))) or 1

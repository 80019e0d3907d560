"""Finds the sizes that count elements, from how work grows with them.

A size may be a number of elements, and as well a stride, a number of lanes, or the shape of a
block. It counts elements where the instructions of every variant of the problem grow with it.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict

from warpgauge.page.generations import Values

RANGE = 4  # least ratio of the largest and smallest number of elements that growth needs
LEAST_GROWTH = (
    0.5  # instructions ~ elements ** growth: 4 times the elements, twice the instructions
)

Problem = tuple[str, str]  # family and type


def elements(size: str) -> int:
    """The product of the extents of a size; 1 where it has none."""
    return math.prod(map(int, re.findall(r"[0-9]{1,18}", size)))


def problems_with_elements(values: Values) -> list[Problem]:
    """Those whose sizes count elements, in order. Of one size, or of sizes that are nearly the
    same, nothing is known."""
    sizes: dict[tuple, dict[int, float]] = defaultdict(dict)
    for arch, cases in values.get("instructions", {}).items():
        for source, row in (pair for sources in cases.values() for pair in sources.items()):
            key = row.key
            place = (key.family, key.type, key.variant, arch, source)
            sizes[place][elements(key.size)] = row.last.numeric
    growths: dict[Problem, list[float]] = defaultdict(list)
    for (family, type_, *_), counts in sizes.items():
        growths[family, type_] += _growth(counts)
    return sorted(problem for problem, of in growths.items() if of and min(of) >= LEAST_GROWTH)


def _growth(counts: dict[int, float]) -> list[float]:
    """The exponent with which instructions grow with elements; -1 where a size has no elements,
    and nothing where it is not known."""
    low, high = min(counts), max(counts)
    if low == 0:
        return [-1]
    if high < RANGE * low or counts[low] <= 0 or counts[high] <= 0:
        return []
    return [math.log(counts[high] / counts[low]) / math.log(high / low)]

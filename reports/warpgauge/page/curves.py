"""Times over size: problems that were timed at many sizes which differ in one extent."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from warpgauge.page.rows import Row
from warpgauge.page.speeds import TIME, Speed

LEAST = 6  # sizes that make a curve
RANGE = 64  # least ratio of the largest and the smallest: strides and shapes of blocks have less

Curve = dict[int, Row]  # the time at each value of the extent that differs, from the least on


@dataclass(frozen=True, slots=True)
class Curves:
    """The curves of one problem on a GPU, by variant. `size` is that of its cases, with "n" for
    the extent that differs: "n", "1000xn"."""

    device: str
    problem: str  # family.*.type
    size: str
    by_variant: dict[str, Curve]

    @property
    def count(self) -> int:
        return sum(map(len, self.by_variant.values()))


def curves(all_speeds: Iterable[Speed]) -> list[Curves]:
    """Those with the most times first."""
    found: dict[tuple[str, str, str], dict[str, Curve]] = defaultdict(lambda: defaultdict(dict))
    for speed in all_speeds:
        row = speed.values.get(TIME)
        if row is None or row.last.numeric <= 0:
            continue
        problem = f"{row.key.family}.*.{row.key.type}"
        for size, extent in _one_free(row.key.size):
            found[speed.device, problem, size][row.key.variant][extent] = row
    groups = (Curves(*key, _long(by_variant)) for key, by_variant in found.items())
    return sorted(
        (group for group in groups if group.by_variant),
        key=lambda group: (-group.count, group.device, group.problem, group.size),
    )


def _one_free(size: str) -> list[tuple[str, int]]:
    """The ways to let one extent of a size free, and what that is here: "8x32" is 8 of "nx32", and
    32 of "8xn"."""
    if not re.fullmatch(r"[1-9][0-9]{0,17}(x[1-9][0-9]{0,17})*", size):
        return []
    extents = size.split("x")
    return [
        ("x".join([*extents[:i], "n", *extents[i + 1 :]]), int(extent))
        for i, extent in enumerate(extents)
    ]


def _long(by_variant: dict[str, Curve]) -> dict[str, Curve]:
    return {
        variant: dict(sorted(curve.items()))
        for variant, curve in sorted(by_variant.items())
        if len(curve) >= LEAST and max(curve) >= RANGE * min(curve)
    }

"""What changed from one run to another, kernel by kernel: the values of facts side by side."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from warpgauge.facts.catalog import Metric, catalog
from warpgauge.facts.records import Fact
from warpgauge.facts.selection import newest

Place = tuple[str, str | None, str, str | None]  # id, architecture, metric, GPU of a noisy value


@dataclass(frozen=True, slots=True)
class Step:
    """A value before and after: that of the size and architecture of a kernel where it changed
    most. `more` is in how many others it changed as well."""

    id: str
    arch: str | None
    metric: Metric
    before: float
    after: float
    more: int

    @property
    def size(self) -> float:
        """|ln(after / before)|; infinite from and to 0, and to another sign."""
        if self.before * self.after <= 0:
            return math.inf
        return abs(math.log(self.after / self.before))

    @property
    def better(self) -> bool | None:
        return self.metric.is_better(self.before, self.after)


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """The steps, the largest first; how many values are the same, and how many only one has."""

    steps: tuple[Step, ...]
    same: int
    alone: int


def before_after(
    before: Iterable[Fact], after: Iterable[Fact], metrics: Collection[str]
) -> BeforeAfter:
    """Of all metrics, or of these. A noisy value changed where the intervals of both lie apart. A
    metric that says what kernels are and not what they cost is shown if it is named."""
    old, new = _values(before, metrics), _values(after, metrics)
    found: dict[tuple[str, str], list[Step]] = defaultdict(list)
    both = old.keys() & new.keys()
    changed = 0
    for place in both:
        a, b = old[place], new[place]
        if a.numeric == b.numeric or _overlap(a, b):
            continue
        changed += 1
        step = Step(a.id, a.arch, a.row, a.numeric, b.numeric, 0)
        found[a.id.rpartition("@")[0], a.metric].append(step)
    steps = []
    for group in found.values():
        first, *others = sorted(group, key=_largest)
        steps.append(replace(first, more=len(others)))
    return BeforeAfter(
        tuple(sorted(steps, key=_largest)), len(both) - changed, len(old.keys() ^ new.keys())
    )


def _values(facts: Iterable[Fact], metrics: Collection[str]) -> dict[Place, Fact]:
    """Numbers only, and of a value that several GPUs have the newest."""
    known = catalog()
    found: dict[Place, Fact] = {}
    for fact in newest(facts).values():
        row = known[fact.metric]
        is_told = fact.metric in metrics if metrics else row.direction != "none"
        if is_told and (metrics or row.cls != "info") and isinstance(fact.value, int | float):
            gpu = fact.device.name if fact.device and row.cls == "bounded" else None
            place = fact.id, fact.arch, fact.metric, gpu
            if place not in found or found[place].run.time <= fact.run.time:
                found[place] = fact
    return found


def _overlap(a: Fact, b: Fact) -> bool:
    if a.interval is None or b.interval is None:
        return False
    return a.interval[0] <= b.interval[1] and b.interval[0] <= a.interval[1]


def _largest(step: Step) -> tuple:
    amount = max(abs(step.before), abs(step.after))
    return (-step.size, -amount, step.id, step.arch or "", step.metric.id)

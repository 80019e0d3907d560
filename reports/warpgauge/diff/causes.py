"""Causes of moves between two runs, by the words and rules of the history
(warpgauge/changes/causes.py), which defines each cause."""

from __future__ import annotations

from warpgauge.changes.causes import Cause, Origin, cause_between, differing
from warpgauge.facts.catalog import catalog
from warpgauge.facts.records import Fact
from warpgauge.facts.selection import gpu_of


def cause_of(a: Fact, b: Fact) -> tuple[Cause, tuple[str, ...]]:
    """The cause, and what else is known to have changed: "toolkit 12.8 -> 13.0"."""
    noisy = catalog()[a.metric].cls == "bounded"
    return cause_between(_origin(a), _origin(b), noisy=noisy), _details(a, b)


def _origin(fact: Fact) -> Origin:
    return Origin(
        *(fact.sass_hash, fact.source_hash, fact.case.code_hash),
        *(fact.run.toolkit, fact.run.flags),
        driver=fact.device.driver if fact.device is not None else None,
        launches=fact.launches,
    )


def _details(a: Fact, b: Fact) -> tuple[str, ...]:
    pairs = [("toolkit", a.run.toolkit, b.run.toolkit), ("flags", a.run.flags, b.run.flags)]
    if a.device is not None and b.device is not None:
        pairs += [
            ("driver", a.device.driver, b.device.driver),
            ("GPU", a.device.name, b.device.name),
        ]
        if gpu_of(a) != gpu_of(b) and a.device.name == b.device.name:
            pairs.append(("GPU", gpu_of(a), gpu_of(b)))
    pairs.append(("counted by", a.source, b.source))
    found = differing(pairs)
    for run, fact in (("A", a), ("B", b)):
        if fact.confidence not in (None, "exact") and fact.interval is None:
            found.append(f"{run} only {fact.confidence}")
        if fact.machine is not None and fact.machine.disturbance is not None:
            found.append(f"{run} disturbed: {fact.machine.disturbance}")
    return tuple(found)

"""What the machine moved and is not back: one row for each series, however many steps it took.

A level that creeps is found as one step after the other. The row is from the level before the
oldest of them to now.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from warpgauge.changes.change import Change
from warpgauge.page.rows import Move, Row, matters, without_derived
from warpgauge.page.sections import change_text


def moved(rows: Iterable[Row], ages: dict[str, int]) -> list[Move]:
    """The largest first: worse ones of any night, and better ones that the last night found."""
    found = [Move((row,), change) for row in rows for change in _of(row, ages)]
    listed = filter(matters, without_derived(found))
    return sorted(listed, key=lambda move: (move.change.better is not False, move.rank))


def _of(row: Row, ages: dict[str, int]) -> Iterable[Change]:
    """Steps between two changes of the kernel are of one row."""
    runs = [
        list(steps) for _, steps in groupby(row.changes, key=lambda change: change.mark == "moved")
    ]
    for steps in runs:
        news = [change for change in steps if change.mark == "moved" and not change.recovered]
        if worse := [change for change in news if change.better is False]:
            yield _joined(row, worse, ages, is_last=steps is runs[-1])
        else:
            yield from (change for change in news if ages[change.detected.id] == 0)


def _joined(row: Row, steps: Sequence[Change], ages: dict[str, int], is_last: bool) -> Change:
    """One change from before the first of the steps to now, or to the last where the kernel changed
    after it."""
    first, last = steps[0], steps[-1]
    if is_last:
        last = Move((row,), last).now
    if len(steps) == 1:
        return replace(first, after=last.after)
    later = tuple(
        f"{change.cause} since {change.run.time:%Y-%m-%d}, {change_text(change)}"
        for change in steps[1:]
    )
    crept = all(change.cause == "environment" for change in steps)
    newest = row.age if is_last else ages[last.detected.id]
    nights = ages[first.run.id] - newest if crept else None
    return replace(
        first,
        details=(*first.details, *later),
        after=last.after,
        detected=last.detected,
        nights=nights,
    )

"""Changes between two runs: values of whole cases, the lines behind them, and the cause.

Nothing is judged here: a value is worse if it moved to the side that the catalog calls worse, and a
noisy one only if the confidence intervals of the two runs do not overlap, the distance is more than
processes differ by, and the code is not the same.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from warpgauge.changes.causes import OF_THE_MACHINE, is_recount
from warpgauge.diff.causes import cause_of
from warpgauge.facts.catalog import Metric, catalog
from warpgauge.facts.records import Fact
from warpgauge.facts.selection import Key, gpu_of, key_of, newest

# From the worst on. lost: measured in A and not in B; moved: by the machine, to either side;
# gone: a line that counts nothing any more; unsure: noisy without an interval,
# or an estimate, which need not repeat.
MARKS = ("worse", "lost", "moved", "changed", "better", "new", "gone", "unsure", "same")


@dataclass(frozen=True, slots=True)
class Line:
    """The count of one source line; None: nothing was counted there."""

    file: str | None
    line: int | None
    kernel: str | None
    mark: str
    a: float | None
    b: float | None


@dataclass(frozen=True, slots=True)
class Change:
    """One metric of a case on an architecture in both runs. gpu: of noisy values, name and hash;
    relative: (b - a) / a, None if there is no such number; cause: see causes.py; reason: of B,
    where it has no value."""

    id: str
    arch: str | None
    gpu: str | None
    metric: Metric
    mark: str
    a: float | str | None
    b: float | str | None
    relative: float | None
    cause: str | None
    details: tuple[str, ...]
    reason: str | None
    lines: tuple[Line, ...] = field(default=())

    @property
    def key(self) -> tuple[str, str | None, str]:
        """The key that all GPUs share."""
        return self.id, self.arch, self.metric.id


def find_changes(a: Iterable[Fact], b: Iterable[Fact], noise: float) -> list[Change]:
    """Every metric that a run measured, the worst first; unchanged ones are last. `noise`: by what
    share of its value in A a noisy one has to differ."""
    a, b = list(a), list(b)
    in_a, in_b = newest(a), newest(b)
    lines_a, lines_b = _lines(a, in_a), _lines(b, in_b)
    names = _on_like_gpus(in_a, in_b)
    in_b, lines_b = ({names.get(k, k): v for k, v in of.items()} for of in (in_b, lines_b))
    found = []
    for key in in_a | in_b:
        old, new = in_a.get(key), in_b.get(key)
        if (old is None or old.value is None) and (new is None or not _says_anything(new)):
            continue
        row = catalog()[key[2]]
        lines = _line_changes(lines_a.get(key, {}), lines_b.get(key, {}), row)
        found.append(_change(old, new, row, lines, noise))
    worst = defaultdict(lambda: (len(MARKS), 0.0, 0.0, ""))
    for change in found:
        case = (change.id, change.arch)
        worst[case] = min(worst[case], _rank(change))
    return sorted(found, key=lambda c: (worst[c.id, c.arch], c.id, c.arch or "", _rank(c)))


def _on_like_gpus(in_a: dict[Key, Fact], in_b: dict[Key, Fact]) -> dict[Key, Key]:
    """The key in A of each in B that is of another GPU of the same name, where there is just one
    such on each side: the runners of CI are many."""
    alone_a, alone_b = defaultdict(list), defaultdict(list)
    for mine, others, alone in ((in_a, in_b, alone_a), (in_b, in_a, alone_b)):
        for key in mine.keys() - others.keys():
            device = mine[key].device
            alone[*key[:3], device and device.name].append(key)
    return {
        keys[0]: alone_a[like][0]
        for like, keys in alone_b.items()
        if len(keys) == len(alone_a.get(like, ())) == 1
    }


def _gpu(fact: Fact) -> str | None:
    if gpu_of(fact) is None:
        return None
    return " ".join(filter(None, (fact.device.name, fact.device.uuid_hash)))


def _says_anything(fact: Fact) -> bool:
    return fact.value is not None or fact.verdict == "error"


def _change(
    old: Fact | None, new: Fact | None, row: Metric, lines: tuple[Line, ...], noise: float
) -> Change:
    some = new or old
    before, after = old and old.value, new and new.value
    mark = _mark(old, new, row, noise)
    differs = mark in ("worse", "better", "changed") and None not in (before, after)
    cause, details = cause_of(old, new) if differs else (None, ())
    if cause in OF_THE_MACHINE and "error" not in (old.verdict, new.verdict):
        mark = "moved"
    if differs and is_recount(cause, old.confidence, new.confidence):
        mark = "unsure"
    return Change(
        id=some.id,
        arch=some.arch,
        gpu=_gpu(some),
        metric=row,
        mark=mark,
        a=before,
        b=after,
        relative=_relative(before, after),
        cause=cause,
        details=details,
        reason=new.reason if new is not None and after is None else None,
        lines=lines,
    )


def _mark(old: Fact | None, new: Fact | None, row: Metric, noise: float) -> str:
    failed = [fact is not None and fact.verdict == "error" for fact in (old, new)]
    if failed[1]:
        return "same" if failed[0] else "worse"
    if failed[0] and new is not None and new.value is not None:
        return "better"
    if old is None or old.value is None:
        return "new"
    if new is None or new.value is None:
        return "lost" if row.cls != "info" else "gone"
    if old.value == new.value:
        return "same"
    if row.cls == "bounded":
        if old.interval is None or new.interval is None:
            return "unsure"
        overlap = old.interval[0] <= new.interval[1] and new.interval[0] <= old.interval[1]
        if overlap or abs(new.value - old.value) <= noise * abs(old.value):
            return "same"
    return _direction(old.value, new.value, row)


def _direction(before: float | str, after: float | str, row: Metric) -> str:
    if row.cls == "info" or row.direction == "none" or isinstance(before, str):
        return "changed"
    return "worse" if (after > before) == (row.direction == "lower") else "better"


def _relative(before: float | str | None, after: float | str | None) -> float | None:
    if not isinstance(before, int | float) or not isinstance(after, int | float) or before == 0:
        return None
    return (after - before) / abs(before)


def _rank(change: Change) -> tuple[int, float, float, str]:
    if change.relative is not None:
        distance = abs(change.relative)
    else:  # from nothing to something is more than any share
        distance = math.inf if change.a == 0 and change.b else 0.0
    # Of two that came from nothing, the larger.
    size = change.b if isinstance(change.b, int | float) and distance == math.inf else 0.0
    return MARKS.index(change.mark), -distance, -size, change.metric.id


_LineKey = tuple[str | None, str | None, int | None]


def _lines(facts: list[Fact], cases: dict) -> dict[tuple, dict[_LineKey, float]]:
    """The lines of each value, of the run that the value is from."""
    found = defaultdict(dict)
    for fact in facts:
        key = key_of(fact)
        whole = cases.get(key)
        if fact.scope == "case" or whole is None or whole.run.id != fact.run.id:
            continue
        if isinstance(fact.value, int | float):
            found[key][fact.kernel, fact.file, fact.line] = fact.value
    return found


def _line_changes(
    before: dict[_LineKey, float], after: dict[_LineKey, float], row: Metric
) -> tuple[Line, ...]:
    """The lines of a value, those that moved most first."""
    before, after = dict(before), dict(after)
    found = [
        Line(file, new_line, kernel, "same", value, value)
        for (kernel, file, new_line), value in _shifted(before, after)
    ]
    for key in before | after:
        kernel, file, line = key
        old, new = before.get(key), after.get(key)
        if old == new:
            mark = "same"
        elif old is None or new is None:
            mark = "new" if old is None else "gone"
        else:
            mark = _direction(old, new, row)
        found.append(Line(file, line, kernel, mark, old, new))
    return tuple(sorted(found, key=lambda c: (-_moved(c), c.file or "", c.line or 0)))


def _shifted(
    before: dict[_LineKey, float], after: dict[_LineKey, float]
) -> Iterable[tuple[_LineKey, float]]:
    """Takes out the lines that only have another number: of one kernel and file, in order, what is
    gone and what is new with the same value."""
    waiting = defaultdict(list)
    for key in sorted(after.keys() - before.keys(), key=_place):
        waiting[key[:2], after[key]].append(key)
    for key in sorted(before.keys() - after.keys(), key=_place):
        if same := waiting[key[:2], before[key]]:
            new = same.pop(0)
            del before[key]
            yield new, after.pop(new)


def _place(key: _LineKey) -> tuple[str, str, int]:
    kernel, file, line = key
    return kernel or "", file or "", line or 0


def _moved(line: Line) -> float:
    return abs((line.b or 0) - (line.a or 0))

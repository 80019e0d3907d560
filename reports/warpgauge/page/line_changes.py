"""What differs between the lines of two runs. Lines belong together by their text: an edit above
them changes their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from warpgauge.facts.catalog import Metric, catalog
from warpgauge.page.explained import Explained, count_text
from warpgauge.text import printable

Numbers = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class MetricChange:
    metric: Metric
    before: str
    after: str
    change: str


@dataclass(frozen=True, slots=True)
class LineChange:
    """A line whose counts differ; `numbers` has None where a run does not have the line."""

    file: str
    numbers: Numbers
    text: str
    metrics: Sequence[MetricChange]

    @property
    def place(self) -> str:
        """ "family.cu:80 -> 84"."""
        before, after = self.numbers
        file = self.file or "(no line information)"
        if before == after:
            return f"{file}:{after}"
        return f"{file}:{before or '(none)'} -> {after or '(none)'}"


def change(metric: Metric, before: float, after: float) -> str:
    """ "better", "worse" or nothing."""
    better = metric.is_better(before, after)
    return "" if better is None else "better" if better else "worse"


def line_changes(before: Explained, after: Explained) -> Iterator[LineChange]:
    """The lines that differ, by file and number."""
    for file in dict.fromkeys((*before.texts, *after.texts)):
        texts = before.texts.get(file, {}), after.texts.get(file, {})
        for numbers in _pairs(*texts):
            lines = [
                run.counted.get((file, number)) if number is not None else None
                for run, number in zip((before, after), numbers, strict=True)
            ]
            metrics = []
            for metric in catalog().values():
                old, new = (count_text(line, metric) for line in lines)
                if old == new:
                    continue
                values = [line["values"].get(metric.id, 0) if line else 0 for line in lines]
                metrics.append(MetricChange(metric, old, new, change(metric, *values)))
            if metrics:
                there = (run[n] for run, n in zip(texts, numbers, strict=True) if n is not None)
                text = next(filter(None, reversed(list(there))), "")
                yield LineChange(file, numbers, text.strip(), metrics)


def _pairs(before: dict[int, str], after: dict[int, str]) -> Iterator[Numbers]:
    """The numbers of lines that belong together. Lines without text go by their numbers, and lines
    that were replaced by as many others go by their order."""
    numbers = list(before), list(after)
    old, new = ([text.strip() or number for number, text in run.items()] for run in (before, after))
    matcher = SequenceMatcher[str | int](None, old, new, autojunk=False)
    for kind, a, a_end, b, b_end in matcher.get_opcodes():
        replaced = numbers[0][a:a_end], numbers[1][b:b_end]
        if kind == "equal" or len(replaced[0]) == len(replaced[1]):
            yield from zip(*replaced, strict=True)
        else:
            yield from ((number, None) for number in replaced[0])
            yield from ((None, number) for number in replaced[1])


def changes_text(before: Explained, after: Explained) -> str:
    """The lines that differ, for a terminal."""
    lines = [
        f"A: {before.name}; counted by {before.counted_by}",
        f"B: {after.name}; counted by {after.counted_by}",
        "",
    ]
    changes = list(line_changes(before, after))
    for line in changes:
        lines.append(f"{line.place}: {line.text}")
        for changed in line.metrics:
            values = f"{changed.before:>15} -> {changed.after:<15}"
            lines.append(f"  {changed.metric.id:<26} {values} {changed.change}".rstrip())
    if not changes:
        lines.append("No line differs.")
    return "".join(f"{printable(line)}\n" for line in lines)

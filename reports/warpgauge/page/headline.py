"""The headline of the page and the digest: what is wrong, and what the machine moved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from warpgauge.history import SeriesKey
from warpgauge.page.groups import OF_OTHERS, label
from warpgauge.page.rows import Move, values_of
from warpgauge.text import count, shortened

if TYPE_CHECKING:
    from warpgauge.page.report import Report

_NAMED, _LONGEST_NAME = 2, 40  # kernels that are named, and their letters


def headline(report: Report) -> str:
    """One sentence."""
    moved = [f"{count(values_of(report.moved), 'value')} moved by the machine"]
    return "; ".join([_judgement(report), *(moved if report.moved else [])])


def _judgement(report: Report) -> str:
    parts = (
        (report.verdicts["fail"], f"{count(report.verdicts['fail'], 'value')} over budget"),
        (report.verdicts["error"], count(report.verdicts["error"], "error")),
        (report.cut_off, f"{count(report.cut_off, 'run')} cut off"),
    )
    if wrong := [text for number, text in parts if number]:
        is_all = wrong == [parts[0][1]]
        named = f": {_names([finding.key for finding in report.over])}" if is_all else ""
        text = f"Something is wrong: {' and '.join(wrong)}{named}"
        return "; ".join([text, *_got_worse(report)])
    if not report.judged:
        return "; ".join(["Nothing was judged last night", *_got_worse(report)])
    if worse := _got_worse(report):
        return "; ".join(worse)
    if report.gone:
        return f"{count(report.gone, 'value')} of the night before missing"
    known = count(report.acknowledged, "value") if report.acknowledged else ""
    if report.moved:
        return f"No kernel got worse{f', but for {known} acknowledged' if known else ''}"
    within = f"{count(report.judged, 'value')} within budget"
    return f"Nothing is wrong: {within}{f'; {known} that got worse acknowledged' if known else ''}"


def _got_worse(report: Report) -> list[str]:
    """What got worse, with the numbers that the page counts below, unless all of it is wrong
    anyway; names what is worst where nothing is wrong."""
    wrong, back = report.wrong_rows, report.back_rows
    parts = [
        (report.worse_rows, "got worse", report.new),
        (
            report.still_rows,
            "got worse before and did not recover",
            [regression.move for regression in report.regressions],
        ),
        (back, f"that got worse {_has(len(back))} recovered, to be confirmed", ()),
    ]
    found = [part for part in parts if part[0] - wrong]
    texts = [f"{count(len(of), 'value')} {what}{_wrong(of & wrong)}" for of, what, _ in found]
    if texts and not wrong:
        texts[0] += _named(found[0][0], found[0][2])
    return texts


def _wrong(numbers: set[int]) -> str:
    return f", {len(numbers):,} of them over budget" if numbers else ""


def _named(numbers: set[int], moves: Iterable[Move]) -> str:
    """ ": registers of scan.decoupled, softmax.online (CUDA 13.0 → 13.1)": the metric where
    it is one, and what is to blame if no commit is."""
    found = [move for move in moves if any(row.number in numbers for row in move.rows)]
    if not found:
        return ""
    labels = {label(move.change) for move in found}
    is_of_all = len(labels) == 1 and found[0].change.cause in OF_OTHERS
    text = _names([move.key for move in found])
    return f": {text}{f' ({labels.pop()})' if is_of_all else ''}"


def _names(keys: Sequence[SeriesKey]) -> str:
    """ "registers of scan.decoupled, softmax.online and 1 more": the metric where it is one."""
    names = list(dict.fromkeys(f"{key.family}.{key.variant}" for key in keys))
    metrics = {key.metric for key in keys}
    text = ", ".join(shortened(name, _LONGEST_NAME) for name in names[:_NAMED])
    if len(names) > _NAMED:
        text += f" and {len(names) - _NAMED:,} more"
    return f"{metrics.pop()} of {text}" if len(metrics) == 1 else text


def _has(number: int) -> str:
    return "has" if number == 1 else "have"

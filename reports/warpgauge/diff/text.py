"""Differences of two runs as text for people, and as JSON for programs."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby

from warpgauge.diff.differences import MARKS, Change, Line
from warpgauge.facts.limit import number_text
from warpgauge.facts.records import Fact
from warpgauge.text import printable

SCHEMA = "warpgauge.diff/1"
HIDDEN = ("same", "unsure", "gone")  # without --all, and what is only shown
_MOST_LINES = 5
_COLOURS = {
    "worse": "31",
    "lost": "33",
    "moved": "36",
    "better": "32",
    "changed": "36",
    "new": "36",
}


def origin(facts: Sequence[Fact]) -> str:
    """The origin of a run: commits, machines, toolkits and times that its facts name."""
    parts = []
    runs = {fact.run.id: fact.run for fact in facts}.values()
    for values in (
        {f"commit {r.commit[:12]}{'+' if r.dirty else ''}" for r in runs if r.commit},
        {f.device.name for f in facts if f.device},
        {f"CUDA {r.toolkit}" for r in runs if r.toolkit},
        {f.source for f in facts if f.source},
        {r.time for r in runs},
    ):
        if values:
            names = sorted(values)
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            parts.append("/".join(names[:3]) + more)
    return printable(", ".join(parts))


def is_shown(change: Change, everything: bool) -> bool:
    return everything or (change.mark not in HIDDEN and change.metric.cls != "info")


def differences_text(changes: Sequence[Change], everything: bool, colours: bool) -> str:
    """A block for each case, a row for each metric, and below it the lines that moved."""
    shown = [change for change in changes if is_shown(change, everything)]
    if not shown:
        return ""
    width = max(len(change.metric.id) for change in shown)
    whole = _whole_cases(changes)
    several = _of_several_gpus(changes)
    blocks = []
    for (id_, arch), group in groupby(shown, key=lambda change: (change.id, change.arch)):
        case = printable(f"{id_}{f' on {arch}' if arch else ''}")
        if not everything and (mark := whole.get((id_, arch))):
            rows = [f"{case}\n  {_marked(mark, colours)} the whole case: {len(list(group))} values"]
        else:
            rows = [
                case,
                *(
                    row
                    for change in group
                    for row in _rows(change, width, everything, colours, change.key in several)
                ),
            ]
        blocks.append("\n".join(rows))
    return "\n\n".join(blocks) + "\n"


def _whole_cases(changes: Sequence[Change]) -> dict[tuple[str, str | None], str]:
    """The mark of each case of which one run knows several values and the other none."""
    marks = defaultdict(list)
    for change in changes:
        marks[change.id, change.arch].append(change.mark)
    return {
        case: found[0]
        for case, found in marks.items()
        if len(found) > 1 and set(found) in ({"new"}, {"lost"})
    }


def _of_several_gpus(changes: Sequence[Change]) -> set[tuple[str, str | None, str]]:
    """The values that have a row for each of several GPUs, which then says which."""
    return {key for key, rows in Counter(change.key for change in changes).items() if rows > 1}


def _rows(change: Change, width: int, everything: bool, colours: bool, tell_gpu: bool) -> list[str]:
    rows = [f"  {_marked(change.mark, colours)} {_row(change, width, tell_gpu)}"]
    lines = [line for line in change.lines if everything or line.mark != "same"]
    most = len(lines) if everything else _MOST_LINES
    rows += [f"          {_line_row(line)}" for line in lines[:most]]
    if len(lines) > most:
        rows.append(f"          and {len(lines) - most} more lines")
    return rows


def headline(changes: Sequence[Change]) -> str:
    """All of it in one line: "WORSE: 2 worse, 1 better, 310 the same"."""
    count = Counter(change.mark for change in changes if change.metric.cls != "info")
    words = {
        **{"same": "the same", "moved": "moved with the same machine code and launches"},
        "unsure": "noisy values without an interval, or estimates, not compared",
    }
    parts = [f"{count[mark]} {words.get(mark, mark)}" for mark in MARKS if count[mark]]
    verdict = "WORSE" if count["worse"] else "LOST" if count["lost"] else "NOT WORSE"
    return f"{verdict}: {', '.join(parts)}"


def differences_json(
    changes: Sequence[Change], a: dict[str, object], b: dict[str, object], exit_code: int
) -> str:
    """Every change with what the text leaves out, and how often each mark was given."""
    count = Counter(change.mark for change in changes if change.metric.cls != "info")
    document = {
        "schema": SCHEMA,
        "a": a,
        "b": b,
        "exit_code": exit_code,
        "marks": {mark: count[mark] for mark in MARKS},
        "changes": [_change_json(change) for change in changes if change.mark != "same"],
    }
    return json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def _marked(mark: str, colours: bool) -> str:
    text = f"{mark:<7}"
    return f"\x1b[{_COLOURS[mark]}m{text}\x1b[0m" if colours and mark in _COLOURS else text


def _row(change: Change, width: int, tell_gpu: bool) -> str:
    text = change.metric.id
    if change.a is not None or change.b is not None:
        text = f"{text:<{width}}  {_value(change.a)} -> {_value(change.b)} {change.metric.unit}"
    if change.relative is not None and change.mark != "same":
        text += f" ({change.relative:+.1%})"
    if tell_gpu and change.gpu:
        text += f" on {change.gpu}"
    if change.cause is not None:
        text += f"; {', '.join([change.cause, *change.details])}"
    if change.reason is not None:
        text += f": {change.reason}"
    return printable(text)


def _line_row(line: Line) -> str:
    where = f"{line.file}:{line.line}" if line.file else "code without line information"
    return printable(f"{line.mark:<7} {where}: {_value(line.a, '0')} -> {_value(line.b, '0')}")


def _value(value: float | str | None, nothing: str = "-") -> str:
    return nothing if value is None else number_text(value)


def _change_json(change: Change) -> dict[str, object]:
    return {
        "id": change.id,
        "arch": change.arch,
        "gpu": change.gpu,
        "metric": change.metric.id,
        "unit": change.metric.unit,
        "class": change.metric.cls,
        "mark": change.mark,
        "a": change.a,
        "b": change.b,
        "relative": change.relative,
        "cause": change.cause,
        "details": list(change.details),
        "reason": change.reason,
        "lines": _lines_json(change.lines),
    }


def _lines_json(lines: Iterable[Line]) -> list[dict[str, object]]:
    return [
        {
            "file": line.file,
            "line": line.line,
            "kernel": line.kernel,
            "mark": line.mark,
            "a": line.a,
            "b": line.b,
        }
        for line in lines
        if line.mark != "same"
    ]

"""The table that says in a pull request what was accepted."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from warpgauge.budgets.budget_file import Place, rank
from warpgauge.budgets.limits import Limit, as_table, code_of, limit_text
from warpgauge.budgets.placing import Move
from warpgauge.facts.catalog import catalog
from warpgauge.text import printable


class Row(NamedTuple):
    """A line that was written: the moves that it is for, its limit, its file and table."""

    moves: Sequence[Move]
    limit: Limit
    file: str
    place: Place


def table(rows: Sequence[Row]) -> str:
    """Markdown, the worst first: what was loosened most, then what was tightened. Lines that say
    the same for several architectures are one row."""
    head = ["case", "architecture", "metric", "old", "new", "reason", "where"]
    merged: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in sorted(rows, key=_rank):
        merged[_cells(row)].append(row)
    lines = [_line(head), _line(["---"] * len(head))]
    for (case, *cells, where), same in merged.items():
        archs = dict.fromkeys(move.fact.arch or "-" for row in same for move in row.moves)
        lines.append(_line([case, code(", ".join(archs)), *cells, where]))
    return "\n".join(lines) + "\n"


def prose(text: str) -> str:
    """Text in a cell of a table: what people wrote is never markup."""
    return re.sub(r"([\\`*_{}\[\]<>#|~&$])", r"\\\1", printable(text))


def code(text: str) -> str:
    """Names and limits in a cell of a table, as code; any text is safe."""
    text = printable(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{text}{pad}{fence}".replace("|", "\\|")


def _cells(row: Row) -> tuple[str, ...]:
    """All cells but that of the architectures, which `where` leaves out."""
    metric = catalog()[row.moves[0].fact.metric]
    cases = list(dict.fromkeys(move.fact.id for move in row.moves))
    more = f" and {len(cases) - 1} more" if len(cases) > 1 else ""
    olds = dict.fromkeys(_limit(_old_text(move), move.old) for move in row.moves)
    reason = as_table(row.limit, metric).get("reason", "")
    return (
        code(cases[0]) + more,
        code(metric.id),
        ", ".join(olds),
        _limit(limit_text(row.limit, metric), row.limit),
        prose(reason),
        code(f"{row.file} {row.place._replace(arch=None).header()}"),
    )


def _limit(text: str, limit: Limit | None) -> str:
    """The text of a limit, and the code that it was measured with."""
    hash_ = code_of(limit)
    return code(text) + (f" (code {code(hash_)})" if hash_ is not None else "")


def _old_text(move: Move) -> str:
    return move.fact.limit.text if move.fact.limit else "none"


def _rank(row: Row) -> tuple:
    move = row.moves[0]
    distance = max(_distance(move) for move in row.moves)
    return not move.loosens, -distance, move.fact.id, move.fact.metric, rank(row.place)


def _distance(move: Move) -> float:
    """Distance of the value from the old limit, as a fraction of it."""
    old = move.old if move.old is not None else move.fact.value
    if isinstance(old, dict):
        numbers = [old[key] for key in ("max", "min", "equal") if key in old]
        old = numbers[0]
    value = move.fact.value
    if not isinstance(value, int | float) or not isinstance(old, int | float):
        return 0.0
    return abs(value - old) / old if old else (math.inf if value else 0.0)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"

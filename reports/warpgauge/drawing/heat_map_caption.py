"""The caption of a heat map: the meaning of its marks, and the origin of its values."""

from __future__ import annotations

from os.path import commonprefix

from warpgauge.drawing import style
from warpgauge.drawing.grid import Extents, Grid
from warpgauge.facts.records import Fact, Run
from warpgauge.text import printable, shortened

_LONGEST = 100  # characters of a text from the facts


def caption(grid: Grid, best: list[Extents]) -> list[str]:
    """Lines of text, not wrapped."""
    facts = list(grid.measured.values())
    lines = [_marks(grid, best), _origin(grid, facts), _intervals(facts), _runs(facts)]
    return [line for line in [*lines, _disturbance(facts)] if line]


def _marks(grid: Grid, best: list[Extents]) -> str:
    words = []
    if best:
        value = style.quantity_text(grid.values[best[0]], grid.unit)
        words.append(f"Framed: best, {value}{f' ({len(best)} cells)' if len(best) > 1 else ''}.")
    if len(grid.measured) < len(grid.cells):
        words.append("Hatched: not measured.")
    down, across = grid.extents
    if len(grid.cells) < len(down) * len(across):
        words.append("Blank: no such case in the facts.")
    return " ".join(words)


def _origin(grid: Grid, facts: list[Fact]) -> str:
    where = ", ".join(shortened(text, _LONGEST) for text in (grid.arch, grid.device) if text)
    confidences = sorted({fact.confidence or "of unknown confidence" for fact in facts})
    reason = _common([fact.confidence_reason for fact in facts if fact.confidence_reason])
    return (
        f"Measured on {where or 'an unknown device'} by {grid.source}: {' or '.join(confidences)}"
        f"{f' ({shortened(reason, _LONGEST)})' if reason else ''}."
    )


def _common(reasons: list[str]) -> str:
    """The reason, or of several what they begin with: "times differ from run to run: ± 0.8 %" and
    the like become "times differ from run to run"."""
    if len(set(reasons)) <= 1:
        return "".join(reasons[:1])
    return commonprefix(reasons).rpartition(":")[0] or f"{reasons[0]}, and others"


def _intervals(facts: list[Fact]) -> str:
    """Widths of the confidence intervals as shares of the values."""
    shares = [
        (fact.interval[1] - fact.interval[0]) / 2 / abs(fact.numeric)
        for fact in facts
        if fact.interval and fact.value
    ]
    if not shares:
        return ""
    return f"95 % confidence intervals: ± {100 * min(shares):.2g} % to ± {100 * max(shares):.2g} %."


def _runs(facts: list[Fact]) -> str:
    runs = sorted({(fact.run.time, fact.run.id, _commit(fact.run)) for fact in facts})
    if len(runs) == 1:
        return f"Run of {runs[0][0]}, {runs[0][2]}."
    return f"{len(runs)} runs, {runs[0][0]} to {runs[-1][0]}: the newest value of each size."


def _commit(run: Run) -> str:
    commit = f"commit {printable(run.commit[:12])}" if run.commit else "no commit"
    return commit + (" with changes" if run.dirty else "")


def _disturbance(facts: list[Fact]) -> str:
    """Disturbances that make times unfit for budgets."""
    found = [
        fact.machine.disturbance for fact in facts if fact.machine and fact.machine.disturbance
    ]
    reasons = "; ".join(shortened(reason, _LONGEST) for reason in sorted(set(found))[:3])
    return f"Disturbed, {len(found)} of {len(facts)} values: {reasons}." if found else ""

"""The report in Markdown, short enough for a chat or a mail."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from warpgauge.changes.change import Change
from warpgauge.page.cards import Card
from warpgauge.page.contents import Contents
from warpgauge.page.counts import counts
from warpgauge.page.generations import Matrix
from warpgauge.page.groups import FEW, OF_OTHERS, Group, label
from warpgauge.page.matrix_text import cell_text
from warpgauge.page.regressions import Regression
from warpgauge.page.report import Report
from warpgauge.page.rows import Finding, Move, Row
from warpgauge.page.runs_of_page import other_nights
from warpgauge.page.sections import before_text, change_text, factor_text, quantity
from warpgauge.repository import Range
from warpgauge.text import count, shortened

MOST = 10  # lines of each table
_LONGEST, _LONGEST_LINE = 120, 500  # characters of a text of the facts


def digest(contents: Contents, title: str, address: str | None = None) -> str:
    """Headline, counts, what is over budget or open, what got better, changes by cause, the largest
    ones, and the generations. With the address of the page's folder its title leads there."""
    report = contents.report
    night = report.last_night[-1]
    commit = f", commit {_code(night.commit[:10])}" if night.commit else ""
    lines = [f"# {_text(report.headline, _LONGEST_LINE)}", ""]
    name = f"[{_text(title)}](<{address}>)" if address else _text(title)
    lines += [f"{name}, night of {night.time:%Y-%m-%d}{commit}. {_counts(report)}."]
    if report.others:
        words = (
            f"{count(nights, 'night')} {_text(of)}" for of, nights in other_nights(report.others)
        )
        lines += ["", f"Left out: {'; '.join(words)}."]
    if report.misdated:
        dates = ", ".join(
            f"{_code(run.id)} ({run.time:%Y-%m-%d})" for run in report.misdated[:MOST]
        )
        lines += ["", f"**Left out, because only a wrong clock can have dated them:** {dates}"]
    if report.differences:
        lines += ["", "**The environment is not that of the night before:**", ""]
        lines += [
            f"- {_text(difference.what)}: {_code(difference.before)} → {_code(difference.after)}"
            for difference in report.differences
        ]
    lines += _over(contents) + _regressions(contents) + _wins(contents.wins)
    lines += _changes(report, contents.new)
    lines += _section("Suspected after one night", report.suspected)
    lines += _moved(report.moved) + _disturbed(report.disturbed)
    lines += _new_cases(report) + _generations(contents.matrix)
    return "\n".join(lines) + "\n"


def _counts(report: Report) -> str:
    return ", ".join(f"{counted.number:,} {counted.words}" for counted in counts(report))


def _regressions(contents: Contents) -> list[str]:
    """What earlier nights found or someone acknowledged; what is new stands among the changes."""
    listed = [
        regression
        for regression in contents.report.regressions
        if regression.age > 0 or not regression.is_open
    ]
    if not listed:
        return []
    head = ["", "## Worse, and not recovered", ""]
    head += ["| what | where | before | now | change | found | state |"]
    head += ["|---|---|--:|--:|--:|---|---|"]
    lines = [
        _regression(regression, contents.range_of(regression.move.change))
        for regression in listed[:MOST]
    ]
    lines += _left_out(len(listed))
    if still := next((regression for regression in listed if regression.is_open), None):
        command = _code(still.command, _LONGEST_LINE)
        lines += ["", f"If the first open one is meant to be so: {command}"]
    return [*head, *lines]


def _regression(regression: Regression, between: Range | None) -> str:
    change, now = regression.move.change, regression.move.now
    values = (_text(quantity(value, regression.move.key.unit)) for value in (now.before, now.after))
    state = "**open**" if regression.is_open else "acknowledged"
    if why := regression.rows[0].last.disturbance:
        state += f", newest night disturbed ({_text(why)})"
    if regression.back:
        state += f", recovered since {regression.back.time:%Y-%m-%d}, to be confirmed"
    if regression.known:
        state += f"{', was acknowledged' if regression.is_open else ''} {_text(regression.known)}"
    found = f"{change.detected.time:%Y-%m-%d}"
    if change.cause in OF_OTHERS:
        found += f": {_text(_why(change))}"
    if between and between.commits:
        found += f": {_text(between.summary)}"
    changed = _text(change_text(now))
    return _line([_what(regression.move), _where(regression.rows), *values, changed, found, state])


def _wins(found: Sequence[Card]) -> list[str]:
    head = ["", "## Got better", ""]
    return [*head, *map(_win, found[:MOST]), *_left_out(len(found))] if found else []


def _win(card: Card) -> str:
    """ "- `scan.decoupled.u32@1024` `registers`, sm_90, emulator: 22 → 16 registers/thread, −27 %;
    3f2a1c0d5e since 2026-01-15: ..."."""
    assert isinstance(card.first, Move) and card.group
    move, between = card.first, card.group.range
    before = before_text(move.now.before, move.key.unit)
    values = f"{before} → {quantity(move.now.after, move.key.unit)}"
    text = f"- {_what(move)}, {_where(card.places)}"
    text += "".join(f" and {count(number, words)}" for number, words in card.more)
    text += f": {_text(', '.join(filter(None, (values, factor_text(move.now)))))}"
    text += f"; {_text(card.group.label)} since {card.group.run.time:%Y-%m-%d}"
    return text + (f": {_text(between.summary)}" if between and between.commits else "")


def _changes(report: Report, found: Sequence[Group]) -> list[str]:
    if not report.new:
        return []
    listed = [line for group in found[:MOST] for line in _group(group)]
    head = ["", "## What changed", "", *listed, *_left_out(len(found))]
    return head + _table(report.new)


def _section(title: str, moves: Sequence[Move]) -> list[str]:
    return ["", f"## {title}", *_table(moves)] if moves else []


def _moved(moves: Sequence[Move]) -> list[str]:
    if not moves:
        return []
    head = ["", "## Moved by the machine, and not back", ""]
    head += [
        "| what | where | before | now | change | why | since |",
        "|---|---|--:|--:|--:|---|---|",
    ]
    lines = [
        _line([*_changed(move), _text(label(move.change)), f"{move.change.run.time:%Y-%m-%d}"])
        for move in moves[:MOST]
    ]
    return [*head, *lines, *_left_out(len(moves))]


def _disturbed(rows: Sequence[Row]) -> list[str]:
    lines = [
        f"- {_code(row.key.id)} {_code(row.key.metric)}, {_where((row,))}: "
        f"{_text(row.last.disturbance or '')}"
        for row in rows[:MOST]
    ]
    head = ["", "## Disturbed, and not compared", ""]
    return [*head, *lines, *_left_out(len(rows))] if rows else []


def _table(moves: Sequence[Move]) -> list[str]:
    head = ["", "| what | where | before | after | change | why |", "|---|---|--:|--:|--:|---|"]
    return [*head, *map(_change, moves[:MOST]), *_left_out(len(moves))]


def _group(group: Group) -> list[str]:
    """The group in a line, and a line for each of its newest commits."""
    parts = [_text(part.text) for part in group.parts[:FEW]]
    if (more := len(group.parts) - FEW) > 0:
        parts.append(count(more, "more metric"))
    lines = [f"- **{_text(group.label)}** ({_text(group.cause)}): {'; '.join(parts)}"]
    if group.range is None:
        return lines
    for commit in group.range.commits[:FEW]:
        lines.append(
            f"  - {_code(commit.hash[:10])} {_text(commit.subject)}, {_text(commit.author)}"
        )
    if (more := len(group.range.commits) - FEW) > 0:
        lines.append(f"  - {count(more, 'more commit')}")
    return lines


def _new_cases(report: Report) -> list[str]:
    if not report.new_cases:
        return []
    lines = [f"- {_code(rows[0].key.id)}" for rows in report.new_cases[:MOST]]
    return ["", "## New cases", "", *lines, *_left_out(len(report.new_cases))]


def _change(move: Move) -> str:
    return _line([*_changed(move), _text(_why(move.change))])


def _why(change: Change) -> str:
    """The cause, with versions where no commit is to blame."""
    named = label(change)
    if change.cause in OF_OTHERS and named != change.cause:
        return f"{change.cause}, {named}"
    return change.cause


def _changed(move: Move) -> list[str]:
    change, key = move.change, move.key
    sign = {"worse": "**worse**, ", "better": "better, "}.get(change.mark, "")
    values = (_text(quantity(value, key.unit)) for value in (change.before, change.after))
    return [_what(move), _where(move.rows), *values, sign + _text(change_text(change))]


def _over(contents: Contents) -> list[str]:
    found = contents.report.over
    if not found:
        return []
    head = ["", "## Over budget", "", "| what | where | value | budget | since | to blame |"]
    lines = [_finding(finding, contents.group_of(finding.rows[0])) for finding in found[:MOST]]
    return [*head, "|---|---|--:|--:|---|---|", *lines, *_left_out(len(found))]


def _finding(finding: Finding, group: Group | None) -> str:
    last, since = finding.last, finding.bad_since
    place = f"{last.file}:{last.line}" if last.line else last.file
    value = last.text if last.text is not None else last.value
    found = f"{since.time:%Y-%m-%d}" if since else ""
    if group and group.range and group.range.commits:
        found += f": {_text(group.range.summary)}"
    return _line(
        [
            _what(finding),
            _where(finding.rows),
            _text(quantity(value, finding.key.unit)),
            _text(last.budget or "none"),
            found,
            _code(place or ""),
        ]
    )


def _generations(matrix: Matrix) -> list[str]:
    if len(matrix.archs) < 2 or not matrix.rows:
        return []
    head = ["", "## Generations", "", f"Relative to {_text(matrix.archs[0])}:", ""]
    head += [_line(["metric", *map(_text, matrix.archs)]), "|---" * (len(matrix.archs) + 1) + "|"]
    rows = [
        _line([_code(metric.id), *(_text(cell_text(cell)) if cell else "" for cell in cells)])
        for metric, cells in matrix.rows[:MOST]
    ]
    return head + rows + _left_out(len(matrix.rows))


def _left_out(number: int) -> list[str]:
    return ["", f"{count(number - MOST, 'more line')} on the page."] if number > MOST else []


def _what(subject: Move | Finding) -> str:
    return f"{_code(subject.key.id)} {_code(subject.key.metric)}"


def _where(rows: Sequence[Row]) -> str:
    more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    return _text(rows[0].where) + more


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _text(text: str, longest: int = _LONGEST) -> str:
    """Text that is shown as it is: no markup of Markdown or HTML, no link, no cell's end."""
    text = html.escape(shortened(text, longest), quote=False)
    text = re.sub(r"[`*\[\]~#\\|@$]|\b_|_\b", lambda letter: f"&#{ord(letter[0])};", text)
    return text.replace("://", ":&#47;/")


def _code(text: str, longest: int = _LONGEST) -> str:
    """The same in the letters of code: in backticks, which a chat without HTML shows as well, where
    nothing in the text could end them or the cell."""
    if re.search(r"[`|$\\<&]|://", text) or text != text.strip():
        return f"<code>{_text(text, longest)}</code>" if text.strip() else ""
    return f"`{shortened(text, longest)}`" if text else ""

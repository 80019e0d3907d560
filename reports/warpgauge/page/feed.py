"""The feed: what got worse and what recovered, night by night, as Atom (RFC 4287).

An entry is what one night found of one cause and range of commits. Its id follows from these, so
that a reader that has seen it does not show it again; the times are those of the runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from urllib.parse import urlsplit

from warpgauge.changes.change import Change
from warpgauge.history import Run
from warpgauge.page.address import trend
from warpgauge.page.contents import Contents
from warpgauge.page.groups import Group
from warpgauge.page.rows import Move, matters, without_derived
from warpgauge.page.sections import before_text, change_text, quantity
from warpgauge.text import printable
from warpgauge.xml import element, escaped

MOST = 100  # entries
_ROWS = 20  # of an entry that are named


@dataclass(frozen=True, slots=True)
class Entry:
    """A group that a night, by its first run, found to be `what`: "worse" or "recovered"."""

    what: str
    night: Run
    updated: datetime
    group: Group

    @property
    def key(self) -> str:
        """The same whenever the feed is made."""
        group = self.group
        commits = group.base.commit or "", group.run.commit or ""
        parts = (self.what, self.night.id, group.cause, group.label, *commits, *group.key[-1])
        return blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()

    @property
    def title(self) -> str:
        parts = "; ".join(part.text for part in self.group.parts)
        return f"{'recovered: ' if self.what == 'recovered' else ''}{self.group.label}: {parts}"


def feed(contents: Contents, title: str, address: str) -> str:
    """The feed of a page; `address` is that of its folder, with a slash at the end."""
    host, path = urlsplit(address).hostname or "", urlsplit(address).path
    tag = f"tag:{host},{{date}}:{path}"
    entries = _entries(contents)
    last = contents.report.last_night[-1].time
    parts = [
        element("id", {}, escaped(tag.format(date="2026") + "feed")),
        element("title", {}, escaped(printable(title))),
        element("updated", {}, _moment(max([last, *(entry.updated for entry in entries)]))),
        element("author", {}, element("name", {}, escaped(printable(title)))),
        element("link", {"rel": "self", "href": f"{address}feed.xml"}),
        element("link", {"rel": "alternate", "type": "text/html", "href": address}),
        *(_entry(entry, tag, address) for entry in entries),
    ]
    about = {"xmlns": "http://www.w3.org/2005/Atom"}
    return f'<?xml version="1.0" encoding="utf-8"?>\n{element("feed", about, "".join(parts))}\n'


def _entry(entry: Entry, tag: str, address: str) -> str:
    identity = f"{tag.format(date=f'{entry.night.time:%Y-%m-%d}')}{entry.what}/{entry.key}"
    largest = _trend(entry.group.moves[0], address)
    return element(
        "entry",
        {},
        element("id", {}, escaped(identity))
        + element("title", {}, escaped(printable(entry.title)))
        + element("updated", {}, _moment(entry.updated))
        + element("link", {"rel": "alternate", "type": "text/html", "href": largest})
        + element("content", {"type": "html"}, escaped(_content(entry.group, address))),
    )


def _content(group: Group, address: str) -> str:
    """HTML: the commits, and the rows with links to their trends."""
    commits = group.range.commits if group.range else ()
    lines = [_safe(f"{commit.hash[:10]} {commit.subject}, {commit.author}") for commit in commits]
    rows = [_line(move, address) for move in group.moves]
    return "".join(_list(texts) for texts in (lines, rows) if texts)


def _list(texts: Sequence[str]) -> str:
    left_out = [f"and {len(texts) - _ROWS:,} more"] if len(texts) > _ROWS else []
    items = [f"<li>{text}</li>" for text in [*texts[:_ROWS], *left_out]]
    return f"<ul>{''.join(items)}</ul>"


def _safe(text: str) -> str:
    return escaped(printable(text))


def _trend(move: Move, address: str) -> str:
    return f"{address}{trend(move.key)}"


def _line(move: Move, address: str) -> str:
    change, key = move.change, move.key
    before, after = before_text(change.before, key.unit), quantity(change.after, key.unit)
    name = element("a", {"href": _trend(move, address)}, _safe(f"{key.id} {key.metric}"))
    words = f"on {move.rows[0].where}: {before} → {after}, {change_text(change)}"
    return f"{name} {_safe(words)}"


def _entries(contents: Contents) -> list[Entry]:
    """Those of the nights shown, the newest first."""
    firsts = {run.id: night[0] for night in contents.report.nights for run in night}
    found: dict[tuple[str, str], list[Move]] = defaultdict(list)
    for what, run, move in _events(contents):
        if run.id in firsts:
            found[what, firsts[run.id].id].append(move)
    entries = []
    for (what, night), moves in found.items():
        largest_first = sorted(without_derived(moves), key=lambda move: move.rank)
        for group in contents.groups(largest_first):
            updated = max(_run_of(what, move.change).time for move in group.moves)
            entries.append(Entry(what, firsts[night], updated, group))
    entries.sort(key=lambda entry: (entry.updated, entry.what, entry.key), reverse=True)
    return entries[:MOST]


def _events(contents: Contents) -> Iterator[tuple[str, Run, Move]]:
    """What happened, with the run that showed it."""
    for row in contents.report.rows:
        for change in row.changes:
            move = Move((row,), change)
            if change.mark != "worse" or not matters(move):
                continue
            yield "worse", change.detected, move
            if change.recovered:
                yield "recovered", change.recovered, move


def _run_of(what: str, change: Change) -> Run:
    return change.recovered if what == "recovered" and change.recovered else change.detected


def _moment(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")

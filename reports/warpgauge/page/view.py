"""Renders a report as one HTML file that needs nothing else: no network, no other file."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import cache, cached_property
from itertools import pairwise
from typing import Any
from urllib.parse import quote

import jinja2
from markupsafe import Markup, escape

from warpgauge.changes.change import Change
from warpgauge.history import Run
from warpgauge.history.nights import PAUSE
from warpgauge.page import generations, sections, speeds
from warpgauge.page.cards import FEW, Card
from warpgauge.page.contents import Contents
from warpgauge.page.counts import Count, counts
from warpgauge.page.elements import problems_with_elements
from warpgauge.page.encode import SHORT, compact
from warpgauge.page.groups import OF_OTHERS, label
from warpgauge.page.links import Links
from warpgauge.page.matrix_text import cell_text, gain, mean_change
from warpgauge.page.picture import Gallery
from warpgauge.page.report import RECENT
from warpgauge.page.rows import BAD, TIME, Row
from warpgauge.page.runs_of_page import other_nights
from warpgauge.page.sparkline import sparkline
from warpgauge.page.templates import css, file, templates
from warpgauge.text import count

MOST_ROWS = 200  # of a table that is written out; the rest is found by the page's search

GLANCE = 5  # cards that the first screen has room for
LEAST_WINS = 2  # of them are of what got better, also beside more of what got worse
FIRST_ROWS = 15  # of a long table; the others are folded
MOST_GROUPS = 50  # they share the MOST_ROWS, but each has FIRST_ROWS
FEW_COMMITS = 5  # of a group that are named, and metrics
_UPLOT = "third_party/uplot/"
SCRIPTS = (  # one script in the page, in this order
    *(_UPLOT + "uPlot.iife.min.js", "dom.js", "text.js", "data.js"),
    *("chart.js", "chart_scales.js", "chart_marks.js", "chart_points.js", "chart_view.js"),
    *("trends.js", "detail.js", "filter.js", "cases.js", "elements.js", "compare.js"),
    *("download.js", "tabs.js", "address.js", "page.js"),
)
_FOLDED = (
    ("moved", "beyond a budget because of the environment, with the same machine code"),
    ("waived", "over budget, or found by a check, with a waiver"),
    ("unmeasured", "unmeasured"),
    ("better", "better than the budget, which could be tightened"),
)
_SPEED_LABELS = (
    *("Time", "Bytes a second", "Of the peak", "Of the measured peak"),
    *("Operations a second", "Of the arithmetic's peak", "Times the yardstick's speed"),
)
_ERROR_LABELS = (
    *("Largest error / max(1, |reference|)", "Mean absolute error"),
    "Mean relative error",
)
_GLOBALS = {
    "folded_verdicts": _FOLDED,
    "speed_columns": list(zip(speeds.COLUMNS, _SPEED_LABELS, strict=True)),
    "error_columns": list(zip(sections.ERRORS, _ERROR_LABELS, strict=True)),
    "most": MOST_ROWS,
    "first": FIRST_ROWS,
    "of_others": OF_OTHERS,
    "most_groups": MOST_GROUPS,
    "few": FEW_COMMITS,
    "few_metrics": FEW,
    "recent": RECENT,
    "short": SHORT,
    "pause": PAUSE // timedelta(hours=1),
}
_SIGNS = {"bad": "✖", "attention": "▲", "good": "✔"}


class View:
    """The page: the members that its templates name."""

    def __init__(
        self,
        contents: Contents,
        galleries: Sequence[tuple[str, Gallery]],
        title: str,
        links: Links,
    ) -> None:
        self.report, self.title, self.links = contents.report, title, links
        self.matrix = contents.matrix
        self.archs = generations.archs_of(contents.values)
        self.resources = generations.resources(contents.values)
        self.speeds = _by_share(contents.speeds)
        self.copies = speeds.copies(contents.speeds)
        self.gpus = speeds.beside(contents.speeds)
        self.accuracy = sections.accuracy(self.report.current)
        self._counted = problems_with_elements(contents.values)
        self.groups, self.new, self.range_of = contents.groups, contents.new, contents.range_of
        self.blame_of, self.group_of = contents.blame_of, contents.group_of
        self.moved = contents.groups(self.report.moved)
        self.losses = _glance(contents.losses)
        self.wins = contents.wins[: max(GLANCE - len(self.losses), LEAST_WINS)]
        self.open, self.every_win = contents.open, contents.wins
        steps = generations.strip(contents.matrix)
        self.strip = steps if any(step.better or step.worse for step in steps) else []
        self._galleries = galleries

    @cached_property
    def _times(self) -> dict[str, list[Row]]:
        """Those of the last night, by case."""
        found: dict[str, list[Row]] = defaultdict(list)
        for row in self.report.current:
            if row.key.metric == TIME and row.age == 0 and row.last.value is not None:
                found[row.key.id].append(row)
        return found

    def held_times(self, row: Row) -> int:
        """Number of times of the case of a value that need not cost time, such as registers, if
        none of them is worse or suspected."""
        times = self._times.get(row.key.id, []) if row.metric.cost != "direct" else []
        return 0 if any(map(_may_be_worse, times)) else len(times)

    @property
    def sign(self) -> str:
        return _SIGNS[self.report.tone]

    @property
    def counts(self) -> list[Count]:
        return counts(self.report)

    @property
    def steady(self) -> int:
        """Number of series that never changed."""
        return sum(not row.changes for row in self.report.rows)

    @property
    def families(self) -> list[str]:
        return sorted({row.key.family for row in self.report.rows})

    @property
    def metrics(self) -> list[str]:
        return sorted({row.key.metric for row in self.report.rows})

    @property
    def shown_runs(self) -> list[Run]:
        """Those of the last two nights, the newest first."""
        nights = reversed(self.report.nights[-2:])
        return [run for night in nights for run in reversed(night)][:MOST_ROWS]

    def galleries(self, section: str) -> list[Gallery]:
        return [gallery for of, gallery in self._galleries if of == section]

    @property
    def css(self) -> Markup:
        return css(_UPLOT + "uPlot.min.css", "chart.css")

    @cached_property
    def script(self) -> Markup:
        return Markup("\n".join(file(name) for name in SCRIPTS))

    @property
    def script_hash(self) -> str:
        digest = hashlib.sha256(self.script.encode()).digest()
        return f"'sha256-{base64.b64encode(digest).decode()}'"

    @property
    def data(self) -> Markup:
        """The JSON that the script reads."""
        links = {"source": self.links.source, "commit": self.links.commit}
        extra: dict[str, Any] = {"links": links, "counted": self._counted}
        extra["bestSources"] = generations.SOURCES
        extra["blamed"] = self._blamed
        extra["nights"] = [len(night) for night in self.report.nights]  # runs; those shown are last
        data = f"{compact(extra)[:-1]},{self.report.data[1:]}"
        # "<" is the only letter of JSON that could end the element or begin a comment.
        return Markup(data.replace("<", "\\u003c"))

    @property
    def _blamed(self) -> dict[int, dict[int, str]]:
        """What the repository says of changes, by the numbers of row and point, where it is another
        commit than that of the run."""
        found: dict[int, dict[int, str]] = defaultdict(dict)
        for row in self.report.rows:
            for change in row.changes:
                blame = self.blame_of(change)
                if blame and blame.suspects and blame.text != (change.run.commit or "")[:10]:
                    found[row.number][change.index - row.hidden] = blame.text
        return found


def render(page: View) -> str:
    """The page."""
    return _environment(page.links).get_template("page.html.jinja").render(page=page)


@cache  # with the templates, which take longer to compile than a page takes
def _environment(links: Links) -> jinja2.Environment:
    filters: dict[str, Callable] = {
        "arrow": _arrow,
        "cell_text": cell_text,
        "label": label,
        "change_text": sections.change_text,
        "count": count,
        "night": lambda time: time.strftime("%-d %b %Y"),
        "number": sections.number,
        "other_nights": other_nights,
        "quantity": sections.quantity,
        "source_link": links.to_source,
        "commit_link": links.to_commit,
        "comparison_link": links.to_comparison,
        "spark": _spark,
        "breakable": _breakable,
        "before_text": sections.before_text,
        "factor_text": sections.factor_text,
        "mean_change": mean_change,
        "part": lambda text: quote(text, safe=""),
        "steps": pairwise,
        "tint_of": _tint,
        "tint": lambda cell, metric: _tint(gain(cell, metric)),
        "utc": _utc,
    }
    environment = templates()
    environment.filters.update(filters)
    environment.globals.update(_GLOBALS)
    return environment


def _may_be_worse(row: Row) -> bool:
    is_open = any(change.is_open for change in row.changes)
    return is_open or bool(row.suspicion or row.last.disturbance)


def _breakable(text: str) -> Markup:
    """A long name, of which a line may end after dots, slashes and at signs, and nowhere else."""
    return Markup(re.sub(r"([./@])", r"\1<wbr>", str(escape(text))))


def _arrow(change: Change) -> str:
    """Whether the value went up or down; nothing of words."""
    before, after = change.before, change.after
    if isinstance(before, str) or isinstance(after, str):
        return ""
    return "▲" if after > before else "▼"


def _spark(row: Row) -> Markup:
    known = [value for value in row.spark if value is not None]
    if not known:
        return Markup("trend")
    newest = sections.quantity(known[-1], row.key.unit)
    kind = " bad" if row.last.verdict in BAD else ""
    return sparkline(row.spark, f"{len(row.spark)} newest values, now {newest}{kind}")


def _glance(found: Sequence[Card]) -> list[Card]:
    """What the first screen has room for: some of both, those over budget first."""
    over = [card for card in found if card.findings]
    others = [card for card in found if not card.findings]
    shown = over[: max(GLANCE - len(others), GLANCE // 2 + 1)]
    return [*shown, *others[: GLANCE - len(shown)]]


def _by_share(timed: list[speeds.Speed]) -> list[speeds.Speed]:
    """Without copies, those with the largest share of the peak first; those without one last."""

    def share(speed: speeds.Speed) -> float:
        row = speed.values.get(speeds.PEAK)
        return -row.last.numeric if row else 0

    others = (speed for speed in timed if not speed.is_copy)
    return sorted(others, key=lambda speed: (share(speed), speed.id, speed.device))


def _tint(gain: float) -> str:
    """A background between the page's paper and its colour for better or worse."""
    name = "better" if gain > 0 else "worse"
    return f"background: color-mix(in srgb, var(--{name}) {abs(gain) * 48:.0f}%, var(--paper))"


def _utc(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")

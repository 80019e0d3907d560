"""The page of `warpgauge explain --html`: source with counts beside each line, and pictures of the
worst accesses, of one case or of two side by side. `explain --json` gives what it shows."""

from __future__ import annotations

import base64
import json
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from warpgauge.facts.catalog import Metric, catalog
from warpgauge.files import write_whole
from warpgauge.page.templates import css, templates

AROUND = 3  # lines shown above and below one that costs something


@dataclass(frozen=True, slots=True)
class Row:
    """A line of source, and what `explain --json` says of it (None: it costs nothing)."""

    number: int
    text: str
    counted: dict | None
    worst: bool
    after_gap: bool  # lines above it are left out

    @property
    def notes(self) -> list[str]:
        """Sentences below the line."""
        if self.counted is None:
            return []
        inlined = [self.counted["inlined"]] if self.counted["inlined"] else []
        return [*inlined, *self.counted["doubts"], *self.counted["cures"]]

    def count(self, metric: Metric) -> str:
        """The count with a mark if it is not exact; nothing for a sure zero."""
        if self.counted is None:
            return ""
        value = self.counted["values"].get(metric.id, 0)
        unsure = metric.id in self.counted["unsure"]
        if not value:
            return "?" if unsure else ""
        return ("~" if unsure else "") + f"{value:,.0f}"


class Side:
    """A case on the page, of the data of `explain --json`."""

    def __init__(self, data: dict) -> None:
        self.id, self.counted_by, self.static = data["id"], data["counted_by"], data["static"]
        self.pictures = data["pictures"]
        self._lines, self._sources = data["lines"], data["sources"]

    @cached_property
    def sums(self) -> dict[str, float]:
        """By metric, over all lines."""
        sums: dict[str, float] = {}
        for line in self._lines:
            for metric, value in line["values"].items():
                sums[metric] = sums.get(metric, 0) + value
        return sums

    def sum_text(self, metric: Metric) -> str:
        """The sum, with a mark if a line's count is not exact."""
        unsure = any(metric.id in line["unsure"] for line in self._lines)
        return ("~" if unsure else "") + f"{self.sums.get(metric.id, 0):,.0f}"

    @property
    def metrics(self) -> list[Metric]:
        """Those that count something, in the order of the table of metrics."""
        return [metric for metric in catalog().values() if self.sums.get(metric.id)]

    @property
    def is_exact(self) -> bool:
        return not any(line["unsure"] for line in self._lines)

    def files(self) -> Iterator[tuple[str, list[Row]]]:
        """Each file with its lines; a line is one of the worst if it wastes half as much as the
        line that wastes most."""
        most = max((line["waste"] for line in self._lines), default=0)
        counted = {(line["file"], line["line"]): line for line in self._lines}
        for source in self._sources:
            name, first = source["file"], source["first"]
            numbers = {first + i: text for i, text in enumerate(source["text"])}
            for file, number in counted:  # also where the source cannot be read
                if file == name:
                    numbers.setdefault(number, "")
            costly = [number for file, number in counted if file == name]
            rows: list[Row] = []
            for number, text in sorted(numbers.items()):
                if all(abs(number - one) > AROUND for one in costly):
                    continue
                line = counted.get((name, number))
                worst = line is not None and 0 < most <= 2 * line["waste"]
                gap = bool(rows) and number > rows[-1].number + 1
                rows.append(Row(number, text, line, worst, gap))
            yield name or "(no line information)", rows


def run(words: Sequence[str]) -> int:
    """Writes the page and returns the exit code. `words` are those that the program hands on:
    FILE PROGRAM ID [ID] [OPTION]."""
    place, program, *rest = words
    options = [word for word in rest if word.startswith("--")]
    sides = []
    for case in (word for word in rest if not word.startswith("--")):
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder, "case.json")
            command = [program, "explain", case, f"--json={data}", *options]
            ended = subprocess.run(command, check=False)
            if ended.returncode != 0:
                return ended.returncode  # it said why
            sides.append(Side(json.loads(data.read_bytes())))
    write_whole(Path(place), render(sides).encode("utf-8"))
    print(f"page: {place}")
    return 0


def render(sides: Sequence[Side]) -> str:
    """The page of one case, or of two side by side."""
    environment = templates()
    environment.filters["base64"] = lambda text: base64.b64encode(text.encode("utf-8")).decode()
    shown = {metric.id for side in sides for metric in side.metrics}
    metrics = [metric for metric in catalog().values() if metric.id in shown]
    page = environment.get_template("explain.html.jinja")
    return page.render(sides=sides, metrics=metrics, css=css("explain.css"), change=_change)


def _change(metric: Metric, sides: Sequence[Side]) -> str:
    """ "better", "worse" or nothing, from the first case to the second."""
    before, after = (side.sums.get(metric.id, 0) for side in sides)
    if before == after or metric.direction == "none":
        return ""
    return "better" if (after < before) == (metric.direction == "lower") else "worse"

"""A run of a case as `explain --json` wrote it, line by line."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from jsonschema_rs import Draft202012Validator

from warpgauge.documents import read_document
from warpgauge.errors import CommandError
from warpgauge.facts import contract
from warpgauge.facts.catalog import Metric, catalog

SCHEMA = "warpgauge.explain/1"
REMEDY = "write it with `warpgauge explain ID --json FILE`"
AROUND = 3  # lines shown above and below one that costs something

Line = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Code:
    """The machine code that a kernel has on a line."""

    kernel: str
    instructions: Sequence[dict[str, Any]]

    def __len__(self) -> int:
        return len(self.instructions)

    @property
    def text(self) -> str:
        """An instruction a line: address, SASS if there is any, PTX."""
        width = max(len(code["sass"]) for code in self.instructions)
        return "\n".join(
            f"{code['address']:#06x}  {code['sass']:{width}}  {code['ptx']}".rstrip()
            for code in self.instructions
        )


@dataclass(frozen=True, slots=True)
class Row:
    """A line of source, and what it costs (None: nothing)."""

    number: int
    text: str
    counted: Line | None
    code: Sequence[Code]
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
        """The count; nothing for a sure zero."""
        text = count_text(self.counted, metric)
        return "" if text == "0" else text


def count_text(line: Line | None, metric: Metric) -> str:
    """The count of a line, with a mark if it is not exact."""
    if line is None:
        return "0"
    value = line["values"].get(metric.id, 0)
    if metric.id not in line["unsure"]:
        return f"{value:,.0f}"
    return f"~{value:,.0f}" if value else "?"


class Explained:
    """A run of a case. `name` tells it from the other one beside it."""

    def __init__(self, data: dict[str, Any], name: str = "") -> None:
        self.id, self.counted_by, self.static = data["id"], data["counted_by"], data["static"]
        self.name = name or self.id
        self.pictures, self.code_note = data["pictures"], data["machine_code"]["note"]
        self._lines, self._sources = data["lines"], data["sources"]
        self.counted = {(line["file"], line["line"]): line for line in self._lines}
        self._code: dict[tuple[str, int], list[Code]] = defaultdict(list)
        for line in data["machine_code"]["lines"]:
            if line["instructions"]:
                code = Code(line["kernel"], line["instructions"])
                self._code[line["file"], line["line"]].append(code)

    @cached_property
    def sums(self) -> dict[str, float]:
        """By metric, over all lines."""
        sums: dict[str, float] = defaultdict(float)
        for line in self._lines:
            for metric, value in line["values"].items():
                sums[metric] += value
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

    @cached_property
    def texts(self) -> dict[str, dict[int, str]]:
        """The source lines that are known, by file and number; "" where the source is not."""
        texts: dict[str, dict[int, str]] = {}
        for source in self._sources:
            numbered = enumerate(source["text"], start=source["first"])
            texts.setdefault(source["file"], {}).update(numbered)
        for file, number in (*self.counted, *self._code):
            texts.setdefault(file, {}).setdefault(number, "")
        return {file: dict(sorted(lines.items())) for file, lines in texts.items()}

    def files(self) -> Iterator[tuple[str, list[Row]]]:
        """Each file with its lines; a line is one of the worst if it wastes half as much as the
        line that wastes most."""
        most = max((line["waste"] for line in self._lines), default=0)
        for name, texts in self.texts.items():
            shown = {number for file, number in (*self.counted, *self._code) if file == name}
            rows: list[Row] = []
            for number, text in texts.items():
                if shown.isdisjoint(range(number - AROUND, number + AROUND + 1)):
                    continue
                line, code = self.counted.get((name, number)), self._code.get((name, number), ())
                worst = line is not None and 0 < most <= 2 * line["waste"]
                gap = bool(rows) and number > rows[-1].number + 1
                rows.append(Row(number, text, line, code, worst, gap))
            yield name or "(no line information)", rows


def read_explained(path: Path, name: str = "") -> Explained:
    """The run of a file. Raises CommandError if the file has none."""
    document = read_document(path, SCHEMA, REMEDY)
    try:
        contract.hold(_validator(), document)
    except ValueError as error:
        raise CommandError(f"{path}: does not match {SCHEMA}: {error}; {REMEDY}") from error
    return Explained(document, name)


@cache
def _validator() -> Draft202012Validator:
    text = resources.files(__package__).joinpath("explain.schema.json").read_text("utf-8")
    return Draft202012Validator(json.loads(text))

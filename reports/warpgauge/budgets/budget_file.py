"""Rewrites a budget file line by line: lines that have not moved keep every byte.

metrics/budgets/budget.h says which line holds for a case; this is the same order of precedence.
"""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import tomlkit

from warpgauge.budgets.limits import Limit, fault_of, toml_string, toml_value
from warpgauge.errors import CommandError
from warpgauge.facts.archs import arch_order, is_arch
from warpgauge.facts.catalog import unknown_metric
from warpgauge.facts.records import Fact
from warpgauge.files import read_whole

_WHERE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


_WAIVERS = "waive"
_SUREST_FIRST = ("exact", "predicted", "estimate")


class Place(NamedTuple):
    """A table of a budget file: a section, or that of an architecture within it."""

    section: str
    arch: str | None

    def header(self) -> str:
        """The line with which the table begins."""
        name = self.section if self.section == "default" else toml_string(self.section)
        return f"[{name}.{self.arch}]" if self.arch else f"[{name}]"


def rank(place: Place) -> tuple[int, str]:
    """Sorts tables: those for all architectures first, then those of single ones in order."""
    return arch_order(place.arch)


class BudgetFile:
    """The text of one budgets.toml, and what it says."""

    def __init__(self, path: Path, name: str) -> None:
        """Reads `path`, called `name` in messages; a missing file is empty. Raises CommandError for
        a file that cannot be read, and for invalid limits."""
        self.path, self.name = path, name
        try:
            self.original = _content(path)
            self.text = (self.original or b"").decode("utf-8")
        except OSError as error:
            raise CommandError(f"{name}: cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise CommandError(f"{name}: cannot be read: {error}") from error
        self.tables = _parsed(self.text, name)
        self._blocks_read = _blocks(self.text.split("\n"))
        for place, metric, limit in _limits(self.tables):
            if metric == _WAIVERS:
                continue
            fault = fault_of(limit)
            problem = f"the limit of '{metric}' {fault}" if fault else unknown_metric(metric)
            if problem:
                where = f"{name}:{self._line_number(place, metric)}"
                raise CommandError(f"{where}: {problem}; correct the file first")

    def sections_of(self, fact: Fact) -> list[str]:
        """The sections that can hold for a case, the most special first. Those of a program's
        kernels are globs, which C++ matches: here the one whose line has held for the fact."""
        case = fact.case
        kind = f"{case.variant}.{case.type}"
        if not case.is_of_program:
            return [f"{kind}@{case.size}", kind, case.variant, "default"]
        return list(dict.fromkeys([kind, *self._section_that_held(fact), "default"]))

    def places_of(self, fact: Fact) -> list[Place]:
        """The tables that can hold for a fact, the most special first."""
        archs = [fact.arch] if fact.arch else []
        return [Place(name, arch) for name in self.sections_of(fact) for arch in [*archs, None]]

    def _section_that_held(self, fact: Fact) -> list[str]:
        path, _, line = fact.limit.origin.rpartition(":") if fact.limit else ("", "", "")
        if PurePath(path).name != self.path.name or not line.isdecimal():
            return []
        return [b.place.section for b in self._blocks_read if b.first < int(line) <= b.last + 1]

    def judges(self, confidence: str) -> bool:
        """Whether the gate judges counts of this confidence by the file: those at least as sure as
        its `gate_on`."""
        gate_on = self.tables.get("gate_on", "exact")
        return gate_on in _SUREST_FIRST[_SUREST_FIRST.index(confidence) :]

    def limit(self, place: Place, metric: str) -> Limit | None:
        """The limit in one table, or None."""
        table = self.tables.get(place.section, {})
        if place.arch is not None and isinstance(table, dict):
            table = table.get(place.arch, {})
        return table.get(metric) if isinstance(table, dict) else None

    def holder(self, fact: Fact) -> Place | None:
        """The table whose line holds for a fact; None where none does: a built-in default, or no
        budget at all."""
        found = (p for p in self.places_of(fact) if self.limit(p, fact.metric) is not None)
        return next(found, None)

    def archs_with(self, section: str, metric: str) -> set[str]:
        """The architectures for which a section has a line of their own for a metric."""
        table = self.tables.get(section, {})
        archs = table if isinstance(table, dict) else {}
        own = {a for a in archs if is_arch(a)}
        return {a for a in own if self.limit(Place(section, a), metric) is not None}

    def set(self, place: Place, metric: str, limit: Limit) -> None:
        """Writes one line: in place of the one that is there, at the end of the table, or in a new
        table behind its next of kin. Raises CommandError if that cannot be done by lines."""
        if place.arch is not None and not is_arch(place.arch):
            raise CommandError(f"{self.name}: '{place.arch}' is not an architecture such as sm_90")
        expected = copy.deepcopy(self.tables)
        table = expected.setdefault(place.section, {})
        if place.arch is not None:
            table = table.setdefault(place.arch, {})
        table[metric] = limit
        lines = self.text.split("\n")
        text = "\n".join(self._rewritten(lines, place, metric, limit))
        try:
            is_right = tomllib.loads(text) == expected
        except tomllib.TOMLDecodeError:
            is_right = False
        if not is_right:
            raise CommandError(
                f"{self.name}: {place.header()} {metric} cannot be rewritten by itself; give it a "
                "line of its own in a section of its own, or write the new limit by hand: "
                f"{toml_value(limit)}"
            )
        self.text, self.tables = text, expected

    def rests_on(self, place: Place, fact: Fact) -> bool:
        """Whether another line of the file would hold for a fact without that of this table."""
        others = (p for p in self.places_of(fact) if p != place)
        return any(self.limit(p, fact.metric) is not None for p in others)

    def remove(self, place: Place, metric: str) -> bool:
        """Takes the line away, if it is there, and a table that is empty then. False, and nothing
        changes, where it does not stand by itself."""
        if self.limit(place, metric) is None:
            return True
        lines = self.text.split("\n")
        own = [block for block in _blocks(lines) if block.place == place]
        number = _number_of(lines, own[0], metric) if own else None
        if number is None:
            return False
        first = number
        if own[0].first + 1 == number == own[0].last:  # alone in its table
            first = own[0].first
            first -= first > 0 and not lines[first - 1].strip()
        text = "\n".join(lines[:first] + lines[number + 1 :])
        tables = _parsed(text, self.name)
        expected = [limit for limit in _limits(self.tables) if limit[:2] != (place, metric)]
        if list(_limits(tables)) != expected:
            return False
        self.text, self.tables = text, tables
        return True

    def _line_number(self, place: Place, metric: str) -> int:
        """The line of a limit, from 1; that of its table where it has none of its own."""
        lines = self.text.split("\n")
        for block in _blocks(lines):
            if block.place == place:
                number = _number_of(lines, block, metric)
                return (block.first if number is None else number) + 1
        return 1

    def _rewritten(self, lines: list[str], place: Place, metric: str, limit: Limit) -> list[str]:
        end = "\r" if "\r\n" in self.text else ""
        new = f"{_key(metric)} = {toml_value(limit)}{end}"
        blocks = _blocks(lines)
        own = [block for block in blocks if block.place == place]
        if not own:
            return self._with_table(lines, blocks, place, [place.header() + end, new], end)
        number = _number_of(lines, own[0], metric)
        if number is not None:
            line = _replaced(lines[number], metric, limit)
            return [*lines[:number], line, *lines[number + 1 :]]
        behind = own[0].last + 1
        return [*lines[:behind], new, *lines[behind:]]

    def _with_table(
        self, lines: list[str], blocks: list[_Block], place: Place, new: list[str], end: str
    ) -> list[str]:
        kind = place.section.partition("@")[0]
        for relatives in (
            [b for b in blocks if b.place.section == place.section],
            [b for b in blocks if b.place.section.partition("@")[0] == kind],
            [b for b in blocks if b.place.section.partition(".")[0] == kind.partition(".")[0]],
        ):
            if relatives:
                behind = relatives[-1].last + 1
                return [*lines[:behind], end, *new, *lines[behind:]]
        while lines and not lines[-1].strip():
            lines = lines[:-1]
        return [*lines, *([end] if lines else []), *new, ""]


def _content(path: Path) -> bytes | None:
    """The bytes of a file; None where there is none."""
    try:
        return read_whole(path)
    except FileNotFoundError:
        return None


class _Block(NamedTuple):
    """A table of a file: the numbers of its header and of its last line that says something."""

    place: Place
    first: int
    last: int


def _blocks(lines: list[str]) -> list[_Block]:
    found: list[_Block] = []
    for number, line in enumerate(lines):
        if line.lstrip().startswith("["):
            names = _names(_line(line))
            found.append(_Block(Place(names[0], (names + [None])[1]), number, number))
        elif found and line.strip() and not line.lstrip().startswith("#"):
            found[-1] = found[-1]._replace(last=number)
    return found


def _number_of(lines: list[str], block: _Block, metric: str) -> int | None:
    """The number of the line of a table that holds a metric, from 0."""
    numbers = range(block.first + 1, block.last + 1)
    return next((n for n in numbers if metric in _line(lines[n])), None)


def _limits(tables: dict[str, Any]) -> Iterator[tuple[Place, str, object]]:
    """All entries in the places of limits, valid or not, and the waivers of findings there."""
    for section, table in tables.items():
        for name, entry in table.items() if isinstance(table, dict) else ():
            if is_arch(name) and isinstance(entry, dict):
                yield from ((Place(section, name), *limit) for limit in entry.items())
            else:
                yield Place(section, None), name, entry


def _names(header: dict[str, Any]) -> list[str]:
    names = []
    while header and isinstance(header, dict):  # the end of [[variant.waive]] is a list
        ((name, header),) = header.items()
        names.append(name)
    return names or [""]


def _line(line: str) -> dict[str, Any]:
    """The content of a line by itself; nothing if it is part of something."""
    try:
        return tomllib.loads(line.rstrip("\r") + "\n")
    except tomllib.TOMLDecodeError:
        return {}


def _replaced(line: str, metric: str, limit: Limit) -> str:
    """The line with another limit: indent, name, comment and line end stay as they are."""
    body = line.rstrip("\r")
    document = tomlkit.parse(body)
    document[metric] = tomlkit.parse(f"x = {toml_value(limit)}")["x"]
    return tomlkit.dumps(document) + line[len(body) :]


def _key(metric: str) -> str:
    return metric if re.fullmatch(r"[A-Za-z0-9_-]+", metric) else toml_string(metric)


def _parsed(text: str, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        where = _WHERE.search(str(error))
        at = f":{where[1]}:{where[2]}" if where and where[1] else ""
        problem = _WHERE.sub("", str(error))
        raise CommandError(f"{name}{at}: {problem}; correct the file first") from error

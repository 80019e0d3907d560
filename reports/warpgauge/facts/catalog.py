"""The table of metrics (metrics/facts/catalog.toml)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from warpgauge.text import nearest


@dataclass(frozen=True, slots=True)
class Metric:
    """One row; the head of the table explains the columns. `cls` is the class, and `cupti_names`
    are the counters of CUPTI that the value is computed from, those of `formula` included. Texts
    that the table does not have are empty."""

    id: str
    unit: str
    direction: str
    cost: str
    cls: str
    source: str
    formula: str
    cupti_names: tuple[str, ...]
    meaning: str
    good: str
    cure: str
    ideal: str
    built_in: int | None
    nsight_names: tuple[str, ...]

    def is_better(self, before: float, after: float) -> bool | None:
        """Whether a value moved to the better side; None where no side is, or it did not move."""
        if self.direction == "none" or before == after:
            return None
        return (after < before) == (self.direction == "lower")

    @property
    def is_word(self) -> bool:
        """Whether values are words (names of resources) and not numbers."""
        return self.unit == "resource"


class Catalog(Mapping[str, Metric]):
    """The metrics by their id. Those that are written down are listed, in the order of the table; a
    hardware counter, "counter.NAME", is there by its shape, as in metrics/facts/counter_row.h."""

    def __init__(self, table: dict[str, dict[str, Any]]) -> None:
        rows = dict(table)
        self._of_counters = rows.pop("counter.*")
        self._shape = re.compile(f"counter\\.({self._of_counters.pop('pattern')})")
        self._longest = self._of_counters.pop("longest")
        self._units = self._of_counters.pop("units")
        self._rows = {id: _metric(id, **columns) for id, columns in rows.items()}
        self._listed = tuple(self._rows)

    def __getitem__(self, name: str) -> Metric:
        if name not in self._rows:
            self._rows[name] = self._counter(name)
        return self._rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._listed)

    def __len__(self) -> int:
        return len(self._listed)

    def in_order(self, names: Iterable[str]) -> list[str]:
        """Names of metrics in the order of the table, counters last."""
        known = set(names)
        return [*(name for name in self if name in known), *sorted(known - set(self._listed))]

    def _counter(self, name: str) -> Metric:
        shape = self._shape.fullmatch(name)
        if shape is None or len(shape[1]) > self._longest:
            raise KeyError(name)
        unit = next(unit for ending, unit in self._units if name.endswith(ending))
        return _metric(
            name, unit=unit, formula=shape[1], nsight_names=[shape[1]], **self._of_counters
        )


@cache
def catalog() -> Catalog:
    """All metrics."""
    text = resources.files(__package__).joinpath("catalog.toml").read_text("utf-8")
    return Catalog(tomllib.loads(text))


def unknown_metric(name: str) -> str | None:
    """A sentence for a name that no metric has, with the nearest one; None for that of a metric."""
    if name in catalog():
        return None
    meant = nearest(name, catalog())
    return f"unknown metric '{name}'{f', did you mean {meant!r}?' if meant else ''}"


def _metric(id: str, *, source: str, formula: str = "", **columns: Any) -> Metric:
    if source == "cupti-range":
        names = re.findall(r"[A-Za-z_][\w.]*", formula)
        columns["cupti_names"] = dict.fromkeys(names)
    return Metric(
        id=id,
        unit=columns["unit"],
        direction=columns["direction"],
        cost=columns.get("cost", "direct"),
        cls=columns["class"],
        source=source,
        formula=formula,
        cupti_names=tuple(columns.get("cupti_names", ())),
        meaning=_on_one_line(columns["meaning"]),
        good=_on_one_line(columns["good"]),
        cure=_on_one_line(columns["cure"]),
        ideal=columns.get("ideal", ""),
        built_in=columns.get("built_in"),
        nsight_names=tuple(columns.get("nsight_names", ())),
    )


def _on_one_line(text: str) -> str:
    return text.replace("\n", " ")

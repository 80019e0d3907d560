"""The table of metrics, as `warpgauge metrics --json` prints it (metrics/facts/catalog.json)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any


@dataclass(frozen=True, slots=True)
class Metric:
    """One row; the columns are those of metrics/facts/catalog.h.

    `direction` is the better one: "lower", "higher" or "none" (a description). `cost` is "direct",
    "occupancy" where a worse value costs nothing while occupancy.theoretical stays, or "size" where
    it costs nothing while it grows little. `cls` is "exact" (repeats to the last digit), "bounded"
    (noisy) or "info" (never judged). `meaning`, `good` and `cure` are a sentence each. `ideal` is
    the metric that budgets can be a multiple of, or "". `nsight_names`: Nsight Compute's count that
    is this one; of several, the first without the others.
    """

    id: str
    unit: str
    direction: str
    cost: str
    cls: str
    source: str
    cupti_names: tuple[str, ...]
    meaning: str
    good: str
    cure: str
    ideal: str
    nsight_names: tuple[str, ...]

    @property
    def is_word(self) -> bool:
        """Whether values are words (names of resources) and not numbers."""
        return self.unit == "resource"


class Catalog(Mapping[str, Metric]):
    """The metrics by their id. Those that are written down are listed, in the order of the table; a
    hardware counter, "counter.NAME", is there by its shape, as in metrics/facts/counter_row.h."""

    def __init__(self, table: dict[str, Any]) -> None:
        self._rows = {row["id"]: _metric(**row) for row in table["metrics"]}
        self._listed = tuple(self._rows)
        self._of_counters = table["counter"]
        prefix = re.escape(self._of_counters.pop("prefix"))
        self._shape = re.compile(f"{prefix}({self._of_counters.pop('pattern')})")
        self._units = self._of_counters.pop("units")

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
        if shape is None or len(shape[1]) > _LONGEST_COUNTER:
            raise KeyError(name)
        unit = next(unit for ending, unit in self._units if name.endswith(ending))
        return _metric(
            id=name, unit=unit, cupti_names=[shape[1]], nsight_names=[shape[1]], **self._of_counters
        )


_LONGEST_COUNTER = 256


@cache
def catalog() -> Catalog:
    """All metrics."""
    text = resources.files(__package__).joinpath("catalog.json").read_text("utf-8")
    return Catalog(json.loads(text))


def _metric(*, cupti_names: list[str], nsight_names: list[str], **columns: str) -> Metric:
    return Metric(
        cls=columns.pop("class"),
        cupti_names=tuple(cupti_names),
        nsight_names=tuple(nsight_names),
        **columns,
    )

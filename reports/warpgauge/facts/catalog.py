"""The table of metrics, as `warpgauge metrics --json` prints it (metrics/catalog.json)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True, slots=True)
class Metric:
    """One row; the columns are those of metrics/catalog.h.

    `direction` is the better one: "lower", "higher" or "none" (a description). `cost` is "direct",
    or "occupancy" where a worse value costs nothing while occupancy.theoretical stays. `cls` is
    "exact" (repeats to the last digit), "bounded" (noisy) or "info" (never judged). `meaning`,
    `good` and `cure` are a sentence each. `ideal` is the metric that budgets can be a multiple of,
    or "".
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

    @property
    def is_word(self) -> bool:
        """Whether values are words (names of resources) and not numbers."""
        return self.unit == "resource"


@cache
def catalog() -> dict[str, Metric]:
    """All metrics by their id, in the order in which they are listed."""
    text = resources.files(__package__).joinpath("catalog.json").read_text("utf-8")
    return {row["id"]: _metric(**row) for row in json.loads(text)["metrics"]}


def _metric(*, cupti_names: list[str], **columns: str) -> Metric:
    return Metric(cls=columns.pop("class"), cupti_names=tuple(cupti_names), **columns)

"""The series that someone names."""

from __future__ import annotations

from collections.abc import Collection

from warpgauge.errors import CommandError
from warpgauge.facts.case_filter import fits
from warpgauge.history.model import SeriesKey
from warpgauge.history.store import History
from warpgauge.text import nearest


def matching(history: History, pattern: str) -> list[SeriesKey]:
    """The series that match, in the order of the history. Raises CommandError if there are none.

    The pattern is CASE/METRIC, CASE/METRIC/ARCH or CASE/METRIC/ARCH/DEVICE, or a glob of these.
    """
    keys = history.keys()
    found = [key for key in keys if _matches(key, pattern)]
    if not found:
        raise CommandError(_unknown(history.name, keys, pattern))
    return found


def _matches(key: SeriesKey, pattern: str) -> bool:
    """Whether the pattern is one of the names of a series, or a glob of one."""
    return any(pattern == name or fits(pattern, name) for name in key.names)


def _unknown(where: str, keys: Collection[SeriesKey], pattern: str) -> str:
    meant = nearest(pattern, {f"{key.id}/{key.metric}" for key in keys})
    hint = f"did you mean '{meant}'?" if meant else "SERIES is CASE/METRIC, as the page shows it"
    return f"{where}: no series matches '{pattern}'; {hint}"

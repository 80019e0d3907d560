"""The series of a history that someone names because they got worse."""

from __future__ import annotations

from collections.abc import Collection

from warpgauge.errors import CommandError
from warpgauge.facts.case_filter import fits
from warpgauge.history import History, RunChoice, Series, SeriesKey
from warpgauge.text import nearest


def worse_series(history: History, pattern: str, runs: RunChoice) -> list[Series]:
    """Those that match, got worse in these runs and have not recovered; CommandError where there
    are none.

    The pattern is CASE/METRIC, CASE/METRIC/ARCH or CASE/METRIC/ARCH/DEVICE, or a glob of these.
    """
    keys = history.keys()
    chosen = {key for key in keys if _matches(key, pattern)}
    if not chosen:
        raise CommandError(_unknown(history.name, keys, pattern))
    from warpgauge.changes.series import is_regressed  # loading the analysis takes a second

    found = [
        series
        for family, metric in sorted({(key.family, key.metric) for key in chosen})
        for series in history.series(family, metric, runs=runs)
        if series.key in chosen and is_regressed(series)
    ]
    if not found:
        raise CommandError(
            f"{history.name}: nothing got worse: of {len(chosen)} series that match '{pattern}' "
            "none is worse than before, but for what driver or environment moved"
        )
    return found


def _matches(key: SeriesKey, pattern: str) -> bool:
    """Whether the pattern is one of the names of a series, or a glob of one."""
    return any(pattern == name or fits(pattern, name) for name in key.names)


def _unknown(where: str, keys: Collection[SeriesKey], pattern: str) -> str:
    meant = nearest(pattern, {f"{key.id}/{key.metric}" for key in keys})
    hint = f"did you mean '{meant}'?" if meant else "SERIES is CASE/METRIC, as the page shows it"
    return f"{where}: no series matches '{pattern}'; {hint}"

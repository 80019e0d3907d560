"""The series of a history that someone names because they got worse."""

from __future__ import annotations

from warpgauge.errors import CommandError
from warpgauge.history import History, RunChoice, Series, matching


def worse_series(history: History, pattern: str, runs: RunChoice) -> list[Series]:
    """The series that match, got worse in these runs and have not recovered. Patterns are those of
    matching(). Raises CommandError if there are none."""
    chosen = set(matching(history, pattern))
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

"""Groups runs into nights."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from warpgauge.history.model import Run

# Nightly jobs begin before midnight and end after it, in any time zone, and the machines of several
# GPUs begin hours apart: days of the calendar would cut nights in two.
PAUSE = timedelta(hours=6)
LONGEST = timedelta(hours=24)  # where something runs all the time
_FIRST = datetime(2020, 1, 1, tzinfo=UTC)  # before it there was nothing that writes these facts


def is_possible(time: datetime, now: datetime | None = None) -> bool:
    """False for a time that only a wrong clock can have given. Up to `PAUSE` ahead of this machine
    a run cannot become a night of its own."""
    return _FIRST <= time <= (now or datetime.now(UTC)) + PAUSE


def nights_of(runs: Iterable[Run], now: datetime | None = None) -> list[list[Run]]:
    """The runs by nights, both oldest first, without those whose time is impossible. A night ends
    where no run begins for more than `PAUSE`, or when it is `LONGEST` old. Runs that come later in
    time leave the nights before as they are."""
    nights: list[list[Run]] = []
    possible = (run for run in runs if is_possible(run.time, now))
    for run in sorted(possible, key=lambda run: (run.time, run.id)):
        night = nights[-1] if nights else []
        if night and run.time - night[-1].time <= PAUSE and run.time - night[0].time < LONGEST:
            night.append(run)
        else:
            nights.append([run])
    return nights

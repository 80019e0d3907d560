"""Groups runs into nights."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from warpgauge.history.model import Run

# Nightly jobs begin before midnight and end after it, in any time zone, and the machines of several
# GPUs begin hours apart: days of the calendar would cut nights in two.
PAUSE = timedelta(hours=6)
LONGEST = timedelta(hours=24)  # where something runs all the time


def nights_of(runs: Iterable[Run]) -> list[list[Run]]:
    """The runs by nights, both oldest first. A night ends where no run begins for more than
    `PAUSE`, or when it is `LONGEST` old. Runs that come later in time leave the nights before as
    they are."""
    nights: list[list[Run]] = []
    for run in sorted(runs, key=lambda run: (run.time, run.id)):
        night = nights[-1] if nights else []
        if night and run.time - night[-1].time <= PAUSE and run.time - night[0].time < LONGEST:
            night.append(run)
        else:
            nights.append([run])
    return nights

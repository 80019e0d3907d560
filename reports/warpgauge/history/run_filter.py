"""Which runs a command takes: the options --branch and --label, and those of `report export`."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple, Protocol

from warpgauge.history.model import Run


class RunChoice(Protocol):
    """What a command takes of the runs: a RunFilter, or the runs of a page."""

    def takes(self, run: Run) -> bool: ...


class RunFilter(NamedTuple):
    """Runs that agree with all members that are not None. Most runs have no branch and no label:
    an empty text takes these. Days are of UTC, and the last one is taken, too."""

    branch: str | None = None
    label: str | None = None
    id: str | None = None
    since: date | None = None
    until: date | None = None

    def takes(self, run: Run) -> bool:
        wanted = ((self.branch, run.branch or ""), (self.label, run.label or ""), (self.id, run.id))
        if any(text is not None and text != of_run for text, of_run in wanted):
            return False
        day = run.time.date()
        return (self.since or day) <= day <= (self.until or day)


EVERY_RUN = RunFilter()

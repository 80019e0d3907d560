"""The history of all runs, in a database. Only this package uses the database."""

from warpgauge.history.matching import matching
from warpgauge.history.model import Acknowledgement, Device, Point, Run, Series, SeriesKey
from warpgauge.history.nights import is_possible, nights_of
from warpgauge.history.pruner import Keep, PruneResult
from warpgauge.history.run_filter import EVERY_RUN, RunChoice, RunFilter
from warpgauge.history.store import History, open_history
from warpgauge.history.writer import IngestResult

__all__ = [
    "EVERY_RUN",
    "Acknowledgement",
    "Device",
    "History",
    "IngestResult",
    "Keep",
    "Point",
    "PruneResult",
    "Run",
    "RunChoice",
    "RunFilter",
    "Series",
    "SeriesKey",
    "is_possible",
    "matching",
    "nights_of",
    "open_history",
]

"""The history of all runs, in a database. Only this package uses the database."""

from warpgauge.history.model import Device, Point, Run, Series, SeriesKey
from warpgauge.history.nights import nights_of
from warpgauge.history.pruner import Keep, PruneResult
from warpgauge.history.store import History, open_history
from warpgauge.history.writer import IngestResult

__all__ = [
    "Device",
    "History",
    "IngestResult",
    "Keep",
    "Point",
    "PruneResult",
    "Run",
    "Series",
    "SeriesKey",
    "nights_of",
    "open_history",
]

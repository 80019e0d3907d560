"""The history of all runs, in a database. Nothing outside of this package knows the database."""

from warpgauge_report.history.model import Device, Point, Run, Series, SeriesKey
from warpgauge_report.history.nights import nights_of
from warpgauge_report.history.pruner import Keep, PruneResult
from warpgauge_report.history.store import History, open_history
from warpgauge_report.history.writer import IngestResult

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

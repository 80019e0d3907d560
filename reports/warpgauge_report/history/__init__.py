"""The history of all runs, in a database. Nothing outside of this package knows the database."""

from warpgauge_report.history.model import Device, Point, Run, Series, SeriesKey

__all__ = ["Device", "Point", "Run", "Series", "SeriesKey"]

"""What warpgauge measured: reads facts and reports on them. Verdicts are shown, never recomputed."""

from warpgauge_report.facts import Device, Fact, FactError, Launch, read_facts

__all__ = ["Device", "Fact", "FactError", "Launch", "read_facts"]

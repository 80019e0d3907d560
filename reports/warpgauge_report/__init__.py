"""What warpgauge measured: reads facts and reports on them; never recomputes a verdict."""

from warpgauge_report.facts import Device, Fact, FactError, Launch, MachineState, read_facts

__all__ = ["Device", "Fact", "FactError", "Launch", "MachineState", "read_facts"]

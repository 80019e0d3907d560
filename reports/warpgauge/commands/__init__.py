"""The commands of warpgauge that are Python."""

"""Two runs beside each other, for `warpgauge diff`."""

"""Budgets: reading and rewriting budget files for `warpgauge accept`."""

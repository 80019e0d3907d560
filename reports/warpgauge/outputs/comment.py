"""Markdown for the comment on a pull request: the summary of a job, as far as there is room."""

from __future__ import annotations

from warpgauge.outputs.markdown import document, entries

FILE = "comment.md"
READER = "comments on pull requests"
ENTRIES = "lines"
MAX_BYTES = 60_000  # GitHub takes 65,536 letters

__all__ = ["document", "entries"]

"""The errors that commands print: every one is exit code 2."""

from __future__ import annotations


class CommandError(Exception):
    """A command cannot do its work; each argument is a line that says what is wrong, where, and
    what to do."""

    def __str__(self) -> str:
        return "\n".join(self.args)


class FactError(ValueError):
    """Facts cannot be read; the text begins with file and line."""

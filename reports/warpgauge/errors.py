"""The errors that commands print: every one is exit code 2."""

from __future__ import annotations

import sys
from pathlib import Path


class CommandError(Exception):
    """A command cannot do its work; each argument is a line that says what is wrong, where, and
    what to do."""

    def __str__(self) -> str:
        return "\n".join(self.args)


def lacks(module: str) -> str:
    """That a Python module is not there, and how it gets there."""
    is_checkout = Path(__file__).parents[2].joinpath("ci/bootstrap").exists()
    if is_checkout and module not in _OPTIONAL:
        remedy = "run ci/bootstrap"
    else:
        remedy = f"install it with `{sys.executable} -m pip install {module}`"
    return f"lacks the Python module {module}: {remedy}, or name another Python in WARPGAUGE_PYTHON"


_OPTIONAL = ("pyarrow",)  # what neither a checkout nor the wheel brings along


class FactError(ValueError):
    """Facts cannot be read; the text begins with file and line."""

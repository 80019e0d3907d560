"""The errors that commands print: every one is exit code 2."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path


class CommandError(Exception):
    """A command cannot do its work; each argument is a line that says what is wrong, where, and
    what to do."""

    def __str__(self) -> str:
        return "\n".join(self.args)


def lacks(*modules: str) -> str:
    """That Python modules are not there, and how they get there."""
    is_checkout = Path(__file__).parents[2].joinpath("ci/bootstrap").exists()
    several = len(modules) > 1
    if is_checkout and not set(modules) & set(OPTIONAL):
        remedy = "run ci/bootstrap"
    else:
        packages = dict.fromkeys(_PACKAGES.get(module, module) for module in modules)
        install = f"{shlex.quote(sys.executable)} -m pip install {' '.join(packages)}"
        remedy = f"install {'them' if several else 'it'} with `{install}`"
    what = f"lacks the Python module{'s' if several else ''} {', '.join(modules)}"
    return f"{what}: {remedy}, or name another Python in WARPGAUGE_PYTHON"


OPTIONAL = ("pyarrow",)  # what neither a checkout nor the wheel brings along
_PACKAGES = {"markupsafe": "jinja2", "psycopg": "'psycopg[binary]'"}  # the name of others is theirs


class FactError(ValueError):
    """Facts cannot be read; the text begins with file and line."""

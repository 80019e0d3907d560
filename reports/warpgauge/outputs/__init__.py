"""The formats of CI systems: one module each, found by listing this package.

A module has FILE, the name of the file that `emit --all` writes, READER, the programs that read
it, and render(results) -> str. Its own name is the name of the format, with "-" for "_".
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass

from warpgauge.outcome.results import Results


@dataclass(frozen=True)
class Format:
    """A format: its name, its file, the programs that read it, and the function that draws it."""

    name: str
    file: str
    reader: str
    render: Callable[[Results], str]


def _format(found: pkgutil.ModuleInfo) -> Format:
    module = importlib.import_module(f"{__name__}.{found.name}")
    return Format(found.name.replace("_", "-"), module.FILE, module.READER, module.render)


FORMATS = {format.name: format for format in map(_format, pkgutil.iter_modules(__path__))}

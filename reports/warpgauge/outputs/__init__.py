"""The formats of CI systems: one module each, found by listing this package.

The name of a module is that of the format, with "-" for "_". A module has

  FILE, READER          the file that `emit --all` writes, and the programs that read it
  ENTRIES               the parts that may be left out, as a plural
  MAX_BYTES             of all of them: what its reader takes
  MAX_ENTRIES           the most of them, where its reader counts them
  entries(results)      the parts, the worst first
  document(results, kept)
                        the text with those that were kept, and what was left out where the format
                        has a place for it
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from types import ModuleType
from typing import NamedTuple

from warpgauge.outcome.limits import kept
from warpgauge.outcome.results import Results


class Drawing(NamedTuple):
    """The text of a format, and a sentence on what was left out of it; nothing where all fit."""

    text: str
    left_out: str


@dataclass(frozen=True)
class Format:
    """A format: its name, its file, the programs that read it, and the module that draws it."""

    name: str
    file: str
    reader: str
    module: ModuleType

    def draw(self, results: Results) -> Drawing:
        """The results, cut to what the reader takes."""
        module = self.module
        most = getattr(module, "MAX_ENTRIES", None)
        fit = kept(module.entries(results), module.ENTRIES, module.MAX_BYTES, most)
        return Drawing(module.document(results, fit), fit.sentence)


def _format(found: pkgutil.ModuleInfo) -> Format:
    module = importlib.import_module(f"{__name__}.{found.name}")
    return Format(found.name.replace("_", "-"), module.FILE, module.READER, module)


FORMATS = {format.name: format for format in map(_format, pkgutil.iter_modules(__path__))}

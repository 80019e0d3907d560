"""The large pictures: one module each, found by listing this package.

A module has gallery(contents) -> Gallery, and SECTION, the place on the page: "speeds", "grids", or
nothing for a picture that is a file only.
"""

from __future__ import annotations

import importlib
import pkgutil

from warpgauge.page.contents import Contents
from warpgauge.page.picture import Gallery


def galleries(contents: Contents) -> list[tuple[str, Gallery]]:
    """All pictures of a report, with their sections."""
    names = (found.name for found in pkgutil.iter_modules(__path__))
    modules = (importlib.import_module(f"{__name__}.{name}") for name in names)
    return [(module.SECTION, module.gallery(contents)) for module in modules]

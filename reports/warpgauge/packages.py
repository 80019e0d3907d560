"""The packages of others that a command needs and that this Python lacks.

Sources say it: none of them is imported, since that is what fails where a package is missing.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from warpgauge.errors import OPTIONAL

_OURS = __package__
_FOLDER = Path(__file__).parent


def missing(names: Iterable[str]) -> list[str]:
    """Packages that these modules, or modules of ours that they import, import anywhere in their
    text and that are not there, but for optional ones; in alphabetical order."""
    found: set[str] = set()
    seen: set[str] = set()
    left = list(names)
    while left:
        name = left.pop()
        if name in seen:
            continue
        seen.add(name)
        path = _source(name)
        if path is None:
            continue  # a name in a module
        for imported in _imports(path):
            if imported.partition(".")[0] == _OURS:
                left.append(imported)
            else:
                found.add(imported.partition(".")[0])
    others = found - set(sys.stdlib_module_names) - set(OPTIONAL)
    return sorted(name for name in others if importlib.util.find_spec(name) is None)


def every_module() -> list[str]:
    """All modules of ours."""
    paths = (path.relative_to(_FOLDER.parent) for path in _FOLDER.rglob("*.py"))
    return [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in paths]


def _source(name: str) -> Path | None:
    path = _FOLDER.joinpath(*name.split(".")[1:])
    for source in (path / "__init__.py", path.with_suffix(".py")):
        if source.is_file():
            return source
    return None


def _imports(source: Path) -> Iterator[str]:
    """The names of the modules that a source imports, with those that may be names in one."""
    for node in ast.walk(ast.parse(source.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)

"""The budget file of a family: beside its source, or in a folder of budgets."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from warpgauge.errors import CommandError
from warpgauge.facts.records import Fact

BUDGETS = "budgets.toml"


def budget_path(family: str, facts: Iterable[Fact], root: Path, budgets: Path | None) -> Path:
    """The budget file of a family, whether it is there or not.

    It is FAMILY.toml in the folder `budgets`, where the build has one; else it lies beside the
    source that registers the family. Raises CommandError if that is not in one folder below the
    root.
    """
    if budgets is not None:
        if not _is_name(family):
            raise CommandError(f"family {family}: that is not the name of a file in {budgets}")
        if not budgets.is_dir():
            raise CommandError(f"--budgets {budgets}: there is no such folder")
        return budgets / f"{family}.toml"
    sources = {fact.case.file for fact in facts if fact.case.file}
    folders = {Path(source).parent for source in sources if _is_below(source, root)}
    if len(folders) != 1:
        found = ", ".join(sorted(sources)) or "no source"
        raise CommandError(
            f"family {family}: which folder below {root} has its budgets? Its facts say that "
            f"{found} registers it; name the source tree with --root"
        )
    (folder,) = folders
    if not (root / folder).is_dir():
        raise CommandError(
            f"family {family}: there is no folder {root / folder}; name the source tree with --root"
        )
    return root / folder / BUDGETS


def _is_name(family: str) -> bool:
    return Path(family).name == family and family not in (".", "..")


def _is_below(file: str, root: Path) -> bool:
    """Facts are data: a path that leads out of the sources is nothing to write to."""
    if Path(file).is_absolute() or "\0" in file:
        return False
    return (root / file).resolve().is_relative_to(root.resolve())

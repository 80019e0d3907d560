"""The budget file of a family: beside its source, or in a folder of budgets."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from warpgauge.errors import CommandError
from warpgauge.facts.records import Fact

BUDGETS = "budgets.toml"


def budget_path(family: str, facts: Iterable[Fact], root: Path, budgets: Path | None) -> Path:
    """The budget file of a family, whether it is there or not.

    It is FAMILY.toml in the folder `budgets`, where the build has one; else it lies below the
    source root, beside the family. A family lies in a folder of its name; where sources do not
    keep to that, in the one folder that its facts blame. Raises CommandError if that is not
    one folder below the root.
    """
    if budgets is not None:
        if not _is_name(family):
            raise CommandError(f"family {family}: that is not the name of a file in {budgets}")
        if not budgets.is_dir():
            raise CommandError(f"--budgets {budgets}: there is no such folder")
        return budgets / f"{family}.toml"
    blamed = {Path(fact.file).parent for fact in facts if fact.file and _is_below(fact.file, root)}
    named = {folder for folder in blamed if folder.name == family}
    if len(named) != 1 and _is_name(family) and (root / "kernels" / family).is_dir():
        named = {Path("kernels") / family}
    folders = named or blamed
    if len(folders) != 1:
        found = ", ".join(sorted(map(str, folders))) or "none"
        raise CommandError(
            f"family {family}: which folder below {root} has its budgets? Its facts name "
            f"{found}; name the source tree with --root"
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

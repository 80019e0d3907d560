"""The budget file of a family: beside its source, in a folder of budgets, or as it is named."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from warpgauge.errors import CommandError
from warpgauge.facts.records import Fact

BUDGETS = "budgets.toml"


def budget_path(family: str, facts: Iterable[Fact], root: Path, budgets: Path | None) -> Path:
    """The budget file of a family, whether it is there or not.

    It is `budgets`, if that is a file, or FAMILY.toml in that folder; else it lies beside the
    source that registers the family. Raises CommandError if that is not in one folder below the
    root, and for facts of programs and tests, which are registered nowhere, without `budgets`.
    """
    facts = list(facts)
    if budgets is not None and not budgets.is_dir() and (budgets.exists() or _is_named(budgets)):
        return budgets
    if any(fact.case.is_of_program for fact in facts):
        raise CommandError(
            f"family {family}: its kernels are of a program: name the budget file, --budgets FILE, "
            f"which {facts[0].run.command or 'attach'} is to have, too{_held_against(facts)}"
        )
    is_of_test = any(fact.case.kind == "measured" for fact in facts)
    if budgets is not None:
        return _in_folder(budgets, family, family.replace("/", "_") if is_of_test else family)
    if is_of_test:
        raise CommandError(
            f"family {family}: it was measured by a test: name the folder, --budgets DIR, that "
            f"warpgauge_add_gtest(... BUDGETS <folder>) names{_held_against(facts)}"
        )
    return _beside_source(family, facts, root)


def _in_folder(folder: Path, family: str, name: str) -> Path:
    """The file of this name in a folder of budgets."""
    if not _is_name(name):
        raise CommandError(f"family {family}: that is not the name of a file in {folder}")
    if not folder.is_dir():
        raise CommandError(f"--budgets {folder}: there is no such folder")
    return folder / f"{name}.toml"


def _beside_source(family: str, facts: Iterable[Fact], root: Path) -> Path:
    """The file beside the source that registers the family."""
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


def _held_against(facts: Iterable[Fact]) -> str:
    """The files of the limits, as the end of a sentence."""
    origins = (fact.limit.origin.rpartition(":")[0] for fact in facts if fact.limit)
    files = sorted({origin for origin in origins if origin.endswith(".toml")})
    return f" (it had {', '.join(files)})" if files else ""


def _is_named(budgets: Path) -> bool:
    """Whether a path that need not be there is that of a budget file, not of a folder."""
    return budgets.suffix == ".toml"


def _is_name(family: str) -> bool:
    return Path(family).name == family and family not in (".", "..")


def _is_below(file: str, root: Path) -> bool:
    """Facts are data: a path that leads out of the sources is nothing to write to."""
    if Path(file).is_absolute() or "\0" in file:
        return False
    return (root / file).resolve().is_relative_to(root.resolve())

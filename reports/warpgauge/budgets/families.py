"""Finds the budget file of a family."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from warpgauge.errors import CommandError
from warpgauge.facts.records import Fact
from warpgauge.text import printable

BUDGETS = "budgets.toml"
LAUNCH_OF_TEST = "launch"  # the type of a case that is the N-th launch of a test


def source_root(facts: Iterable[Fact]) -> Path:
    """The source tree that the files in facts are relative to. It is the current folder, or the one
    that the calling program was built from, whichever has a file that registers their cases."""
    files = {fact.case.file for fact in facts if fact.case.file}
    built_from = os.environ.get("WARPGAUGE_SOURCE_ROOT")
    for root in [Path(), *([Path(built_from)] if built_from else [])]:
        if any(_is_below(file, root) and (root / file).is_file() for file in files):
            return root
    return Path()


def budget_path(family: str, facts: Iterable[Fact], root: Path, budgets: Path | None) -> Path:
    """The budget file of a family. It need not exist.

    - The launches of a test have a file beside the source of the test.
    - `budgets` is the file, or the folder that has FAMILY.toml. If it is None, the folder that the
      facts name is used.
    - Without either, the file is beside the source that registers the family.

    Raises CommandError if these rules give no file, or none below the root.
    """
    facts = list(facts)
    if all(fact.case.kind == "measured" and fact.case.type == LAUNCH_OF_TEST for fact in facts):
        return _beside_test(family, facts, root, budgets)
    if budgets is None:
        budgets = _folder_of_build(family, facts, root)
    if budgets is not None and not budgets.is_dir() and (budgets.exists() or _is_toml(budgets)):
        return budgets
    if any(fact.case.is_of_program for fact in facts):
        raise CommandError(
            f"family {family}: its kernels are of a program: name the budget file, --budgets FILE, "
            f"which {facts[0].run.command or 'attach'} is to have, too{_held_against(facts)}"
        )
    if budgets is not None:
        if not _is_file_name(family):
            raise CommandError(f"family {family}: that is not the name of a file in {budgets}")
        return budgets / f"{family}.toml"
    if any(fact.case.kind == "measured" for fact in facts):
        raise CommandError(
            f"family {family}: a test was held against its budgets: name their folder, --budgets "
            f"DIR, that warpgauge_add_gtest(... BUDGETS <folder>) names{_held_against(facts)}"
        )
    return _beside_source(family, facts, root, BUDGETS)


def _beside_test(family: str, facts: list[Fact], root: Path, budgets: Path | None) -> Path:
    """The file for the launches of a test, which reads no other one."""
    if budgets is not None and _is_toml(budgets):
        raise CommandError(
            f"family {family}: a test reads its budgets beside its source: leave --budgets out"
        )
    name = re.sub("[^A-Za-z0-9_-]", "_", family)
    return _beside_source(family, facts, root, f"{name}.test.toml")


def _folder_of_build(family: str, facts: list[Fact], root: Path) -> Path | None:
    """The folder of budgets that the build of the facts has; None if it has none."""
    named = {fact.run.budgets for fact in facts if fact.run.budgets}
    if not named:
        return None
    folder = min(named)
    if len(named) > 1 or not _is_below(folder, root):
        raise CommandError(
            f"family {family}: its facts name {', '.join(map(printable, sorted(named)))} for its "
            f"budgets, which is not one folder below {root}; name it with --budgets"
        )
    return root / folder


def _beside_source(family: str, facts: list[Fact], root: Path, name: str) -> Path:
    """The file of this name beside the source that registers the family, or that has the test."""
    sources = {fact.case.file for fact in facts if fact.case.file}
    folders = {Path(source).parent for source in sources if _is_below(source, root)}
    if len(folders) != 1:
        found = ", ".join(sorted(sources)) or "no source"
        raise CommandError(
            f"family {family}: which folder below {root} has its budgets? Its facts say that "
            f"{found} registers it; name the source tree with --root"
        )
    (folder,) = folders
    if missing := sorted(source for source in sources if not (root / source).is_file()):
        raise CommandError(
            f"family {family}: there is no {root / missing[0]}, which registers it; name the "
            "source tree with --root"
        )
    return root / folder / name


def _held_against(facts: list[Fact]) -> str:
    """The files of the limits that the facts were held against, as the end of a sentence."""
    origins = (fact.limit.origin.rpartition(":")[0] for fact in facts if fact.limit)
    files = sorted({origin for origin in origins if origin.endswith(".toml")})
    return f" (it had {', '.join(files)})" if files else ""


def _is_toml(path: Path) -> bool:
    """Whether a path names a budget file, not a folder, even if it does not exist."""
    return path.suffix == ".toml"


def _is_file_name(family: str) -> bool:
    return Path(family).name == family and family not in (".", "..")


def _is_below(file: str, root: Path) -> bool:
    """Whether a file that facts name is in the source tree. Nothing is written to other files."""
    if Path(file).is_absolute() or "\0" in file:
        return False
    return (root / file).resolve().is_relative_to(root.resolve())

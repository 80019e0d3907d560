"""The budget file of a family: beside its source, in a folder of budgets, or as it is named."""

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
    """The source tree that the files in facts are relative to: here, or where the program that
    called this one was built from, whichever has a file that registers their cases."""
    files = {fact.case.file for fact in facts if fact.case.file}
    built_from = os.environ.get("WARPGAUGE_SOURCE_ROOT")
    for root in [Path(), *([Path(built_from)] if built_from else [])]:
        if any(_is_below(file, root) and (root / file).is_file() for file in files):
            return root
    return Path()


def budget_path(family: str, facts: Iterable[Fact], root: Path, budgets: Path | None) -> Path:
    """The budget file of a family, whether it is there or not.

    It is `budgets`, if that is a file, or FAMILY.toml in that folder, or in that of the build that
    the facts name; else it lies beside the source that registers the family. That of the launches
    of a test always lies beside the test.
    Raises CommandError if that is not in one folder below the root, and without `budgets` for facts
    of programs, and for those of tests that were held against the budgets of a case.
    """
    facts = list(facts)
    if all(fact.case.kind == "measured" and fact.case.type == LAUNCH_OF_TEST for fact in facts):
        if budgets is not None and _is_named(budgets):
            raise CommandError(
                f"family {family}: a test reads its budgets beside its source: leave --budgets out"
            )
        name = re.sub("[^A-Za-z0-9_-]", "_", family)
        return _beside_source(family, facts, root, f"{name}.test.toml")
    if budgets is None:
        budgets = _folder_of_build(family, facts, root)
    if budgets is not None and not budgets.is_dir() and (budgets.exists() or _is_named(budgets)):
        return budgets
    if any(fact.case.is_of_program for fact in facts):
        raise CommandError(
            f"family {family}: its kernels are of a program: name the budget file, --budgets FILE, "
            f"which {facts[0].run.command or 'attach'} is to have, too{_held_against(facts)}"
        )
    if budgets is not None:
        if not _is_name(family):
            raise CommandError(f"family {family}: that is not the name of a file in {budgets}")
        return budgets / f"{family}.toml"
    if any(fact.case.kind == "measured" for fact in facts):
        raise CommandError(
            f"family {family}: a test was held against its budgets: name their folder, --budgets "
            f"DIR, that warpgauge_add_gtest(... BUDGETS <folder>) names{_held_against(facts)}"
        )
    return _beside_source(family, facts, root, BUDGETS)


def _folder_of_build(family: str, facts: Iterable[Fact], root: Path) -> Path | None:
    """The folder for budgets of the build that the facts were measured with; None: it has none."""
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


def _beside_source(family: str, facts: Iterable[Fact], root: Path, name: str) -> Path:
    """The file of this name beside the source that registers the family, or has the test."""
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

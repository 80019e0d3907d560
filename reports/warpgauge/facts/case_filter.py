"""Which cases a command takes: --filter and --exclude, as in harness/cases/selection.h."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import NamedTuple


def fits(glob: str, name: str) -> bool:
    """Whether the glob equals the name or fits it: `*`, `?`, `[...]`, as in metrics/base/glob.h."""
    return glob == name or fnmatchcase(name, glob.replace("[^", "[!"))


class CaseFilter(NamedTuple):
    """Globs over ids."""

    filter: tuple[str, ...] = ()  # an id matches one of these; none: every id
    exclude: tuple[str, ...] = ()  # and none of these

    def takes(self, id: str) -> bool:
        is_in = not self.filter or any(fits(glob, id) for glob in self.filter)
        return is_in and not any(fits(glob, id) for glob in self.exclude)

    def __str__(self) -> str:
        """The options as given; empty where every case is taken."""
        given = {"--filter": self.filter, "--exclude": self.exclude}
        return " ".join(f"{name} '{','.join(globs)}'" for name, globs in given.items() if globs)


EVERY_CASE = CaseFilter()

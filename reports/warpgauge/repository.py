"""The commits between two others, with subjects, authors and files, from a local git repository.

Git only reads here. The repository may be another's: no pager, hook, signature program or helper
that its configuration names is started, and nothing is fetched.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from warpgauge.errors import CommandError
from warpgauge.started import in_path
from warpgauge.text import printable

MOST = 1000  # commits that are read of a range
# %aN is the author by the mailmap. A null ends each part: authors and subjects may have all else.
_FORM = "--format=%m%x00%H%x00%aN%x00%s%x00"
_FILES = ("-z", "--name-only", "--no-renames", "--no-relative", "--no-ext-diff", "--format=%x00%H")
# A partial clone would fetch what it lacks, by a command that its configuration names.
_SAFE = {"GIT_ALLOW_PROTOCOL": "none", "LC_ALL": "C"}
_NAMES_ANOTHER = re.compile(r"GIT_(?!CONFIG_)")  # variables of the environment
_SECONDS = 60
_NAMED = 3  # authors


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit, and the files that it changed, by their paths in the repository. Author and
    subject are data: escape them."""

    hash: str
    author: str
    subject: str
    files: frozenset[str] = frozenset()

    def touched(self, file: str) -> bool:
        """Whether it changed a file that facts name: below a folder of the repository, or, where it
        lies outside of the gauge's sources, by its absolute path."""
        return any(_is_same_file(file, name) for name in self.files)


def _is_same_file(file: str, name: str) -> bool:
    return name == file or f"/{name}".endswith(f"/{file}") or file.endswith(f"/{name}")


@dataclass(frozen=True, slots=True)
class Range:
    """What a commit has that its base has not: the newest first, at most MOST, and before all the
    first `touching`, which changed the file to blame. `lost` is the number of commits of the base
    that it has not. `problem` says why not all is known. `is_cut`: more are there than were read.
    """

    commits: tuple[Commit, ...] = ()
    lost: int = 0
    problem: str | None = None
    is_cut: bool = False
    touching: int = 0

    def to_blame(self, files: Iterable[str]) -> Range:
        """The same, with those first that changed the first of these files that any did."""
        for file in files:
            if touching := [commit for commit in self.commits if commit.touched(file)]:
                others = (commit for commit in self.commits if commit not in touching)
                return replace(self, commits=(*touching, *others), touching=len(touching))
        return self

    @property
    def suspects(self) -> Range:
        """Those that changed the file to blame; all where none is known to."""
        if not self.touching:
            return self
        return Range(self.commits[: self.touching])

    @property
    def single(self) -> Commit | None:
        """The commit to blame, where one alone can be."""
        commits = self.suspects.commits
        return commits[0] if len(commits) == 1 else None

    @property
    def count(self) -> str:
        """ "1 commit", "1,000 commits or more"."""
        noun = "commit" if len(self.commits) == 1 else "commits"
        return f"{len(self.commits):,} {noun}{' or more' if self.is_cut else ''}"

    @property
    def by(self) -> str:
        """ "12 commits by Ada, Grace, Linus and 2 more"."""
        return f"{self.count} by {self.whose}"

    @property
    def whose(self) -> str:
        """ "Ada, Grace, Linus and 2 more"."""
        more = f" and {len(self.authors) - _NAMED} more" if len(self.authors) > _NAMED else ""
        return f"{', '.join(self.authors[:_NAMED])}{more}"

    @property
    def summary(self) -> str:
        """Subject and author of the single commit to blame, "of 2 commits" where there are others;
        else how many can be, and whose."""
        if self.single is None:
            return f"one of {self.suspects.by}"
        text = f"{self.single.subject}, by {self.single.author}"
        return text if len(self.commits) == 1 else f"{text}, of {self.count}"

    @property
    def authors(self) -> tuple[str, ...]:
        """Each once, the one of the newest commit first."""
        return tuple(dict.fromkeys(commit.author for commit in self.commits))


def is_hash(name: str) -> bool:
    """Whether a commit is named by its hash. All else could be an option, or a reference that
    moves."""
    return bool(re.fullmatch(r"[0-9a-f]{7,64}", name))


class Repository:
    """A repository of git. Raises CommandError where the folder is in none."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[tuple[str, str], Range] = {}
        self._blamed: dict[tuple[str, str, tuple[str, ...]], Range] = {}
        if problem := self._git("rev-parse", "--git-dir").problem:
            raise CommandError(f"{folder}: {problem}; name a local repository of git")

    @property
    def problems(self) -> list[str]:
        """What kept ranges from being known, each once."""
        found = (between.problem for between in self._known.values() if between.problem)
        return list(dict.fromkeys(found))

    def between(self, base: str, commit: str, files: tuple[str, ...] = ()) -> Range:
        """The range from one commit, as facts name it, to another; first those that changed the
        first of the files to blame that any did."""
        key = base, commit
        if key not in self._known:
            self._known[key] = self._between(base, commit)
        if (*key, files) not in self._blamed:
            self._blamed[*key, files] = self._known[key].to_blame(files)
        return self._blamed[*key, files]

    def _between(self, base: str, commit: str) -> Range:
        for name in (base, commit):
            if not self._has(name):
                remedy = "a shallow clone; fetch the rest" if self._is_shallow else "fetch it"
                return Range(problem=f"{self.folder} lacks commit {printable(name)[:12]}: {remedy}")
        words = ("--left-right", f"--max-count={MOST}", "--encoding=UTF-8", "--no-color", _FORM)
        done = self._git("log", *words, f"{base}...{commit}", "--")
        if done.problem:
            return Range(problem=f"{self.folder}: {done.problem}")
        parts = done.text.split("\0")
        listed = list(zip(*(parts[i::4] for i in range(4)), strict=False))
        files, problem = self._files(base, commit)
        new = [
            Commit(name, printable(author), printable(subject), files.get(name, frozenset()))
            for mark, name, author, subject in listed
            if mark.strip() == ">"
        ]
        if self._is_shallow:
            problem = f"{self.folder} is a shallow clone: perhaps not all commits are here"
        return Range(tuple(new), len(listed) - len(new), problem, len(listed) == MOST)

    def _files(self, base: str, commit: str) -> tuple[dict[str, frozenset[str]], str | None]:
        """The files of each commit by its hash, and why they are not known."""
        done = self._git("log", f"--max-count={MOST}", *_FILES, f"{base}..{commit}", "--")
        if done.problem:
            return {}, f"{self.folder}: the files of commits are not known: {done.problem}"
        # Nulls end names and hashes; one more begins each commit, and a line's end its names.
        found: dict[str, set[str]] = {}
        names: set[str] = set()
        parts = iter(done.text.split("\0"))
        for part in parts:
            if part:
                names.add(part.removeprefix("\n") if not names else part)
            else:
                names = found.setdefault(next(parts, ""), set())
        return {name: frozenset(files) for name, files in found.items()}, None

    def _has(self, name: str) -> bool:
        return is_hash(name) and not self._git("cat-file", "-e", f"{name}^{{commit}}").problem

    @cached_property
    def _is_shallow(self) -> bool:
        return self._git("rev-parse", "--is-shallow-repository").text.strip() == "true"

    def _git(self, *words: str) -> _Done:
        options = ["--no-pager", "-C", str(self.folder), "-c", "log.showSignature=false"]
        # GIT_DIR and the like, as hooks have them, would name another repository. What the user
        # configures, such as safe.directory, counts.
        kept = {name: text for name, text in os.environ.items() if not _NAMES_ANOTHER.match(name)}
        try:
            done = subprocess.run(
                [in_path("git"), *options, *words],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                env=kept | _SAFE,
                timeout=_SECONDS,
            )
        except FileNotFoundError:
            return _Done(problem="git is not installed")
        except subprocess.TimeoutExpired:
            return _Done(problem=f"git took more than {_SECONDS} s")
        if done.returncode == 0:
            return _Done(done.stdout.decode("utf-8", "replace"))
        said = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        return _Done(problem=printable(said.removeprefix("fatal: ")) or "git failed")


@dataclass(frozen=True, slots=True)
class _Done:
    text: str = ""
    problem: str | None = None

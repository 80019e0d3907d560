"""Changes of one range of commits and one cause, as one group: what, how much, and whose."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from warpgauge.changes.change import Change
from warpgauge.history import Run
from warpgauge.page.rows import TIME, Move, values_of
from warpgauge.page.sections import ratio_text
from warpgauge.repository import Commit, Range, Repository

FEW = 3  # families that are named; more are counted
OF_OTHERS = ("compiler", "driver", "environment")  # causes that are no commit


@dataclass(frozen=True, slots=True)
class Part:
    """The moves of a group that are of one metric, and all worse or all better."""

    moves: tuple[Move, ...]

    @property
    def metric(self) -> str:
        return self.moves[0].key.metric

    @property
    def better(self) -> bool | None:
        return self.moves[0].change.better

    @property
    def mark(self) -> str:
        """That of the changes; the machine moves a value, and makes it neither worse nor better."""
        return self.moves[0].change.mark

    @property
    def series(self) -> int:
        return values_of(self.moves)

    @property
    def families(self) -> list[str]:
        return sorted({move.key.family for move in self.moves})

    @property
    def text(self) -> str:
        """ "registers worse in 805 series of 12 families, median +4 %"; "transpose slower in 12
        series, median +7 %"."""
        names = self.families
        of = ", ".join(names) if len(names) <= FEW else f"{len(names)} families"
        found = f"{self.series:,} series"
        if self.metric == TIME:
            return f"{of} {_word('slower', 'faster', self.better)} in {found}, {self._amount}"
        word = _word("worse", "better", self.better)
        return f"{self.metric} {word} in {found} of {of}, {self._amount}"

    @property
    def _amount(self) -> str:
        """By how much: the median, where there are several series."""
        found = [_ratio(move) for move in self.moves for _ in move.rows]
        ratios = [ratio for ratio in found if ratio is not None]
        if len(ratios) < len(found):
            return "another word or sign"
        middle = median(ratios)
        is_median = len(ratios) > 1 and 0 < middle < math.inf
        return f"{'median ' if is_median else ''}{ratio_text(middle)}"


@dataclass(frozen=True, slots=True)
class Group:
    """Moves with the same cause between the same two commits, and the same ones of those between to
    blame; `range` as range_of() gives it."""

    moves: tuple[Move, ...]
    parts: tuple[Part, ...]
    range: Range | None

    @property
    def cause(self) -> str:
        return self.moves[0].change.cause

    @property
    def base(self) -> Run:
        """The last run before the change."""
        return self.moves[0].change.previous

    @property
    def run(self) -> Run:
        """The first run with all of the change."""
        return self.moves[0].change.bad

    @property
    def blame(self) -> Blame | None:
        return blame_of(self.moves[0].change, self.range)

    @property
    def key(self) -> tuple:
        return cause_of(self.moves[0].change, self.range)

    @property
    def label(self) -> str:
        return label(self.moves[0].change, self.range)

    @property
    def rank(self) -> tuple:
        """Groups with something worse first, then those with more effect, and of more series."""
        worse = [move for move in self.moves if move.change.mark == "worse"]
        is_worse = bool(worse)
        effect = min(move.effect for move in worse or self.moves)
        return (not is_worse, effect, -sum(part.series for part in self.parts), self.label)


def groups(moves: Iterable[Move], repository: Repository | None = None) -> list[Group]:
    """The moves by cause and range, those that matter most first."""
    found: dict[tuple, list[Move]] = defaultdict(list)
    ranges: dict[tuple, Range | None] = {}
    for move in moves:
        between = range_of(move.change, repository)
        key = cause_of(move.change, between)
        ranges.setdefault(key, between)
        found[key].append(move)
    listed = [Group(tuple(group), _parts(group), ranges[key]) for key, group in found.items()]
    return sorted(listed, key=lambda group: group.rank)


def cause_of(change: Change, between: Range | None) -> tuple:
    """What changes of one group have in common."""
    suspects = between.suspects.commits if between and between.touching else ()
    hashes = tuple(commit.hash for commit in suspects)
    named = label(change, between)
    return change.cause, named, change.previous.commit, change.bad.commit, hashes


@dataclass(frozen=True, slots=True)
class Blame:
    """A commit that is to blame, with words before and after it: "up to" of a drift, "one of 2
    commits up to" where it is the last of several that can be, "with uncommitted changes". `single`
    is what is known of a commit that alone can be, `suspects` are the commits that can be."""

    commit: str
    before: str = ""
    after: str = ""
    single: Commit | None = None
    suspects: Range | None = None

    @property
    def text(self) -> str:
        return f"{self.before}{self.commit[:10]}{self.after}"


def blame_of(change: Change, between: Range | None) -> Blame | None:
    """The commit that is to blame for a change with this range; None where none can be, or the run
    names none."""
    run = change.bad
    if change.cause in OF_OTHERS or not run.commit:
        return None
    suspects = between.suspects if between and between.commits else None
    single = suspects.single if suspects else None
    after = " with uncommitted changes" if run.dirty else ""
    if change.nights or run.dirty:  # others can have a part in it
        whole = single if single and single.hash.startswith(run.commit) else None
        return Blame(run.commit, "up to " if change.nights else "", after, whole, suspects)
    if single:
        return Blame(single.hash, single=single, suspects=suspects)
    before = f"one of {suspects.count} up to " if suspects else ""
    return Blame(run.commit, before, suspects=suspects)


def label(change: Change, between: Range | None = None) -> str:
    """What is to blame, as far as it is known: "3f2a1c0d5e", "CUDA 13.0 → 13.1", of a drift "up to
    3f2a1c0d5e"; `between` is the range of the change."""
    base, run = change.previous, change.bad
    if change.cause == "compiler":
        pairs = (("CUDA", base.toolkit, run.toolkit), ("flags", base.flags, run.flags))
        found = [f"{what} {_arrow(a, b)}" for what, a, b in pairs if a != b]
        return ", ".join(found) or change.cause
    if change.cause == "driver":
        return f"driver {_arrow(_driver(base), _driver(run))}"
    if change.cause == "environment":
        return "drift" if change.nights else change.cause
    if blame := blame_of(change, between):
        return blame.text
    commit = "up to unknown commit" if change.nights else "unknown commit"
    return f"{commit} with uncommitted changes" if run.dirty else commit


def _parts(moves: Sequence[Move]) -> tuple[Part, ...]:
    """Worse ones first, then what matters most, then the largest, then those of more series."""
    found: dict[tuple, list[Move]] = defaultdict(list)
    for move in moves:
        found[move.key.metric, move.change.better].append(move)
    parts = [Part(tuple(group)) for group in found.values()]
    return tuple(sorted(parts, key=_rank))


def _rank(part: Part) -> tuple:
    effect = min(move.effect for move in part.moves)
    size = max(move.size for move in part.moves)
    return part.better is not False, effect, -size, -part.series, part.metric


def range_of(change: Change, repository: Repository | None) -> Range | None:
    """What lies between the commits of a change, those first that changed its files; None: there is
    no repository to ask, or no commit is to blame."""
    base, commit = change.previous.commit, change.bad.commit
    if repository is None or not base or not commit or base == commit:
        return None
    files = (*change.sources, *([change.registered] if change.registered else []))
    return None if change.cause in OF_OTHERS else repository.between(base, commit, files)


def _driver(run: Run) -> str | None:
    return run.device.driver if run.device else None


def _ratio(move: Move) -> float | None:
    """How many times as large as before: infinite from 0; None for words and other signs."""
    before, after = move.change.before, move.change.after
    if isinstance(before, str) or isinstance(after, str) or before * after < 0:
        return None
    return after / before if before else math.inf


def _word(worse: str, better: str, is_better: bool | None) -> str:
    return {False: worse, True: better, None: "changed"}[is_better]


def _arrow(before: str | None, after: str | None) -> str:
    return f"{before or 'unknown'} → {after or 'unknown'}"

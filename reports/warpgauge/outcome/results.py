"""What the formats show: the facts of whole cases, the worst first, and what belongs to them."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from warpgauge.facts.catalog import catalog
from warpgauge.facts.reader import Fact, would_fail

# The worst verdict first. What was measured by one run is shown before what another could not.
VERDICTS = (
    "error",
    "fail",
    "environment",
    "waived",
    "better",
    "pass",
    "unbudgeted",
    "unmeasured",
)
_RANK = {verdict: rank for rank, verdict in enumerate(VERDICTS)}
_UNSURE = {"predicted": "only predicted", "estimate": "only estimated"}
_PICTURES = (".png", ".svg", ".jpg", ".jpeg")


class Sources:
    """The lines of the source files below a folder, which facts name relative to it."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._lines = lru_cache(maxsize=256)(self._read)

    def text(self, file: str | None, line: int | None) -> str:
        """A line as it stands there; empty if there is none, or it is outside of the root."""
        if file is None or line is None:
            return ""
        lines = self._lines(file)
        return lines[line - 1] if line <= len(lines) else ""

    def _read(self, file: str) -> list[str]:
        try:
            path = (self._root / file).resolve()
            if not path.is_relative_to(self._root) or not path.is_file():
                return []
            return path.read_text("utf-8", errors="replace").split("\n")
        except (OSError, ValueError):  # ValueError: a name that no file can have
            return []


@dataclass(frozen=True)
class Demands:
    """What the gate was asked for beside its budgets, and its exit code, if that is known.

    `strict`: better than budget is not good enough. `ptxas`, `cupti`: every compile-time, every
    run-time fact must be there. `device`: every kernel must have been run.
    """

    strict: bool = False
    ptxas: bool = False
    cupti: bool = False
    device: bool = False
    exit_code: int | None = None

    def is_wrong(self, fact: Fact) -> bool:
        """Whether the fact makes the run red, by the rule of harness/outcome/summary.cpp."""
        if fact.verdict == "unmeasured":
            if catalog()[fact.metric].source in ("ptxas", "occupancy"):
                return self.ptxas
            return self.cupti or (self.device and fact.metric == "result.correct")
        return fact.verdict in ("error", "fail") or (self.strict and fact.verdict == "better")


@dataclass(frozen=True)
class Case:
    """The facts of one case on one architecture, the worst first; `wrong` are those of them that
    make the run red."""

    id: str
    arch: str | None
    facts: list[Fact]
    wrong: list[Fact]

    def having(self, *verdicts: str) -> list[Fact]:
        return [fact for fact in self.facts if fact.verdict in verdicts]

    @cached_property
    def is_judged(self) -> bool:
        """Whether anything of it was held against a budget."""
        return bool(self.having("error", "fail", "environment", "waived", "better", "pass"))

    @cached_property
    def blamed(self) -> Fact:
        """The worst fact that names a source line, or just the worst one."""
        return next((fact for fact in self.facts if fact.file), self.facts[0])


class Results:
    """Facts in the order in which formats show them.

    `facts` are those of whole cases, one for each case, architecture and metric (of several, as
    from several runs, the worst): those that make the run red first, then by verdict and by how far
    they are beyond their budget. `sources` has the lines of code, `pictures` are files that lie
    beside the facts, `demands` is what the gate was asked for.
    """

    def __init__(
        self,
        facts: Iterable[Fact],
        sources: Sources,
        pictures: Iterable[Path] = (),
        demands: Demands = Demands(),
    ) -> None:
        judged: dict[tuple[str, str | None, str], Fact] = {}
        self._lines: dict[tuple[str, str | None, str], list[Fact]] = defaultdict(list)
        every = list(facts)
        whole = [fact for fact in every if fact.scope == "case"]
        for fact in sorted(whole, key=lambda fact: (not demands.is_wrong(fact), _badness(fact))):
            judged.setdefault((fact.id, fact.arch, fact.metric), fact)
        for fact in every:
            if fact.scope == "line":
                self._lines[fact.id, fact.arch, fact.metric].append(fact)
        self.facts = list(judged.values())
        self.demands = demands
        self.sources = sources
        self.pictures = sorted(pictures)

    @cached_property
    def cases(self) -> list[Case]:
        """The cases, in the order of their worst facts."""
        groups: dict[tuple[str, str | None], list[Fact]] = defaultdict(list)
        for fact in self.facts:
            groups[fact.id, fact.arch].append(fact)
        wrong = self.demands.is_wrong
        return [
            Case(id, arch, facts, [fact for fact in facts if wrong(fact)])
            for (id, arch), facts in groups.items()
        ]

    @cached_property
    def archs(self) -> list[str | None]:
        """The architectures, by name; None (no device was there to tell) last."""
        return sorted({fact.arch for fact in self.facts}, key=lambda arch: (arch is None, arch))

    @cached_property
    def counts(self) -> Counter[str]:
        """How many facts have each verdict."""
        return Counter(fact.verdict for fact in self.facts)

    @cached_property
    def wrong(self) -> list[Fact]:
        """The facts that make the run red."""
        return [fact for fact in self.facts if self.demands.is_wrong(fact)]

    @cached_property
    def noted(self) -> list[Fact]:
        """The facts that do not."""
        return [fact for fact in self.facts if not self.demands.is_wrong(fact)]

    @cached_property
    def missing(self) -> list[Fact]:
        """The facts that were required and not measured."""
        return [fact for fact in self.wrong if fact.verdict == "unmeasured"]

    @cached_property
    def unsure(self) -> list[Fact]:
        """The facts that were not sure enough to be judged, and would fail."""
        return [fact for fact in self.facts if would_fail(fact)]

    @cached_property
    def unexplained(self) -> str | None:
        """Why the run is red, where no fact tells it."""
        code = self.demands.exit_code
        if not code or self.wrong:
            return None
        judged = any(case.is_judged for case in self.cases)
        return f"exit code {code}: {'the log says why' if judged else 'nothing was judged'}"

    def having(self, *verdicts: str) -> list[Fact]:
        return [fact for fact in self.facts if fact.verdict in verdicts]

    def other_lines(self, fact: Fact, most: int) -> list[Fact]:
        """What other source lines have of the same metric, the largest first, and not nothing."""
        lines = self._lines.get((fact.id, fact.arch, fact.metric), [])
        place = (fact.file, fact.line)
        lines = [line for line in lines if line.file and (line.file, line.line) != place]
        lines = [line for line in lines if isinstance(line.value, int | float) and line.value > 0]
        return sorted(lines, key=lambda line: -line.value)[:most]


def unmeasured_reasons(facts: Iterable[Fact]) -> list[tuple[str, list[Fact]]]:
    """Why facts were not judged ("unmeasured: ..." or, of those that have a value, "only
    estimated: ..."), and which they are: the most frequent reason first."""
    reasons: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.verdict != "unmeasured":
            continue
        how, why = "unmeasured", fact.reason
        if fact.value is not None and fact.confidence in _UNSURE:
            how, why = _UNSURE[fact.confidence], fact.confidence_reason
        reasons[f"{how}: {why or 'no reason was given'}"].append(fact)
    return sorted(reasons.items(), key=lambda item: -len(item[1]))


def pictures_beside(facts: Iterable[Path]) -> set[Path]:
    """The picture files in the folders of these files."""
    folders = {path.resolve().parent for path in facts}
    files = {file for folder in folders for file in folder.iterdir()}
    return {file for file in files if file.suffix.lower() in _PICTURES and file.is_file()}


def _badness(fact: Fact) -> tuple[int, float, float]:
    """Sorts facts: the verdict, then how far the value is from the nearest number of its budget."""
    rank = _RANK[fact.verdict]
    beyond = fact.verdict in ("fail", "environment") or would_fail(fact)
    if not beyond or not isinstance(fact.value, int | float):
        return rank, 0, 0
    numbers = re.findall(
        r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", re.split("±| until ", fact.budget or "")[0]
    )
    limit = min(map(float, numbers), key=lambda number: abs(fact.value - number), default=0.0)
    far = abs(fact.value - limit)
    return rank, -(far / abs(limit) if limit else math.inf), -far

"""What the formats show: the facts of whole cases, the worst first, and what belongs to them."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from warpgauge_report.facts import Fact

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
class Case:
    """The facts of one case on one architecture, the worst first."""

    id: str
    arch: str | None
    facts: list[Fact]

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
    from several runs, the worst), ordered by verdict and by how far they are beyond their budget.
    `sources` has the lines of code, `pictures` are files that lie beside the facts.
    """

    def __init__(
        self, facts: Iterable[Fact], sources: Sources, pictures: Iterable[Path] = ()
    ) -> None:
        judged: dict[tuple[str, str | None, str], Fact] = {}
        self._lines: dict[tuple[str, str | None, str], list[Fact]] = defaultdict(list)
        every = list(facts)
        for fact in sorted((fact for fact in every if fact.scope == "case"), key=_badness):
            judged.setdefault((fact.id, fact.arch, fact.metric), fact)
        for fact in every:
            if fact.scope == "line":
                self._lines[fact.id, fact.arch, fact.metric].append(fact)
        self.facts = list(judged.values())
        self.sources = sources
        self.pictures = sorted(pictures)

    @cached_property
    def cases(self) -> list[Case]:
        """The cases, in the order of their worst facts."""
        groups: dict[tuple[str, str | None], list[Fact]] = defaultdict(list)
        for fact in self.facts:
            groups[fact.id, fact.arch].append(fact)
        return [Case(id, arch, facts) for (id, arch), facts in groups.items()]

    @cached_property
    def archs(self) -> list[str | None]:
        """The architectures, by name; None (no device was there to tell) last."""
        return sorted({fact.arch for fact in self.facts}, key=lambda arch: (arch is None, arch))

    @cached_property
    def counts(self) -> Counter[str]:
        """How many facts have each verdict."""
        return Counter(fact.verdict for fact in self.facts)

    def having(self, *verdicts: str) -> list[Fact]:
        return [fact for fact in self.facts if fact.verdict in verdicts]

    def unmeasured_reasons(self) -> list[tuple[str, list[Fact]]]:
        """Why facts were not judged ("unmeasured: ..." or, of those that have a value, "only
        estimated: ..."), and which they are: the most frequent reason first."""
        reasons: dict[str, list[Fact]] = defaultdict(list)
        for fact in self.having("unmeasured"):
            how, why = "unmeasured", fact.reason
            if fact.value is not None:
                how, why = _UNSURE.get(fact.confidence, how), fact.confidence_reason
            reasons[f"{how}: {why or 'no reason was given'}"].append(fact)
        return sorted(reasons.items(), key=lambda item: -len(item[1]))

    def other_lines(self, fact: Fact, most: int) -> list[Fact]:
        """What other source lines have of the same metric, the largest first, and not nothing."""
        lines = self._lines.get((fact.id, fact.arch, fact.metric), [])
        place = (fact.file, fact.line)
        lines = [line for line in lines if line.file and (line.file, line.line) != place]
        lines = [line for line in lines if isinstance(line.value, int | float) and line.value > 0]
        return sorted(lines, key=lambda line: -line.value)[:most]


def pictures_beside(facts: Iterable[Path]) -> set[Path]:
    """The picture files in the folders of these files."""
    folders = {path.resolve().parent for path in facts}
    files = {file for folder in folders for file in folder.iterdir()}
    return {file for file in files if file.suffix.lower() in _PICTURES and file.is_file()}


def _badness(fact: Fact) -> tuple[int, float, float]:
    """Sorts facts: the verdict, then how far the value is from the nearest number of its budget."""
    rank = _RANK[fact.verdict]
    if fact.verdict not in ("fail", "environment") or not isinstance(fact.value, int | float):
        return rank, 0, 0
    numbers = re.findall(
        r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", re.split("±| until ", fact.budget or "")[0]
    )
    limit = min(map(float, numbers), key=lambda number: abs(fact.value - number), default=0.0)
    far = abs(fact.value - limit)
    return rank, -(far / abs(limit) if limit else math.inf), -far

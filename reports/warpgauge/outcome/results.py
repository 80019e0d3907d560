"""The outcome of a run as warpgauge wrote it (results.json), for the formats that draw it.

Nothing is decided here: order, groups, verdicts, texts and the exit code are those of the file.
Members have its names; absent ones are None or empty.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from warpgauge.facts.records import Run
from warpgauge.text import printable

if TYPE_CHECKING:
    from warpgauge.changes.delta import Delta

VERDICTS = ("error", "fail", "moved", "waived", "better", "pass", "unbudgeted", "unmeasured")
_RANKS = {verdict: i for i, verdict in enumerate(VERDICTS)}
_NAMED = 6  # others of a group, as on the terminal


@dataclass(frozen=True)
class _Members:
    """A part of the file: known members are taken, those of a later version left."""

    @classmethod
    def of(cls, members: dict[str, Any], **parts: Any) -> Self:
        known = cls.__dataclass_fields__.keys()
        if not members.keys() <= known:
            members = {key: members[key] for key in members.keys() & known}
        return cls(**members | parts)


@dataclass(frozen=True)
class Place(_Members):
    """A source line that is to blame, and its share of the value."""

    file: str
    line: int | None = None
    value: float | None = None
    share: float | None = None
    text: str = ""

    @property
    def name(self) -> str:
        """FILE:LINE."""
        return printable(f"{self.file}:{self.line}" if self.line else self.file)


@dataclass(frozen=True)
class Finding(_Members):
    """A value that is not fine, and the others of its group, which are less bad."""

    group: str
    verdict: str
    case: str
    metric: str
    fingerprint: str
    wrong: bool = False
    arch: str | None = None
    value: float | str | None = None
    unit: str = ""
    value_text: str = ""
    budget: str = ""
    would: str | None = None
    reason: str = ""
    meaning: str = ""
    cure: str = ""
    blame: tuple[Place, ...] = ()
    repeat: str = ""
    text: str = ""
    others: tuple[Finding, ...] = ()

    @property
    def name(self) -> str:
        """ "transpose.tiled.f32@1024x1024 on sm_90"."""
        return _title(self.case, self.arch)

    @property
    def title(self) -> str:
        """ "transpose.tiled.f32@1024x1024 on sm_90 and 6 more": of the same case; of a compiled
        kernel with the number of files that have it."""
        archs = {other.arch for other in self.others if other.case == self.case} - {self.arch}
        files = {finding.family for finding in (self, *self.others)}
        more = f" and {len(archs)} more" if archs else ""
        everywhere = f", in {len(files)} files" if len(files) > 1 else ""
        return self.name + more + everywhere

    @property
    def also(self) -> str:
        """ "on sm_80 (28), @1000x700 on sm_90 (36) and 5 more": the same case first."""
        others = sorted(self.others, key=lambda other: other.case != self.case)
        text = ", ".join(other._beside(self) for other in others[:_NAMED])
        return text + (f" and {len(others) - _NAMED} more" if len(others) > _NAMED else "")

    def _beside(self, shown: Finding) -> str:
        file = "" if self.family == shown.family else self.family
        _, _, own = self.case.partition("@")
        _, _, of_shown = shown.case.partition("@")
        size = "" if own == of_shown else f"@{own}"
        value = (
            "" if self.verdict == "error" else f"({self.value_text.removesuffix(' ' + self.unit)})"
        )
        return printable(" ".join(filter(None, (_title(file + size, self.arch).strip(), value))))

    @property
    def family(self) -> str:
        return self.case.partition(".")[0]

    @property
    def place(self) -> Place | None:
        """The line that is to blame most."""
        return self.blame[0] if self.blame else None

    @property
    def problem(self) -> str:
        """The reason, or the value beside its budget."""
        if self.reason:
            return printable(self.reason)
        beside = f", budget {self.budget}" if self.budget else ""
        return printable(f"{self.metric} is {self.value_text or 'not measured'}{beside}")

    @property
    def advice(self) -> str:
        return printable(" ".join(filter(None, (self.meaning, self.cure))))


@dataclass(frozen=True)
class Value(_Members):
    """A value of a case: judged, a time, or wrong."""

    metric: str
    verdict: str
    value: float | str | None = None
    value_text: str = ""
    source: str | None = None
    wrong: bool = False
    would: str | None = None
    budget: str = ""
    interval: tuple[float, float] | None = None
    confidence: str | None = None
    reason: str = ""
    file: str | None = None
    line: int | None = None

    def problem(self, unit: str) -> str:
        """The reason, or the value beside its budget."""
        if self.reason:
            return printable(self.reason)
        whole = "not measured" if self.value is None else f"{self.value} {unit}".strip()
        text = self.value_text or whole
        beside = f", budget {self.budget}" if self.budget else ""
        return printable(f"{self.metric} is {text}{beside}")


@dataclass(frozen=True)
class CaseResult(_Members):
    """A case on one architecture; its values are the worst first."""

    case: str
    family: str
    run: str
    verdict: str
    arch: str | None = None
    device: str | None = None
    wrong: bool = False
    file: str | None = None
    line: int | None = None
    repeat: str = ""
    values: tuple[Value, ...] = ()

    @cached_property
    def title(self) -> str:
        """ "transpose.tiled.f32@1024x1024 on sm_90"."""
        return _title(self.case, self.arch)

    @property
    def wrong_values(self) -> list[Value]:
        return [value for value in self.values if value.wrong]

    @property
    def is_judged(self) -> bool:
        return any(value.verdict not in ("unbudgeted", "unmeasured") for value in self.values)

    @property
    def place(self) -> tuple[str | None, int | None]:
        """The line of its worst value that has one, or the registration."""
        found = next((value for value in self.values if value.file), self)
        return found.file, found.line


@dataclass(frozen=True)
class Family(_Members):
    """Numbers of the values of a family by verdict."""

    family: str
    cases: int
    checks: int = 0
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Unmeasured(_Members):
    """A reason why values were not judged, and their number."""

    reason: str
    count: int
    required: int = 0  # of them: what --require or --device asks for

    @property
    def text(self) -> str:
        many = f"{self.count} value{'' if self.count == 1 else 's'}"
        return printable(f"{many}{' required, but' if self.required else ''} {self.reason}")


@dataclass(frozen=True)
class Results(_Members):
    """All of a file, or of several together. `found` are the findings of the file, one a value;
    `known` are those that the base of `delta` has, too."""

    status: str
    exit_code: int
    headline: str
    counts: dict[str, int]
    cases: tuple[CaseResult, ...]
    cases_total: int = 0
    checks: int = 0
    runs: tuple[Run, ...] = ()
    families: tuple[Family, ...] = ()
    found: tuple[Finding, ...] = ()
    unmeasured: tuple[Unmeasured, ...] = ()
    lost: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    units: dict[str, str] = field(default_factory=dict)
    pictures: tuple[Path, ...] = ()
    delta: Delta | None = None
    known: frozenset[Finding] = frozenset()

    @cached_property
    def findings(self) -> list[Finding]:
        """The findings, grouped by their cause, the worst first."""
        groups: dict[str, list[Finding]] = {}
        for finding in self.found:
            groups.setdefault(finding.group, []).append(finding)
        return [replace(worst, others=tuple(others)) for worst, *others in groups.values()]

    @cached_property
    def values(self) -> list[tuple[CaseResult, Value]]:
        """The values of all cases: the wrong ones first, then what was judged."""
        pairs = ((case, value) for case in self.cases for value in case.values)
        return sorted(pairs, key=lambda pair: badness(pair[1]))

    @property
    def wrong(self) -> list[Finding]:
        """The findings that make the run red, the worst first."""
        return [finding for finding in self.findings if finding.wrong]

    @property
    def noted(self) -> list[Finding]:
        return [finding for finding in self.findings if not finding.wrong]

    @property
    def faults(self) -> list[str]:
        """Reasons beside findings that make the run red: lost results, required values."""
        missing = [value.text for value in self.unmeasured if value.required]
        return [*map(printable, self.lost), *missing]

    @property
    def without_known(self) -> Self:
        """The same with only those findings that the base has not."""
        return replace(
            self, found=tuple(finding for finding in self.found if finding not in self.known)
        )

    def unit(self, value: Value) -> str:
        return self.units.get(value.metric, "")

    def only(
        self, case: Callable[[str], bool], metric: Callable[[str], bool], arch: str | None
    ) -> Results:
        """The results with fewer cases and findings; headline and counts stay."""

        def is_shown(judged: Finding | CaseResult) -> bool:
            return case(judged.case) and arch in (None, judged.arch)

        cases = (
            replace(result, values=tuple(value for value in result.values if metric(value.metric)))
            for result in self.cases
            if is_shown(result)
        )
        found = (finding for finding in self.found if is_shown(finding) and metric(finding.metric))
        return replace(self, cases=tuple(cases), found=tuple(found))


def badness(judged: Finding | Value) -> tuple[bool, int]:
    """The wrong ones go first, then by verdict."""
    return not judged.wrong, _RANKS[judged.verdict]


def _title(case: str, arch: str | None) -> str:
    """ "transpose.tiled.f32@1024x1024 on sm_90"."""
    return printable(case + (f" on {arch}" if arch else ""))

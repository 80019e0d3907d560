"""Holds counts against Nsight Compute's, for `warpgauge diff FACTS FILE.csv`.

The file is what `ncu --csv` prints, with a row for each kernel (--page raw) or for each metric.
Launches are those of a case by the NVTX range that names it (ncu --nvtx), else by their kernel.
The table of metrics says which of Nsight Compute's counts are ours.
"""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from warpgauge.errors import CommandError
from warpgauge.facts.catalog import Metric, catalog
from warpgauge.facts.reader import read_facts
from warpgauge.facts.records import Case, Fact
from warpgauge.files import read_whole
from warpgauge.text import printable

_RANGE = re.compile(r'warpgauge:([^:"]+)')
_PLAIN = re.compile(r"(?:.*::|.* )?([\w$~]+)\s*$", re.DOTALL)
_OF_PROGRAMS = ("attached", "emulated")
_MOST_SHOWN = 20


@dataclass
class Launch:
    """A launch as Nsight Compute saw it. `values` and `units` are by its own names."""

    kernel: str
    arch: str
    case: str | None = None
    values: dict[str, float] = field(default_factory=dict)
    slack: dict[str, float] = field(default_factory=dict)  # half of the last digit that is printed
    units: dict[str, str] = field(default_factory=dict)

    def note(self, name: str, text: str, unit: str) -> None:
        """A value as it is printed: "1,024" or "4.69". Raises ValueError."""
        decimals = text.partition(".")[2]
        self.values[name] = float(text.replace(",", ""))
        self.slack[name] = 0.5 * 10.0 ** -len(decimals) if decimals else 0.0
        self.units[name] = unit


def run(words: Sequence[str]) -> int:
    """Compares and prints; `words` are the two files. Raises CommandError."""
    first, second = map(Path, words)
    ours, theirs = (second, first) if first.suffix == ".csv" else (first, second)
    if ours.suffix == ".csv":
        raise CommandError("both sides are of Nsight Compute: give the facts of one run")
    launches = read_launches(theirs)
    comparison = Comparison(launches)
    for case, facts in _cases(read_facts(ours)):
        comparison.add(case, facts)
    if not comparison.compared:
        raise CommandError(
            f"{ours} and {theirs} have nothing in common", *comparison.left[:_MOST_SHOWN]
        )
    print(f"A: {printable(str(ours))}\nB: {printable(str(theirs))} (Nsight Compute)\n")
    print(comparison.text(), end="")
    return comparison.exit_code


def _cases(facts: Iterable[Fact]) -> Iterator[tuple[Case, list[Fact]]]:
    of_case: dict[tuple[str, str | None], list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.scope == "case":
            of_case[fact.id, fact.arch].append(fact)
    for values in of_case.values():
        yield next((fact.case for fact in values if fact.case.kernels), values[0].case), values


def plain_name(kernel: str) -> str:
    """The name of a function without return type, namespaces, template arguments, parameters."""
    depth, bare = 0, ""
    for sign in kernel.replace("(anonymous namespace)", ""):
        if sign == "(" and depth == 0:
            break
        depth += (sign == "<") - (sign == ">")
        bare += sign if depth == 0 and sign != ">" else ""
    found = _PLAIN.match(bare)
    return found[1] if found else bare


class Comparison:
    """What was compared so far, and what was left out."""

    def __init__(self, launches: Sequence[Launch]) -> None:
        self._launches = launches
        self._has_ranges = any(launch.case for launch in launches)
        self.compared: Counter[str] = Counter()
        self.different: list[str] = []
        self.unsure: list[str] = []
        self.left: list[str] = []

    def add(self, case: Case, facts: Sequence[Fact]) -> None:
        """Compares the values of a case."""
        launches = self._launches_of(case)
        if not launches:
            return
        expected = sum(launch.count for kernel in case.kernels for launch in kernel.launches)
        if not self._has_ranges and expected != len(launches):
            self.left.append(
                f"left out: {case.id}: {expected} launches in the facts, {len(launches)} under "
                "Nsight Compute"
            )
            return
        for fact in facts:
            row = catalog()[fact.metric]
            theirs = _value(row, launches)
            if theirs is None or not isinstance(fact.value, int | float):
                continue
            self.compared[fact.metric] += 1
            if abs(fact.value - theirs) <= _slack(row, launches):
                continue
            text = f"{case.id} on {fact.arch}: {fact.metric} {fact.value:.12g}, Nsight Compute "
            text += f"{theirs:.12g}"
            (self.different if fact.confidence == "exact" else self.unsure).append(text)

    def _launches_of(self, case: Case) -> list[Launch]:
        here = [launch for launch in self._launches if _is_of(launch.arch, case.arch)]
        if self._has_ranges:
            return [launch for launch in here if launch.case == case.id]
        mangled = {kernel.name for kernel in case.kernels}
        found = [launch for launch in here if launch.kernel in mangled]
        if found or case.kind not in _OF_PROGRAMS:
            return found
        found = [launch for launch in here if plain_name(launch.kernel) == case.variant]
        if len({launch.kernel for launch in found}) > 1:
            self.left.append(
                f"left out: {case.id}: several kernels are called {case.variant}; run ncu with "
                "--print-kernel-base mangled"
            )
            return []
        return found

    @property
    def exit_code(self) -> int:
        """1 if an exact value differs, else 3 if a case was left out, else 0."""
        return 1 if self.different else 3 if self.left else 0

    def text(self) -> str:
        """The values by metric, what differs, and the outcome."""
        wrong = Counter(line.rpartition(": ")[2].split()[0] for line in self.different)
        unsure = Counter(line.rpartition(": ")[2].split()[0] for line in self.unsure)
        width = max(map(len, self.compared))
        lines = [f"{'metric':<{width}}  equal  different  unsure"]
        for metric in catalog().in_order(self.compared):
            equal = self.compared[metric] - wrong[metric] - unsure[metric]
            lines.append(f"{metric:<{width}} {equal:>6} {wrong[metric]:>10} {unsure[metric]:>7}")
        lines.append("")
        for label, found in (("DIFFERENT", self.different), ("estimate", self.unsure)):
            lines += [f"{label} {printable(line)}" for line in found[:_MOST_SHOWN]]
            if len(found) > _MOST_SHOWN:
                lines.append(f"and {len(found) - _MOST_SHOWN} more")
        lines += map(printable, self.left)
        total = sum(self.compared.values())
        outcome = (
            f"DIFFERENT: {len(self.different)} of {total} values"
            if self.different
            else f"EQUAL: {total - len(self.unsure)} values"
        )
        return "\n".join([*lines, outcome, ""])


def _is_of(arch: str, case_arch: str | None) -> bool:
    return case_arch is not None and case_arch.rstrip("af") == arch


def _value(row: Metric, launches: Sequence[Launch]) -> float | None:
    """The metric as Nsight Compute has it, over all launches; None where it was not asked for."""
    if not row.nsight_names:
        return None
    values = []
    for launch in launches:
        if any(name not in launch.values for name in row.nsight_names):
            return None
        first, *rest = (_in_our_unit(launch, name, row) for name in row.nsight_names)
        values.append(first - sum(rest))
    if row.source == "cupti-sass":
        return sum(values)
    return min(values) if row.direction == "higher" else max(values)


def _slack(row: Metric, launches: Sequence[Launch]) -> float:
    """How far printed values may be from those that Nsight Compute has: 0 for counts."""
    share = 100 if row.unit == "fraction" else 1
    return 1.001 * max(
        launch.slack.get(name, 0.0) / share for launch in launches for name in row.nsight_names
    )


def _in_our_unit(launch: Launch, name: str, row: Metric) -> float:
    unit, value = launch.units.get(name, ""), launch.values[name]
    if row.unit == "fraction" and unit == "%":
        return value / 100
    if unit[:1] in "KMG" and unit[1:].startswith("byte"):
        raise CommandError(f"{name} is in {unit}: run ncu with --print-units base")
    return value


def read_launches(path: Path) -> list[Launch]:
    """The launches of a file that ncu has written. Raises CommandError."""
    try:
        text = read_whole(path).decode("utf-8")
    except OSError as error:
        raise CommandError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{path}: cannot be read: {error}") from error
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith("==")]
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID",')), None)
    if start is None:
        raise CommandError(f'{path}: is no output of ncu --csv: no line begins with "ID"')
    try:
        rows = list(csv.DictReader(lines[start:], strict=True))
        if any(None in row.values() for row in rows):
            raise ValueError("a row is cut off")
        launches = _by_metric(rows) if rows and "Metric Name" in rows[0] else _by_kernel(rows)
    except (csv.Error, KeyError, ValueError, TypeError) as error:
        raise CommandError(f"{path}: is no whole output of ncu --csv: {error}") from error
    if not launches:
        raise CommandError(f"{path}: Nsight Compute saw no launch")
    return launches


def _launch(row: dict[str, str]) -> Launch:
    ranges = next((text for key, text in row.items() if "Push/Pop_Range" in key and text), "")
    found = _RANGE.search(ranges)
    return Launch(
        row["Kernel Name"], f"sm_{row['CC'].replace('.', '')}", case=found[1] if found else None
    )


def _compared_names() -> set[str]:
    """Nsight Compute's names that the table of metrics has: other columns may hold text."""
    return {name for metric in catalog().values() for name in metric.nsight_names}


def _by_kernel(rows: Sequence[dict[str, str]]) -> list[Launch]:
    """Of rows with all metrics of a launch; the first row holds the units."""
    units, *data = rows
    names = _compared_names() & units.keys()
    launches = []
    for row in data:
        launch = _launch(row)
        for name in names:
            if row[name]:
                launch.note(name, row[name], units[name])
        launches.append(launch)
    return launches


def _by_metric(rows: Sequence[dict[str, str]]) -> list[Launch]:
    """Of rows with a metric each."""
    launches: dict[str, Launch] = {}
    names = _compared_names()
    for row in rows:
        launch = launches.setdefault(row["ID"], _launch(row))
        if row["Metric Name"] not in names:
            continue
        launch.note(row["Metric Name"], row["Metric Value"], row["Metric Unit"])
    return list(launches.values())

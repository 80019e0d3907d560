"""The counts of kernels in files of facts, by place, and what two sides say of the same kernels.

Needs nothing but Python, to run on a machine with a GPU that has no packages. Where a file has
several runs, the last one of a kernel counts."""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

COUNTERS = {"emulator", "cupti"}  # the sources of counts
# They follow from others, which are compared.
DERIVED = {
    *("shared.bank_conflicts", "shared.bank_ways", "global.excess_sectors"),
    *(f"global.{kind}.sectors_per_request" for kind in ("load", "store", "atomic")),
}
# Those of each kernel as a whole, without which a file does not say what a kernel counts.
NEEDED = {"shared.requests", "global.load.requests", "instructions"}
OPENERS = {".gz": gzip.open, ".xz": lzma.open}
FACT_FILES = ("facts.jsonl", "facts.jsonl.gz", "facts.jsonl.xz")

Place = tuple[str, int]  # file and line; ("", 0) is the kernel as a whole
WHOLE: Place = ("", 0)


class BadFacts(Exception):
    """A file that cannot be read as facts; the text names it."""


@dataclass
class Count:
    value: float = 0
    unsure: str = ""  # why it is not exact; empty: it is


@dataclass
class Kernel:
    """What one side says of a kernel."""

    case: dict  # its record
    code: list[str]  # of its machine code
    launches: list[dict]
    counts: dict[Place, dict[str, Count]] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return "{family}.{variant}.{type}@{size}".format(**self.case)

    def count(self, place: Place, metric: str) -> Count:
        """What is not there is 0, as sure as the count of the kernel as a whole."""
        if found := self.counts.get(place, {}).get(metric):
            return found
        return Count(0, self.counts[WHOLE][metric].unsure)


# By the folder of the file below that which was given, mangled names and architecture.
Key = tuple[str, tuple[str, ...], str]
Kernels = dict[Key, Kernel]


def read_kernels(path: Path) -> Kernels:
    """The kernels of a file of facts, or of all facts.jsonl below a folder."""
    if not path.is_dir():
        return kernels_of(path, "")
    files = sorted(file for name in FACT_FILES for file in path.rglob(name))
    if not files:
        raise BadFacts(f"{path}: no {FACT_FILES[0]} in this folder")
    kernels: Kernels = {}
    for file in files:
        kernels |= kernels_of(file, file.parent.relative_to(path).as_posix())
    return kernels


def records(path: Path) -> Iterator[dict]:
    """The records of a file; a last line that was cut off is left out."""
    try:
        with OPENERS.get(path.suffix, open)(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.endswith("\n"):
                    return
                try:
                    record = json.loads(line)
                    record["record"]
                except (ValueError, TypeError, KeyError):
                    raise BadFacts(f"{path}:{number}: not a record of facts") from None
                yield record
    except (OSError, EOFError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise BadFacts(f"{path}: cannot be read: {error}") from error


def kernels_of(path: Path, folder: str) -> Kernels:
    kernels: Kernels = {}
    cases: dict[str, tuple[Key, dict]] = {}
    shared: dict[str, dict] = {}
    run = ""
    seen_in: dict[Key, str] = {}  # the run of what is in `kernels`
    for record in records(path):
        match record["record"]:
            case "run":
                if record.get("schema") != "warpgauge.fact/2":
                    raise BadFacts(f"{path}: its schema is not warpgauge.fact/2")
                if record["run"] != run:
                    run, cases, shared = record["run"], {}, {}
            case "case":
                names = tuple(kernel["name"] for kernel in record.get("kernels", ()))
                cases[record["case"]] = (folder, names, record.get("arch", "")), record
            case "shared":
                shared[record["shared"]] = record
            case "values":
                members = shared.get(record.get("shared", ""), {}) | record
                if members.get("source") not in COUNTERS or members.get("scope") == "node":
                    continue
                if record["case"] not in cases:
                    raise BadFacts(f"{path}: a value of a case that is not above it")
                key, of_case = cases[record["case"]]
                if seen_in.get(key) != run:
                    seen_in[key], kernels[key] = run, kernel_of(of_case)
                add(kernels[key], members)
    for kernel in kernels.values():
        if lacking := NEEDED - kernel.counts.get(WHOLE, {}).keys():
            raise BadFacts(f"{path}: {kernel.id} has no count of {min(lacking)}")
    return kernels


def kernel_of(case: dict) -> Kernel:
    of_case = case.get("kernels", [])
    launches = [
        {key: value for key, value in launch.items() if key != "unequal_sectors"}
        for kernel in of_case
        for launch in kernel.get("launches", ())
    ]
    code = [kernel["sass_hash"] for kernel in of_case if "sass_hash" in kernel]
    return Kernel(case, code, sorted(launches, key=json.dumps))


def add(kernel: Kernel, members: dict) -> None:
    """Adds up the parts of a line, which calls are inlined through."""
    is_line = members.get("scope") == "line"
    place = (members.get("file", "?"), members.get("line", 0)) if is_line else WHOLE
    unsure = members.get("confidence_reason", "") or members.get("confidence", "")
    for metric, value in members["values"].items():
        if metric in DERIVED or not isinstance(value, (int, float)):
            continue
        count = kernel.counts.setdefault(place, {}).setdefault(metric, Count())
        count.value += value
        count.unsure = count.unsure or unsure


def as_facts(kernels: list[Kernel], run: dict) -> Iterator[dict]:
    """The records that say what was read of these kernels: to keep the counts alone."""
    yield run
    for kernel in kernels:
        yield kernel.case
        for (file, line), counts in sorted(kernel.counts.items()):
            place = {"scope": "line", "file": file, "line": line} if (file, line) != WHOLE else {}
            for unsure in sorted({count.unsure for count in counts.values()}):
                trust = {"confidence": "estimate", "confidence_reason": unsure} if unsure else {}
                values = {m: c.value for m, c in sorted(counts.items()) if c.unsure == unsure}
                head = {"record": "values", "case": kernel.case["case"], "source": "cupti"}
                yield {**head, **place, **trust, "values": values}


def write_facts(path: Path, kernels: list[Kernel], run: dict) -> None:
    """Writes them to a file, .xz."""
    with lzma.open(path, "wt", encoding="utf-8", preset=9) as file:
        for record in as_facts(kernels, run):
            file.write(json.dumps(record, separators=(",", ":")) + "\n")


@dataclass
class Shares:
    """Of so many counts that are not 0 on both sides, so many are exact on both, and so many of
    those differ."""

    all: int = 0
    exact: int = 0
    differing: int = 0

    def __iadd__(self, other: Shares) -> Shares:
        self.all += other.all
        self.exact += other.exact
        self.differing += other.differing
        return self


@dataclass
class Difference:
    """A count that both sides call exact, and that is not the same."""

    place: Place
    metric: str
    a: float
    b: float


@dataclass
class Compared:
    """A kernel that both sides counted."""

    a: Kernel
    b: Kernel
    totals: Shares
    lines: Shares
    differences: list[Difference]

    @property
    def other_launches(self) -> bool:
        return self.a.launches != self.b.launches


@dataclass
class Comparison:
    kernels: list[Compared] = field(default_factory=list)
    only_in_a: list[str] = field(default_factory=list)
    only_in_b: list[str] = field(default_factory=list)
    other_code: list[str] = field(default_factory=list)

    @property
    def differing(self) -> list[Compared]:
        return [kernel for kernel in self.kernels if kernel.differences]


def compare_kernel(a: Kernel, b: Kernel) -> Compared:
    compared = Compared(a, b, Shares(), Shares(), [])
    metrics = a.counts[WHOLE].keys() & b.counts[WHOLE].keys()
    # One without lines was compiled without line tables, or nothing was counted.
    with_lines = len(a.counts) > 1 and len(b.counts) > 1
    for place in sorted(a.counts.keys() | b.counts.keys()) if with_lines else [WHOLE]:
        shares = compared.totals if place == WHOLE else compared.lines
        here = a.counts.get(place, {}).keys() | b.counts.get(place, {}).keys()
        for metric in sorted(metrics & here):
            in_a, in_b = a.count(place, metric), b.count(place, metric)
            if in_a.value == in_b.value == 0:
                continue
            is_exact = not in_a.unsure and not in_b.unsure
            differs = is_exact and in_a.value != in_b.value
            shares += Shares(1, is_exact, differs)
            if differs:
                difference = Difference(place, metric, in_a.value, in_b.value)
                compared.differences.append(difference)
    return compared


def compare(a: Kernels, b: Kernels) -> Comparison:
    """Compares what has the same names, architecture and machine code, as far as that is known."""
    comparison = Comparison()
    for key, in_a in a.items():
        in_b = b.get(key)
        if in_b is None:
            comparison.only_in_a.append(in_a.id)
        elif in_a.code and in_b.code and in_a.code != in_b.code:
            comparison.other_code.append(in_a.id)
        else:
            comparison.kernels.append(compare_kernel(in_a, in_b))
    comparison.only_in_b = [kernel.id for key, kernel in b.items() if key not in a]
    return comparison


def without_folders(kernels: Kernels) -> Kernels:
    """For a side of many files against one file: a kernel by its names alone."""
    found: Kernels = {}
    for (_, names, arch), kernel in kernels.items():
        if ("", names, arch) in found:
            raise BadFacts(f"{kernel.id}: two files of the folder have this kernel")
        found["", names, arch] = kernel
    return found


def compare_paths(a: Path, b: Path) -> Comparison:
    """Two files or folders. Files of two folders belong together by their place in them."""
    in_a, in_b = read_kernels(a), read_kernels(b)
    if a.is_dir() != b.is_dir():
        in_a, in_b = without_folders(in_a), without_folders(in_b)
    return compare(in_a, in_b)

"""Writes the tables of docs/catalogue.md from docs/catalogue.toml and the registry.

build/venv/bin/python docs/make_catalogue.py [PROGRAM]

PROGRAM is asked for its cases (`list --large --json`); it is build/ci/bin/warpgauge, which must be
built with cuBLAS. docs/catalogue.toml explains its form at its head.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "reports"))

from warpgauge.files import write_whole  # noqa: E402

LIST = ROOT / "docs" / "catalogue.toml"
OUTPUT = ROOT / "docs" / "catalogue.md"
PROGRAM = ROOT / "build/ci/bin/warpgauge"
MARK = "<!-- Written by docs/make_catalogue.py from docs/catalogue.toml and the registry. -->\n"

MEMBERS = {"is", "cases", "by", "uses", "open"}
GLOB = re.compile(r"[\w*]+\.[\w*]+\.[\w*]+@[\w*]+$")
LIBRARIES = re.compile(r"cublas\.|cublas_xt\.|\w+\.cublas\w*\.")  # cases of a build with cuBLAS
MOST_NAMES = 8  # beyond it a glob stands for the cases that it names


@dataclass(frozen=True)
class Feature:
    """A thing that the source material asks for. One that is `open` still lacks what that says."""

    text: str
    cases: tuple[str, ...]  # globs over ids, without braces
    by: tuple[str, ...]  # tests, commands and metrics
    uses: tuple[str, ...]  # words that stand in the sources of the cases
    open: str


@dataclass(frozen=True)
class Row:
    number: str  # "1" ... "59", "T1" ... "T10"
    idea: str
    features: tuple[Feature, ...]


def expanded(glob: str) -> list[str]:
    """The globs that one with {a,b} or {1..3} stands for, as in the shell."""
    braces = re.search(r"\{([^{}]+)\}", glob)
    if not braces:
        return [glob]
    span = re.fullmatch(r"(\d+)\.\.(\d+)", braces[1])
    words = (
        [str(n) for n in range(int(span[1]), int(span[2]) + 1)] if span else braces[1].split(",")
    )
    before, after = glob[: braces.start()], glob[braces.end() :]
    return [full for word in words for full in expanded(before + word + after)]


def rows(path: Path = LIST) -> list[Row]:
    """The list; raises ValueError for a feature that says nothing of its cover."""
    return [
        Row(
            str(row["number"]),
            row["idea"],
            tuple(feature_of(row["number"], feature) for feature in row["features"]),
        )
        for row in tomllib.loads(path.read_text())["row"]
    ]


def feature_of(number: object, table: dict) -> Feature:
    where = f"row {number}: {table.get('is', table)}"
    if unknown := set(table) - MEMBERS:
        raise ValueError(f"{where}: unknown: {', '.join(sorted(unknown))}")
    if "is" not in table or not {"cases", "by", "open"} & set(table):
        raise ValueError(f"{where}: give what it is, and its cases, what it is shown by, or open")
    globs = tuple(glob for listed in table.get("cases", ()) for glob in expanded(listed))
    for glob in globs:
        if not GLOB.match(glob) or re.match(r"\w+\.\*\.\*@\*$", glob):
            raise ValueError(f"{where}: {glob}: name variants, types or sizes (f.v.type@size)")
    return Feature(
        table["is"],
        globs,
        tuple(table.get("by", ())),
        tuple(table.get("uses", ())),
        table.get("open", ""),
    )


def registered(program: Path = PROGRAM) -> list[dict]:
    done = subprocess.run(
        [program, "list", "--large", "--json"], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)["cases"]


def named(globs: Iterable[str], cases: Iterable[dict]) -> list[dict]:
    pattern = re.compile("|".join(map(translate, globs)) or "(?!)")
    return [case for case in cases if pattern.match(case["id"])]


def document(listed: list[Row], cases: list[dict]) -> str:
    """All of docs/catalogue.md: the words before the mark stay."""
    words, mark, _ = OUTPUT.read_text().partition(MARK)
    if not mark:
        raise ValueError(f"{OUTPUT} has no line {MARK.strip()}")
    kernels = [row for row in listed if not row.number.startswith("T")]
    tools = [row for row in listed if row.number.startswith("T")]
    return (
        f"{words}{MARK}\n{summary(listed)}\n"
        f"\n## Kernels\n\n{table(kernels, cases)}\n## Tools\n\n{table(tools, cases)}"
    )


def summary(listed: list[Row]) -> str:
    features = [(row, feature) for row in listed for feature in row.features]
    lacking = [(row, feature) for row, feature in features if feature.open]
    text = f"{len(listed)} rows ask for {len(features)} things, of which {len(lacking)} are open"
    if not lacking:
        return text + "."
    return (
        text
        + ":\n\n"
        + "\n".join(f"- row {row.number}: {as_markdown(feature.text)}" for row, feature in lacking)
    )


def table(listed: list[Row], cases: list[dict]) -> str:
    lines = ["| row | what it asks for | shown by |", "|--:|---|---|"]
    for row in listed:
        lines.append(f"| **{row.number}** | **{as_markdown(row.idea)}** | |")
        lines += [
            f"| | {as_markdown(feature.text)} | {cover(feature, cases)} |"
            for feature in row.features
        ]
    return "\n".join(lines) + "\n"


def as_markdown(text: str) -> str:
    """Stars and underscores as such: Markdown would take them for markup."""
    return re.sub(r"([*_<|])", r"\\\1", text)


def cover(feature: Feature, cases: list[dict]) -> str:
    """The last column: cases by the file that registers them, tests, commands."""
    files: dict[str, list[str]] = {}
    for glob in feature.cases:
        for case in named([glob], cases):
            names = files.setdefault(f"{case['family']} {case['file']}", [])
            at = f"@{case['size']}" if "*" not in glob.partition("@")[2] else ""
            name = f"{case['variant']}.{case['type']}{at}"
            if name not in names:
                names.append(name)
    parts = []
    for place, names in files.items():
        family, file = place.split(" ", 1)
        if len(names) > MOST_NAMES:
            names = [f"{names[0]}` to `{names[-1]}"]
        parts.append(f"[{family}](../{file}) " + ", ".join(f"`{name}`" for name in names))
    parts += [link_of(name) for name in feature.by]
    if feature.open:
        parts.append(f"**open**: {as_markdown(feature.open)}")
    return "; ".join(parts)


def link_of(name: str) -> str:
    path, _, inside = name.partition("::")
    if not (ROOT / path).exists():
        return f"`{name}`"
    return f"[{path}](../{path})" + (f" `{inside}`" if inside else "")


if __name__ == "__main__":
    program = Path(sys.argv[1]) if len(sys.argv) > 1 else PROGRAM
    write_whole(OUTPUT, document(rows(), registered(program)).encode())

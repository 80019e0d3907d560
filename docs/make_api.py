"""Writes the part of docs/api.md below its mark from the comments of the headers that projects
include.

build/venv/bin/python docs/make_api.py
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent, fill

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "reports"))

from warpgauge.files import write_whole  # noqa: E402

OUTPUT = ROOT / "docs" / "api.md"
HEADERS = [
    *sorted((ROOT / "harness/include/warpgauge").glob("*.h")),
    ROOT / "metrics/include/warpgauge/check_cuda.h",
]

MARK = (
    "<!-- docs/make_api.py writes all below from the comments of the headers: change these. -->\n"
)

SECTIONS = {
    "Problems": ["Problem", "Size", "large"],
    "Buffers": ["Input", "Output", "InOut", "TypedBuffer", "random_values"],
    "Comparison": ["Comparison", "Errors"],
    "Registration": ["WARPGAUGE_FAMILY", "Family", "Variants", "WARPGAUGE_CUDA"],
    "Measuring in tests": ["measure", "Measurement", "NotMeasured", "over_budget"]
    + ["why_nothing_is_measured", "prepare_to_measure", "name_measurements"]
    + ["EXPECT_BUDGET", "ASSERT_BUDGET", "is_within_budget"],
}
# Named in the headers for the library itself.
INTERNAL = ["Announcement", "Buffer", "Contents", "NamesMeasurements", "Recipe", "RecipeOf", "Text"]
INTERNAL += ["VariantSet", "gpu_only", "kMeasurementsAreNamed", "kept_random_values", "needs"]
INTERNAL += ["register_variant", "relative_to", "sizes_between", "variant_set", "check_cuda"]


@dataclass
class Declaration:
    """What is declared: `code` without body, its comment, and the public members of a class."""

    name: str
    code: str
    comment: str
    members: list["Declaration"] = field(default_factory=list)


def statements(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Each declaration of a scope: its comment and its lines, all of the body in them."""
    comment: list[str] = []
    code: list[str] = []
    depth = 0
    for line in lines:
        text = re.sub(r'//.*|"(\\.|[^"\\])*"', "", line).rstrip()
        if not code and line.lstrip().startswith("///"):
            comment.append(line.strip().removeprefix("///").removeprefix(" "))
            continue
        if not code and (not text.strip() or re.match(r"namespace |\}$|#(?!define)", text)):
            if not line.strip().startswith("//"):
                comment = []
            continue
        code.append(line)
        depth += sum(text.count(c) for c in "{(") - sum(text.count(c) for c in "})")
        if code[0].startswith("#define"):
            ended = not text.endswith("\\")
        else:
            ended = depth == 0 and text.endswith((";", "}", "public:", "private:", "protected:"))
        if ended:
            yield "\n".join(comment), code
            comment, code, depth = [], [], 0


def parsed(lines: list[str]) -> Iterator[Declaration]:
    """The declarations of a scope that have a comment, and are public."""
    public = True
    for comment, code in statements(lines):
        if label := re.match(r"\s*(public|private|protected):", code[0]):
            public = label[1] == "public"
            continue
        behind = [part for line in code for part in re.findall(r"///< ?(.*)$", line)]
        text = " ".join(re.sub(r"//.*", "", line).strip() for line in code)
        about = "\n".join([comment, *behind]).strip()
        scope = re.match(r"(?:template <[^>]*> )?(class|struct) (\w+)[^;]*?\{", text)
        if not public or not (comment if scope else about):
            continue
        if scope:
            begin = next(i for i, line in enumerate(code) if "{" in line)
            inner = ["public:" if scope[1] == "struct" else "private:", *code[begin + 1 : -1]]
            head = text[: text.index("{")].strip()
            yield Declaration(scope[2], head, comment, list(parsed(inner)))
        elif " override" not in text and not text.startswith("friend "):
            shown = without_body(text)
            yield Declaration(name_of(shown), shown, about)


def without_body(text: str) -> str:
    """A declaration as a caller has to know it."""
    if text.startswith("#define"):
        return re.match(r"#define (\w+(?:\([^)]*\))?)", text)[1]
    text = re.sub(r"(\)(?: const)?) : .*", r"\1", re.sub(r"^(.*?\)[^{]*)\{.*$", r"\1", text))
    text = re.sub(r",? ?(const )?std::source_location&? where( = [\w:]+\(\))?", "", text)
    return text.replace("( ", "(").strip().removesuffix(";").removeprefix("inline ").strip()


def name_of(code: str) -> str:
    variable = re.match(r"[^(]*?(\w+) = ", code)
    found = variable or re.search(r"(operator[^()]*|\w+)\(", code) or re.search(r"(\w+)$", code)
    return found[1]


def declarations() -> dict[str, list[Declaration]]:
    """By name; overloads together."""
    found: dict[str, list[Declaration]] = {}
    for header in HEADERS:
        for declared in parsed(header.read_text().splitlines()):
            found.setdefault(declared.name, []).append(declared)
    return found


def as_markdown(text: str) -> str:
    """Outside of code, a < would begin a tag: names of headers are code, and others are escaped."""

    def escaped(part: str) -> str:
        return re.sub(r"<([\w/]+\.h)>|<", lambda m: f"`<{m[1]}>`" if m[1] else "&lt;", part)

    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else escaped(part) for part in parts)


def paragraphs(comment: str) -> str:
    """Lines filled; a line that begins with - is an item."""
    blocks = re.split(r"\n(?=- )|\n\n", dedent(comment))
    filled = []
    for block in blocks:
        item = block.startswith("- ")
        words = as_markdown(" ".join(block.split()))
        text = fill(words, 120, subsequent_indent="  " * item, break_on_hyphens=False)
        filled.append(("" if item else "\n") + text)
    return "\n".join(filled).strip("\n")


def cell(text: str) -> str:
    return text.replace("|", r"\|")


def entry(found: list[Declaration]) -> str:
    lines = [f"### {found[0].name}\n"]
    for declared in found:
        lines += [
            "```cpp",
            re.sub(r"(> )(class|struct|\w+ )", r">\n\2", declared.code, count=1),
            "```\n",
        ]
        lines.append(paragraphs(declared.comment) + "\n")
        if declared.members:
            lines += ["| member | is |", "|---|---|"]
        for member in declared.members:
            words = cell(as_markdown(" ".join(member.comment.split())))
            words = words[0].upper() + words[1:]
            lines.append(f"| `{cell(member.code)}` | {words} |")
        if declared.members:
            lines.append("")
    return "\n".join(lines)


def document() -> str:
    """The whole document; raises ValueError for a name that is in no section, or not there."""
    found = declarations()
    placed = [name for names in SECTIONS.values() for name in names] + INTERNAL
    if odd := set(found) ^ set(placed):
        raise ValueError(f"{', '.join(sorted(odd))}: see SECTIONS and INTERNAL, or its comment")
    return "\n".join(
        [
            OUTPUT.read_text().partition(MARK)[0] + MARK,
            *(
                f"## {title}\n\n" + "\n".join(entry(found[name]) for name in names)
                for title, names in SECTIONS.items()
            ),
        ]
    )


if __name__ == "__main__":
    write_whole(OUTPUT, document().encode())

"""The documents in docs/: commands run and print the output shown, quotations match their files,
and links resolve. blocks.py lists the marks of blocks."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from blocks import blocks_of, follow_links, headings_of, links_of, without_blocks
from warpgauge.commands.accept import CI_VARIABLES

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]).resolve() / "bin"
DOCUMENTS = sorted((ROOT / "docs").glob("*.md"))
# The files that commands run beside: a small copy of the tree, which they may change.
COPIED = [
    "examples/make/*",
    "kernels/*/budgets.toml",
    "tests/canaries/*",
    "tests/data/attach/*",
    "tests/data/cubin/spills.*",
    "tests/data/diff/h100.jsonl.gz",
]

ARCH = "sm_90"  # the architecture that the documents emulate

documents = pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)


def shell(command, folder):
    """Runs a command as a reader types it: the programs are on the path, and it is not in CI."""
    env = {name: value for name, value in os.environ.items() if name not in CI_VARIABLES}
    env |= {"PATH": f"{BIN}:{env['PATH']}", "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )


def as_pattern(text):
    """A line of "..." stands for any lines, "..." within one for anything in it."""
    pattern = ""
    for line in text.rstrip("\n").split("\n"):
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*?".join(re.escape(part) for part in line.rstrip().split("...")) + r"\n"
    return pattern


def stripped(text):
    return "".join(line.rstrip() + "\n" for line in text.strip("\n").split("\n"))


@documents
def test_every_command_is_marked(path):
    """A command that is not run must say why."""
    for block in blocks_of(path):
        if block.language == "sh":
            where = f"{path.name}:{block.line}"
            assert block.mark, f"{where}: mark it: <!-- runs --> or <!-- not run: reason -->"
            assert block.is_run or block.reason, f"{where}: say why it is not run"
        elif block.mark:
            assert block.prints or block.source, f"{path.name}:{block.line}: unknown mark"


@documents
def test_commands_do_what_the_document_says(path, tmp_path):
    blocks = blocks_of(path)
    if not any(block.is_run for block in blocks):
        assert not any(block.prints for block in blocks), "output of a command that is not run"
        return
    if ARCH not in shell("warpgauge list --archs", tmp_path).stdout.split():
        pytest.skip(f"this build has no {ARCH}, which the documents use")
    attaches = any(block.is_run and "warpgauge attach" in block.text for block in blocks)
    if attaches and not (BIN.parent / "lib/libwarpgauge_injection.so").exists():
        pytest.skip("this build has no CUPTI, which attach needs")
    lists = any(block.is_run and "--chip" in block.text for block in blocks)
    if lists and (asked := shell("warpgauge metrics --chip gh100", tmp_path)).returncode == 3:
        pytest.skip(asked.stderr.strip())
    for pattern in COPIED:
        for file in ROOT.glob(pattern):
            copy = tmp_path / file.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, copy)
    result = None
    for block in blocks:
        where = f"{path.name}:{block.line}"
        if block.is_run:
            for command in block.first:
                prepared = shell(command, tmp_path)
                assert prepared.returncode == 0, f"{where}: {prepared.stderr}"
            result = shell(block.text, tmp_path)
            shown = f"{where}:\n{result.stdout}\n{result.stderr}"
            assert result.returncode == block.exit_code, f"{result.returncode}: {shown}"
        elif block.prints:
            assert result is not None, f"{where}: no command before it is run"
            assert re.fullmatch(as_pattern(block.text), stripped(result.stdout)), (
                f"{where}: it prints\n{result.stdout}"
            )
            result = None


@pytest.mark.parametrize("path", [*DOCUMENTS, ROOT / "README.md"], ids=lambda path: path.name)
def test_quotations_stand_in_their_files(path):
    for block in blocks_of(path):
        if block.source:
            quoted = [line.strip() for line in block.text.splitlines() if line.strip() != "..."]
            there = {line.strip() for line in (ROOT / block.source).read_text().splitlines()}
            missing = [line for line in quoted if line and line not in there]
            assert not missing, f"{path.name}:{block.line}: not in {block.source}: {missing}"


@pytest.mark.parametrize("path", [*DOCUMENTS, ROOT / "README.md"], ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    follow_links(path, ROOT)


def test_the_readme_shows_the_first_kernel_and_the_two_commands():
    blocks = blocks_of(ROOT / "README.md")
    assert [block.source for block in blocks if block.source] == [
        "reports/warpgauge/templates/first.cu",
        "docs/first-kernel.md",
        "reports/warpgauge/templates/kernels.yml",
    ]
    assert any(re.search(r"^ci/gate .*\nci/test ", block.text, re.M) for block in blocks)
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


def test_the_picture_of_the_readme_is_what_explain_draws(tmp_path):
    drawn = shell(
        "warpgauge explain bank_stride.read.f32@4 --arch sm_90 --picture explain.svg", tmp_path
    )
    assert drawn.returncode == 0, drawn.stderr
    place = re.compile(r"family\.cu:\d+")
    now, kept = (
        place.sub("family.cu", (folder / "explain.svg").read_text())
        for folder in (tmp_path, ROOT / "docs/pictures")
    )
    assert now == kept, "draw it again: warpgauge explain ... --picture docs/pictures/explain.svg"


@pytest.mark.parametrize("name", ["docs/architecture.md", "docs/install.md", "CONTRIBUTING.md"])
def test_places_in_the_tree_are_there(name):
    tops = "ci|cmake|docs|examples|harness|kernels|metrics|reports|tests"
    for place in re.findall(rf"`((?:{tops})/[\w./*-]*)`", without_blocks(ROOT / name)):
        pattern = re.sub(r"\b(FAMILY|NAME)\b", "*", place.rstrip("/"))
        assert list(ROOT.glob(pattern)), f"{name}: {place}: no such place"


def test_the_index_names_every_document():
    named = {link.partition("#")[0] for link in links_of(ROOT / "docs/README.md")}
    assert {path.name for path in DOCUMENTS} - {"README.md"} <= named


@pytest.mark.parametrize(
    "path",
    [
        *DOCUMENTS,
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "action.yml")),
        *sorted(ROOT.glob("ci/git*/**/*.yml")),
        *sorted(ROOT.glob("templates/*")),
        *sorted(ROOT.glob("reports/warpgauge/templates/*.*")),
    ],
    ids=lambda path: path.name,
)
def test_tests_that_are_not_there_are_no_success(path):
    """CTest that finds no test to run exits with 0, unless it is told."""
    text = re.sub(r"\\\n", " ", path.read_text())
    commands = re.findall(r"\bctest (?:-[LR]|--test-dir)[^`)\n]*(?:\n[^`)\n]*(?=[`)]))?", text)
    for command in commands:
        assert "--no-tests=error" in command, f"{path.name}: {command}"


@documents
def test_lines_are_short_and_addresses_are_real(path):
    in_words = without_blocks(path)
    for line in in_words.splitlines():
        assert len(line) <= 120 or line.startswith("|"), f"{path.name}: {line}"
    assert "github.com/warpgauge" not in path.read_text(), f"{path.name}: a made-up address"


def test_blocks_are_read_as_they_are_marked(tmp_path):
    document = tmp_path / "some.md"
    document.write_text(
        "# A heading: one\n<!-- of no block -->\n[link](#a-heading-one)\n"
        "<!-- runs: exit 1, first: touch x -->\n```sh\nls [no](link.md)\n```\n"
        "<!-- prints -->\n```text\nx\n```\n<!-- not run: -->\n```sh\ntrue\n```\n"
    )
    run, printed, without_reason = blocks_of(document)
    assert run.is_run and (run.exit_code, run.first, run.line) == (1, ["touch x"], 6)
    assert printed.prints and printed.text == "x\n"
    assert not without_reason.is_run and not without_reason.reason
    assert links_of(document) == ["#a-heading-one"]
    assert headings_of(document) == {"a-heading-one"}


def test_wrong_output_is_noticed():
    """Patterns match whole lines, and "..." does not match everything."""
    assert re.fullmatch(as_pattern("a\n...\nb 1... c"), "a\nx\ny\nb 12 c\n")
    assert re.fullmatch(as_pattern("a\n..."), "a\n")
    assert not re.fullmatch(as_pattern("a\nb"), "a\nx\nb\n")
    assert not re.fullmatch(as_pattern("a...c"), "a\nc\n")

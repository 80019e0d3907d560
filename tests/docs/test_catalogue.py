"""docs/catalogue.md: every row and tool is there, and what it names is in the program."""

import os
import re
import subprocess
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from warpgauge.facts.catalog import catalog

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]).resolve() / "bin"
ROW = re.compile(r"^\| (T?\d+) \| ([^|]+) \| ([^|]+) \|$", re.M)
LIBRARIES = ("cublas.", "cublas_xt.")  # a build without cuBLAS does not have them


def rows():
    """The names in each row, by its number."""
    text = (ROOT / "docs/catalogue.md").read_text()
    found = {number: re.findall(r"`([^`]+)`", names) for number, _, names in ROW.findall(text)}
    assert len(found) == len(ROW.findall(text)), "a number stands twice"
    return found


def output(program, *arguments):
    done = subprocess.run([BIN / program, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture(scope="module")
def ids():
    return output("warpgauge", "list", "--large").split()


def test_all_rows_and_tools_are_there():
    numbers = [str(row) for row in range(1, 41)] + [f"T{tool}" for tool in range(1, 11)]
    assert list(rows()) == numbers


def test_each_glob_names_cases(ids):
    has_library = any(id.startswith(LIBRARIES) for id in ids)
    for number, names in rows().items():
        for name in names if not number.startswith("T") else []:
            if not has_library and name.startswith(LIBRARIES):
                continue
            assert any(fnmatchcase(id, name) for id in ids), f"row {number}: {name}: no such case"


def test_each_case_is_in_a_row(ids):
    globs = [
        name for number, names in rows().items() if not number.startswith("T") for name in names
    ]
    for id in ids:
        assert any(fnmatchcase(id, glob) for glob in globs), f"{id}: name it in docs/catalogue.md"


def test_tools_name_commands_metrics_or_cases(ids):
    known = [*catalog(), *ids]
    for number, names in rows().items():
        for name in names if number.startswith("T") else []:
            program, *words = name.split()
            if not program.startswith("warpgauge"):
                assert any(fnmatchcase(other, name) for other in known), f"{number}: {name}"
                continue
            command = [word for word in words if not word.startswith("-")]
            text = output(program, *command, "--help")
            for option in set(words) - set(command):
                assert f"{option} " in text or f"{option}\n" in text, f"{number}: {name}"

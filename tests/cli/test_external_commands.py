"""`warpgauge accept` and the like: commands of warpgauge-python, found beside the program."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"
ROOT = Path(__file__).resolve().parents[2]
COMMANDS = ["accept", "emit"]


def run(program, *arguments):
    return subprocess.run(
        [program, *map(str, arguments)], capture_output=True, text=True, timeout=60
    )


def test_help_lists_them():
    lines = run(BIN / "warpgauge", "--help").stdout.splitlines()
    for command in [*COMMANDS, "emit", "report"]:
        assert [line for line in lines if line.startswith(f"  {command} ")]


@pytest.mark.parametrize("program", ["warpgauge", "warpgauge-emulated", "warpgauge-faulty"])
@pytest.mark.parametrize("command", COMMANDS)
def test_every_gauge_hands_them_their_arguments(program, command):
    result = run(BIN / program, command, "--help")
    assert result.returncode == 0, result.stderr
    name = program.removesuffix("-emulated")
    assert result.stdout.startswith(f"usage: {name} {command} [-h] ")
    refused = run(BIN / program, command, "--no-such-option")
    assert f"`{name} {command} --help`" in refused.stderr


def test_reports_are_a_program_with_commands_of_its_own():
    result = run(BIN / "warpgauge", "report", "html", "--help")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("usage: warpgauge report html [-h] ")
    refused = run(BIN / "warpgauge-python", "report", "no-such-command")
    assert refused.returncode == 2
    assert "no-such-command" in refused.stderr


def test_an_argument_is_handed_on_as_it_is(tmp_path):
    name = tmp_path / "$(touch x) 'a' \"b\" *;\\"
    result = run(BIN / "warpgauge", "emit", name, "--format", "junit")
    assert result.returncode == 2
    assert f"{name}: cannot be read: No such file or directory" in result.stderr


def test_a_copy_finds_them_where_its_build_has_them(tmp_path):
    shutil.copy2(BIN / "warpgauge-emulated", tmp_path / "warpgauge")
    libraries = os.pathsep.join(str(path) for path in (BIN, BIN.parent, BIN.parent / "lib"))
    env = {**os.environ, "LD_LIBRARY_PATH": libraries}
    command = [tmp_path / "warpgauge", "accept", "--help"]
    result = subprocess.run(command, capture_output=True, text=True, env=env)
    assert result.returncode == 0
    assert result.stdout.startswith("usage: warpgauge accept [-h] ")


def test_a_script_without_its_python_says_what_to_do(tmp_path):
    """1 would be a verdict."""
    script = (BIN / "warpgauge-python").read_text()
    python = next(line for line in script.splitlines() if line.startswith("python="))
    broken = tmp_path / "warpgauge-python"
    broken.write_text(script.replace(python, "python='/nowhere/it'\\''s/python'"))
    broken.chmod(0o755)
    result = run(broken, "accept", "facts.jsonl")
    assert result.returncode == 2
    assert result.stderr.startswith("/nowhere/it's/python: not there; run ci/bootstrap")


def test_a_python_module_that_is_missing_is_a_fault():
    """As with an interpreter that ci/bootstrap did not make; -S: without installed packages."""
    result = subprocess.run(
        [sys.executable, "-S", "-m", "warpgauge", "accept", "facts.jsonl"],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": "reports"},
        cwd=ROOT,
    )
    assert result.returncode == 2
    assert "lacks the Python module" in result.stderr and "ci/bootstrap" in result.stderr


def test_installed_it_names_nothing_that_only_a_checkout_has(tmp_path):
    shutil.copytree(ROOT / "reports/warpgauge", tmp_path / "reports/warpgauge")
    result = subprocess.run(
        [sys.executable, "-S", "-m", "warpgauge", "accept", "facts.jsonl"],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path / "reports")},
        cwd=tmp_path,
    )
    assert result.returncode == 2
    assert "lacks the Python module" in result.stderr and "bootstrap" not in result.stderr
    assert f"`{sys.executable} -m pip install " in result.stderr


def bare(tmp_path, *words):
    """A command of a copy that is no checkout, run by a Python without packages."""
    if not (tmp_path / "reports").exists():
        shutil.copytree(ROOT / "reports/warpgauge", tmp_path / "reports/warpgauge")
    return subprocess.run(
        [sys.executable, "-S", "-m", "warpgauge", *words],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path / "reports")},
        cwd=tmp_path,
    )


HISTORY = ["jsonschema_rs", "sqlalchemy"]
PAGE = [*HISTORY, "jinja2", "matplotlib", "numpy", "ruptures"]


@pytest.mark.parametrize(
    ("words", "packages"),
    [
        (["accept"], ["jsonschema_rs", "tomlkit"]),
        (["emit"], ["jsonschema_rs"]),
        (["report", "diff"], ["jsonschema_rs"]),
        (["report", "ingest"], HISTORY),
        (["report", "html"], PAGE),
    ],
)
def test_a_command_names_all_packages_that_it_lacks(tmp_path, words, packages):
    result = bare(tmp_path, *words)
    assert result.returncode == 2 and result.stderr.count("\n") == 1
    said, _, remedy = result.stderr.partition(": ")
    assert said.startswith(f"warpgauge {' '.join(words)} lacks the Python module")
    named = said.partition("module")[2].removeprefix("s").replace(",", "").split()
    assert set(named) - {"markupsafe"} == set(packages)  # which comes with jinja2
    install = re.search(r"`(.*?) -m pip install (.*?)`", remedy)
    assert install and sorted(install[2].split()) == sorted(packages)


def test_all_that_is_lacking_is_said_to_the_doctor(tmp_path):
    result = bare(tmp_path, "--missing")
    assert (result.returncode, result.stderr) == (0, "")
    assert all(name in result.stdout for name in [*PAGE, "tomlkit"])
    complete = run(BIN / "warpgauge-python", "--missing")
    assert (complete.returncode, complete.stdout, complete.stderr) == (0, "", "")


def test_the_document_lists_the_packages():
    with (ROOT / "pyproject.toml").open("rb") as file:
        listed = tomllib.load(file)["project"]["dependencies"]
    needed = {re.split(r"[\[>=]", text)[0] for text in listed} - {"nvidia-cuda-cupti"}
    line = re.search(r"python3 -m pip install (.*)", (ROOT / "docs/install.md").read_text())
    assert line and {name.partition("[")[0].strip("'") for name in line[1].split()} == needed


# Runs a command where only what ci/gate installs is there.
GATE_ONLY = """
import sys, tomllib
parts = tomllib.load(open("pyproject.toml", "rb"))
for name in set(parts["project"]["dependencies"]) - set(parts["dependency-groups"]["gate"]):
    sys.modules[name.split("[")[0].split(">")[0].lower()] = None
from warpgauge.program import main
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["accept", "--help"], 0),
        (["emit", "--help"], 0),
        (["report", "--help"], 0),
        (["report", "diff", "--help"], 0),
        (["report", "diff", "none.json"], 2),
        (["accept", "tests/data/outcome/h100.jsonl"], 0),
        (["report", "html"], 2),
    ],
)
def test_what_the_gate_installs_is_enough_for_it_and_for_diff(words, code):
    result = subprocess.run(
        [sys.executable, "-c", GATE_ONLY, *words],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": "reports", "CI": ""},  # CI accepts no budgets
        cwd=ROOT,
    )
    assert result.returncode == code, result.stderr
    lacks = "lacks the Python module" in result.stderr
    assert lacks == (words == ["report", "html"]), result.stderr
    assert "Traceback" not in result.stderr

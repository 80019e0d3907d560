"""--help of every program and command: what it does, its options, examples, and exit codes."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"
COLUMNS = 100


def run(*command):
    return subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": str(COLUMNS)},
        timeout=60,
    )


def listed(text, heading):
    """The commands below a heading of --help, of CLI11 or of argparse."""
    block = re.search(rf"^{heading}\n(.*?)(?:\n\n|\Z)", text, re.MULTILINE | re.DOTALL)[1]
    return re.findall(r"^ {2,4}([a-z]\S+) {2,}\S", block, re.MULTILINE)


def all_commands():
    commands = listed(run(BIN / "warpgauge", "--help").stdout, "Subcommands:")
    reports = listed(run(BIN / "warpgauge", "report", "--help").stdout, "positional arguments:")
    return [
        [BIN / "warpgauge"],
        *([BIN / "warpgauge", command] for command in commands),
        *([BIN / "warpgauge", "report", command] for command in reports),
        *([BIN / program] for program in ["warpgauge-check", "warpgauge-bench"]),
        [BIN / "warpgauge_measure_tests"],
        *([ROOT / "ci" / script] for script in ["gate", "test", "nightly", "bootstrap"]),
        [ROOT / "ci/slurm/submit"],
    ]


COMMANDS = all_commands()


def test_all_of_them_are_found():
    names = {" ".join(Path(word).name for word in command) for command in COMMANDS}
    assert {"warpgauge gate", "warpgauge completion", "warpgauge diff"} <= names
    assert {"warpgauge report ingest", "warpgauge report html", "nightly"} <= names
    assert len(names) == len(COMMANDS) > 25


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: " ".join(Path(w).name for w in c))
def test_help_says_all_there_is_to_know(command):
    told = run(*command, "--help")
    assert told.returncode == 0 and told.stderr == ""
    # What a program does stands first, or behind a short usage.
    said = [line for line in told.stdout.splitlines() if line.strip()]
    assert any(len(line.split()) >= 4 and not line.startswith((" ", "usage:")) for line in said[:6])
    assert re.search(r"^Exit codes( of all)?: .", told.stdout, re.MULTILINE)
    examples = told.stdout.partition("Examples:\n")[2]
    name = re.escape(Path(command[0]).name)
    assert re.search(rf"^  .*({name}|my-tests)", examples, re.MULTILINE), told.stdout
    too_long = [line for line in told.stdout.splitlines() if len(line) > COLUMNS]
    assert too_long == []


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: " ".join(Path(w).name for w in c))
def test_every_option_is_described(command):
    text = run(*command, "--help").stdout
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if not re.match(r" {2,4}-", line):
            continue
        behind = re.split(r" {2,}", line.strip(), maxsplit=1)
        follows = lines[number + 1] if number + 1 < len(lines) else ""
        assert len(behind) == 2 or re.match(r" {6,}\S", follows), line
    assert not re.search(r"^ +--\S+ (TEXT|INT)", text, re.MULTILINE) or "usage:" in text

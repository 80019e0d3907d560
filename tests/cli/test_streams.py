"""Standard streams that are closed or full: no success that could not be read, and no traceback."""

import os
import subprocess
from pathlib import Path

import pytest

BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"
COMMANDS = {
    "gate": "warpgauge-faulty gate --filter canaries.healthy.* --device=emulated --out out",
    "check": "warpgauge-faulty-check-emulated --gtest_filter=canaries.healthy*",
    "list": "warpgauge list",
    "help": "warpgauge --help",
    "python": "warpgauge-python report --help",
}


def run(command, redirection, folder, **environment):
    return subprocess.run(
        ["bash", "-c", f"{BIN}/{COMMANDS[command]} {redirection}"],
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | environment,
        timeout=120,
    )


@pytest.mark.parametrize("redirection", [">/dev/full", ">&-"])
@pytest.mark.parametrize("command", COMMANDS)
def test_results_that_cannot_be_printed_are_a_fault(command, redirection, tmp_path):
    for unbuffered in ("", "1"):
        result = run(command, redirection, tmp_path, PYTHONUNBUFFERED=unbuffered)
        assert result.returncode == 2, result.stderr
        assert "standard output cannot be written" in result.stderr
        assert "Traceback" not in result.stderr and "Exception ignored" not in result.stderr


@pytest.mark.parametrize("redirection", ["2>&-", "<&-", "<&- 2>&-"])
@pytest.mark.parametrize("command", COMMANDS)
def test_other_streams_may_be_closed(command, redirection, tmp_path):
    result = run(command, redirection, tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout


def test_a_closed_stream_is_not_what_the_next_file_is(tmp_path):
    run("gate", ">&-", tmp_path)
    facts = (tmp_path / "out/facts.jsonl").read_text()
    assert all(line.startswith('{"record":') for line in facts.splitlines())


def test_messages_that_cannot_be_printed_change_no_fault(tmp_path):
    wrong = f"{BIN}/warpgauge gaet 2>/dev/full"
    assert subprocess.run(["bash", "-c", wrong], cwd=tmp_path).returncode == 2

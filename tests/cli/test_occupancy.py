"""warpgauge occupancy: the table, the curves, JSON, and what it refuses."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

WARPGAUGE = Path(os.environ["WARPGAUGE_BINARY_DIR"]).resolve() / "bin" / "warpgauge"


def run(*arguments):
    return subprocess.run(
        [WARPGAUGE, "occupancy", *map(str, arguments)], capture_output=True, text=True
    )


def rows(text):
    """The lines of the table, by architecture."""
    return {line.split()[0]: line.split()[1:] for line in text.splitlines() if line[:3] == "sm_"}


def test_every_architecture_has_a_row():
    # 12 warps of 63 registers take 64 x 32 each: 2 blocks in 65536.
    shown = run("--threads", 384, "--registers", 63)
    assert shown.returncode == 0 and shown.stderr == ""
    table = rows(shown.stdout)
    assert table["sm_90"] == ["2", "24", "of", "64", "0.375", "registers"]
    assert table["sm_75"] == ["2", "24", "of", "32", "0.750", "warps+registers"]
    assert len(table) == 12


def test_an_architecture_and_shared_memory_are_chosen():
    # 228 KiB, 64 and 1 for the system a block: 3 blocks of 16 warps.
    shown = run("--threads", 512, "--registers", 32, "--shared", 65536, "--arch", "sm_90")
    assert rows(shown.stdout) == {"sm_90": ["3", "48", "of", "64", "0.750", "shared"]}


def test_an_architecture_keeps_its_full_name():
    needs = ("--threads", 512, "--registers", 32, "--arch", "sm_90a,sm_100f")
    assert list(rows(run(*needs).stdout)) == ["sm_90a", "sm_100f"]
    assert "\nsm_100f over threads\n" in run(*needs, "--over", "threads").stdout
    table = json.loads(run(*needs, "--json").stdout)
    assert [row["arch"] for row in table["architectures"]] == ["sm_90a", "sm_100f"]


def test_a_block_that_cannot_run_has_no_occupancy():
    shown = run("--threads", 32, "--registers", 16, "--shared", 307200, "--arch", "sm_90")
    assert shown.returncode == 0
    assert rows(shown.stdout) == {"sm_90": ["0", "0", "of", "64", "0.000", "shared"]}


def test_a_curve_marks_the_block_that_was_given():
    shown = run("--threads", 256, "--registers", 40, "--arch", "sm_90", "--over", "registers")
    curve = shown.stdout.partition("sm_90 over registers\n")[2].splitlines()
    points = [re.match(r"([> ]) +(\d+)  ([\d.]+)  (#*) +(\S+)$", line) for line in curve]
    assert all(points) and points[-1][2] == "255"
    (given,) = [point for point in points if point[1] == ">"]
    assert given.groups()[1:] == ("40", "0.750", "#" * 24, "registers")


def test_json_has_the_same_numbers():
    needs = ("--threads", 256, "--registers", 40, "--arch", "sm_90")
    table = json.loads(run(*needs, "--over", "threads,shared", "--json").stdout)
    assert (table["threads"], table["registers"], table["shared"]) == (256, 40, 0)
    (row,) = table["architectures"]
    assert (row["blocks"], row["warps"], row["occupancy"]) == (6, 48, 0.75)
    assert list(row["over"]) == ["threads", "shared"]
    assert {"amount": 256, "blocks": 6, "warps": 48, "occupancy": 0.75, "limiter": "registers"} in (
        row["over"]["threads"]
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--threads", 0, "--registers", 8], "--threads: Value 0 not in range 1 to 1024"),
        (["--threads", 32, "--registers", 256], "--registers: Value 256 not in range 0 to 255"),
        (["--threads", 32, "--registers", 8, "--shared", -4], "--shared: Value -4 not in range"),
        (["--threads", 32], "--registers is required"),
        (
            ["--threads", 32, "--registers", 8, "--arch", "sm_91"],
            "unknown architecture 'sm_91', did you mean 'sm_90'?",
        ),
        (["--threads", 32, "--registers", 8, "--over", "warps"], "--over: warps not in {threads,"),
    ],
)
def test_bad_numbers_are_one_clear_error(arguments, message):
    refused = run(*arguments)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert message in refused.stderr and refused.stderr.count("\n") == 1

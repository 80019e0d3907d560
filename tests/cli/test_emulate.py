"""Programs built without warpgauge, under `warpgauge emulate`."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ["WARPGAUGE_BINARY_DIR"])
SOURCES = Path(__file__).resolve().parents[1] / "emulator" / "programs"
PROGRAMS = sorted(path.stem for path in SOURCES.glob("*.cu"))


def emulate(*arguments):
    return subprocess.run(
        [BUILD / "bin" / "warpgauge", "emulate", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
    )


def archs():
    """Those that kernels and programs of this build were compiled for."""
    listed = subprocess.run(
        [BUILD / "bin" / "warpgauge", "list", "--archs"], capture_output=True, text=True, check=True
    )
    return listed.stdout.split()


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_runs_unmodified_and_is_counted_line_by_line(name, tmp_path):
    arch = archs()[-1]
    counts = tmp_path / "counts.jsonl"
    result = emulate("--arch", arch, "--json", counts, "--", BUILD / "programs" / name)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "PASSED" in result.stdout
    source = (SOURCES / f"{name}.cu").read_text().splitlines()
    lines = [json.loads(line) for line in counts.read_text().splitlines()]
    counted = [line for line in lines if line["file"].endswith(f"{name}.cu")]
    assert sum(line["global_load_requests"] for line in counted) > 0
    for line in counted:
        assert re.search(r"\w", source[line["line"] - 1]), line
    assert f"{name}.cu:" in result.stderr


def test_programs_were_found():
    assert len(PROGRAMS) >= 2


def test_a_program_without_the_shared_runtime_is_refused():
    result = emulate("--", "true")
    assert result.returncode == 2
    assert "no kernel ran on the emulator" in result.stderr
    assert "-cudart shared" in result.stderr


def test_the_exit_code_is_the_programs():
    assert emulate("--", "sh", "-c", "exit 7").returncode == 7
    assert emulate("--", "sh", "-c", "kill -TERM $$").returncode == 128 + 15


def test_a_program_that_is_not_there_is_a_fault():
    result = emulate("--", "./no-such-program")
    assert result.returncode == 2
    assert "./no-such-program: cannot be run" in result.stderr

"""The scripts of ci/ refuse unknown options, and the CMake functions wrong calls."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INPUTS = {"DEVICE": "auto", "STRICT": "false", "UPLOAD_SARIF": "true", "OUT": "out"}
INPUTS |= {"FILTER": "", "ARCH": "", "REQUIRE": "", "GITHUB_OUTPUT": "outputs.txt"}


def run(folder, *command, **environment):
    return subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(
    "script, options, message",
    [
        ("test", ["--fliter"], "unknown option --fliter; usage: ci/test [--preset NAME]"),
        ("test", ["--preset", ""], "--preset needs a name: dev, ci, debug or asan"),
        ("bootstrap", ["--fliter"], "unknown option --fliter"),
        ("nightly", ["--fliter", "x"], "there is no option --fliter; see ci/nightly --help"),
        ("nightly", ["--filter"], "--filter needs a value; see ci/nightly --help"),
        ("nightly", ["--db="], "--db is empty; it names the history"),
        ("nightly", ["--device=none"], "--device=none measures nothing, and there are no --facts"),
        ("slurm/submit", ["--device"], "--device needs a value; see ci/nightly --help"),
    ],
)
def test_options_that_a_script_refuses(tmp_path, script, options, message):
    (tmp_path / "gpus.txt").write_text("h100 gpus\n")
    done = run(tmp_path, ROOT / "ci" / script, *options, WARPGAUGE_GPUS="gpus.txt")
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.parametrize(
    "inputs, message",
    [
        ({"DEVICE": "gup"}, "the input device must be one of: gpu emulated auto"),
        ({"FILTER": "a\nb"}, "an input has a line break or another control character"),
        ({"OUT": ""}, "the input out is empty; it names the folder for the results"),
    ],
)
def test_inputs_that_the_action_refuses(tmp_path, inputs, message):
    done = run(tmp_path, ROOT / "ci/github/gate", **{**INPUTS, **inputs})
    assert f"::error title=warpgauge::{message}" in done.stdout + done.stderr
    assert (tmp_path / "outputs.txt").read_text() == "exit-code=2\n"


@pytest.mark.parametrize(
    "call",
    [
        "warpgauge_add_kernels(SOURCES a.cu)",
        "warpgauge_add_gtest(NAME a BUDGETS)",
        "warpgauge_kernels(SOURCES a.cu)",
    ],
)
def test_wrong_calls_of_the_cmake_functions(tmp_path, call):
    script = tmp_path / "misuse.cmake"
    script.write_text(f'include("{ROOT}/cmake/WarpgaugeKernels.cmake")\n{call}\n')
    done = run(tmp_path, "cmake", "-P", script)
    assert done.returncode == 1
    name, _, arguments = call.rstrip(")").partition("(")
    message = " ".join(done.stderr.split())
    assert f"{name}(" in message and f"was called with ({arguments.replace(' ', ';')})" in message

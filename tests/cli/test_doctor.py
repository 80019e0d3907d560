"""`warpgauge doctor` on this machine: with or without a GPU, and with faults made on purpose."""

import json
import os
import pty
import shutil
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ["WARPGAUGE_BINARY_DIR"])
PROGRAM = BUILD / "bin" / "warpgauge"
HAS_GPU = Path("/dev/nvidia0").exists()
HEALTH = ["ok", "warn", "fail", "unknown"]
GPU = ["GPU", "driver", "architectures", "MIG", "clocks", "other processes"]
COUNTS = ["CUPTI", "exact count", "hardware counters"]
HOST_PROBES = ["permission", "MPS", "other profilers", "injected tools"]
NEEDED_ON_A_GPU = ["GPU", "driver", "architectures", "CUPTI", "exact count"]
WORKPLACE = ["toolkit", "machine code", "output", "Python"]


def run(*arguments, program=PROGRAM, **variables):
    return subprocess.run(
        [program, "doctor", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **variables},
    )


def diagnosis(*arguments, **others):
    """The JSON object of a run, whose exit code must say the same."""
    result = run("--json", *arguments, **others)
    found = json.loads(result.stdout)
    assert result.returncode == (0 if found["ready"] else 3), result.stderr
    assert found["schema"] == 1
    assert found["counts_on"] in ("gpu", "emulator")
    failed = [check for check in found["checks"] if check["health"] == "fail"]
    assert all(check["needed"] for check in failed)
    assert found["ready"] == (not failed)
    for check in found["checks"]:
        assert list(check) == ["id", "health", "text", "remedy", "needed"]
        assert check["health"] in HEALTH
        assert check["text"]
    return found | {"checks": {check["id"]: check for check in found["checks"]}}


@pytest.fixture(scope="module")
def without_a_gpu():
    """The diagnosis where CUDA sees no GPU, on any machine."""
    return diagnosis(CUDA_VISIBLE_DEVICES="")


def test_every_precondition_is_looked_at(without_a_gpu):
    assert list(without_a_gpu["checks"]) == [
        *GPU,
        *COUNTS,
        *HOST_PROBES,
        "emulator",
        *WORKPLACE,
    ]


def test_without_a_gpu_the_emulator_is_what_is_needed(without_a_gpu):
    checks = without_a_gpu["checks"]
    assert without_a_gpu["ready"]
    assert without_a_gpu["counts_on"] == "emulator"
    assert {name for name, check in checks.items() if check["needed"]} == {
        "emulator",
        "machine code",
        "output",
    }
    assert checks["GPU"]["health"] == "warn"
    assert "CUDA_VISIBLE_DEVICES=''" in checks["GPU"]["text"]
    assert checks["GPU"]["remedy"].startswith("unset CUDA_VISIBLE_DEVICES")
    assert checks["exact count"] == {
        "id": "exact count",
        "health": "unknown",
        "text": "no GPU",
        "remedy": None,
        "needed": False,
    }


def test_the_emulator_counts_what_theory_says(without_a_gpu):
    emulator = without_a_gpu["checks"]["emulator"]
    assert emulator["health"] == "ok"
    # 32 stores of a warp, each of which takes 32 wavefronts instead of 1.
    assert emulator["text"].startswith(f"{32 * (32 - 1)} bank conflicts of a known kernel on sm_")
    assert "(emulator)" in emulator["text"]


@pytest.mark.parametrize(
    "arguments, needed",
    [
        (["--device=gpu"], NEEDED_ON_A_GPU),
        (["--require=cupti"], [*NEEDED_ON_A_GPU, "hardware counters"]),
    ],
)
def test_who_asks_for_a_gpu_is_not_content_with_the_emulator(arguments, needed):
    found = diagnosis(*arguments, CUDA_VISIBLE_DEVICES="")
    checks = found["checks"]
    assert not found["ready"]
    assert found["counts_on"] == "gpu"
    assert [name for name in [*GPU, *COUNTS] if checks[name]["needed"]] == needed
    assert checks["GPU"]["health"] == "fail"
    assert checks["exact count"]["health"] == "fail"  # what could not be tried is no success
    assert not checks["emulator"]["needed"]


def test_on_the_emulator_only_what_it_needs_is_looked_at():
    found = diagnosis("--device=emulated")
    assert found["ready"]
    assert list(found["checks"]) == ["exact count", *WORKPLACE]
    emulated = diagnosis(program=BUILD / "bin" / "warpgauge-emulated")
    for check in (emulated["checks"], found["checks"]):
        check.pop("output")  # has the free memory of this moment
    assert emulated == found


def test_the_text_has_the_content_of_the_json(without_a_gpu):
    result = run(CUDA_VISIBLE_DEVICES="")
    assert result.returncode == 0
    assert "\033" not in result.stdout  # no terminal, no colours
    lines = result.stdout.splitlines()
    heads = [line for line in lines[:-2] if not line.startswith(" ")]
    column = lines[0].index(without_a_gpu["checks"]["GPU"]["text"])  # the same in every line
    assert [(line[:column].rstrip(), line[column - 2 : column]) for line in heads] == [
        (f"{check['health']:<7}  {check['id']}", "  ") for check in without_a_gpu["checks"].values()
    ]
    assert lines[-1] == "ready: the gate runs and counts kernels on the emulator"


@pytest.mark.parametrize("variables, coloured", [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_are_for_terminals(variables, coloured):
    ours, theirs = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    subprocess.run(
        [PROGRAM, "doctor", "--device=emulated"],
        stdout=theirs,
        env=environment | variables,
        timeout=300,
        check=True,
    )
    os.close(theirs)
    shown = os.read(ours, 65536)
    os.close(ours)
    assert b"exact count" in shown
    assert (b"\033[32mok     \033[0m" in shown) == coloured
    assert (b"\033" in shown) == coloured


def test_a_tool_that_is_attached_is_reported(without_a_gpu):
    assert without_a_gpu["checks"]["injected tools"]["health"] == "ok"
    found = diagnosis(CUDA_VISIBLE_DEVICES="", NVTX_INJECTION64_PATH="/no/such\033[2J.so")
    tool = found["checks"]["injected tools"]
    assert found["ready"]
    assert tool["health"] == "warn"
    assert tool["remedy"] == "unset NVTX_INJECTION64_PATH"
    text = run(CUDA_VISIBLE_DEVICES="", NVTX_INJECTION64_PATH="/no/such\033[2J.so").stdout
    assert "/no/such\\x1b[2J.so" in text


def test_output_that_cannot_be_written_is_reported(tmp_path):
    (tmp_path / "file").touch()
    found = diagnosis("--device=emulated", "--out", tmp_path / "file")
    assert not found["ready"]
    assert found["checks"]["output"]["health"] == "fail"
    assert str(tmp_path / "file") in found["checks"]["output"]["text"]
    assert "--out" in found["checks"]["output"]["remedy"]


def test_nothing_is_left_in_the_output_folder(tmp_path):
    assert diagnosis("--device=emulated", "--out", tmp_path / "new")["ready"]
    assert list(tmp_path.iterdir()) == []


def copy_of_the_program(folder, emulated):
    """The program in a folder of its own; the script `emulated` stands in for the emulated program
    (None: it is missing)."""
    program = folder / "warpgauge"
    try:
        os.link(PROGRAM, program)
    except OSError:  # another file system
        shutil.copy(PROGRAM, program)
    if emulated is not None:
        (folder / "warpgauge-emulated").write_text(f"#!/bin/sh\n{emulated}\n")
        (folder / "warpgauge-emulated").chmod(0o755)
    return program


@pytest.mark.parametrize(
    "emulated, text",
    [
        (None, "is not there"),
        ("exit 3", "its doctor finds it not ready"),
        ("kill -SEGV $$", "its doctor finds it not ready"),
        ("echo not json", "parse error"),
        ("echo '{\"checks\": []}'", "reports no exact count"),
        (
            'echo \'{"checks": [{"id": "exact count", "health": "fail", "text": "991 instead of '
            '992", "remedy": null, "needed": true}]}\'',
            "991 instead of 992",
        ),
    ],
)
def test_an_emulator_that_does_not_work_is_reported(tmp_path, emulated, text):
    program = copy_of_the_program(tmp_path, emulated)
    found = diagnosis(program=program, CUDA_VISIBLE_DEVICES="")
    assert not found["ready"]
    assert found["checks"]["emulator"]["health"] == "fail"
    assert text in found["checks"]["emulator"]["text"]


@pytest.fixture
def broken_driver(tmp_path):
    """Makes a folder with a libcuda whose first call does this."""

    def make(harm):
        calls = ("cuInit", "cuDriverGetVersion", "cuGetProcAddress", "cuGetProcAddress_v2")
        source = "#include <signal.h>\n#include <unistd.h>\n" + "".join(
            f"int {call}(void) {{ {harm}; return 999; }}\n" for call in calls
        )
        (tmp_path / "driver.c").write_text(source)
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-o", tmp_path / "libcuda.so.1", tmp_path / "driver.c"],
            check=True,
        )
        return str(tmp_path)

    return make


@pytest.mark.parametrize(
    "harm, limit, text",  # the emulator must be able to count within the limit, under load, too
    [
        ("raise(SIGKILL)", 60, "killed by SIGKILL"),
        ("pause()", 8, "time limit of 8 s exceeded"),
    ],
)
def test_a_driver_that_crashes_or_hangs_is_a_finding(broken_driver, harm, limit, text):
    found = diagnosis("--timeout", limit, LD_LIBRARY_PATH=broken_driver(harm))
    checks = found["checks"]
    assert not found["ready"]
    assert found["counts_on"] == "gpu"  # one that is there and broken is no reason to emulate
    assert checks["GPU"]["health"] == "fail"
    assert text in checks["GPU"]["text"]
    assert "nvidia-smi" in checks["GPU"]["remedy"]
    assert checks["exact count"]["text"] == "not tried: see GPU"
    assert checks["emulator"]["health"] == "ok"


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--require=cubin"], "cubin"),
        (["--require=cupti", "--device=emulated"], "exclude each other"),
        (["--device=tpu"], "'tpu' is not one of auto, gpu, emulated"),
        (["--outt", "x"], "--outt"),
    ],
)
def test_bad_options_are_faults(arguments, message):
    result = run(*arguments)
    assert result.returncode == 2
    assert message in result.stdout + result.stderr


@pytest.mark.skipif(not HAS_GPU, reason="no GPU on this machine")
def test_on_a_gpu_all_counters_work():
    found = diagnosis("--require=cupti")
    assert found["ready"], found
    assert found["counts_on"] == "gpu"
    assert f"{32 * (32 - 1)} bank conflicts" in found["checks"]["exact count"]["text"]
    assert "(cupti)" in found["checks"]["exact count"]["text"]


def test_a_folder_that_only_looks_writable_is_reported():
    result = run("--device=emulated", "--out", "/proc/results")
    assert result.returncode == 3
    assert "--out '/proc/results': /proc cannot be written: " in result.stdout

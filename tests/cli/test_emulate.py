"""Programs built without warpgauge, under `warpgauge emulate`."""

import json
import os
import re
import shutil
import subprocess
import sys
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
    counted = [line for line in recorded(counts) if line["file"].endswith(f"{name}.cu")]
    assert sum(line["global_load_requests"] for line in counted) > 0
    for line in counted:
        assert re.search(r"\w", source[line["line"] - 1]), line
    assert f"{name}.cu:" in result.stderr


def recorded(counts):
    return [json.loads(line) for line in counts.read_text().splitlines()]


def line_of(name, remark):
    lines = (SOURCES / name).read_text().splitlines()
    (number,) = (n for n, line in enumerate(lines, 1) if line.endswith(f"// {remark}"))
    return number


def test_accesses_of_a_toolkit_header_are_counted_on_the_line_that_calls_it(tmp_path):
    counts = tmp_path / "counts.jsonl"
    emulate("--arch", archs()[-1], "--json", counts, "--", BUILD / "programs" / "lookup")
    (read,) = (
        line for line in recorded(counts) if line["line"] == line_of("lookup.cu", "reads the table")
    )
    assert read["global_load_requests"] == 32  # warps of 1,000 threads
    header, function, kernel = read["inlined"]
    assert header["file"].startswith("/") and not header["file"].endswith("lookup.cu")
    assert function == {"file": read["file"], "line": read["line"]}
    assert kernel == {"file": read["file"], "line": line_of("lookup.cu", "looks up")}


def test_a_fault_is_a_fault_with_its_line(tmp_path):
    counts = tmp_path / "counts.jsonl"
    command = [BUILD / "programs" / "lookup", "wrong"]
    result = emulate("--arch", archs()[-1], "--json", counts, "--", *command)
    assert result.returncode == 2, result.stdout + result.stderr
    read, call = (line_of("lookup.cu", remark) for remark in ("reads the table", "looks up"))
    where = rf"  at       \S*/lookup\.cu:{read}: return __ldg.*\n"
    chain = rf"           inlined from \S+:\d+; inlined at \S*/lookup\.cu:{call}\n"
    assert re.search(where + chain, result.stderr), result.stderr
    assert "ERROR lookup.look_up.fault@run on " in result.stderr
    assert "kernel   look_up(" in result.stderr
    (fault,) = (line for line in recorded(counts) if "fault" in line)
    assert "thread (44,0,0)" in fault["fault"], "number 300, in the second block"
    assert fault["line"] == read and fault["kernel"].startswith("_Z7look_up")


def test_a_launch_that_failed_is_a_fault_though_its_error_was_swallowed(tmp_path):
    result = emulate("--arch", archs()[-1], "--", BUILD / "programs" / "ends", "failed_launch")
    assert result.returncode == 2, result.stdout + result.stderr
    assert "ERROR ends.copy.fault@run on " in result.stderr
    assert "a launch of 1 x 1 x 1 blocks of 2000 x 1 x 1 threads failed" in result.stderr
    assert "cudaErrorInvalidConfiguration" in result.stderr
    assert "PASSED" in result.stdout, "the program itself saw nothing"


def test_programs_were_found():
    assert len(PROGRAMS) >= 2


def test_a_program_without_the_shared_runtime_is_refused():
    result = emulate("--", "true")
    assert result.returncode == 2
    assert "no kernel ran to its end on the emulator" in result.stderr
    assert "-cudart shared" in result.stderr


def test_the_exit_code_is_the_programs():
    assert emulate("--", "sh", "-c", "exit 7").returncode == 7
    assert emulate("--", "sh", "-c", "kill -TERM $$").returncode == 128 + 15


def test_a_program_that_is_not_there_is_a_fault():
    result = emulate("--", "./no-such-program")
    assert result.returncode == 2
    assert "./no-such-program: cannot be run" in result.stderr


@pytest.mark.parametrize(
    ("way", "code"),
    [("_exit", 7), ("_Exit", 7), ("quick_exit", 7), ("abort", 128 + 6), ("SIGINT", 128 + 2)],
)
def test_counts_survive_however_the_program_ends(way, code, tmp_path):
    counts = tmp_path / "counts.jsonl"
    program = BUILD / "programs" / "ends"
    result = emulate("--arch", archs()[-1], "--json", counts, "--", program, way)
    assert result.returncode == code, result.stderr
    assert sum(line["global_load_requests"] for line in recorded(counts)) == 32
    assert "-cudart shared" not in result.stderr
    assert ("what it was doing then is not counted" in result.stderr) == (code > 128)


def test_a_program_that_ended_before_a_kernel_did_says_how():
    result = emulate("--", "sh", "-c", "kill -TERM $$")
    assert "and it was ended by SIGTERM (Terminated)" in result.stderr


def forked(*steps, folder):
    """Emulates a program that takes these steps (tests/emulator/programs/forks.cu): its result, and
    how often its kernel was counted."""
    counts = folder / "counts.jsonl"
    command = [BUILD / "programs" / "forks", *steps]
    result = emulate("--arch", archs()[-1], "--json", counts, "--", *command)
    requests = sum(line.get("global_load_requests", 0) for line in recorded(counts))
    assert requests % 32 == 0, "warps of 1,000 threads"
    return result, requests // 32


@pytest.mark.parametrize(
    ("steps", "launches", "processes"),
    [
        (["idle", "launch"], 1, 1),
        (["launch", "idle", "launch"], 2, 1),
        (["launch", "idle", "idle"], 1, 1),
        (["launches", "launch"], 2, 2),
        (["launches", "launches_twice", "launch", "launch"], 5, 3),
        (["launches"], 1, 1),
        (["_exit", "SIGTERM", "launch"], 3, 3),
        (["starts", "launch"], 2, 2),
        (["launch", "starts", "launch", "starts"], 4, 3),
    ],
)
def test_each_launch_of_each_process_is_counted_once(steps, launches, processes, tmp_path):
    result, counted = forked(*steps, folder=tmp_path)
    assert result.returncode == 0, result.stderr
    assert counted == launches
    assert ("the counts are of" in result.stderr) == (processes > 1)
    assert processes == 1 or f"the counts are of {processes} processes\n" in result.stderr


@pytest.mark.parametrize("way", ["SIGKILL", "exec"])
def test_counts_of_a_process_that_are_lost_are_a_fault(way, tmp_path):
    result, counted = forked(way, "launch", folder=tmp_path)
    assert result.returncode == 2, result.stderr
    assert counted == 1
    assert "the counts are of 1 processes" in result.stderr
    assert re.search(r"the counts of \S*/forks \(process \d+\) are missing: ", result.stderr)


def test_a_child_forked_after_the_first_cuda_call_cannot_launch(tmp_path):
    """As on a GPU."""
    result, counted = forked("launch", "launches", "launch", folder=tmp_path)
    assert result.returncode == 2, result.stderr
    assert counted == 2
    assert "failed: cudaErrorInitializationError" in result.stderr
    assert "fork before the first CUDA call, or start a program in the child" in result.stderr
    assert "PASSED" in result.stdout, "the program did not look"


EXTENSION = r"""
#include <cuda_runtime.h>

__global__ void turn(float* out, const float* in) {
  __shared__ float tile[32][32];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

extern "C" int turn_on_device(float* out, const float* in) {
  float *from = nullptr, *to = nullptr;
  cudaMalloc(&from, 4096);
  cudaMalloc(&to, 4096);
  cudaMemcpy(from, in, 4096, cudaMemcpyHostToDevice);
  turn<<<1, dim3(32, 32)>>>(to, from);
  return cudaMemcpy(out, to, 4096, cudaMemcpyDeviceToHost);
}
"""

SCRIPT = """
import ctypes, sys

extension = ctypes.CDLL(sys.argv[1])
numbers = (ctypes.c_float * 1024)(*range(1024))
turned = (ctypes.c_float * 1024)()
assert extension.turn_on_device(turned, numbers) == 0
assert turned[1] == 32, turned[1]
print("PASSED")
"""


def test_an_extension_of_python_runs_on_the_emulator(tmp_path):
    """As torch.utils.cpp_extension builds one: a library with kernels, which Python loads."""
    nvcc = shutil.which("nvcc") or Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "bin/nvcc"
    (tmp_path / "turn.cu").write_text(EXTENSION)
    (tmp_path / "turn.py").write_text(SCRIPT)
    options = ["-cudart", "shared", "-lineinfo", "-arch", archs()[-1], "-Xcompiler", "-fPIC"]
    subprocess.run(
        [nvcc, "-shared", *options, "-o", "turn.so", "turn.cu"], cwd=tmp_path, check=True
    )
    counts = tmp_path / "counts.jsonl"
    program = ["--", sys.executable, tmp_path / "turn.py", tmp_path / "turn.so"]
    result = emulate("--arch", archs()[-1], "--json", counts, *program)
    assert (result.returncode, result.stdout) == (0, "PASSED\n"), result.stderr
    conflicts = [line for line in result.stderr.splitlines() if "1024/32" in line]
    assert len(conflicts) == 1 and "turn.cu:8" in conflicts[0] and "exact" in conflicts[0]

"""Facts of one commit that was checked out to two folders are the same facts."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from warpgauge.facts.reader import read_facts

GAUGE = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin" / "warpgauge"
NVCC = shutil.which("nvcc") or Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "bin" / "nvcc"
HEADER = """#pragma once
__device__ inline float turned(const float (&tile)[32][32], int lane) { return tile[lane][0]; }
"""
PROGRAM = """#include "inner/turn.cuh"
__global__ void turn(float* out) {
  __shared__ float tile[32][32];
  tile[0][threadIdx.x] = threadIdx.x;
  for (int row = 1; row < 32; ++row) tile[row][threadIdx.x] = row;
  __syncthreads();
  out[threadIdx.x] = turned(tile, threadIdx.x);
}
int main() {
  float* out;
  cudaMalloc(&out, 128);
  turn<<<1, 32>>>(out);
  return cudaDeviceSynchronize();
}
"""
PLACE = PROGRAM.splitlines().index("  out[threadIdx.x] = turned(tile, threadIdx.x);") + 1


def warpgauge(*arguments, cwd=None):
    return subprocess.run(
        [GAUGE, *map(str, arguments)], capture_output=True, text=True, timeout=300, cwd=cwd
    )


def build(folder, program=PROGRAM):
    (folder / "src" / "inner").mkdir(parents=True, exist_ok=True)
    (folder / "src" / "inner" / "turn.cuh").write_text(HEADER)
    (folder / "src" / "turn.cu").write_text(program)
    command = [NVCC, "-arch=sm_90", "-lineinfo", "-cudart=shared", "-o", folder / "turn"]
    subprocess.run([*command, folder / "src" / "turn.cu"], check=True, capture_output=True)


def emulated(folder, cwd):
    """Emulates the program of a checkout: its facts."""
    out = folder / "out"
    command = ["emulate", "--arch", "sm_90", "--out", out, "--", folder / "turn"]
    result = warpgauge(*command, cwd=cwd)
    assert result.returncode == 1, result.stderr  # the conflicts of a column
    assert f"{folder}/src" not in result.stderr
    return out / "facts.jsonl"


@pytest.fixture(scope="module")
def checkouts(tmp_path_factory):
    """Two folders with the same program, built."""
    folders = [tmp_path_factory.mktemp(name) / "deeper" for name in ("one", "other_folder")]
    for folder in folders:
        folder.mkdir()
        build(folder)
    return folders


def as_counted_on_a_gpu(facts):
    """The counts of two sources are compared line by line."""
    text = facts.read_text().replace('"source":"emulator"', '"source":"cupti"')
    text = text.replace('"driver":"emulator"', '"driver":"580.0"')
    other = facts.with_name("gpu.jsonl")
    other.write_text(text)
    return other


def files(facts):
    found = {fact.file for fact in read_facts(facts) if fact.file}
    for fact in read_facts(facts):
        found |= {call.file for call in fact.inlined}
    return found


def test_the_folder_of_a_program_is_in_no_fact(checkouts):
    """Without a repository: the files are relative to the folder that the sources lie in."""
    a, b = (emulated(folder, folder.parent) for folder in checkouts)
    assert files(a) == {"turn.cu", "inner/turn.cuh"}
    same = warpgauge("diff", a, b)
    assert same.returncode == 0, same.stdout + same.stderr
    counts = warpgauge("diff", a, as_counted_on_a_gpu(b))
    assert counts.returncode == 0, counts.stdout + counts.stderr
    assert "EQUAL: " in counts.stdout


def test_what_changed_is_named_by_its_line(checkouts, tmp_path):
    a = emulated(checkouts[0], checkouts[0])
    build(tmp_path, PROGRAM.replace("tile, threadIdx.x)", "tile, threadIdx.x & 15)"))
    worse = warpgauge("diff", emulated(tmp_path, tmp_path), a)
    assert worse.returncode == 1, worse.stdout + worse.stderr
    assert re.search(r", inner/turn\.cuh:2\b", worse.stdout), worse.stdout
    assert "/src" not in worse.stdout


@pytest.mark.parametrize("place", [".", "src", ".."])
def test_files_are_relative_to_the_root_of_the_checkout(place, checkouts):
    """Wherever the command runs."""
    folder = checkouts[0]
    (folder / ".git").mkdir(exist_ok=True)
    try:
        assert files(emulated(folder, folder / place)) == {"src/turn.cu", "src/inner/turn.cuh"}
    finally:
        (folder / ".git").rmdir()


@pytest.mark.parametrize("has_repository", [False, True])
def test_sources_are_found_again(has_repository, checkouts):
    folder = checkouts[1]
    if has_repository:
        (folder / ".git").mkdir()
    try:
        emulated(folder, "/")
    finally:
        if has_repository:
            (folder / ".git").rmdir()
    results = json.loads((folder / "out" / "results.json").read_text())
    blamed = [line for finding in results["findings"] for line in finding["blame"]]
    texts = {line["file"]: line.get("text") for line in blamed}
    name = ("src/" if has_repository else "") + "inner/turn.cuh"
    assert texts[name] == HEADER.splitlines()[1]


def test_compiled_files_of_two_folders_have_the_same_lines(checkouts, tmp_path):
    spilled = PROGRAM.replace("__global__ void", "__global__ void __maxnreg__(24)", 1)
    spilled = spilled.replace("__syncthreads();", "volatile float f[8]; f[threadIdx.x & 7] = 1;")
    facts = []
    for name in ("a", "b"):
        folder = tmp_path / name
        build(folder, spilled)
        warpgauge("inspect", "--out", folder / "out", folder / "turn", cwd=tmp_path)
        facts.append(folder / "out" / "facts.jsonl")
        assert "turn.cu" in files(facts[-1])
    assert warpgauge("diff", *facts).returncode == 0

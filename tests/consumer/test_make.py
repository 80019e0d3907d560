"""Programs that Make builds: examples/make, with nvcc behind `warpgauge cc`."""

import os
import shutil
import subprocess

import pytest
from project import BUILD, ROOT, run
from warpgauge.facts.reader import read_facts

TOOL = BUILD / "bin/warpgauge"
NVCC = f"{TOOL} cc -- nvcc"


def cc(*command, cwd, **env):
    return subprocess.run(
        [TOOL, "cc", "--", *command],
        cwd=cwd,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
    )


def make_gate(source):
    """With warpgauge on the path, as a user has it."""
    path = f"{TOOL.parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["make", "gate", f"NVCC={NVCC}"],
        cwd=source,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )


def test_a_program_that_make_builds_is_counted_line_by_line(tmp_path):
    source = shutil.copytree(ROOT / "examples/make", tmp_path / "make")
    assert len((source / "Makefile").read_text().splitlines()) <= 10
    run("make", f"NVCC={NVCC}", cwd=source)
    gate = make_gate(source)
    assert gate.returncode != 0 and "FAIL: 1 value over budget" in gate.stderr, gate.stderr
    text = (source / "transpose.cu").read_text()
    conflicts = {
        text.splitlines()[fact.line - 1].strip(): fact.value
        for fact in read_facts(source / "out/facts.jsonl")
        if fact.metric == "shared.bank_conflicts" and fact.scope == "line"
    }
    # 31 more in each of 64 x 32 column reads
    assert conflicts == {"out[v * kSize + u] = tile[threadIdx.x][threadIdx.y];": 31 * 64 * 32}
    # By itself it says that there is no GPU, where that is so.
    alone = subprocess.run(["./transpose"], cwd=source, capture_output=True, text=True, timeout=60)
    assert alone.returncode in (0, 1) and alone.stdout

    (source / "transpose.cu").write_text(text.replace("tile[32][32]", "tile[32][33]"))
    gate = make_gate(source)
    assert gate.returncode == 0, gate.stderr
    assert "PASS: " in gate.stderr


def test_without_cc_the_program_is_counted_without_lines(tmp_path):
    source = shutil.copytree(ROOT / "examples/make", tmp_path / "make")
    run("make", cwd=source)
    done = subprocess.run(
        [TOOL, "emulate", "--", "./transpose"], cwd=source, capture_output=True, text=True
    )
    assert done.stdout == "right\n", done.stderr
    facts = read_facts(source / "out/facts.jsonl")
    (conflicts,) = [fact for fact in facts if fact.metric == "shared.bank_conflicts"]
    assert (conflicts.value, conflicts.scope, conflicts.line) == (31 * 64 * 32, "case", None)
    assert conflicts.confidence == "exact"


def test_the_exit_code_and_the_messages_are_those_of_nvcc(tmp_path):
    (tmp_path / "wrong.cu").write_text("__global__ void k() { nothing(); }\n")
    done = cc("nvcc", "-c", "wrong.cu", cwd=tmp_path)
    plain = subprocess.run(["nvcc", "-c", "wrong.cu"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == plain.returncode != 0
    assert 'identifier "nothing" is undefined' in done.stderr
    assert "release" in cc("nvcc", "--version", cwd=tmp_path).stdout


@pytest.mark.parametrize("compiler", ["clang++", "g++", "-c"])
def test_another_compiler_is_refused_by_name(tmp_path, compiler):
    done = cc(compiler, "-c", "a.cu", cwd=tmp_path)
    assert done.returncode == 2
    assert f"{compiler}: is not nvcc; write `warpgauge cc -- nvcc ...`" in done.stderr


def test_no_nvcc_is_an_error_with_its_cure(tmp_path):
    done = cc("nvcc", "-c", "a.cu", cwd=tmp_path, PATH="/usr/bin:/bin")
    assert done.returncode == 2
    assert "nvcc: there is no such program; install the CUDA toolkit, or name" in done.stderr

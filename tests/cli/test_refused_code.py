"""`warpgauge inspect --emulates`: what the emulator refuses of code, without running it."""

import os
import subprocess
from pathlib import Path

import pytest

GAUGE = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin" / "warpgauge"
DATA = Path(__file__).resolve().parents[1] / "data"
NVCC = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "bin" / "nvcc"

HEAD = ".version 8.8\n.target sm_100a\n.address_size 64\n"
REFUSED = HEAD + (
    ".visible .entry k() {\n.reg .b32 %r<2>;\n.loc 1 7 3\ntcgen05.fence::before_thread_sync;\n"
    'mov.u32 %r1, %tid.w;\nret;\n}\n.file 1 "own.cu"\n'
)
SOURCE = """
__global__ void plain(float* out) { out[threadIdx.x] = 1; }
__global__ void fenced(float* out) {
  asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128"
               " [%0], [%0];" ::"r"(0));
}
int main() {}
"""


def emulates(*arguments, cwd=None):
    return subprocess.run(
        [GAUGE, "inspect", "--emulates", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
    )


def written(path, text):
    path.write_text(text)
    return path


def test_a_line_for_each_instruction_that_is_refused(tmp_path):
    written(tmp_path / "k.ptx", REFUSED)
    result = emulates("k.ptx", cwd=tmp_path)
    lines = result.stdout.splitlines()
    assert lines[0] == "k.ptx:7: tcgen05.fence::before_thread_sync: not emulated (own.cu:7)"
    assert lines[1].startswith("k.ptx:8: mov.u32: ") and lines[1].endswith("(own.cu:7)")
    assert lines[2:] == ["2 refused, in 1 of 1 texts of PTX"]
    assert (result.returncode, result.stderr) == (1, "")
    assert not (tmp_path / "out").exists()


def test_nothing_is_refused():
    result = emulates(DATA / "ptx" / "data.sm_90.ptx")
    assert result.stdout == "0 refused, in 0 of 1 texts of PTX\n"
    assert result.returncode == 0


def test_each_text_is_read_once(tmp_path):
    for name in ("a", "b"):
        written(tmp_path / f"{name}.ptx", REFUSED)
    written(tmp_path / "notes.txt", "no code")
    result = emulates(tmp_path)
    assert result.stdout.endswith("\n2 refused, in 1 of 1 texts of PTX\n"), result.stderr
    assert result.returncode == 1


def test_architectures_are_chosen(tmp_path):
    path = written(tmp_path / "k.ptx", REFUSED)
    result = emulates("--arch", "sm_9*", path, DATA / "ptx" / "data.sm_90.ptx")
    assert (result.stdout, result.returncode) == ("0 refused, in 0 of 1 texts of PTX\n", 0)
    result = emulates("--arch", "sm_75", path)
    assert (result.stdout, result.returncode) == ("", 2)
    assert "no file has PTX for sm_75" in result.stderr


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """One source as a cubin with and without its PTX, a fat binary, an object and a program."""
    folder = tmp_path_factory.mktemp("compiled")
    source = written(folder / "k.cu", SOURCE)
    for name, options in {
        "lines.cubin": ["-cubin", "-arch=sm_100a", "-lineinfo"],
        "bare.cubin": ["-cubin", "-arch=sm_100a"],
        "k.fatbin": ["-fatbin", "-arch=sm_100a"],
        "k.o": ["-c", "-arch=sm_100a"],
        "linked": ["-rdc=true", "-arch=sm_100a"],
    }.items():
        subprocess.run([NVCC, *options, "-o", folder / name, source], check=True)
    return folder


@pytest.mark.parametrize(
    "name, place",
    [
        ("lines.cubin", "lines.cubin (sm_100a)"),
        ("k.fatbin", "k.fatbin (sm_100a)"),
        ("k.o", "k.o, .nv_fatbin (sm_100a)"),
        ("linked", "linked, __nv_relfatbin (sm_100a)"),
    ],
)
def test_the_ptx_in_compiled_files_is_found(compiled, name, place):
    result = emulates(name, cwd=compiled)
    *refused, last = result.stdout.splitlines()  # some nvcc add PTX for another architecture
    assert all("clusterlaunchcontrol.try_cancel" in line for line in refused)
    assert [line for line in refused if line.startswith(f"{place}:")], result.stdout
    assert last == f"{len(refused)} refused, in {len(refused)} of {len(refused)} texts of PTX"
    assert result.returncode == 1


def test_machine_code_alone_is_refused(compiled):
    result = emulates("bare.cubin", cwd=compiled)
    assert result.stdout.splitlines() == [
        "bare.cubin (sm_100a): machine code without PTX; compile with -lineinfo, or keep the PTX",
        "1 refused, in 0 of 0 texts of PTX",
    ]
    assert result.returncode == 1


@pytest.mark.parametrize(
    "name, content, problem",
    [
        ("k.ptx", HEAD + ".entry k() {\nret;\n", "k.ptx:6:1: expected an instruction, a label"),
        ("k.ptx", "nothing", "k.ptx: it is no PTX: it has no .target"),
        ("k.cubin", "", "k.cubin: it is neither PTX (.ptx) nor a file with code for GPUs"),
        ("k.whl", "PK\3\4", "k.whl: a zip is not looked into for this; unpack it"),
    ],
)
def test_bad_input_is_a_fault(tmp_path, name, content, problem):
    written(tmp_path / name, content)
    result = emulates(name, cwd=tmp_path)
    assert result.stderr.startswith(f"error: {problem}") and result.stderr.count("\n") == 1
    assert result.returncode == 2


def test_a_damaged_cubin_is_a_fault(tmp_path):
    whole = (DATA / "cubin" / "spills.sm_90.cubin").read_bytes()
    (tmp_path / "cut.cubin").write_bytes(whole[: len(whole) // 2])
    result = emulates("cut.cubin", cwd=tmp_path)
    assert result.stderr.startswith("error: cut.cubin: ")
    assert result.returncode == 2


def test_a_fault_does_not_stop_the_others(tmp_path):
    good = written(tmp_path / "k.ptx", REFUSED)
    result = emulates(tmp_path / "nothing.ptx", good)
    assert result.returncode == 2 and result.stdout == ""  # a path that is not there is an error
    bad = written(tmp_path / "bad.ptx", "nothing")
    result = emulates(bad, good)
    assert result.stdout.endswith("2 refused, in 1 of 1 texts of PTX\n")
    assert result.returncode == 2

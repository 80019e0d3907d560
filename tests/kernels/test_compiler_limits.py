"""Code that nvcc refuses with a clear error, and code that nvcc 13.0 breaks."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ["WARPGAUGE_BINARY_DIR"])
HERE = Path(__file__).parent
HAS_GPU = Path("/dev/nvidia0").exists()
(NVCC,) = re.findall(
    r"^CMAKE_CUDA_COMPILER:\w+=(.+)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE
)
NVDISASM = shutil.which("nvdisasm") or shutil.which("nvdisasm", path=str(Path(NVCC).parent))


def nvcc(source, *options):
    return subprocess.run(
        [NVCC, *map(str, options), HERE / source], capture_output=True, text=True, timeout=300
    )


@pytest.mark.parametrize(
    "source, most, error",
    [
        (
            "constants_over_limit.cu",
            16384,
            r"uses too much global constant data \(0x10004 bytes, 0x10000 max\)",
        ),
        (
            "parameters_over_limit.cu",
            32764 // 4 - 3,
            r"Formal parameter space overflowed \(32768 bytes required, max 32764 bytes allowed\)",
        ),
    ],
)
def test_one_word_over_the_limit_is_refused(tmp_path, source, most, error):
    options = ("-arch=sm_90", "-cubin", "-o", tmp_path / "out.cubin")
    refused = nvcc(source, *options)
    assert refused.returncode != 0
    assert re.search(error, refused.stdout + refused.stderr), refused.stdout + refused.stderr
    taken = nvcc(source, *options, f"-DWORDS={most}")
    assert taken.returncode == 0, taken.stdout + taken.stderr


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    made = tmp_path_factory.mktemp("large_parameters") / "large_parameters"
    built = nvcc("large_parameters.cu", "-arch=sm_90", "-lineinfo", "-cudart=shared", "-o", made)
    assert built.returncode == 0, built.stdout + built.stderr
    return made


def answers(output):
    return {int(size): word for size, word in re.findall(r"^(\d+) bytes: (\w+)$", output, re.M)}


def test_the_ptx_of_large_parameters_is_right(program, tmp_path):
    ran = subprocess.run(
        [BUILD / "bin/warpgauge", "emulate", "--arch", "sm_90", "--out", tmp_path, "--", program],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert answers(ran.stdout) == dict.fromkeys((16384, 24576, 31744, 32240, 32764), "right")


def wrapped_offsets(tmp_path, arch):
    """Loads from the constant bank at a register less some bytes, by the bytes of parameters."""
    cubin = tmp_path / f"{arch}.cubin"
    built = nvcc("large_parameters.cu", f"-arch={arch}", "-cubin", "-o", cubin)
    assert built.returncode == 0, built.stdout + built.stderr
    text = subprocess.run([NVDISASM, "-c", cubin], capture_output=True, text=True, check=True)
    found = {}
    for part in re.split(r"^\.text\.", text.stdout, flags=re.MULTILINE)[1:]:
        size = int(re.match(r"\w*?by_valueILi(\d+)E", part)[1])
        is_wrapped = re.search(r"c\[0x0\]\[U?R\d+(\.64)?\+-0x", part)
        found[size] = bool(is_wrapped) and "0x10000" not in part
    return found


@pytest.mark.skipif(NVDISASM is None, reason="no nvdisasm on this machine")
def test_machine_code_for_large_parameters_reads_elsewhere(tmp_path):
    version = subprocess.run([NVCC, "--version"], capture_output=True, text=True).stdout
    if "release 13.0" not in version:
        pytest.skip("shown for nvcc 13.0 only")
    right = dict.fromkeys((16384, 24576, 31744, 32240), False)
    assert wrapped_offsets(tmp_path, "sm_90") == {**right, 32764: True}
    for arch in ("sm_80", "sm_100"):
        assert wrapped_offsets(tmp_path, arch) == {**right, 32764: False}


@pytest.mark.skipif(not HAS_GPU, reason="no GPU on this machine")
def test_results_of_large_parameters_are_right_up_to_the_end_of_the_bank(program):
    ran = subprocess.run([program], capture_output=True, text=True, timeout=300)
    got = answers(ran.stdout)
    assert len(got) == 5, ran.stdout + ran.stderr
    got.pop(32764)  # wrong where the machine code above runs
    assert set(got.values()) == {"right"}, ran.stdout

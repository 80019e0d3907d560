"""warpgauge_add_static_tests() names a test of CTest for each architecture that is compiled."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(tests NONE)
enable_testing()
include("{root}/cmake/WarpgaugeKernels.cmake")
set(CMAKE_CUDA_ARCHITECTURES {archs})
warpgauge_add_static_tests(PREFIX static.mine CHECK true)
"""


@pytest.mark.parametrize(
    ("archs", "names"),
    [
        ("90 90a 100f", ["sm_90", "sm_90a", "sm_100f"]),
        ("90-real 90-virtual 90a-real", ["sm_90", "sm_90a"]),
        ("90-real 90a-virtual", ["sm_90"]),  # ptxas does not see what the driver is to compile
        ("all-major", ["sm_*"]),
    ],
)
def test_ctest_has_a_static_test_for_each_that_is_compiled(tmp_path, archs, names):
    (tmp_path / "CMakeLists.txt").write_text(PROJECT.format(root=ROOT, archs=archs))
    built = subprocess.run(
        ["cmake", "-S", tmp_path, "-B", tmp_path / "build"], capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    listed = subprocess.run(
        ["ctest", "--test-dir", tmp_path / "build", "-N"], capture_output=True, text=True
    ).stdout
    found = [line.split(": ")[1] for line in listed.splitlines() if "static.mine." in line]
    assert found == [f"static.mine.{name}" for name in names]

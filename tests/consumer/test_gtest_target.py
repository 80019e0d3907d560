"""A GoogleTest program that a project already has links warpgauge::gtest; nothing else changes."""

import re

import pytest
from project import configure, run
from scaling_project import FILES

PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(tested LANGUAGES CXX CUDA)
enable_testing()
find_package(GTest REQUIRED)
find_package(warpgauge 0.1 REQUIRED)
include(GoogleTest)
add_subdirectory(half)
add_executable(my_tests my_test.cu scaling.cu)
target_include_directories(my_tests PRIVATE include)
target_compile_definitions(my_tests PRIVATE FACTOR=2 "AS_TEXT=\\"a, b\\"")
target_link_libraries(my_tests PRIVATE half GTest::gtest_main warpgauge::gtest)
# The linker may take any file of the gauge's archives into the program, as it does where a shared
# library needs std::string: here it takes the self test, which needs kernels of its own.
target_link_options(my_tests PRIVATE LINKER:--undefined=_ZN9warpgauge13planted_spillEv)
gtest_discover_tests(my_tests PROPERTIES LABELS mine)
set_target_properties(my_tests PROPERTIES WARPGAUGE_BUDGETS gauge/budgets)  # which is not there yet
"""
HALF = """
add_library(half STATIC half.cu)
target_include_directories(half PUBLIC include)
warpgauge_watch(half)
"""
TESTS = """
#include <warpgauge/gtest.h>
#include "half.h"
__global__ void store(float* out) { out[threadIdx.x * 32] = 1; }
TEST(Mine, HasNothingToDoWithKernels) { EXPECT_EQ(1 + 1, 2); }
TEST(Mine, IsWithinBudget) {
  float* out;
  ASSERT_EQ(cudaMalloc(&out, 4096 * 4), cudaSuccess);
  EXPECT_BUDGET([&] { half::twice(out, out + 1024); }, "global.excess_sectors = 0");
  cudaFree(out);
}
TEST(Mine, IsOverBudget) {
  float* out;
  ASSERT_EQ(cudaMalloc(&out, 4096 * 4), cudaSuccess);
  EXPECT_BUDGET([&] { store<<<1, 128>>>(out); }, "global.excess_sectors = 0");
  cudaFree(out);
}
"""


def test_a_package_of_a_folder_below_is_an_error_with_its_cure(tmp_path, prefix):
    (tmp_path / "below").mkdir()
    top = PROJECT.split("include(GoogleTest)")[0] + "add_subdirectory(below)\n"
    (tmp_path / "CMakeLists.txt").write_text(top)
    (tmp_path / "below/my_test.cu").write_text("")
    (tmp_path / "below/CMakeLists.txt").write_text(
        "add_library(json::json INTERFACE IMPORTED)\nadd_executable(my_tests my_test.cu)\n"
        "target_link_libraries(my_tests PRIVATE json::json GTest::gtest_main warpgauge::gtest)\n"
    )
    said = configure(tmp_path, tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}", code=1)
    said = " ".join(said.split())
    assert "my_tests links json::json, which find_package() has found for its" in said


@pytest.fixture(scope="module")
def build(tmp_path_factory, prefix):
    source = tmp_path_factory.mktemp("tested")
    texts = {"my_test.cu": TESTS, "CMakeLists.txt": PROJECT, "half/CMakeLists.txt": HALF}
    for name, text in {**FILES, **texts}.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    configure(source, source / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", source / "build", "--target", "my_tests", cwd=source)
    return source / "build"


def test_the_self_test_is_in_the_program(build):
    """The linker does not say if the name in its option is of no function any more."""
    assert " T warpgauge::planted_spill()\n" in run("nm", "-C", "my_tests", cwd=build)


def test_the_tests_of_the_program_stay_and_its_cases_stand_beside_them(build):
    listed = run("ctest", "-N", cwd=build)
    for name in ("Mine.IsWithinBudget", "scaling.here.f32@256", "sm_90/scaling.here.f32@256"):
        assert name in listed


def test_the_tests_of_the_program_have_the_label_of_costs_too(build):
    for label in ("perf", "mine"):
        assert "Mine.IsWithinBudget" in run("ctest", "-N", "-L", label, cwd=build)


@pytest.mark.parametrize("chosen", ["-Mine.IsOverBudget", "scaling.*:Mine.IsWithinBudget"])
def test_without_a_gpu_they_run_on_the_emulator(build, chosen):
    said = run("./my_tests", f"--gtest_filter={chosen}", cwd=build)
    assert "[       OK ] Mine.IsWithinBudget" in said and "SKIPPED" not in said


def test_a_launch_over_budget_fails_with_its_line(build):
    said = run("./my_tests", "--gtest_filter=Mine.IsOverBudget", cwd=build, code=1)
    assert "global.excess_sectors" in said and re.search(r"my_test\.cu:4\b", said)
    assert "\n  budgets  the test, and below it Mine.test.toml (not there)\n" in said
    repeat = re.search(r"^  repeat   (.*)$", said, re.MULTILINE)[1]
    assert "IsOverBudget" in run("sh", "-c", repeat, cwd=build.parent, code=1)


@pytest.fixture
def build_without_emulated_program(build):
    """The emulated program is away for as long as a test runs."""
    hidden = (build / "my_tests-emulated").rename(build / "elsewhere")
    yield build
    hidden.rename(build / "my_tests-emulated")


def test_without_a_gpu_and_an_emulated_program_they_are_skipped(build_without_emulated_program):
    said = run("./my_tests", cwd=build_without_emulated_program)
    assert "no GPU here, and" in said and "was not built" in said and "FAILED" not in said

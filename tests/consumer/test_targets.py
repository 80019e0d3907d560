"""What a project says of its own targets holds for its gauge: include folders, definitions,
options, libraries, build types, and the CUDA compiler."""

import re
import subprocess

import pytest
from project import ROOT, configure, gate, run
from scaling_project import FILES, KERNELS

PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(scaling LANGUAGES CXX CUDA)
enable_testing()
find_package(warpgauge 0.1 REQUIRED)
warpgauge_add_kernels(NAME my-gauge SOURCES scaling.cu)
"""
# After the call, and partly in another folder: CMake's own commands, on the one target.
LATER = """
target_include_directories(my-gauge PRIVATE include)
target_compile_definitions(my-gauge PRIVATE FACTOR=2 "AS_TEXT=\\"a, b\\"")
target_compile_options(my-gauge PRIVATE --fmad=false)
target_link_options(my-gauge PRIVATE LINKER:--defsym=of_my_gauge=0)
add_subdirectory(half)
"""
HALF = """
add_library(half STATIC half.cu)
target_include_directories(half PUBLIC include)
target_link_libraries(my-gauge PRIVATE half)
"""
PROGRAMS = ["my-gauge", "my-gauge-check", "my-gauge-bench"]


@pytest.fixture
def project(tmp_path):
    """Writes a project of the files and these texts."""

    def write(cmake, half=HALF):
        for name, text in {**FILES, "CMakeLists.txt": cmake, "half/CMakeLists.txt": half}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        return tmp_path

    return write


def test_a_gauge_is_a_target_like_any_other(project, prefix):
    source = project(PROJECT + LATER, HALF + "warpgauge_watch(half)\n")
    build = source / "build"
    configure(source, build, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", build, cwd=source)
    facts = gate(build, "my-gauge")
    passed = {f.id for f in facts if f.metric == "result.correct" and f.verdict == "pass"}
    assert passed == {"scaling.here.f32@256", "scaling.in_library.f32@256"}
    # The library was linked and watched after the call.
    assert "half/half.cu" in {f.file for f in facts if f.scope == "line"}
    for program in PROGRAMS:
        for name in (program, f"{program}-emulated"):
            assert " of_my_gauge\n" in run("nm", build / name, cwd=build)
    tests = run("ctest", "-R", "emulated", "--output-on-failure", cwd=build)
    assert "emulated.my-gauge" in tests and "Passed" in tests
    kernels = run("ninja", "-t", "commands", "my-gauge_kernels", cwd=build)
    assert "--fmad=false" in kernels and "-lineinfo" in kernels
    assert "--fmad=false" not in run("ninja", "-t", "commands", "half", cwd=build)


def test_a_library_that_is_not_watched_is_named_the_call_that_watches(project, prefix):
    source = project(PROJECT + LATER)
    build = source / "build"
    configure(source, build, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", build, "--target", "my-gauge", cwd=source)
    done = subprocess.run(
        [build / "my-gauge", "gate", "--device=emulated"],
        cwd=build,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    said = done.stdout + done.stderr
    assert "the machine code of its kernel" in said
    assert "call warpgauge_watch(TARGET) for the target that has the kernel" in said


@pytest.mark.parametrize("build_type", ["", "Debug", "Release"])
def test_taken_in_it_compiles_quickly_but_for_the_loops_over_lanes(project, build_type):
    taken_in = f'add_subdirectory("{ROOT}" warpgauge)\n'
    source = project(PROJECT.replace("find_package(warpgauge 0.1 REQUIRED)\n", taken_in) + LATER)
    build = source / "build"
    configure(source, build, build_type=build_type)
    assert f"CMAKE_BUILD_TYPE:STRING={build_type}\n" in (build / "CMakeCache.txt").read_text()
    commands = run("ninja", "-t", "commands", "my-gauge", cwd=build).splitlines()
    units = {"metrics": ("facts", "1"), "harness": ("cases", "1"), "emulator": ("emulator", "1")}
    for name, (folder, level) in units.items():
        file = f"/warpgauge_{name}.dir/Unity/unity_{folder}_cxx.cxx"
        (command,) = [line for line in commands if line.endswith(file)]
        assert re.findall(r" -O(\d)\b", command)[-1] == level  # the last one holds
        assert " -g " not in command
    loops = [line for line in commands if line.endswith("/Unity/unity_alu_cxx.cxx")]
    found = {"baseline" in line: re.findall(r" -O(\d)\b", line)[-1] for line in loops}
    assert found in ({True: "3"}, {True: "1", False: "3"})  # the baseline is a machine's only one
    (kernels,) = [line for line in commands if line.endswith("/scaling.cu.o")]
    assert " -lineinfo " in kernels and " -G " not in kernels and " -O1" not in kernels


def test_registrations_that_the_linker_would_drop_are_refused(project, prefix):
    source = project(PROJECT + LATER)
    (source / "half/half.cu").write_text(KERNELS)
    said = configure(source, source / "build", f"-DCMAKE_PREFIX_PATH={prefix}", code=1)
    said = " ".join(said.split())
    assert "half/half.cu: has a WARPGAUGE_FAMILY, which the linker would leave out" in said
    assert "as half is a static library" in said


def test_device_code_without_optimisation_is_said(project, prefix):
    source = project(PROJECT.replace("enable_testing()", 'set(CMAKE_CUDA_FLAGS "-g -G")') + LATER)
    said = configure(source, source / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    assert "my-gauge_kernels is compiled with -G, so without optimisation" in said


def test_another_cuda_compiler_is_refused_by_name(project, prefix):
    source = project(PROJECT.replace("enable_testing()", "set(CMAKE_CUDA_COMPILER_ID Clang)"))
    said = configure(source, source / "build", f"-DCMAKE_PREFIX_PATH={prefix}", code=1)
    said = " ".join(said.split())
    assert "warpgauge needs nvcc" in said and "(Clang)" in said
    assert "-DCMAKE_CUDA_COMPILER=nvcc" in said

"""`warpgauge config`: where other builds find warpgauge and a CUDA toolkit."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from private_mounts import needs_mounts, with_file
from programs import BIN, run

NO_PACKAGE = " has no CMake package: use the warpgauge of a wheel, or the one that "


def program(folder, name="nvcc"):
    folder.mkdir(parents=True)
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)
    return folder / name


def nvcc(code=0, **environment):
    return run("warpgauge", "config", "--nvcc", env=environment, code=code)


def test_a_build_that_is_not_installed_has_no_package():
    done = run("warpgauge", "config", "--prefix", code=2)
    assert done.stdout == "" and NO_PACKAGE in done.stderr


@needs_mounts
def test_the_prefix_is_the_folder_with_the_package(tmp_path):
    """As `cmake --install` leaves it: bin, and the package beside it."""
    prefix, _, _ = run("warpgauge", "config", "--prefix").stderr.partition(NO_PACKAGE)
    installed = tmp_path / "installed"
    package = installed / "share" / "warpgauge" / "cmake" / "warpgaugeConfig.cmake"
    package.parent.mkdir(parents=True)
    package.touch()
    shutil.copy2(BIN / "warpgauge", tmp_path / "warpgauge")
    command = [*with_file(installed, prefix), tmp_path / "warpgauge", "config", "--prefix"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{prefix}\n", "")


def test_the_compiler_is_that_of_cudacxx_or_of_the_path(tmp_path):
    named, found = program(tmp_path / "named"), program(tmp_path / "found")
    path = f"{found.parent}:{os.environ['PATH']}"
    assert nvcc(CUDACXX=str(named), PATH=path).stdout == f"{named}\n"
    assert nvcc(CUDACXX="", PATH=path).stdout == f"{found}\n", "an empty one names none"
    missing = nvcc(code=2, CUDACXX=str(tmp_path / "missing"), PATH=path)
    assert f"CUDACXX={tmp_path}/missing: there is no such program" in missing.stderr


@needs_mounts
def test_the_compiler_of_the_python_environment_comes_before_that_of_the_path(tmp_path):
    """As NVIDIA's wheels install it: in the folder of the packages, by the version of CUDA."""
    prefix, _, _ = run("warpgauge", "config", "--prefix").stderr.partition(NO_PACKAGE)
    packages = Path(prefix).parents[1]
    version = subprocess.check_output([nvcc().stdout.strip(), "--version"], text=True)
    (major,) = re.findall(r"release (\d+)", version)
    toolkit = Path(f"nvidia/cu{major}")
    program(tmp_path / "packages" / toolkit / "bin")
    links = tmp_path / "packages" / toolkit / "lib64"
    links.mkdir()
    (links / "libcudart.so").touch()
    shutil.copy2(BIN / "warpgauge", tmp_path / "warpgauge")
    command = [*with_file(tmp_path / "packages", packages), tmp_path / "warpgauge"]
    environment = {name: text for name, text in os.environ.items() if name != "CUDACXX"}
    done = subprocess.run(
        [*command, "config", "--nvcc"], **{"capture_output": True, "text": True}, env=environment
    )
    assert (done.returncode, done.stdout) == (0, f"{packages / toolkit}/bin/nvcc\n"), done.stderr


@pytest.mark.parametrize("options", [[], ["--prefix", "--nvcc"]])
def test_one_thing_is_asked_for(options):
    assert "config --help" in run("warpgauge", "config", *options, code=2).stderr

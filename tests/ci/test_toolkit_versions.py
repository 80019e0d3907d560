"""cmake/ToolkitVersions.cmake states the CUDA toolkits that warpgauge is tested with. CMake refuses
older ones and names newer ones; the wheels, a document and ci/bootstrap agree."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
VERSIONS = ROOT / "cmake/ToolkitVersions.cmake"
OLDEST, NEWEST = re.findall(r"^set\(warpgauge_\w+_cuda ([\d.]+)\)$", VERSIONS.read_text(), re.M)


def configured(folder, version):
    script = folder / "check.cmake"
    script.write_text(f'include("{VERSIONS}")\nwarpgauge_check_toolkit({version} /opt/cuda)\n')
    return subprocess.run(["cmake", "-P", script], capture_output=True, text=True)


@pytest.mark.parametrize("version", [f"{OLDEST}.48", f"{OLDEST}.88", f"{NEWEST}.37"])
def test_a_tested_toolkit_is_taken_without_a_word(tmp_path, version):
    done = configured(tmp_path, version)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.parametrize("version", ["11.8.89", "12.9.86"])
def test_an_older_toolkit_is_refused(tmp_path, version):
    done = configured(tmp_path, version)
    assert done.returncode != 0
    said = " ".join(done.stderr.split())
    release = version.rpartition(".")[0]
    assert f"The toolkit in /opt/cuda is CUDA {release}; warpgauge needs {OLDEST} or newer" in said
    assert "CUDACXX" in said


@pytest.mark.parametrize("release", ["13.10", "14.0"])
def test_a_newer_toolkit_is_taken_and_named(tmp_path, release):
    done = configured(tmp_path, f"{release}.1")
    assert done.returncode == 0
    assert f"is CUDA {release}; warpgauge is tested with {OLDEST} to {NEWEST}." in done.stderr


def wheels_of(part):
    """The versions of the wheels in a part of pyproject.toml, without CCCL, which has its own."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())
    parts = table["project"]["optional-dependencies"] | table["dependency-groups"]
    return dict(wheel.split("==") for wheel in parts[part] if "cccl" not in wheel)


@pytest.mark.parametrize("part", ["toolkit", "newest-toolkit"])
def test_the_wheels_are_those_of_a_toolkit(part):
    assert wheels_of(part).keys() == {
        "nvidia-cuda-nvcc",
        "nvidia-cuda-crt",
        "nvidia-nvvm",
        "nvidia-cuda-runtime",
        "nvidia-cuda-cupti",
        "nvidia-cuda-profiler-api",
        "nvidia-nvtx",
    }


@pytest.mark.parametrize(("part", "version"), [("toolkit", OLDEST), ("newest-toolkit", NEWEST)])
def test_the_wheels_are_of_these_versions(part, version):
    for name, wheel in wheels_of(part).items():
        assert wheel.startswith(f"{version}."), name


def test_the_documents_state_them_in_one_place():
    statement = f"- CUDA toolkit {OLDEST} to {NEWEST}: "
    found = [path.name for path in (ROOT / "docs").glob("*.md") if statement in path.read_text()]
    assert found == ["install.md"]


def functions_of_bootstrap():
    """Those that choose a toolkit: the script itself would install what is missing."""
    script = (ROOT / "ci/bootstrap").read_text()
    at_least = script[script.index("at_least() {") : script.index("# ---- packages")]
    return at_least + script[script.index("oldest_cuda() {") : script.index("write_env() {")]


def test_the_set_up_passes_over_an_older_toolkit(tmp_path):
    nvcc = tmp_path / "nvcc"
    nvcc.write_text("#!/bin/sh\necho 'Cuda compilation tools, release 12.9, V12.9.86'\n")
    nvcc.chmod(0o755)
    head = f'root={ROOT}; build={tmp_path}; say() {{ echo "$*"; }}'
    done = subprocess.run(
        ["bash", "-c", f"{head}\n{functions_of_bootstrap()}\nusable {nvcc} CUDACXX"],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"]},
    )
    assert done.returncode == 1
    assert done.stdout == f"cuda: {nvcc} (CUDACXX) is CUDA 12.9, older than {OLDEST}: not used\n"

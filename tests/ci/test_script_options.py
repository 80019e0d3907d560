"""The scripts of ci/ refuse unknown options, and the CMake functions wrong calls."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from scratch_checkout import scratch_checkout

ROOT = Path(__file__).resolve().parents[2]


def run(folder, *command, **environment):
    return subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(
    "script, options, message",
    [
        ("test", ["--fliter"], "unknown option --fliter; usage: ci/test [--preset NAME] [--only"),
        ("test", ["--preset", ""], "--preset needs a name: dev, ci or asan"),
        ("test", ["--only"], "--only needs a regular expression"),
        ("bootstrap", ["--fliter"], "unknown option --fliter"),
        ("nightly", ["--fliter", "x"], "there is no option --fliter; see ci/nightly --help"),
        ("nightly", ["--filter"], "--filter needs a value; see ci/nightly --help"),
        ("nightly", ["--db="], "--db is empty; it names the history"),
        ("nightly", ["--device=none"], "--device=none measures nothing, and there are no --facts"),
        ("slurm/submit", ["--device"], "--device needs a value; see ci/nightly --help"),
    ],
)
def test_options_that_a_script_refuses(tmp_path, script, options, message):
    (tmp_path / "gpus.txt").write_text("h100 gpus\n")
    done = run(tmp_path, ROOT / "ci" / script, *options, WARPGAUGE_GPUS="gpus.txt")
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.parametrize(
    "built, options, wanted",
    [
        (None, [], "all"),
        (None, ["--arch", "sm_90"], "90"),
        (None, ["--arch=sm_80,sm_90"], "80;90"),
        (None, ["--arch=sm_90,sm_91"], "all"),  # which the gauge refuses by name
        (None, ["--arch"], "all"),
        ("90", ["--arch=sm_90"], "90"),
        ("80;90", ["--arch=sm_90"], "80;90"),
        ("90", ["--arch=sm_80"], "80;90"),
        ("few", ["--arch=sm_80"], "75;80;90"),
        ("90", [], "all"),
        ("all", ["--arch=sm_90"], "all"),
    ],
)
def test_a_first_gate_is_built_for_the_architectures_that_are_asked_for(
    tmp_path, built, options, wanted
):
    checkout = scratch_checkout(tmp_path)
    with (checkout / "ci/common.sh").open("a") as common:
        common.write("\nbuild_preset() { printf '%s ' \"${configure_options[@]}\"; exit 0; }\n")
    if built:
        cache = checkout / "build/ci/CMakeCache.txt"
        cache.write_text(f"A:STRING=b\nWARPGAUGE_ARCHITECTURES:STRING={built}\n")
    done = run(tmp_path, checkout / "ci/gate", *options)
    assert (done.returncode, done.stdout) == (0, f"-D WARPGAUGE_ARCHITECTURES={wanted} ")


@pytest.mark.parametrize(
    "archs, found", [("90", "90"), ("80;90", "80;90"), ("few", "75;90"), ("all", "75;80;")]
)
def test_architectures_that_are_chosen(tmp_path, archs, found):
    done = architectures(tmp_path, archs, CUDAARCHS="")
    assert done.returncode == 0 and f"archs: {found}" in done.stdout + done.stderr


@pytest.mark.parametrize("archs", ["91", "90;few", "some", "90;91"])
def test_architectures_that_are_refused(tmp_path, archs):
    done = architectures(tmp_path, archs, CUDAARCHS="")
    assert done.returncode == 1
    words = " ".join(done.stderr.split())
    assert f"is '{archs}'; choose all, few, native, or some of 75;80;86;89;90;100;120" in words


def architectures(folder, archs, **environment):
    """Of a machine without GPU."""
    nvidia_smi = folder / "nvidia-smi"
    nvidia_smi.write_text("#!/bin/sh\nexit 9\n")
    nvidia_smi.chmod(0o755)
    script = folder / "archs.cmake"
    show = 'message("archs: ${CMAKE_CUDA_ARCHITECTURES}")'
    script.write_text(f'include("{ROOT}/cmake/Architectures.cmake")\n{show}\n')
    environment["PATH"] = f"{folder}:{os.environ['PATH']}"
    return run(folder, "cmake", f"-DWARPGAUGE_ARCHITECTURES={archs}", "-P", script, **environment)


@pytest.mark.parametrize(
    "call",
    [
        "warpgauge_add_kernels(SOURCES a.cu)",
        "warpgauge_add_gtest(NAME a BUDGETS)",
        "warpgauge_kernels(SOURCES a.cu)",
    ],
)
def test_wrong_calls_of_the_cmake_functions(tmp_path, call):
    script = tmp_path / "misuse.cmake"
    script.write_text(f'include("{ROOT}/cmake/WarpgaugeKernels.cmake")\n{call}\n')
    done = run(tmp_path, "cmake", "-P", script)
    assert done.returncode == 1
    name, _, arguments = call.rstrip(")").partition("(")
    message = " ".join(done.stderr.split())
    assert f"{name}(" in message and f"was called with ({arguments.replace(' ', ';')})" in message


@pytest.mark.parametrize("mark", "#$")
def test_a_path_that_cannot_be_built_in_is_refused_by_name(tmp_path, mark):
    folder = tmp_path / f"a{mark}b"
    script = tmp_path / "watch.cmake"
    script.write_text(
        f'include("{ROOT}/cmake/WarpgaugeKernels.cmake")\n'
        f"set(PROJECT_BINARY_DIR [[{folder}]])\nwarpgauge_watch(kernels)\n"
    )
    done = run(tmp_path, "cmake", "-P", script)
    assert done.returncode == 1
    message = " ".join(done.stderr.split())
    assert "cannot build in a folder with a '#' or '$' in its path: rename" in message
    assert str(folder) in message


def test_scripts_are_not_led_astray_by_cdpath(tmp_path):
    """`cd` prints where it went, and may go to another folder of the same name."""
    (tmp_path / "ci").mkdir()
    shutil.copy(ROOT / "ci/common.sh", tmp_path / "ci")
    (tmp_path / "elsewhere/ci").mkdir(parents=True)
    show = 'source ci/common.sh; printf "%s" "$root"'
    done = run(tmp_path, "bash", "-c", show, CDPATH=f"{tmp_path}/elsewhere")
    assert done.stdout == str(tmp_path)


def test_an_interpreter_that_does_not_start_is_not_up_to_date(tmp_path):
    shutil.copytree(ROOT / "ci", tmp_path / "ci")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    bin = tmp_path / "build/venv/bin"
    bin.mkdir(parents=True)
    (bin / "python").symlink_to("gone")
    programs = tmp_path / "programs"
    programs.mkdir()
    python = programs / "python3"  # which makes no new environment
    python.write_text(
        f'#!/bin/sh\ncase "$*" in "-I -m venv"*) exit 1 ;; esac\nexec {sys.executable} "$@"\n'
    )
    python.chmod(0o755)
    stamp = 'printf "%s %s %s" "$PWD" "$(python3 --version)" "$(sha256sum <pyproject.toml)"'
    path = {"PATH": f"{programs}:{os.environ['PATH']}"}
    known = run(tmp_path, "bash", "-c", stamp, **path).stdout
    (bin.parent / ".stamp").write_text(f"{known}\ndev\n")
    done = run(tmp_path, "ci/bootstrap", **path)
    assert done.returncode == 2
    assert "up to date" not in done.stderr and "making build/venv" in done.stderr

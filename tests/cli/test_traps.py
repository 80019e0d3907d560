"""Programs and modules that lie in wait where warpgauge runs, and beside what it reads: none of
them is executed. PATH and PYTHONPATH name the current folder first, as no command needs it."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"
DATA = Path(__file__).resolve().parents[1] / "data"
SPILLS = DATA / "cubin" / "spills.sm_90.cubin"
PROGRAMS = (
    *("cmake", "cuobjdump", "dirname", "git", "ninja", "nvcc", "nvdisasm", "ptxas", "python3"),
    *("python", "readlink", "sh", "unzip", "warpgauge-python"),
)
MODULES = (
    *("argparse", "bz2", "importlib", "json", "lzma", "os", "shutil", "sitecustomize", "struct"),
    *("subprocess", "tomllib", "usercustomize", "warpgauge", "zipfile"),
)


def plant(folder, sprung):
    """Fills a folder with traps: each leaves a file of its name in `sprung`."""
    for name in PROGRAMS:
        trap = folder / name
        trap.write_text(f"#!/bin/sh\n: >'{sprung}/{name}'\nexit 1\n")
        trap.chmod(0o755)
    for name in MODULES:
        (folder / f"{name}.py").write_text(f"open('{sprung}/{name}.py', 'w').close()\n")


@pytest.fixture
def place(tmp_path):
    """The current folder and that of the input, both full of traps; what was sprung."""
    for name in ("here", "input", "sprung"):
        (tmp_path / name).mkdir()
    for name in ("here", "input"):
        plant(tmp_path / name, tmp_path / "sprung")
    return tmp_path


def run(place, *command, **changes):
    folders = [".", "", str(place / "input"), os.environ["PATH"]]
    environment = {
        **os.environ,
        "PATH": os.pathsep.join(folders[:2] + folders[3:]),
        "PYTHONPATH": os.pathsep.join(folders[:3]),
        "CI": "",
        **changes,
    }
    return subprocess.run(
        [str(word) for word in command],
        **{"capture_output": True, "text": True, "env": environment, "cwd": place / "here"},
    )


def sprung(place):
    return sorted(path.name for path in (place / "sprung").iterdir())


def test_the_traps_work(place):
    """The shell runs those in PATH, and a Python that is not isolated those in PYTHONPATH."""
    run(place, "/bin/sh", "-c", "git")
    run(place, sys.executable, "-c", "import argparse")
    assert {"git", "argparse.py"} <= set(sprung(place))


def inputs(place):
    folder = place / "input"
    with zipfile.ZipFile(folder / "my.whl", "w") as wheel:
        wheel.write(SPILLS, "k.so")
    shutil.copy(SPILLS, folder / "k.cubin")
    kernel = ".visible .entry k() { ret; }\n"
    (folder / "k.ptx").write_text(f".version 8.0\n.target sm_90\n.address_size 64\n{kernel}")
    shutil.copy(folder / "k.ptx", place / "here" / "-k.ptx")
    return folder


def test_inspect_springs_none(place):
    folder = inputs(place)
    assert run(place, BIN / "warpgauge", "inspect", folder / "my.whl").returncode == 1
    assert run(place, BIN / "warpgauge", "inspect", folder / "k.cubin").returncode == 1
    assert run(place, BIN / "warpgauge", "inspect", "../input/my.whl").returncode == 1
    for ptx in (folder / "k.ptx", "-k.ptx"):
        result = run(place, BIN / "warpgauge", "inspect", "--", ptx)
        assert result.returncode == 0, result.stdout + result.stderr
    assert sprung(place) == []


def test_git_starts_nothing_that_a_folder_names(place):
    """The configuration of a repository may name a program for `git status`."""
    git = shutil.which("git")
    subprocess.run([git, "init", "-q", place / "here"], check=True)
    trap = place / "here" / "git"
    subprocess.run([git, "-C", place / "here", "config", "core.fsmonitor", trap], check=True)
    run(place, BIN / "warpgauge", "inspect", inputs(place) / "k.cubin")
    assert sprung(place) == []


def test_commands_in_python_spring_none(place):
    folder = inputs(place)
    subprocess.run([shutil.which("git"), "init", "-q", place / "here"], check=True)
    run(place, BIN / "warpgauge", "inspect", folder / "k.cubin")
    facts, results = "out/facts.jsonl", "out/results.json"
    for command in [
        ("--help",),
        ("emit", results, "--format=junit"),
        ("accept", facts, "--baseline", "--any-commit", "--budgets", "b.toml"),
        ("accept", facts, "--baseline", "--budgets", "c.toml"),
        ("report", "ingest", "--db", "sqlite:///h.db", facts),
        ("report", "html", "--db", "sqlite:///h.db", "--out", "page", "--repo", "."),
        ("diff", facts, facts),
        ("--complete", "warpgauge rep"),
        ("doctor",),
    ]:
        result = run(place, BIN / "warpgauge", *command)
        assert "Traceback" not in result.stderr, (command, result.stderr)
    assert (place / "here" / "b.toml").exists()
    assert (place / "here" / "page").exists()
    assert sprung(place) == []


def test_toolchain_springs_none(place):
    ptxas = shutil.which("ptxas")
    if ptxas is None:
        pytest.skip("ptxas is missing")
    toolkit = Path(ptxas).resolve().parents[1]
    folder = inputs(place)
    words = ("toolchain", "--with", toolkit, "--with", toolkit, folder / "k.ptx")
    result = run(place, BIN / "warpgauge", *words)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "1 kernel the same" in result.stdout
    assert sprung(place) == []


def test_installed_the_commands_in_python_spring_none(place):
    """As `cmake --install` lays them out."""
    root = Path(__file__).resolve().parents[2]
    (place / "prefix" / "bin").mkdir(parents=True)
    shutil.copy(root / "cmake/installed_python", place / "prefix/bin/warpgauge-python")
    share = place / "prefix/share/warpgauge/reports"
    shutil.copytree(root / "reports/warpgauge", share / "warpgauge")
    script = place / "prefix/bin/warpgauge-python"
    result = run(place, script, "--list", WARPGAUGE_PYTHON=sys.executable)
    assert "accept\t" in result.stdout, result.stderr
    run(place, script, "--list")  # with the python3 in PATH, which may lack packages
    assert sprung(place) == []

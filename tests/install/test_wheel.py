"""The wheel, in an environment of its own: the command and its parts run, and a project that finds
the CMake package in it is gated red and green. tests/install/fresh_environment takes a wheel that
is built from the sources, and its dependencies from the index."""

import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ["WARPGAUGE_BINARY_DIR"]).resolve()
DOCUMENT = (ROOT / "docs/first-kernel.md").read_text()
VERSION = re.search(r"project\(warpgauge VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[
    1
]


def run(*command, cwd, code=0, env=os.environ):
    """Runs it, shows what it printed if it does not end with `code`, and returns stdout."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, timeout=900)
    assert done.returncode == code, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Packs what this build would install: only the compilation is not done again."""
    if "WARPGAUGE_SANITIZE:BOOL=ON" in (BUILD / "CMakeCache.txt").read_text():
        pytest.skip("this build has sanitizers in it, which a project would have to link as well")
    folder = tmp_path_factory.mktemp("wheel")
    run(
        *(sys.executable, "-m", "pip", "wheel", ROOT, "--no-deps", "--no-index"),
        *("--no-build-isolation", "--wheel-dir", folder),
        *("--config-settings", f"cmake.source-dir={ROOT}/ci/from_build"),
        *("--config-settings", f"cmake.define.WARPGAUGE_BUILD={BUILD}"),
        *("--config-settings", f"build-dir={folder}/build"),
        cwd=folder,
    )
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """The environment of a shell in which `pip install` has installed the wheel."""
    folder = tmp_path_factory.mktemp("environment") / "venv"
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin/python"
    run(
        *(sys.executable, "-m", "pip", "--python", python, "install"),
        *("--no-deps", "--no-index", wheel),
        cwd=folder,
    )
    # Its dependencies are those of the Python that runs the tests.
    (packages,) = folder.glob("lib/python3*/site-packages")
    theirs = next(path for path in sys.path if path.endswith("site-packages"))
    (packages / "dependencies.pth").write_text(theirs + "\n")
    hidden = ("WARPGAUGE_", "PYTHON", "VIRTUAL_ENV")
    env = {name: text for name, text in os.environ.items() if not name.startswith(hidden)}
    return env | {"PATH": f"{folder}/bin:{env['PATH']}"}


def test_the_wheel_is_for_this_version_and_platform(wheel):
    assert re.fullmatch(rf"warpgauge-{VERSION}-py3-none-(many)?linux\w*_x86_64\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert len(names) == len(set(names))
    assert not [
        name for name in names if "__pycache__" in name or "share/warpgauge/reports" in name
    ]


def test_the_command_and_its_parts_run(environment, tmp_path):
    def warpgauge(*arguments, code=0):
        return run("warpgauge", *arguments, cwd=tmp_path, code=code, env=environment)

    assert warpgauge("--version").split()[1] == VERSION
    prefix = Path(warpgauge("config", "--prefix").strip())
    assert (prefix / "share/warpgauge/cmake/warpgaugeConfig.cmake").exists()
    for name in ("histogram", "driver", "static/histogram"):
        program = BUILD / "programs" / name
        assert "PASSED" in warpgauge("emulate", "--arch=sm_90", "--", program)
    # What `attach` injects is there: without a GPU it says that, and not that it lacks a file.
    assert (prefix / "lib/libwarpgauge_injection.so").exists()
    # The commands that are Python run in the Python of the environment, also by a gauge.
    facts = ROOT / "tests/data/outcome/h100.jsonl"
    judged = subprocess.run(
        ["warpgauge", "outcome", facts, "--out", "results.json"], cwd=tmp_path, env=environment
    )
    assert judged.returncode in (0, 1)
    assert "<testsuite" in warpgauge("emit", "results.json", "--format=junit")
    assert "usage: warpgauge report" in warpgauge("report", "--help")
    bare = environment | {"PATH": "/usr/bin:/bin"}
    emit = (prefix / "bin/warpgauge-python", "emit", "--help")
    assert run(*emit, cwd=tmp_path, env=bare)


def test_the_toolkit_of_the_environment_is_found_and_completed(environment, tmp_path):
    def nvcc(code=0, **changes):
        env = {name: text for name, text in environment.items() if name != "CUDACXX"} | changes
        return run("warpgauge", "config", "--nvcc", cwd=tmp_path, code=code, env=env).strip()

    prefix = Path(run("warpgauge", "config", "--prefix", cwd=tmp_path, env=environment).strip())
    (major,) = re.findall(
        r"nvidia/cu(\d+)/lib", (prefix / "bin/warpgauge").read_bytes().decode("latin-1")
    )
    toolkit = prefix.parents[1] / f"nvidia/cu{major}"
    compiler = toolkit / "bin/nvcc"
    compiler.parent.mkdir(parents=True)
    compiler.symlink_to(shutil.which(os.environ.get("CUDACXX", "nvcc")))
    (toolkit / "lib").mkdir()
    (toolkit / f"lib/libcudart.so.{major}").touch()
    try:
        assert nvcc() == str(compiler)
        assert (toolkit / "lib64/libcudart.so").exists()
        assert nvcc(CUDACXX=str(compiler.resolve())) == str(compiler.resolve())
        nvcc(code=2, CUDACXX="not-there")
    finally:
        shutil.rmtree(toolkit)


def block(language):
    return re.search(rf"```{language}\n(.*?)```", DOCUMENT, re.DOTALL)[1]


def test_a_project_finds_the_package_and_is_gated(environment, tmp_path):
    source = tmp_path / "transpose.cu"
    source.write_text(block("cpp"))
    (tmp_path / "CMakeLists.txt").write_text(block("cmake"))
    prefix = run("warpgauge", "config", "--prefix", cwd=tmp_path, env=environment).strip()
    run(
        *("cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DCMAKE_CUDA_ARCHITECTURES=90"),
        *(f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Debug"),
        cwd=tmp_path,
        env=environment,
    )
    # Libraries that warpgauge links with come from the wheel.
    commands = run("ninja", "-C", "build", "-t", "commands", cwd=tmp_path, env=environment)
    for name in ("fmt", "benchmark", "gtest", "lz4", "zstd", "zlib"):
        files = set(re.findall(rf"\S*/lib{name}\.\S*", commands))
        assert files and all(file.startswith(prefix) for file in files), files
    gate = ("build/first", "gate", "--device=emulated")
    build = ("cmake", "--build", "build")
    run(*build, cwd=tmp_path, env=environment)
    assert "FAIL transpose.tiled.f32@1024" in run(*gate, cwd=tmp_path, env=environment, code=1)
    text = source.read_text()
    source.write_text(text.replace("tile[32][32]", "tile[32][33]"))
    run(*build, "--target", "first", cwd=tmp_path, env=environment)
    run(*gate, cwd=tmp_path, env=environment)
    emit = ("build/first", "emit", "out/results.json", "--format=junit")
    assert "<testsuite" in run(*emit, cwd=tmp_path, env=environment)

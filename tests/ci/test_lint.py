"""ci/lint: each kind of finding, planted in a small checkout, is found by its line and ends it
with 1; a tool that is missing or fails is a fault, never a pass."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ["clang-format", "deno", "mypy", "ruff", "shellcheck"]
CLEAN = {
    "kernels/sum.cu": "// Sums.\n__global__ void sum(float* out) { *out += 1; }\n",
    "harness/sum.h": "#pragma once\nint sum(int a, int b);\n",
    "reports/warpgauge/__init__.py": '"""A package."""\n',
    "reports/warpgauge/page/__init__.py": '"""A page."""\n',
    "reports/warpgauge/page/view.py": '"""The page."""\n\nSCRIPTS = ("first.js", "second.js")\n',
    "reports/warpgauge/page/first.js": "/** @param {number} n */\n"
    "function half(n) {\n  return n / 2;\n}\n",
    "reports/warpgauge/page/second.js": "half(2);\n",
    "tests/run": "#!/usr/bin/env bash\necho fine\n",
    "tests/data/recorded.cpp": "int   of_another;\n",
}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """Without findings, and without setting up."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copytree(ROOT / "ci/page", folder / "ci/page")
    for name in ("lint", "common.sh"):
        shutil.copy(ROOT / "ci" / name, folder / "ci")
    (folder / "ci/bootstrap").write_text("#!/usr/bin/env bash\nexit 0\n")
    (folder / "ci/bootstrap").chmod(0o755)
    for name in ("pyproject.toml", ".clang-format"):
        shutil.copy(ROOT / name, folder)
    (folder / ".gitignore").write_text("/build/\n")
    for name, text in CLEAN.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    subprocess.run(["git", "init", "-q", folder], check=True)
    venv = folder / "build/venv"
    shutil.copytree(ROOT / "build/venv/bin", venv / "bin", symlinks=True)
    for shared in ("lib", "pyvenv.cfg"):
        (venv / shared).symlink_to(ROOT / "build/venv" / shared)
    return folder


@pytest.fixture
def plant(checkout):
    """Changes a file of the checkout for one test."""
    changed = []

    def write(name, text):
        changed.append(name)
        (checkout / name).parent.mkdir(exist_ok=True)
        (checkout / name).write_text(text)

    yield write
    for name in changed:
        if name in CLEAN:
            (checkout / name).write_text(CLEAN[name])
        else:
            (checkout / name).unlink()


def lint(checkout, *options):
    return subprocess.run(
        [checkout / "ci/lint", *options],
        cwd=checkout,
        env={**os.environ, "CI": "true"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_a_clean_checkout(checkout):
    done = lint(checkout)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "clean" in done.stderr


def test_a_finding_of_each_kind(checkout, plant):
    """All in one run, and nothing else is found."""
    found = {
        "kernels/sum.cu": ("// Sums.\n\nint  a;\n", ":3:4: error: code should be"),
        "tests/used.py": ("import os\n", ":1:8: F401"),
        "tests/laid_out.py": ("a = [1,2]\n", ":1:8: unformatted"),
        "tests/program": ("#!/usr/bin/env python3\nimport os\n", ":2:8: F401"),
        "tests/run": ("#!/usr/bin/env bash\n\nrm $1\n", ":3:4: note: Double quote"),
        "reports/warpgauge/text.py": (
            '"""Text."""\n\n\ndef length(text: str) -> str:\n    return len(text)\n',
            ':5: error: Incompatible return value type (got "int"',
        ),
        "reports/warpgauge/page/second.js": (
            'half("a");\n',
            ":1:6: Argument of type 'string' is not assignable",
        ),
    }
    for name, (text, _) in found.items():
        plant(name, text)
    done = lint(checkout)
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    for name, (_, says) in found.items():
        assert any(line.startswith(name + says) for line in lines), done.stdout
    assert all(line.startswith(tuple(f"{name}:" for name in found)) for line in lines), done.stdout


@pytest.mark.parametrize(
    "text, says",
    [("half(\n", ":1:"), ("half( 2 );\n", ":1:1: ci/lint --fix lays it out otherwise")],
)
def test_scripts_that_cannot_be_read_or_are_laid_out_otherwise(checkout, plant, text, says):
    name = "reports/warpgauge/page/second.js"
    plant(name, text)
    done = lint(checkout)
    assert done.returncode == 1, done.stderr
    assert any(line.startswith(name + says) for line in done.stdout.splitlines()), done.stdout
    assert all(line.startswith(name) for line in done.stdout.splitlines()), done.stdout


def test_what_can_be_mended_is(checkout, plant):
    plant("harness/sum.h", "int  a;\n")
    plant("tests/used.py", "import os\n\na = [1,2]\n")
    plant("reports/warpgauge/page/second.js", "half( 2 );\n")
    done = lint(checkout, "--fix")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert (checkout / "tests/used.py").read_text() == "a = [1, 2]\n"
    assert (checkout / "tests/data/recorded.cpp").read_text() == CLEAN["tests/data/recorded.cpp"]


@pytest.fixture
def replaced(checkout):
    """Takes a tool away for one test, or puts a script in its place."""
    kept = []

    def replace(tool, script=None):
        path = checkout / "build/venv/bin" / tool
        kept.append((path, path.rename(path.with_suffix(".kept"))))
        if script:
            path.write_text(script)
            path.chmod(0o755)

    yield replace
    for path, tool in kept:
        tool.replace(path)


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_that_is_missing_is_a_fault(checkout, replaced, tool):
    replaced(tool)
    done = lint(checkout)
    assert done.returncode == 2
    assert f"there is no {checkout}/build/venv/bin/{tool}; ci/bootstrap" in done.stderr


def test_tools_that_fail_are_faults(checkout, plant, replaced):
    plant("harness/sum.h", "int  a;\n")
    for tool in TOOLS[1:]:
        replaced(tool, "#!/bin/sh\necho no memory >&2\nexit 1\n")
    done = lint(checkout)
    assert done.returncode == 2
    assert done.stdout.startswith("harness/sum.h:1:4: ")
    for check in ("deno", "mypy", "ruff", "ruff-format", "shellcheck"):
        assert f"{check}: failed with status 1" in done.stderr
    assert done.stderr.count("    no memory") == 5


def test_options_that_are_refused(checkout):
    done = lint(checkout, "--fast")
    assert done.returncode == 2
    assert "unknown option --fast; usage: ci/lint [--fix | --tidy]" in done.stderr

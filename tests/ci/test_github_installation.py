"""The GitHub action on a runner without a toolkit or warpgauge: it installs what is missing."""

import re
import shutil

import pytest
from github_action import BROKEN, FAILS, PASSES, PULL, PUSH, UPLOAD, errors
from scratch_checkout import ROOT
from second_repository import write_program

# Stand-ins of what installs: python3, which makes a venv whose pip says when it builds a wheel, and
# ci/bootstrap, whose toolkit is of the version in $CUDA.
PYTHON = """#!/bin/sh
[ "$1 $2 $3" = "-I -m venv" ] || exec REAL "$@"
mkdir -p "$4/bin" && cp "$0.pip" "$4/bin/pip"
"""
PIP = """#!/bin/bash
echo "pip $*"
if [[ $1 == wheel ]]; then mkdir -p "$4" && echo a wheel >"$4/warpgauge-0.1.0-any.whl"
else [[ $(cat "$2") == 'a wheel' ]] && cp "WARPGAUGE" "$(dirname "$0")/warpgauge"; fi
"""
BOOTSTRAP = """#!/bin/sh
here=$(dirname $0)/../build; mkdir -p $here
printf '#!/bin/sh\\necho "Cuda compilation tools, release %s, V1"\\n' "$CUDA" >$here/nvcc
chmod +x $here/nvcc
echo "export CUDACXX=$PWD/$here/nvcc BOOTSTRAPPED=$WARPGAUGE_PYTHON_EXTRA" >$here/env.sh
"""


@pytest.fixture
def bare(runner, tmp_path, monkeypatch):
    """A function that makes a Runner of the action in a checkout of its own. Each has neither a
    toolkit nor warpgauge, as a new machine of GitHub."""
    monkeypatch.setenv("CUDA", "13.0")
    programs, path = tmp_path / "programs", tmp_path / "action"
    shutil.copytree(ROOT / "ci", path / "ci")
    shutil.copy(ROOT / "CMakeLists.txt", path)
    (path / "reports").symlink_to(ROOT / "reports")
    write_program(path / "ci/bootstrap", BOOTSTRAP.replace("$PWD/", ""))
    write_program(programs / "python3", PYTHON.replace("REAL", shutil.which("python3")))
    installed = (programs / "warpgauge").rename(programs / "installed")
    write_program(programs / "python3.pip", PIP.replace("WARPGAUGE", str(installed)))

    def make(github=PUSH):
        action = runner(github)
        action.path = path
        for left in (tmp_path / "temp", action.workspace / "build", path / "build"):
            shutil.rmtree(left, ignore_errors=True)
        return action

    return make


def test_a_runner_that_has_nothing_gets_a_toolkit_and_warpgauge(bare, tmp_path):
    action = bare()
    with (action.workspace / "CMakeLists.txt").open("a") as lists:
        lists.write('file(WRITE "${CMAKE_BINARY_DIR}/env" "$ENV{BOOTSTRAPPED} $ENV{PATH}")\n')
    job = action.run(**PASSES)
    assert job.code == 0, job.log
    extra, path = (action.workspace / "build/env").read_text().split(" ", 1)
    assert extra == "gate" and path.startswith(f"{tmp_path}/temp/warpgauge/bin:")
    assert (
        f"pip wheel --no-deps --wheel-dir {tmp_path}/temp/warpgauge-wheel {action.path}" in job.log
    )
    assert action.folders == [f"{tmp_path}/temp/warpgauge/bin"], "later steps have warpgauge"


def wheels(action):
    """The keys of cached wheels."""
    return [key for key in action.caches if not key.startswith("warpgauge-facts")]


def test_the_wheel_is_built_once_for_all_jobs(bare):
    first = bare(PUSH).run(**FAILS)
    assert first.log.count("pip wheel ") == 1 and first.log.count("pip install ") == 1
    action = bare(PULL)
    later = action.run(**FAILS)
    assert later.code == first.code == 1
    assert "pip wheel " not in later.log and later.log.count("pip install ") == 1
    (key,) = wheels(action)
    assert re.fullmatch(r"warpgauge-[\d.]+-[0-9a-f]{16}-cuda13\.0-\w[\w.]*-\w+", key)


def test_the_wheel_is_kept_although_the_gauge_cannot_be_built(bare):
    first, later = bare().run(**BROKEN), bare().run(**BROKEN)
    assert first.code == later.code == 2
    assert "pip wheel " in first.log and "pip wheel " not in later.log


@pytest.mark.parametrize("other", ["toolkit", "version", "sources"])
def test_a_wheel_of_another_version_or_toolkit_is_not_taken(bare, monkeypatch, other):
    bare().run(**BROKEN)
    action = bare()
    if other == "toolkit":
        monkeypatch.setenv("CUDA", "13.5")
    elif other == "version":
        lists = action.path / "CMakeLists.txt"
        lists.write_text(re.sub(r"(warpgauge VERSION )[\d.]+", r"\g<1>9.9.9", lists.read_text()))
    else:
        (action.path / "metrics.cpp").write_text("int changed;\n")
    assert "pip wheel " in action.run(**BROKEN).log
    assert len(wheels(action)) == 2


def test_a_damaged_wheel_is_a_fault(bare):
    action = bare()
    action.run(**BROKEN)
    (key,) = wheels(action)
    action.caches[key] = dict.fromkeys(action.caches[key], b"damaged")
    job = bare().run(**PASSES)
    assert job.code == 2 and "warpgauge could not be installed from" in errors(job)[0]


@pytest.mark.parametrize(
    "lacks, says",
    [
        ("bootstrap", "ci/bootstrap failed"),
        ("toolkit", "the version of warpgauge or of CUDA is not known"),
        ("venv", "could not be made"),
        ("pip", "the wheel of warpgauge could not be built from"),
    ],
)
def test_an_installation_that_fails_is_a_fault(bare, tmp_path, monkeypatch, lacks, says):
    action = bare()
    if lacks == "toolkit":
        monkeypatch.setenv("CUDA", "?")
    else:
        program = {
            "bootstrap": action.path / "ci/bootstrap",
            "venv": tmp_path / "programs/python3",
            "pip": tmp_path / "programs/python3.pip",
        }[lacks]
        write_program(program, "#!/bin/sh\nexit 1\n")
    job = action.run(**PASSES)
    assert job.code == 2 and UPLOAD not in job.used and not action.caches, job.log
    assert says in errors(job)[0]


def test_the_action_can_be_a_folder_of_the_repository(bare):
    action = bare()
    action.path = action.path.rename(action.workspace / "warpgauge")
    job = action.run(**PASSES)
    assert job.code == 0, job.log
    assert f"pip wheel --no-deps --wheel-dir {action.values['runner.temp']}" in job.log


def test_the_packages_that_the_document_lists_are_those_of_the_bootstrap():
    script = (ROOT / "ci/bootstrap").read_text()
    (words,) = re.findall(r"for package in (.*?) \"\$\{test_packages", script, re.S)
    (line,) = re.findall(
        r"^apt-get install (.*?)^```", (ROOT / "docs/ci.md").read_text(), re.M | re.S
    )
    assert line.replace("\\\n", "").split() == sorted(words.replace("\\\n", "").split())


def test_a_machine_that_has_all_gets_nothing(runner, tmp_path):
    write_program(tmp_path / "programs/nvcc", "#!/bin/sh\n")
    action = runner()
    job = action.run(**PASSES)
    assert job.code == 0 and not wheels(action) and not action.folders

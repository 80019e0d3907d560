"""`diff --base`: the merge base is built in a worktree, gated and compared, and nothing stays.
A small repository of its own, whose gauge is one of this build."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]).resolve() / "bin"
CASE = ["--device=emulated", "--filter=canaries.padding_removed.*", "--arch=sm_90"]

CMAKE = """cmake_minimum_required(VERSION 3.25)
project(kernels LANGUAGES NONE)
set(OPTION "default" CACHE STRING "")
set(FOLDER "${CMAKE_SOURCE_DIR}" CACHE PATH "")
add_custom_target(my-gauge COMMAND ${CMAKE_COMMAND} -E echo "a build"
  COMMAND sh "${CMAKE_SOURCE_DIR}/make.sh" "${CMAKE_SOURCE_DIR}")
"""
# A gauge whose counts are those of the file `value`.
SCRIPT = """#!/usr/bin/env bash
code=0
BIN/warpgauge-faulty "$@" || code=$?
sed -i 's/"shared.bank_conflicts":1984/"shared.bank_conflicts":VALUE/' "$3/facts.jsonl"
exit "$code"
"""
MAKE_SCRIPT = 'sed "s/VALUE/$(cat "$1/value")/" "$1/gauge.sh" >my-gauge; chmod +x my-gauge\n'
# As a linker does, it replaces a program that may be running.
MAKE_REAL = """for suffix in "" -emulated; do
  cp --remove-destination "BIN/warpgauge-faulty$suffix" "my-gauge$suffix"
done
"""


def git(folder, *words):
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    command = ["git", "-C", str(folder), *identity, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


class Project:
    """A repository with a branch `main`, and a build of a branch that began there."""

    def __init__(self, folder, make):
        self.root = folder / "kernels"
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self.root.mkdir()
        (self.root / "CMakeLists.txt").write_text(CMAKE)
        (self.root / "gauge.sh").write_text(SCRIPT.replace("BIN", str(BIN)))
        (self.root / "make.sh").write_text(make.replace("BIN", str(BIN)))
        (self.root / ".gitignore").write_text("/build/\n/out/\n")
        (self.root / "value").write_text("1984")
        git(self.root, "init", "-q", "-b", "main")
        self.commit()
        git(self.root, "checkout", "-q", "-b", "branch")

    def commit(self, **files):
        for name, text in files.items():
            (self.root / name).write_text(text)
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "-m", "a commit", "--no-verify", "--allow-empty")

    def build(self, *options):
        configure = ["cmake", "-S", self.root, "-B", self.root / "build", *options]
        for command in (configure, ["cmake", "--build", self.root / "build", "-t", "my-gauge"]):
            subprocess.run(command, check=True, capture_output=True)

    def start(self, *command):
        return subprocess.Popen(
            [str(word) for word in command],
            cwd=self.root,
            env=os.environ | {"TMPDIR": str(self.temporary)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def start_gates(self, revision="main", program=None):
        """What makes the facts for diff --base, as the gauge starts it."""
        program = program or self.root / "build/my-gauge"
        options = [f"--revision={revision}", f"--program={program}", "--out=out", "--", *CASE]
        return self.start(BIN / "warpgauge-python", "--base", *options)

    def diff(self, revision="main"):
        """As diff --base does: makes the facts, then compares them."""
        gated = ended(self.start_gates(revision))
        if gated[0] != 0:
            return gated
        facts = ["out/base/facts.jsonl", "out/facts.jsonl"]
        return ended(self.start(BIN / "warpgauge-faulty", "diff", *facts))

    def leaves_nothing(self):
        worktrees = git(self.root, "worktree", "list").splitlines()
        return len(worktrees) == 1 and not list(self.temporary.iterdir())


def ended(process):
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path, MAKE_SCRIPT)


@pytest.mark.parametrize(
    "value, code, says",
    [
        ("1984", 0, "NOT WORSE: 1 kernel the same"),
        ("2000", 1, "WORSE: 1 kernel worse"),
        ("9", 0, "1 kernel better"),
    ],
)
def test_the_branch_is_compared_with_the_commit_it_began_at(project, value, code, says):
    project.commit(value=value)
    git(project.root, "checkout", "-q", "main")
    project.commit(value="5")  # main went on: that is not the branch's doing
    git(project.root, "checkout", "-q", "branch")
    project.build()
    ended_with, out, err = project.diff()
    assert ended_with == code, err
    assert says in out.splitlines()[-1]
    for facts in ("base/facts.jsonl", "facts.jsonl"):
        assert (project.root / "out" / facts).exists()
    assert project.leaves_nothing()


def test_the_tree_as_it_is_is_built_first(project):
    project.build()
    (project.root / "value").write_text("2000")
    assert project.diff()[0] == 1


def test_the_gauge_itself_continues_there(tmp_path):
    project = Project(tmp_path, MAKE_REAL)
    project.build()
    options = ["--json", "diff.json", "--out", "results"]
    gauge = project.root / "build/my-gauge"
    code, out, err = ended(project.start(gauge, "diff", "--base", "main", *CASE, *options))
    assert code == 0, err
    assert out.splitlines()[-1] == "NOT WORSE: 1 kernel the same"
    assert out.startswith("A: results/base/facts.jsonl (commit ")
    assert "the merge base of main and HEAD" in err
    assert (project.root / "diff.json").exists() and project.leaves_nothing()


def test_the_base_is_configured_as_the_build_is(project, tmp_path):
    lists = (
        CMAKE
        + f"""
file(APPEND "{tmp_path}/configured" "${{OPTION}} ${{FOLDER}} ${{CMAKE_BINARY_DIR}}\\n")
"""
    )
    project.commit(**{"CMakeLists.txt": lists})
    git(project.root, "branch", "-f", "main", "HEAD")
    project.build("-DOPTION=mine")
    assert project.diff()[0] == 0
    lines = [line.split() for line in (tmp_path / "configured").read_text().splitlines()]
    (of_base,) = [line for line in lines if line[2].startswith(str(project.temporary))]
    assert of_base[0] == "mine" and of_base[1].endswith("/source")


@pytest.mark.parametrize(
    "broken, says",
    [
        ({"make.sh": "echo no kernel today; exit 1\n"}, "no kernel today"),
        ({"CMakeLists.txt": "message(FATAL_ERROR nothing)\n"}, "configuring the base: ended with"),
        ({"make.sh": "true\n"}, "building the base made no"),
        ({"gauge.sh": "#!/bin/sh\nexit 2\n"}, "ended with 2"),
        ({"gauge.sh": "#!/bin/sh\nexit 3\n"}, "ended with 3"),
        ({"gauge.sh": "#!/bin/sh\nexit 0\n"}, "wrote no"),
        ({"gauge.sh": "#!/bin/sh\nkill -SEGV $$\n"}, "the gate of "),
    ],
)
def test_a_base_that_cannot_be_built_or_gated_is_a_fault(project, broken, says):
    files = ("make.sh", "CMakeLists.txt", "gauge.sh")
    good = {name: (project.root / name).read_text() for name in files}
    project.commit(**broken)
    git(project.root, "branch", "-f", "main")
    project.commit(**good)
    project.build()
    code, out, err = project.diff()
    assert code == 2 and out == ""
    assert says in err and "Traceback" not in err
    assert project.leaves_nothing()
    assert not (project.root / "out/base/facts.jsonl").exists()


def test_a_tree_that_cannot_be_built_is_a_fault(project):
    project.build()
    project.commit(**{"make.sh": "echo no kernel today; exit 1\n"})
    code, out, err = project.diff()
    assert code == 2 and out == "" and project.leaves_nothing()
    assert "no kernel today" in err and "Traceback" not in err


def test_facts_of_an_earlier_comparison_are_not_compared_again(project):
    project.build()
    assert project.diff()[0] == 0
    git(project.root, "branch", "-f", "main")
    project.commit(**{"gauge.sh": "#!/bin/sh\nexit 0\n"})
    project.build()
    code, out, err = project.diff()
    assert code == 2 and out == "" and "wrote no out/facts.jsonl" in err


@pytest.mark.parametrize("revision", ["nothing", "--output=x", "main:value", ""])
def test_a_revision_that_git_does_not_know_is_a_fault(project, revision):
    project.build()
    facts = project.root / "out/facts.jsonl"
    facts.parent.mkdir()
    facts.write_text("of a gate before")
    code, out, err = project.diff(revision)
    assert (code, out) == (2, "")
    assert facts.read_text() == "of a gate before"
    assert err == f"--base {revision}: git knows no such commit; fetch it, or name another\n"


def test_a_revision_of_another_history_is_a_fault(project):
    project.build()
    git(project.root, "checkout", "-q", "--orphan", "other")
    project.commit(value="1")
    code, _, err = project.diff("main")
    assert code == 2 and "it has no commit in common with HEAD" in err


def interrupt(project, process, started, number):
    """Sends a signal when what writes its process id to `started` runs."""
    deadline = time.monotonic() + 60
    while not started.exists():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    process.send_signal(number)
    code, out, _ = ended(process)
    assert (code, out) == (128 + number, "")
    assert project.leaves_nothing()
    child = int(started.read_text())
    assert not Path(f"/proc/{child}").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("during", ["make.sh", "gauge.sh"])
def test_what_is_interrupted_leaves_nothing(project, number, during, tmp_path):
    project.build()
    good = (project.root / during).read_text()
    started = tmp_path / "started"
    script = f"#!/bin/sh\necho $$ >{started}.part && mv {started}.part {started}\nsleep 100\n"
    project.commit(**{during: script})
    git(project.root, "branch", "-f", "main")
    project.commit(**{during: good})
    interrupt(project, project.start_gates(), started, number)


def test_a_gauge_that_is_ended_leaves_nothing(tmp_path):
    project = Project(tmp_path, MAKE_REAL)
    project.build()
    good = (project.root / "make.sh").read_text()
    started = tmp_path / "started"
    project.commit(
        **{"make.sh": f"echo $$ >{started}.part && mv {started}.part {started}\nsleep 100\n"}
    )
    git(project.root, "branch", "-f", "main")
    project.commit(**{"make.sh": good})
    process = project.start(project.root / "build/my-gauge", "diff", "--base", "main", *CASE)
    interrupt(project, process, started, signal.SIGTERM)


def test_a_program_of_no_build_folder_is_refused(project, tmp_path):
    code, _, err = ended(project.start_gates(program=tmp_path / "warpgauge"))
    assert code == 2 and "is in no build folder of CMake" in err
    assert "run `diff --base` with the gauge of your build" in err


@pytest.mark.parametrize(
    "words, says",
    [
        (["--base", "main", "a", "b"], "leave A and B out"),
        (["a", "b", "--device=emulated"], "are of the gates of --base"),
        (["a", "b", "--out=x"], "are of the gates of --base"),
        (["a"], "name two files of facts or compiled files, A and B, or a revision with --base"),
        ([], "name two files of facts"),
        (["--base="], "--base: 1 required REV missing"),
    ],
)
def test_options_that_do_not_go_together(project, words, says):
    code, out, err = ended(project.start(BIN / "warpgauge", "diff", *words))
    assert (code, out) == (2, "") and says in err

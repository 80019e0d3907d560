"""`programs`: from a list and a repository to a table, with a gauge that writes made-up facts."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from scratch_repository import ScratchRepository
from some_facts import EMULATED, text_of
from some_facts import a_fact as one_fact

HERE = Path(__file__).resolve().parent
COUNTS = {"shared.requests": 4, "global.load.requests": 8, "instructions": 100}

# What `warpgauge emulate` and `attach` do, as far as the script sees: the program runs, and there
# are facts. They are the files emulate.jsonl and attach.jsonl beside this gauge.
GAUGE = """#!/bin/sh
side=$1 out=$3
shift 4
"$@" || exit
here=$(dirname "$0")
if [ -f "$here/$side.jsonl" ]; then cp "$here/$side.jsonl" "$out/facts.jsonl"; fi
"""


def facts(source, instructions=100, unsure=()):
    """A kernel's totals, and one line that has all instructions."""
    emulated = {"device": EMULATED} if source == "emulator" else {}
    found = []
    for metric, value in (COUNTS | {"instructions": instructions}).items():
        trust = {"confidence": "estimate", "confidence_reason": "a race"}
        about = {"source": source, **emulated, **(trust if metric in unsure else {})}
        found.append(one_fact(metric=metric, value=value, **about))
    line = {"scope": "line", "line": 42, "verdict": None}
    found.append(one_fact(metric="instructions", value=instructions, **line, **about))
    return text_of(found)


class Night:
    """A folder with a repository, a list, a gauge and what the script makes of them."""

    def __init__(self, folder):
        self.folder = folder
        self.repository = ScratchRepository(folder / "public")
        sources = self.repository.folder
        for place in ("sums", "other"):
            (sources / place).mkdir()
        (sources / "sums/sum.sh").write_text('#!/bin/sh\necho "sum of $(cat $1) $(cat)"\n')
        (sources / "other/large.bin").write_text("not needed")
        self.commit = self.repository.commit("sources")
        (sources / "sums/sum.sh").write_text("later\n")
        self.repository.commit("a later commit")
        self.gauge = folder / "gauge/warpgauge"
        self.gauge.parent.mkdir()
        self.gauge.write_text(GAUGE)
        self.gauge.chmod(0o755)
        self.programs = {}
        self.program("sum", build="cp sum.sh $PROGRAM && chmod +x $PROGRAM")

    def program(self, name, **members):
        self.programs[name] = {"repository": "public", "folder": "sums", **members}

    def write_facts(self, side, text):
        (self.gauge.parent / f"{side}.jsonl").write_text(text)

    def run(self, *words):
        lines = ['inputs = "mkdir -p src/inputs && echo 1 2 >src/inputs/numbers"']
        lines += ["[repositories.public]", f'url = "{self.repository.folder}"']
        lines += [f'commit = "{self.commit}"']
        for name, members in self.programs.items():
            lines.append(f"[programs.{name}]")
            lines += [f"{key} = {json.dumps(value)}" for key, value in members.items()]
        (self.folder / "list.toml").write_text("\n".join(lines) + "\n")
        command = [HERE / "programs", *words, "--list", "list.toml", "--work", "work"]
        done = subprocess.run(
            [*map(str, command), "--gauge", str(self.gauge)],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=120,
            env=os.environ | {"GIT_CONFIG_GLOBAL": "/dev/null"},
        )
        return done.returncode, done.stdout + done.stderr

    def result(self, name, side, file="output.txt"):
        return (self.folder / "work/results" / name / side / file).read_text()


@pytest.fixture
def night(tmp_path):
    return Night(tmp_path)


def row(out, name):
    return next(line.split() for line in out.splitlines() if line.split()[0] == name)


def test_a_night(night):
    night.program(
        "input",
        build="cp sum.sh $PROGRAM && chmod +x $PROGRAM",
        arguments="numbers <numbers",
        files=["inputs/numbers"],
    )
    del night.programs["sum"]
    night.write_facts("emulate", facts("emulator"))
    night.write_facts("attach", facts("cupti"))
    code, out = night.run("fetch", "build", "emulate", "attach", "table")
    assert code == 0, out
    assert night.result("input", "attach") == "sum of 1 2 1 2\n"
    assert row(out, "input") == ["input", "exit", "0", "exit", "0", "1", "3/3", "0", "1/1", "0"]
    sources = night.folder / "work/src/public"
    assert not (sources / "other").exists()
    # What is in bin alone can be run elsewhere.
    assert sorted(path.name for path in (night.folder / "work/bin/input").iterdir()) == [
        *("args", "numbers", "program")
    ]


def test_counts_that_differ(night):
    night.write_facts("emulate", facts("emulator", 101))
    night.write_facts("attach", facts("cupti"))
    code, out = night.run("fetch", "build", "emulate", "attach", "table")
    assert code == 1, out
    assert row(out, "sum")[-5:] == ["1", "3/3", "1", "1/1", "1"]
    compare = next(line for line in out.splitlines() if line.startswith("differs: "))
    command = compare.removeprefix("differs: ").split()
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert "instructions is 101 emulated and 100 attached" in done.stdout


def test_estimates_are_neither_exact_nor_compared(night):
    night.write_facts("emulate", facts("emulator", 101, unsure=["instructions"]))
    night.write_facts("attach", facts("cupti"))
    code, out = night.run("fetch", "build", "emulate", "attach", "table")
    assert code == 0, out
    assert row(out, "sum")[-5:] == ["1", "2/3", "0", "0/1", "0"]


def test_one_side_alone(night):
    night.write_facts("emulate", facts("emulator", unsure=["instructions"]))
    code, out = night.run("fetch", "build", "emulate", "table")
    assert code == 0, out
    assert row(out, "sum") == ["sum", "exit", "0", "-", "1", "2/3", "-", "0/1", "-"]


def test_a_program_that_takes_too_long_is_ended_with_all_that_it_started(night):
    night.program(
        "slow", build="printf '#!/bin/sh\\nsleep 300 & wait\\n' >$PROGRAM; chmod +x $PROGRAM"
    )
    night.write_facts("emulate", facts("emulator"))
    code, out = night.run("fetch", "build", "emulate", "table", "--limit", "1")
    assert code == 0, out
    assert row(out, "slow") == ["slow", "too", "long", "-", "0", "0/0", "-", "0/0", "-"]
    assert row(out, "sum")[1:3] == ["exit", "0"]
    outcome = json.loads(night.result("slow", "emulate", "outcome.json"))
    assert outcome["exit"] is None and outcome["seconds"] < 60


def test_what_cannot_be_built_is_a_fault_and_the_others_go_on(night):
    night.program("broken", build="echo no such header; exit 3")
    night.program("nothing", build="true")
    night.write_facts("emulate", facts("emulator"))
    code, out = night.run("fetch", "build", "emulate", "table")
    assert code == 2
    assert "error: build: broken: exit code 3: echo no such header; exit 3\n  no such header" in out
    assert "error: build: nothing: the command wrote no $PROGRAM" in out
    assert row(out, "sum")[1:3] == ["exit", "0"]


def test_a_commit_that_is_not_there(night):
    night.commit = "0" * 40
    code, out = night.run("fetch")
    assert code == 2
    assert "error: fetch: public: exit code 128" in out


def test_only_some(night):
    night.program("other", build="false")
    code, out = night.run("fetch", "build", "--only", "s*")
    assert code == 0, out
    code, out = night.run("build", "--only", "x*")
    assert code == 2 and "no program matches x*" in out


@pytest.mark.parametrize(
    ("members", "error"),
    [
        ({"build": "true", "args": "1"}, "programs.sum: unknown: args"),
        ({}, "programs.sum: give either sources or build"),
        ({"build": "true", "repository": "x"}, "programs.sum: no repository x"),
    ],
)
def test_a_bad_list(night, members, error):
    night.program("sum", **members)
    code, out = night.run("fetch")
    assert code == 2 and f"error: {error}" in out


def test_the_steps_that_run_need_no_list(night):
    night.run("fetch", "build")
    command = [HERE / "programs", "emulate", "--work", "work", "--gauge", str(night.gauge)]
    done = subprocess.run(command, cwd=night.folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "emulate sum: exit 0" in done.stdout

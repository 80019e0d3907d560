"""`warpgauge report bisect`: what it prints finds the commit that made a value worse.

The repository is a few commits of one file. The gauge is a stand-in that knows the facts of each
value: real ones would be compiled at each commit. All else is real: git, export and diff.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest
from scratch_repository import ScratchRepository
from some_facts import a_fact, a_time, registers, write
from warpgauge.program import main

BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"
SERIES = "transpose.naive.f32@1024x1024/registers"


class Project:
    """A repository whose file `value` a gauge measures, and a history of its nights."""

    def __init__(self, folder):
        self.folder = folder
        self.scratch = ScratchRepository(folder / "repository")
        (folder / "facts").mkdir()
        gauge = folder / "gauge"
        gauge.write_text(
            f'#!/bin/sh\ncp "{folder}/facts/$(cat value).jsonl" bisect-out/facts.jsonl\n'
        )
        gauge.chmod(0o755)

    def commit(self, value, subject, *, builds=True):
        (self.scratch.folder / "value").write_text(f"{value}\n")
        (self.scratch.folder / "builds").write_text(f"{builds}\n")
        write(self.folder / f"facts/{value}.jsonl", [self.fact(9, value, "f" * 40)])
        return self.scratch.commit(subject, author=f"Author of {value} <a@x.example>")

    def fact(self, night, value, commit, **members):
        about = {"sass_hash": f"a{value}", "source_hash": f"b{value}", "budget": None}
        about |= {"verdict": "unbudgeted", "reason": None, "commit": commit}
        return registers(night, value, **about | members)

    def ingest(self, *facts):
        for i, fact in enumerate(facts):
            path = write(self.folder / f"night{i}.jsonl", [fact])
            assert main(["report", "ingest", str(path), "--db", self.database]) == 0

    @property
    def database(self):
        return str(self.folder / "history.db")

    def bisect(self, capsys, *options, series=SERIES):
        """Exit code, what is printed, and errors."""
        capsys.readouterr()
        code = main(["report", "bisect", series, "--db", self.database, *options])
        return code, *capsys.readouterr()

    def enter(self, printed):
        """The output of the printed commands, entered one after the other."""
        commands = printed.partition("\n\n")[2]
        done = subprocess.run(
            ["bash", "-ec", commands],
            cwd=self.scratch.folder,
            env=os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def test_the_printed_commands_find_the_commit(project, capsys):
    good = project.commit(20, "Begin")
    for number in range(3):
        project.commit(20, f"Write documents {number}", builds=number != 1)
    guilty = project.commit(24, "Unroll by 4")
    project.commit(24, "Rename a file", builds=False)
    bad = project.commit(28, "Unroll by 8")
    project.ingest(project.fact(1, 20, good), project.fact(2, 28, bad))
    options = ("--repo", str(project.scratch.folder), "--build", "grep -q True builds")
    code, printed, _ = project.bisect(capsys, *options, "--gauge", str(project.folder / "gauge"))
    assert code == 0
    assert "change   20 registers/thread -> 28 registers/thread (+40 %), cause: code" in printed
    assert "between  6 commits, the newest first" in printed
    assert f"{guilty[:10]} Unroll by 4, Author of 24" in printed
    said = project.enter(printed)
    assert f"{guilty} is the first bad commit" in said
    assert project.scratch.git("rev-parse", "HEAD") == bad


def test_without_a_repository_the_commits_are_not_listed(project, capsys):
    project.ingest(project.fact(1, 20, "a" * 40), project.fact(2, 28, "b" * 40))
    code, printed, _ = project.bisect(capsys)
    assert code == 0 and "name a repository with --repo" in printed
    assert f"git bisect start {'b' * 40} {'a' * 40} --" in printed


def test_a_repository_that_lacks_the_commits_is_no_obstacle(project, capsys):
    project.commit(20, "Begin")
    project.ingest(project.fact(1, 20, "a" * 40), project.fact(2, 28, "b" * 40))
    code, printed, _ = project.bisect(capsys, "--repo", str(project.scratch.folder))
    assert code == 0 and "lacks commit aaaaaaaaaaaa" in printed and "git bisect run" in printed


@pytest.mark.parametrize(
    "nights, problem",
    [
        ([{}, {"commit": "a" * 40}], "no commit made it worse: the cause is code"),
        ([{}, {"commit": None}], "the commit of run run-2 is unknown"),
        ([{}, {"commit": "--help"}], "the commit of run run-2 is '--help', which is no hash"),
        ([{}, {"value": 20}], "nothing got worse: of 1 series that match"),
    ],
)
def test_where_no_commit_can_be_found_the_error_says_why(project, capsys, nights, problem):
    members = [{"commit": "a" * 40, "value": 20}, {"commit": "b" * 40, "value": 28}]
    known = [values | more for values, more in zip(members, nights, strict=True)]
    project.ingest(*(project.fact(night, **values) for night, values in enumerate(known, 1)))
    code, _, error = project.bisect(capsys)
    assert code == 2 and problem in error


def test_what_the_machine_moved_has_no_commit(project, capsys):
    for night in range(1, 31):
        old, device = night <= 15, a_time()["device"]
        of = {"device": device | {"driver": "580.1" if old else "590.1"}, "code_hash": "c"}
        value = (20 if old else 30) + night % 2 / 100
        of |= {"commit": ("a" if old else "b") * 40, "interval": None}
        project.ingest(a_time(night, value, **of))
    code, _, error = project.bisect(capsys, series="*/time.median_us")
    assert code == 2 and "but for what driver or environment moved" in error


def test_several_series_are_an_error_that_names_them(project, capsys):
    for i, arch in enumerate(("sm_80", "sm_90")):
        project.ingest(
            project.fact(1, 20, "a" * 40, arch=arch, run=f"good{i}"),
            project.fact(2, 28, "b" * 40, arch=arch, run=f"bad{i}"),
        )
    code, _, error = project.bisect(capsys)
    assert code == 2 and f"2 series that match got worse; name one of them: {SERIES}/sm_80" in error
    assert project.bisect(capsys, series=f"{SERIES}/sm_90")[0] == 0


def test_an_unknown_series_is_the_error_of_ack(project, capsys):
    project.ingest(project.fact(1, 20, "a" * 40))
    code, _, error = project.bisect(capsys, series=SERIES[:-1])
    assert code == 2 and f"did you mean '{SERIES}'?" in error


@pytest.mark.parametrize(
    "make, metric, measure",
    [
        (registers, "registers", "@1024x1024 --device=emulated --arch=sm_90 --out=bisect-out;"),
        (a_fact, "shared.bank_conflicts", "@1024x1024 --device=gpu --out=bisect-out;"),
        (a_time, "time.median_us", "warpgauge-bench --no-counters --facts bisect-out/facts.jsonl "),
    ],
)
def test_each_kind_of_value_is_measured_by_its_program(project, capsys, make, metric, measure):
    nights = 1 if make is not a_time else 15
    for night in range(1, 2 * nights + 1):
        of = {"commit": ("a" if night <= nights else "b") * 40, "sass_hash": f"a{night > nights}"}
        of |= {"value": 20 if night <= nights else 30, "source_hash": f"b{night > nights}"}
        if make is a_time:
            of |= {"value": of["value"] + night % 2 / 100, "interval": None}
        project.ingest(make(night, **of))
    code, printed, error = project.bisect(capsys, series=f"*/{metric}")
    assert code == 0, error
    assert measure in printed and f"--metric {metric} " in printed
    assert ("--noise=" in printed) == (make is a_time)


def test_names_cannot_leave_their_place_in_a_command(project, capsys):
    size, marker = "1$(touch marker)'x", project.folder / "marker"
    project.ingest(
        project.fact(1, 20, "a" * 40, size=size), project.fact(2, 28, "b" * 40, size=size)
    )
    code, printed, _ = project.bisect(capsys, series="*/registers")
    assert code == 0
    script = re.sub(r"^(git|warpgauge)", "true", printed.partition("\n\n")[2], flags=re.MULTILINE)
    subprocess.run(["bash", "-ec", script], cwd=project.folder, check=True)
    assert not marker.exists()

"""`warpgauge accept`: what is refused, and that nothing is written then."""

import os
import shutil

import pytest
from accept_project import (
    COMMIT,
    CONFLICTS,
    QUIET,
    REGISTERS,
    WHY,
    Project,
    a_fact,
    a_time,
    conflicts,
    outside_of_ci,
)
from scratch_repository import ScratchRepository
from some_facts import GPU
from warpgauge.commands.accept import CI_VARIABLES


@pytest.fixture
def project(tmp_path, capsys, monkeypatch):
    outside_of_ci(monkeypatch)
    return Project(tmp_path, capsys)


ESTIMATE = {"confidence": "estimate", "confidence_reason": "spills are not in PTX"}
DISTURBED = {"machine": {**QUIET, "disturbance": "2 other processes use the GPU"}}
EMULATOR = {"device": {**GPU, "driver": "emulator"}}
UNSTABLE = "times differ from run to run: ± 9 % after 50 runs, not stable"
OTHER = "f" * 40


@pytest.mark.parametrize(
    "fact, options, message",
    [
        (conflicts(5), [], "5 is over its budget = 0; give the reason with --reason"),
        (conflicts(5, **ESTIMATE), WHY, "only estimate (spills are not in PTX)"),
        (conflicts(5, **ESTIMATE), ["--baseline"], "only estimate (spills are not in PTX)"),
        (conflicts(5, **{**ESTIMATE, "confidence": "predicted"}), WHY, "only predicted"),
        (conflicts(5, dirty=True), WHY, "changes that are not committed"),
        (conflicts(5, dirty=True), ["--baseline"], "changes that are not committed"),
        (conflicts(2.0**54), WHY, "more than a budget file can hold"),
        (
            a_fact("result.correct", 0, "fail", "= 1", origin="built-in"),
            WHY,
            "a wrong result is never a budget",
        ),
        (conflicts(5, commit=None), WHY, "measured from no commit"),
        (conflicts(5, commit=OTHER), WHY, f"commit {OTHER}, and the sources are at {COMMIT}"),
        (conflicts(5, commit=COMMIT[:7]), WHY, "pass --any-commit"),
        (conflicts(5, dirty=True), ["--any-commit", *WHY], "changes that are not committed"),
        (a_time(12, "fail", "<= 10 ± 5%", 11.9, 12.1, **EMULATOR), WHY, "the emulator's times"),
        (a_time(8, "better", "<= 10 ± 5%", 7.9, 8.1, machine=None), [], "GPU state unknown"),
        (a_time(8, "better", "<= 10 ± 5%", 7.9, 8.5), [], "wider than the tolerance of 0.05"),
        (a_time(8, "better", "<= 10 ± 5%", 7.5, 8.1), [], "8 is not stable"),
        (
            a_time(
                8,
                "better",
                "<= 10 ± 5%",
                8,
                8,
                interval=None,
                stable=False,
                confidence_reason=UNSTABLE,
            ),
            [],
            "9 % after 50 runs, not stable; measure again",
        ),
        (conflicts(5), ["--baseline", "--code"], "--code is for the lines that --baseline"),
        (a_time(12, "fail", "<= 10 ± 5%", 11, 13, **DISTURBED), WHY, "2 other processes use"),
        (a_time(8, "better", "<= 10 ± 5%", 7, 9, **DISTURBED), [], "2 other processes use"),
        (conflicts(5), ["--reason", "  "], "--reason is empty"),
        (conflicts(5), ["--reason", "\u200b\t"], "--reason is empty"),
        (conflicts(5), ["--tighten", *WHY], "--tighten loosens nothing"),
        (conflicts(5), ["--metric", REGISTERS], "--metric says what --baseline adds"),
        (conflicts(5), ["--baseline", "--metric", "x"], "'x' is not a metric that is judged"),
        (conflicts(5), ["--baseline", "--metric", "result.max_error"], "not a metric that"),
        (conflicts(5), [*WHY, "--filter", "x"], "--filter 'x' matches no case"),
        (conflicts(5, arch="sm_9\n0"), WHY, "is not an architecture"),
        (conflicts(5, arch="hopper"), WHY, "is not an architecture"),
        (conflicts(5, origin="kernels/transpose/budgets.toml:1"), WHY, "run the gate again"),
        (a_fact(REGISTERS, 22, "fail", "<= 21"), WHY, "says '<= 20': run the gate again"),
        (a_fact(REGISTERS, 22, "unbudgeted"), WHY, "none of these values was judged against"),
        (a_fact(REGISTERS, None, "unmeasured", confidence=None), WHY, "none of these values"),
    ],
)
def test_refusals_write_nothing(project, fact, options, message):
    text = '["tiled"]\nregisters = 20\n"time.median_us" = { max = 10, tolerance = "5%" }\n'
    project.write(text)
    # Another family has something that could be accepted.
    other = project.root / "kernels" / "other" / "budgets.toml"
    project.add_source("kernels/other/family.cu")
    other.write_text("[default]\nregisters = 20\n")
    facts = [fact]
    if not message.startswith("none of"):
        facts.append(a_fact(REGISTERS, 18, "better", "<= 20", case="other.a.f32@1", run="another"))
    if "architecture" in message:  # a second one, so that each needs a table of its own
        facts.append(conflicts(6, arch="sm_90"))
    assert project.accept(facts, *options) == 2
    assert message in project.err
    assert project.out == ""
    assert project.text() == text
    assert other.read_text() == "[default]\nregisters = 20\n"


def test_facts_of_another_commit_are_taken_if_that_is_asked_for(project):
    for commit in (None, OTHER):
        project.write("")
        assert project.accept([conflicts(5, commit=commit)], *WHY, "--any-commit") == 0
        assert "equal = 5" in project.text()


def test_sources_of_no_commit_are_reported(project):
    project.check_out("ref: refs/heads/nothing-yet")
    assert project.accept([conflicts(5)], *WHY) == 2
    assert "git names no commit" in project.err
    assert "--any-commit" in project.err
    assert project.text() is None


@pytest.fixture
def cloned(project):
    """The project with a real repository, whose commit the facts name."""
    shutil.rmtree(project.root / ".git")
    project.write("")
    repository = ScratchRepository(project.root, is_there=True)
    return repository, repository.commit("begin")


def test_changes_that_git_shows_are_named(project, cloned):
    repository, commit = cloned
    fact = conflicts(5, commit=commit, dirty=True)
    for name in ("build/a.o", "out/facts.jsonl", "z\x1b.txt"):
        project.add_source(name)
    project.write("# more\n")
    untracked = "build/ (untracked), facts.jsonl (untracked)"
    named = f"git shows these changes now: kernels/transpose/budgets.toml, {untracked} and 2 more"
    for options in (WHY, ["--baseline"]):
        assert project.accept([fact], *options) == 2
        assert f"\n{named}; untracked files count unless .gitignore names them\n" in project.err
    (project.root / ".gitignore").write_text("build/\nfacts.jsonl\nout/\n")
    assert project.accept([fact], *WHY) == 2
    assert ".gitignore (untracked), z?.txt (untracked); untracked" in project.err
    repository.commit("all of it")
    assert project.accept([fact], *WHY) == 2
    assert "\ngit shows no changes now: build again, and run the gate again\n" in project.err


def test_changes_are_named_beside_what_a_baseline_writes(project, cloned):
    _, commit = cloned
    clean = conflicts(7, case="transpose.naive.f32@8x8", commit=commit, run="another")
    assert project.accept([conflicts(5, commit=commit, dirty=True), clean], "--baseline") == 0
    assert "\nrefused: git shows these changes now: facts.jsonl (untracked); " in project.err


def test_times_of_two_gpus_of_one_architecture_are_not_mixed(project):
    """The newer one would hide the other, and the budget would be of a GPU by chance."""
    text = '["tiled"]\n"time.median_us" = { max = 10, tolerance = "5%" }\n'
    project.write(text)
    slow = a_time(9.9, "pass", "<= 10 ± 5%", 9.8, 10, time="2026-01-01T00:00:00Z")
    fast = a_time(8, "better", "<= 10 ± 5%", 7.9, 8.1)
    other = {"device": {**GPU, "uuid_hash": "another"}, "run": "other"}
    assert project.accept([slow | other, fast]) == 2
    assert "measured on 2 GPUs of this architecture" in project.err
    assert project.text() == text
    assert project.accept([slow, fast]) == 0


def test_counts_of_two_gpus_are_those_of_any(project):
    other = {"device": {**GPU, "uuid_hash": "another"}, "run": "other"}
    assert (
        project.accept([conflicts(5, time="2026-01-01T00:00:00Z", **other), conflicts(4)], *WHY)
        == 0
    )
    assert "equal = 4" in project.text()


BEFORE = {"run": "before", "time": "2026-01-01T00:00:00Z"}
ERROR = {"confidence": None, "source": None, "reason": "illegal memory access"}


@pytest.mark.parametrize("metric", [CONFLICTS, "result.correct"])
def test_an_error_of_a_newer_run_outweighs_what_was_measured_before(project, metric):
    old = {"time": "2026-01-01T00:00:00Z"}
    facts = [
        a_fact(REGISTERS, 18, "better", "<= 20", **old),
        conflicts(5, **old),
        a_fact(metric, None, "error", **ERROR),
    ]
    project.write('["tiled"]\nregisters = 20\n')
    assert project.accept(facts, *WHY) == 2
    assert "registers: the case failed at 2026-05-01T23:00:00Z (illegal memory" in project.err
    assert project.tables() == {"tiled": {REGISTERS: 20}}


def test_an_error_that_was_mended_since_is_none(project):
    error = a_fact("result.correct", None, "error", **ERROR, **BEFORE)
    assert project.accept([error, conflicts(5), a_fact("result.correct", 1, "pass")], *WHY) == 0


@pytest.mark.parametrize("value", ["true", "1", "woodpecker"])
def test_ci_accepts_nothing(project, monkeypatch, value):
    monkeypatch.setenv("CI", value)
    assert project.accept([conflicts(5)], *WHY) == 2
    assert "never by CI" in project.err
    assert project.text() is None


@pytest.mark.parametrize("variable", CI_VARIABLES)
def test_every_ci_is_known(project, monkeypatch, variable):
    monkeypatch.setenv(variable, "True")
    assert project.accept([conflicts(5)], *WHY) == 2
    assert f"{variable} is set: " in project.err
    assert project.text() is None


def test_ci_that_is_said_not_to_be_is_none(project, monkeypatch):
    monkeypatch.setenv("CI", "false")
    assert project.accept([conflicts(5)], *WHY) == 0


def test_no_facts_are_a_fault(project):
    assert project.accept([], *WHY) == 2
    assert "facts.jsonl: no facts" in project.err


def test_many_refusals_are_counted(project):
    facts = [conflicts(5, case=f"transpose.tiled.f32@{n}") for n in range(30)]
    assert project.accept(facts) == 2
    assert len(project.err.splitlines()) == 22
    assert project.err.splitlines()[-2:] == ["and 10 more", "nothing was written"]


@pytest.mark.parametrize(
    "text, message",
    [
        ("[default]\nregisters = = 3\n", "kernels/transpose/budgets.toml:2:13: "),
        ("[default]\nregisters = 3\n[default]\n", "kernels/transpose/budgets.toml:3:9: "),
        (
            "[default]\nregisters = { max = 3, mx = 4 }\n",
            "budgets.toml:2: the limit of 'registers'",
        ),
        ("[default]\nregisters = { max = 3, mx = 4 }\n", "has the unknown key 'mx' (the keys are"),
        (
            "\n[b]\nregisters = { max = 3, sass = 'x' }\n",
            "budgets.toml:3: the limit of 'registers'",
        ),
        ("[b.sm_90]\n\nx = { max = 3, tolerance = 'a lot' }\n", ":3: the limit of 'x' has a bad"),
        (
            "[b]\nx = { max = 3, tolerance = '200%' }\n",
            ":2: the limit of 'x' has a bad 'tolerance'",
        ),
        ("[b]\nx = { max = 3, tolerance = true }\n", ":2: the limit of 'x' has a bad 'tolerance'"),
        ("[b]\nx = { max = '3' }\n", ":2: the limit of 'x' has a bad 'max'"),
        ("[b]\nx = { max = nan }\n", ":2: the limit of 'x' has a bad 'max'"),
        ("[b]\nx = { max = 3, until = '2027-01-01' }\n", ":2: the limit of 'x' has a bad 'until'"),
        ("[b]\nx = { reason = 'why' }\n", ":2: the limit of 'x' has no max, min or equal"),
        ("[b]\nx = [3]\n", ":2: the limit of 'x' is no limit; correct the file first"),
        ('["tiled.f32@8x8"]\nsm_90 = { registers = 20 }\n', "cannot be rewritten by itself"),
        ('"tiled.f32@8x8".registers = 20\n', "cannot be rewritten by itself"),
    ],
)
def test_a_file_that_cannot_be_rewritten_by_lines_is_left_alone(project, text, message):
    project.write(text)
    assert project.accept([a_fact(REGISTERS, 22, "fail", "<= 20")], *WHY) == 2
    assert message in project.err
    assert project.text() == text


def test_a_text_of_several_lines_does_not_fool_it(project):
    """A line of the text looks like a section."""
    text = '["tiled"]\nregisters = { max = 20, reason = """\\\n["tiled.f32@8x8"]\n""" }\n'
    project.write(text)
    assert project.accept([conflicts(4)], *WHY) == 2
    assert "cannot be rewritten by itself" in project.err
    assert project.text() == text


@pytest.mark.parametrize("verdict", ["pass", "waived", "moved"])
def test_nothing_that_moved_is_no_fault(project, verdict):
    assert project.accept([conflicts(0, verdict)], *WHY) == 0
    assert project.out == "nothing to accept: none of 1 judged values moved\n"
    assert project.text() is None


def test_tighten_leaves_failures_alone_and_says_so(project):
    project.write('["tiled"]\nregisters = 20\n')
    facts = [a_fact(REGISTERS, 18, "better", "<= 20"), conflicts(5)]
    assert project.accept(facts, "--tighten") == 0
    assert project.tables() == {"tiled": {REGISTERS: 18}}
    assert "left alone: 1 value over budget" in project.err


def test_faults_of_cases_are_reported(project):
    error = a_fact("result.correct", None, "error", case="transpose.a.f32@1", **ERROR)
    assert project.accept([conflicts(5), error], *WHY) == 0
    assert "not accepted: 1 fault " in project.err


def test_a_dry_run_writes_nothing(project):
    assert project.accept([conflicts(5)], *WHY, "--dry-run") == 0
    assert project.text() is None
    assert "| `= 0` | `= 5` |" in project.out
    assert "would write " in project.err


def test_budgets_that_are_no_file(project):
    for make, why in (
        (lambda path: path.symlink_to(path.name), "Too many levels of symbolic links"),
        (os.mkfifo, "it is a pipe; write it to a file first"),
        (os.mkdir, "Is a directory"),
    ):
        make(project.budgets)
        assert project.accept([conflicts(5)], *WHY) == 2
        assert project.err == f"kernels/transpose/budgets.toml: cannot be read: {why}\n"
        assert {path.name for path in project.budgets.parent.iterdir()} == {
            "budgets.toml",
            "family.cu",
        }
        project.budgets.rmdir() if project.budgets.is_dir() else project.budgets.unlink()


@pytest.mark.parametrize(
    "text", ['[default]\n"nix.da" = 3\n', '[default.sm_90]\n"shared.bank_conflict" = 3\n']
)
def test_a_budget_of_an_unknown_metric(project, text):
    project.write(text)
    assert project.accept([conflicts(5)], *WHY) == 2
    assert "kernels/transpose/budgets.toml:2: unknown metric '" in project.err
    assert project.err.count("\n") == 1 and project.text() == text


@pytest.mark.parametrize("verdict", ["fail", "better"])
def test_a_judged_value_that_is_null(project, verdict):
    assert project.accept([conflicts(None, verdict)], *WHY) == 2
    assert f"must not be null: its verdict is {verdict}\n" in project.err
    assert project.err.count("\n") == 1 and project.text() is None

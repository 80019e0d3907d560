"""Code of the user that ends a program with 0, makes copies of it or writes where it must not.

tests/endings/family.cu ends the program where and how WARPGAUGE_TEST_END says.
"""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from warpgauge.facts.reader import read_facts

BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"
MAINS = {
    "check": ["warpgauge-faulty-check-emulated", "--gtest_filter=endings.*"],
    "bench": ["warpgauge-faulty-bench-emulated", "--filter", "endings.*", "--samples", "6"],
    "gate": ["warpgauge-faulty-emulated", "gate", "--filter", "endings.*", "--out", "out"],
}
WAYS = ["exit", "_exit", "_Exit", "quick_exit", "thread", "handler"]
CALLS = {"thread": "exit()", "handler": "_exit()"}
BEFORE_THE_END = ["constructor", "registration", "case"]


def run(command, folder, end=None):
    program, *arguments = command
    added = {} if end is None else {"WARPGAUGE_TEST_END": end}
    return subprocess.run(
        [BIN / program, *arguments],
        **{"cwd": folder, "env": os.environ | added, "capture_output": True, "text": True},
        timeout=300,
    )


@pytest.mark.parametrize("main", MAINS)
def test_without_such_code_it_is_a_success(main, tmp_path):
    result = run(MAINS[main], tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    "end, says",
    [
        ("case no_way", "there is no way 'no_way'"),
        ("nowhere exit", "there is no place 'nowhere'"),
        ("exit", "there is no place 'exit'"),
    ],
)
def test_an_end_that_there_is_not_is_no_success(end, says, tmp_path):
    result = run(MAINS["check"], tmp_path, end)
    assert result.returncode == -signal.SIGABRT, result.stdout + result.stderr
    assert f"WARPGAUGE_TEST_END='{end}': {says}" in result.stderr


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("place", BEFORE_THE_END)
@pytest.mark.parametrize("main", ["check", "bench"])
def test_a_program_that_is_ended_before_its_verdict_is_a_fault(main, place, way, tmp_path):
    result = run(MAINS[main], tmp_path, f"{place} {way}")
    assert result.returncode == 2, result.stdout + result.stderr
    call = CALLS.get(way, f"{way}()")
    assert f"a fault: {call} was called before the run was over" in result.stderr


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("place", BEFORE_THE_END)
def test_the_gate_is_a_fault_and_names_the_case(place, way, tmp_path):
    """Its cases run in processes of their own, whose end costs one case."""
    result = run(MAINS["gate"], tmp_path, f"{place} {way}")
    assert result.returncode == 2, result.stdout + result.stderr
    if place == "case":
        assert "endings.ends.f32@1024" in result.stdout
        assert "the process ended with status 0" in result.stdout
    else:
        assert "was called before the run was over" in result.stderr


@pytest.mark.parametrize(
    "way, says",
    [
        ("throw_stoi", "std::invalid_argument: stoi"),
        ("throw_without_text", "std::runtime_error without"),
    ],
)
@pytest.mark.parametrize("main", ["gate", "bench"])
def test_an_exception_that_says_too_little_is_named(main, way, says, tmp_path):
    result = run(MAINS[main], tmp_path, f"case {way}")
    assert result.returncode == 2
    assert says in result.stdout + result.stderr


@pytest.mark.parametrize("main", ["check", "gate"])
def test_a_case_that_closes_all_files_and_never_ends_is_a_fault(main, tmp_path):
    result = run([*MAINS[main], "--timeout", "2"], tmp_path, "case close_and_loop")
    assert result.returncode == 2, result.stdout + result.stderr


@pytest.mark.parametrize("way", ["exit", "_exit", "quick_exit"])
@pytest.mark.parametrize("place", ["destructor", "finaliser"])
def test_a_failure_stays_one_after_main_has_returned(place, way, tmp_path):
    failing = ["warpgauge-faulty-check-emulated", "--gtest_filter=faulty.wrong_result.*"]
    assert run(failing, tmp_path).returncode == 1
    result = run(failing, tmp_path, f"{place} {way}")
    assert result.returncode == 2, result.stdout + result.stderr
    assert f"a fault: {way}() was called with another exit code" in result.stderr


def test_tests_that_measure_kernels_are_guarded_too(tmp_path):
    result = run(["warpgauge_faulty_gtest-emulated"], tmp_path, "constructor exit")
    assert result.returncode == 2
    assert "a fault: exit() was called before the run was over" in result.stderr


@pytest.mark.parametrize("main", MAINS)
def test_a_launch_that_fails_is_a_fault_though_its_error_was_cleared(main, tmp_path):
    command = [word.replace("endings.*", "swallowed.*") for word in MAINS[main]]
    result = run(command, tmp_path)
    assert result.returncode in (1, 2), result.stdout + result.stderr
    said = result.stdout + result.stderr
    assert "the launch of _ZN7endings4copyEPfPKf failed: cudaErrorInvalidConfiguration" in said


COPIES = {
    "fork": "called fork(), and the child process came back from it as well",
    "fork_and_throw": "called fork(), and the child process came back from it as well",
    "fork_and_stay": "called fork(), and the child process still runs",
}


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("main", MAINS)
def test_a_case_that_copies_its_process_costs_that_case(main, way, tmp_path):
    result = run(MAINS[main], tmp_path, f"case {way}")
    assert result.returncode == (1 if main == "check" else 2), result.stdout + result.stderr
    assert f"the case {COPIES[way]}" in result.stdout + result.stderr
    if main == "gate":
        facts = read_facts(tmp_path / "out" / "facts.jsonl")
        results = [(f.case.variant, f.verdict) for f in facts if f.metric == "result.correct"]
        assert sorted(results) == [("behind", "pass"), ("ends", "error")]
    else:
        good = {"check": "[       OK ] endings.behind.f32@1024", "bench": "behind.f32@1024/iter"}
        assert result.stdout.count(good[main]) == 1, result.stdout


@pytest.mark.parametrize("main", MAINS)
def test_a_case_may_have_child_processes_that_end(main, tmp_path):
    result = run(MAINS[main], tmp_path, "case fork_and_wait")
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("main", MAINS)
def test_a_registration_that_copies_its_process_is_a_fault(main, tmp_path):
    result = run(MAINS[main], tmp_path, "registration fork")
    assert result.returncode == 2, result.stdout + result.stderr
    assert f"the registration of the family endings {COPIES['fork']}" in result.stderr
    assert result.stdout == ""


def test_a_case_that_writes_to_the_descriptors_of_the_gate_costs_that_case(tmp_path):
    result = run(MAINS["gate"], tmp_path, "case write")
    assert result.returncode == 2, result.stdout + result.stderr
    assert re.search(
        r"its code wrote to descriptor \d+, which is not its own but carries the messages of the "
        r"measuring process: write only to descriptors that the code has opened",
        result.stdout,
    )
    facts = read_facts(tmp_path / "out" / "facts.jsonl")
    results = {f.case.variant: f.verdict for f in facts if f.metric == "result.correct"}
    assert results == {"behind": "pass", "ends": "error"}


@pytest.mark.parametrize("main", ["check", "bench"])
def test_a_case_that_writes_to_all_descriptors_harms_no_program_of_one_process(main, tmp_path):
    result = run(MAINS[main], tmp_path, "case write")
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("main", MAINS)
def test_an_input_that_was_copied_over_is_an_error(main, tmp_path):
    command = [word.replace("endings.*", "overwriting.*") for word in MAINS[main]]
    result = run(command, tmp_path)
    assert result.returncode == (1 if main == "check" else 2), result.stdout + result.stderr
    assert (
        "it has overwritten input 1 of the problem, from element 17 of 1024 on: an Input is only "
        "read; make it an InOut if it is to be written" in result.stdout + result.stderr
    )


@pytest.mark.parametrize(
    "variables",
    [
        {"GTEST_REPEAT": "0"},
        {"GTEST_FILTER": "-*"},
        {"TESTBRIDGE_TEST_ONLY": "endings.ends.*"},
        {"GTEST_LIST_TESTS": "1"},
        {"GTEST_TOTAL_SHARDS": "1000", "GTEST_SHARD_INDEX": "999"},
    ],
)
def test_an_environment_that_lets_nothing_run_is_a_fault(variables, tmp_path, monkeypatch):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    result = run(MAINS["check"], tmp_path)
    assert result.returncode == 2, result.stdout + result.stderr
    assert next(iter(variables)) in result.stderr


@pytest.mark.parametrize(
    "variable",
    [
        *("GTEST_REPEAT", "GTEST_FILTER", "GTEST_LIST_TESTS", "GTEST_TOTAL_SHARDS"),
        "TESTBRIDGE_TEST_ONLY",
    ],
)
def test_the_test_programs_of_this_repository_refuse_it_too(variable, tmp_path, monkeypatch):
    monkeypatch.setenv(variable, "0")
    result = run(["warpgauge_metrics_tests", "--file", "median_test.cpp"], tmp_path)
    assert result.returncode == 2
    assert f"{variable} is set" in result.stderr


@pytest.mark.parametrize("skip_code", ["0", "1", "2", "77"])
@pytest.mark.parametrize(
    "options, code",
    [
        (["--gtest_filter=endings.*"], 0),
        (["--gtest_filter=canaries.padding_removed.*"], 1),
        (["--gtest_filter=no.such"], 2),
        (["--gtest_filter=endings.*", "--gtest_repeat=0"], 2),
    ],
)
def test_a_check_writes_down_the_exit_code_that_it_ends_with(options, code, skip_code, tmp_path):
    outputs = ["--results", "results.json", "--facts", "facts.jsonl"]
    check = ["warpgauge-faulty-check-emulated", *options, "--skip-code", skip_code, *outputs]
    assert run(check, tmp_path).returncode == code
    assert json.loads((tmp_path / "results.json").read_text())["exit_code"] == code
    *_, last = (tmp_path / "facts.jsonl").read_text().splitlines()
    assert json.loads(last)["exit_code"] == code

"""Tests that measure kernels append facts to the file that WARPGAUGE_FACTS names."""

import json
import os
import re
import subprocess
from pathlib import Path

import jsonschema_rs
import pytest
from warpgauge.facts.reader import read_facts

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"
SCHEMA = jsonschema_rs.validator_for(
    json.loads((ROOT / "metrics/facts/fact.schema.json").read_text())
)


def measure(path, test, program="warpgauge_measure_tests"):
    return subprocess.run(
        [BIN / f"{program}-emulated", f"--gtest_filter=Measure.{test}"],
        env=os.environ | {"WARPGAUGE_FACTS": str(path)},
        capture_output=True,
        text=True,
        timeout=60,
    )


def warpgauge(*words, cwd=None):
    command = [BIN / "warpgauge", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=cwd)


def test_each_measurement_is_a_case_of_its_test(tmp_path):
    facts = tmp_path / "facts.jsonl"
    assert measure(facts, "EachTimeAnew").returncode == 0
    records = [json.loads(line) for line in facts.read_text().splitlines()]
    for record in records:
        SCHEMA.validate(record)
    assert [record["record"] for record in records].count("run") == 1
    assert records[0]["command"] == "measure"
    cases = [record for record in records if record["record"] == "case"]
    names = {f"{case['family']}.{case['variant']}.{case['type']}@{case['size']}" for case in cases}
    assert names == {f"Measure.EachTimeAnew.launch@{i}" for i in (1, 2, 3)}
    assert {case["kind"] for case in cases} == {"measured"}
    assert {case["file"] for case in cases} == {"tests/measure/measure_test.cpp"}
    assert records[-1]["record"] == "end"


@pytest.mark.parametrize(
    ("test", "program"),
    [
        ("Some/MeasureEach.IsNamedToo/0", "warpgauge_measure_tests"),
        ("Own.Main", "warpgauge_own_main"),  # which has no GoogleTest, and tells the name itself
    ],
)
def test_names_are_those_of_the_test(tmp_path, test, program):
    facts = tmp_path / "facts.jsonl"
    subprocess.run(
        [BIN / f"{program}-emulated", f"--gtest_filter={test}"],
        env=os.environ | {"WARPGAUGE_FACTS": str(facts)},
        check=True,
        timeout=60,
    )
    assert {fact.id for fact in read_facts(facts)} == {f"{test}.launch@1"}
    done = warpgauge("outcome", facts, cwd=tmp_path)
    if program == "warpgauge_measure_tests":
        assert f"/{program}-emulated --gtest_filter={test}\n" in done.stdout


def test_processes_share_a_file_and_the_outcome_is_that_of_all(tmp_path):
    facts = tmp_path / "facts.jsonl"
    assert measure(facts, "HoldsLaunchesAgainstBudgets").returncode == 0
    done = warpgauge("outcome", facts, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    # Its expectations are failures, so the test passes, and its facts do not.
    assert measure(facts, "FailsWhatIsOverBudget").returncode == 0
    done = warpgauge("outcome", facts, cwd=tmp_path)
    assert done.returncode == 1
    assert "FAIL Measure.FailsWhatIsOverBudget.launch@1 on sm_90: shared.bank_conflicts" in (
        done.stdout
    )
    repeat = re.search(r"^  repeat   (.*)$", done.stdout, re.MULTILINE)[1]
    pasted = subprocess.run(["sh", "-c", repeat], cwd=ROOT, capture_output=True, timeout=60)
    assert b"[       OK ] Measure.FailsWhatIsOverBudget" in pasted.stdout


def test_an_outcome_of_what_has_no_budget_says_what_to_do_and_lies_beside_the_facts(tmp_path):
    facts = tmp_path / "facts.jsonl"
    (tmp_path / "elsewhere").mkdir()
    assert measure(facts, "EachTimeAnew").returncode == 0
    done = warpgauge("outcome", facts, cwd=tmp_path / "elsewhere")
    assert done.returncode == 2
    assert "no value has a budget; hold launches to one with EXPECT_BUDGET" in done.stdout
    assert f"results: {tmp_path / 'results.json'}\n" in done.stdout
    assert (tmp_path / "results.json").exists() and not list((tmp_path / "elsewhere").iterdir())


def test_two_runs_are_compared(tmp_path):
    for name in ("a", "b"):
        assert measure(tmp_path / name, "CountsWhatALaunchDoes").returncode == 0
    done = warpgauge("diff", tmp_path / "a", tmp_path / "b")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "NOT WORSE: 1 kernel the same\n" in done.stdout


@pytest.mark.parametrize("program", ["warpgauge_measure_tests", "warpgauge_own_main"])
def test_a_file_that_cannot_be_written_is_a_fault(tmp_path, program):
    done = measure(tmp_path, "EachTimeAnew", program)
    assert done.returncode not in (0, 77)
    assert f"{tmp_path}: " in done.stderr + done.stdout


def test_the_exit_code_tells_how_the_tests_ended():
    for program, words, code in [
        ("warpgauge_measure_tests-emulated", ["--gtest_filter=Measure.EachTimeAnew"], 0),
        ("warpgauge_measure_tests-emulated", ["--gtest_filter=Measure.NoSuchTest"], 2),
        ("warpgauge_measure_tests-emulated", ["--no-such-option"], 2),
        ("warpgauge_measure_tests-emulated", ["--gtest_help"], 0),
        ("warpgauge_measure_tests", ["--gtest_filter=Measure.EachTimeAnew"], 0),
        ("warpgauge_measure_tests", ["--gtest_filter=Measure.EachTimeAnew", "--skip-code=77"], 77),
    ]:
        done = subprocess.run(
            [BIN / program, *words],
            env=os.environ | {"CUDA_VISIBLE_DEVICES": ""},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == code, done.stdout + done.stderr

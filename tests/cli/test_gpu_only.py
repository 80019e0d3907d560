"""Cases that the emulator cannot run: gpu_only() leaves them out with its reason."""

import json

import pytest
from programs import run
from warpgauge.facts.reader import read_facts

REASON = "needs a GPU: stacksave is not emulated"


@pytest.fixture
def gate(tmp_path):
    def gate(*variants, options=()):
        filters = [f"--filter=gpu_only.{variant}.*" for variant in variants]
        result = run(
            *("warpgauge-faulty", "gate", "--device=emulated", "--arch", "sm_90"),
            *(*filters, *options),
            cwd=tmp_path,
        )
        return result, [
            fact for fact in read_facts(tmp_path / "out" / "facts.jsonl") if fact.scope == "case"
        ]

    return gate


def test_it_is_unmeasured_with_its_reason_and_its_static_values_are_judged(gate):
    result, facts = gate("declared")
    assert result.returncode == 0, result.stdout
    assert f"unmeasured: {REASON}" in result.stdout
    of_metric = {fact.metric: fact for fact in facts}
    for metric in ("result.correct", "shared.bank_conflicts"):
        fact = of_metric[metric]
        assert (fact.verdict, fact.value, fact.reason) == ("unmeasured", None, REASON)
    assert of_metric["spill.store_bytes"].verdict == "pass"
    assert of_metric["registers"].value > 0


def test_its_spills_fail_without_a_gpu(gate):
    result, _ = gate("spilling")
    assert result.returncode == 1
    assert "FAIL gpu_only.spilling.u32@1024 on sm_90: spill." in result.stdout


def test_a_gate_that_judges_nothing_is_no_success(gate):
    result, facts = gate("nothing_to_judge")
    assert result.returncode == 2
    assert "nothing was judged" in result.stdout
    assert {(fact.metric, fact.reason) for fact in facts} == {("result.correct", REASON)}


def test_what_requires_its_values_does_not_pass(gate):
    result, _ = gate("declared", options=["--require=cubin"])
    assert result.returncode == 0, "its compile-time values are there"
    check = run("warpgauge-faulty-check-emulated", "--gtest_filter=gpu_only.declared.*")
    assert "[  SKIPPED ] gpu_only.declared" in check.stdout and REASON in check.stdout
    required = [f"--gtest_filter={'gpu_only.declared.*'}", "--require-cupti"]
    assert run("warpgauge-faulty-check-emulated", *required).returncode == 1


def test_one_that_does_not_say_so_is_an_error_and_the_others_are_judged(gate):
    result, facts = gate("plain", "undeclared", "declared")
    assert result.returncode == 2
    (error,) = (fact for fact in facts if fact.verdict == "error")
    assert error.id == "gpu_only.undeclared.u32@1024"
    assert "not emulated: stacksave" in error.reason and "family.cu:" in error.reason
    assert 'gpu_only("the reason")' in error.reason
    assert "--exclude 'gpu_only.undeclared.u32@1024'" in error.reason
    results = {fact.id: fact.verdict for fact in facts if fact.metric == "result.correct"}
    assert results["gpu_only.plain.u32@1024"] == "pass"
    assert results["gpu_only.declared.u32@1024"] == "unmeasured"


def test_commands_that_need_its_counts_say_why_there_are_none():
    case = "gpu_only.declared.u32@1024"
    explained = run("warpgauge-faulty-emulated", "explain", case)
    assert explained.returncode == 3
    assert f"counts per line: unmeasured: {REASON}" in explained.stdout
    assert "sm_90" in explained.stdout, "its compile-time values are shown"
    drawn = run("warpgauge-faulty-emulated", "explain", case, "--text")
    assert drawn.returncode == 2 and REASON in drawn.stderr
    timed = run(
        *("warpgauge-faulty-bench-emulated", "--samples", 6, "--no-counters"),
        *("--filter", "gpu_only.plain.*", "--filter", case),
    )
    assert timed.returncode == 0, timed.stderr
    assert REASON in timed.stdout + timed.stderr


def test_list_says_so():
    listed = run("warpgauge-faulty", "list", "--json", "--filter", "gpu_only.*")
    reasons = {case["variant"]: case.get("gpu_only") for case in json.loads(listed.stdout)["cases"]}
    assert reasons["declared"] == "stacksave is not emulated"
    assert reasons["plain"] is None

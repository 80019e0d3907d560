"""sm_90 and sm_90a are two architectures: a gauge measures those that it is built for, and budgets,
filters and facts know them by their names."""

from functools import cache

import pytest
from programs import run
from warpgauge.facts.reader import read_facts

BOTH, ONE = "warpgauge-archs-90_90a", "warpgauge-archs-90a"


@pytest.fixture(scope="module")
def facts_of(tmp_path_factory):
    """A function that gates with a program and returns the facts of whole cases."""

    @cache
    def gate(program, *archs):
        out = tmp_path_factory.mktemp("gate")
        chosen = [f"--arch={','.join(archs)}"] if archs else []
        run(program, "gate", "--device=emulated", "--out", out, *chosen, code=1)
        return [fact for fact in read_facts(out / "facts.jsonl") if fact.scope == "case"]

    return gate


def failed(facts):
    return {(fact.case.variant, fact.metric, fact.arch) for fact in facts if fact.verdict == "fail"}


def archs_with(metric, facts):
    """The architectures for which the metric has a value."""
    return {fact.arch for fact in facts if fact.metric == metric and fact.value is not None}


OF_SM_90 = {
    ("spill_on_sm_90", "spill.store_bytes", "sm_90"),
    ("spill_on_sm_90", "spill.load_bytes", "sm_90"),
    ("spill_on_sm_90", "local.sectors", "sm_90"),
    ("plain", "occupancy.theoretical", "sm_90"),
}
OF_SM_90A = {
    ("conflict_on_sm_90a", "shared.bank_conflicts", "sm_90a"),
    ("plain", "registers", "sm_90a"),
}


def test_each_of_both_is_compiled_emulated_and_judged_by_its_own_budgets(facts_of):
    facts = facts_of(BOTH, "sm_90", "sm_90a")
    for metric in ("registers", "result.correct", "shared.wavefronts"):
        assert archs_with(metric, facts) == {"sm_90", "sm_90a"}, metric
    assert failed(facts) == OF_SM_90 | OF_SM_90A
    assert not [fact for fact in facts if fact.verdict == "error"]


def test_all_are_compiled_and_sm_90_is_emulated_where_nothing_is_chosen(facts_of):
    facts = facts_of(BOTH)
    assert archs_with("registers", facts) == {"sm_90", "sm_90a"}
    assert archs_with("result.correct", facts) == {"sm_90"}
    assert failed(facts) == OF_SM_90 | {("plain", "registers", "sm_90a")}


@pytest.mark.parametrize("chosen", [(), ("sm_90a",)])
def test_the_only_one_is_emulated(facts_of, chosen):
    facts = facts_of(ONE, *chosen)
    assert {fact.arch for fact in facts} == {"sm_90a"}
    assert {fact.case.device for fact in facts if fact.metric == "result.correct"} == {
        "Emulated GPU (sm_90a)"
    }
    assert failed(facts) == OF_SM_90A


def hashes(facts, arch):
    """By variant and kernel, the hash of its machine code."""
    return {
        (fact.case.variant, kernel.name): kernel.sass_hash
        for fact in facts
        if fact.arch == arch
        for kernel in fact.case.kernels
    }


def test_each_has_the_hashes_of_its_own_code(facts_of):
    both = facts_of(BOTH, "sm_90", "sm_90a")
    of_sm_90, of_sm_90a = hashes(both, "sm_90"), hashes(both, "sm_90a")
    assert of_sm_90.keys() == of_sm_90a.keys() and all(of_sm_90.values())
    same = {variant for variant, kernel in dict(of_sm_90.items() & of_sm_90a.items())}
    assert same == {"plain"}, "the source of the others asks for the architecture"


def test_the_code_is_the_same_in_a_program_for_one(facts_of):
    assert hashes(facts_of(BOTH, "sm_90", "sm_90a"), "sm_90a") == hashes(facts_of(ONE), "sm_90a")


def test_one_that_was_not_compiled_for_is_refused():
    done = run(ONE, "gate", "--device=emulated", "--arch=sm_90", code=2)
    assert "not compiled for it, did you mean 'sm_90a'?; this build has sm_90a" in done.stderr


def test_they_are_listed_in_order():
    assert run(BOTH, "list", "--archs").stdout.split() == ["sm_90", "sm_90a"]
    assert run(ONE, "list", "--archs").stdout.split() == ["sm_90a"]


@pytest.fixture(scope="module")
def explanation():
    case = "archs.conflict_on_sm_90a.f32@65536"
    return run(BOTH, "explain", "--device=emulated", "--arch=sm_90a", case, code=0).stdout


def test_explain_has_a_row_for_each(explanation):
    rows = [line.split()[0] for line in explanation.splitlines() if line.startswith("sm_")]
    assert rows == ["sm_90", "sm_90a"]


def test_explain_counts_as_the_one_that_is_asked_for(explanation):
    assert "counted by the emulator, sm_90a\n" in explanation
    assert " 64/32 " in explanation, "two words of a bank for each of 32 warps"

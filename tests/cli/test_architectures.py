"""sm_90 and sm_90a are two architectures: a gauge that is built for both measures both, one that is
built for one of them measures that one, and budgets, filters and facts know them by their names."""

import subprocess
from pathlib import Path

import pytest
from programs import run
from warpgauge.facts.reader import read_facts

ROOT = Path(__file__).resolve().parents[2]
BOTH, ONE = "warpgauge-archs-90_90a", "warpgauge-archs-90a"


@pytest.fixture(scope="module")
def facts_of(tmp_path_factory):
    """Gates once with each program and architectures; the facts of whole cases."""
    known = {}

    def facts_of(program, *archs):
        if (program, archs) not in known:
            out = tmp_path_factory.mktemp("gate")
            chosen = [f"--arch={','.join(archs)}"] if archs else []
            run(program, "gate", "--device=emulated", "--out", out, *chosen, code=1)
            facts = [fact for fact in read_facts(out / "facts.jsonl") if fact.scope == "case"]
            known[program, archs] = facts
        return known[program, archs]

    return facts_of


def failed(facts):
    return {(fact.case.variant, fact.metric, fact.arch) for fact in facts if fact.verdict == "fail"}


def found_on(facts, metric):
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
COMPILED = {"registers"}


def test_each_of_both_is_compiled_emulated_and_judged_by_its_own_budgets(facts_of):
    facts = facts_of(BOTH, "sm_90", "sm_90a")
    assert found_on(facts, "registers") == found_on(facts, "result.correct") == {"sm_90", "sm_90a"}
    assert found_on(facts, "shared.wavefronts") == {"sm_90", "sm_90a"}
    assert failed(facts) == OF_SM_90 | OF_SM_90A
    assert not [fact for fact in facts if fact.verdict == "error"]


def test_all_are_compiled_and_sm_90_is_emulated_where_nothing_is_chosen(facts_of):
    facts = facts_of(BOTH)
    assert found_on(facts, "registers") == {"sm_90", "sm_90a"}
    assert found_on(facts, "result.correct") == {"sm_90"}
    assert failed(facts) == OF_SM_90 | {key for key in OF_SM_90A if key[1] in COMPILED}


@pytest.mark.parametrize("chosen", [(), ("sm_90a",)])
def test_the_only_one_is_emulated(facts_of, chosen):
    facts = facts_of(ONE, *chosen)
    assert {fact.arch for fact in facts} == {"sm_90a"}
    assert {fact.case.device for fact in facts if fact.metric == "result.correct"} == {
        "Emulated GPU (sm_90a)"
    }
    assert failed(facts) == OF_SM_90A


@pytest.mark.parametrize("arch", ["sm_90", "sm_90a"])
def test_the_code_of_the_two_is_told_apart(facts_of, arch):
    def hashes(facts):
        return {
            (fact.case.id, kernel.name): kernel.sass_hash
            for fact in facts
            if fact.arch == arch
            for kernel in fact.case.kernels
        }

    both = facts_of(BOTH, "sm_90", "sm_90a")
    assert all(hashes(both).values())
    if arch == "sm_90a":
        assert hashes(both) == hashes(facts_of(ONE))


def test_one_that_was_not_compiled_for_is_refused():
    done = run(ONE, "gate", "--device=emulated", "--arch=sm_90", code=2)
    assert "not compiled for it, did you mean 'sm_90a'?; this build has sm_90a" in done.stderr


def test_they_are_listed_in_order():
    assert run(BOTH, "list", "--archs").stdout.split() == ["sm_90", "sm_90a"]
    assert run(ONE, "list", "--archs").stdout.split() == ["sm_90a"]


def test_explain_shows_both_and_counts_as_the_one_that_is_asked_for():
    case = "archs.conflict_on_sm_90a.f32@65536"
    done = run(BOTH, "explain", "--device=emulated", "--arch=sm_90a", case, code=0)
    rows = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("sm_")]
    assert rows == ["sm_90", "sm_90a"]
    assert "counted by the emulator, sm_90a\n" in done.stdout
    assert " 64/32 " in done.stdout  # two words of a bank for each of 32 warps


PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(tests NONE)
enable_testing()
include("{root}/cmake/WarpgaugeKernels.cmake")
set(CMAKE_CUDA_ARCHITECTURES {archs})
warpgauge_add_static_tests(PREFIX static.mine CHECK true)
"""


@pytest.mark.parametrize(
    ("archs", "names"),
    [
        ("90 90a 100f", ["sm_90", "sm_90a", "sm_100f"]),
        ("90-real 90-virtual 90a-real", ["sm_90", "sm_90a"]),
        ("90-real 90a-virtual", ["sm_90"]),  # ptxas does not see what the driver is to compile
        ("all-major", ["sm_*"]),
    ],
)
def test_ctest_has_a_static_test_for_each_that_is_compiled(tmp_path, archs, names):
    (tmp_path / "CMakeLists.txt").write_text(PROJECT.format(root=ROOT, archs=archs))
    built = subprocess.run(
        ["cmake", "-S", tmp_path, "-B", tmp_path / "build"], capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    listed = subprocess.run(
        ["ctest", "--test-dir", tmp_path / "build", "-N"], capture_output=True, text=True
    ).stdout
    found = [line.split(": ")[1] for line in listed.splitlines() if "static.mine." in line]
    assert found == [f"static.mine.{name}" for name in names]

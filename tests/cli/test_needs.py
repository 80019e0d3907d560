"""Cases that not every architecture has: needs() leaves them out elsewhere, and that is said."""

import json
import os

from programs import run
from warpgauge.facts.reader import read_facts

LATER, EVERYWHERE = "cluster_reduction.cluster.i32@100003", "cluster_reduction.atomics.i32@100003"
LEFT_OUT = "cases left out on sm_75, because they need sm_90 or later: 1\n"


def gate(tmp_path, archs, *cases):
    result = run(
        *("warpgauge", "gate", "--device=emulated", "--arch", archs, "--filter", ",".join(cases)),
        cwd=tmp_path,
    )
    facts = read_facts(tmp_path / "out" / "facts.jsonl")
    return result, {(fact.id, fact.arch) for fact in facts if fact.scope == "case"}


def test_it_is_judged_where_it_is_and_left_out_elsewhere(tmp_path):
    result, cases = gate(tmp_path, "sm_75,sm_90", LATER, EVERYWHERE)
    assert result.returncode == 0, result.stdout
    assert LEFT_OUT in result.stdout
    assert cases == {(LATER, "sm_90"), (EVERYWHERE, "sm_75"), (EVERYWHERE, "sm_90")}
    left_out = json.loads((tmp_path / "out" / "results.json").read_text())["left_out"]
    assert left_out == [LEFT_OUT.strip()]


def test_a_gpu_that_is_not_there_is_no_architecture_without_it(tmp_path):
    done = run(
        *("warpgauge", "gate", "--arch", "sm_75,sm_90", "--filter", LATER, "--out", tmp_path),
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
    )
    assert LEFT_OUT in done.stdout


def test_a_gate_of_nothing_else_is_no_success(tmp_path):
    result, cases = gate(tmp_path, "sm_75", LATER)
    assert result.returncode == 2
    assert LEFT_OUT in result.stdout and "nothing was judged" in result.stdout
    assert not cases


def test_the_tests_of_it_are_skipped():
    check = run(
        *("warpgauge-check-emulated", "--arch", "sm_75"),
        "--gtest_filter=cluster_reduction.cluster.i32@100003:sm_*/cluster_reduction.cluster.*",
    )
    assert "[  SKIPPED ] cluster_reduction.cluster.i32@100003" in check.stdout
    assert "needs sm_90 or later, and runs as sm_75 here" in check.stdout
    assert "sm_90/cluster_reduction.cluster" in check.stdout
    assert "sm_75/cluster_reduction.cluster" not in check.stdout


def test_commands_that_run_it_say_why_they_do_not():
    drawn = run("warpgauge-emulated", "explain", LATER, "--text", "--arch", "sm_75")
    assert drawn.returncode == 2
    assert "needs sm_90 or later, and runs as sm_75 here" in drawn.stderr
    explained = run("warpgauge-emulated", "explain", LATER)
    assert explained.returncode == 0, explained.stderr
    assert "sm_75    none: needs sm_90 or later" in explained.stdout


def test_list_says_so():
    listed = run("warpgauge", "list", "--json", "--filter", f"{LATER},{EVERYWHERE}")
    needs = {case["id"]: case.get("needs") for case in json.loads(listed.stdout)["cases"]}
    assert needs == {LATER: "sm_90", EVERYWHERE: None}

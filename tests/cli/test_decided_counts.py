"""Counts that what is loaded decides, and where lanes of a warp meet again."""

import os
import subprocess
from pathlib import Path

import pytest
from warpgauge.facts.reader import read_facts

BUILD = Path(os.environ["WARPGAUGE_BINARY_DIR"])
ROOT = Path(__file__).resolve().parents[2]
SOURCE = (ROOT / "tests" / "emulator" / "programs" / "decided.cu").read_text().splitlines()


def line_of(remark):
    (number,) = (n for n, line in enumerate(SOURCE, 1) if line.endswith(f"// {remark}"))
    return number


@pytest.fixture
def counts(tmp_path):
    """Runs the program; the value, the confidence and its reason by metric and line (None: of the
    whole kernel)."""

    def run(way, *options):
        words = [BUILD / "bin" / "warpgauge", "emulate", "--arch", "sm_90", "--out", tmp_path]
        words += [*options, "--", BUILD / "programs" / "decided", way]
        emulated = subprocess.run(
            list(map(str, words)), capture_output=True, text=True, timeout=300, cwd=tmp_path
        )
        facts = [fact for fact in read_facts(tmp_path / "facts.jsonl") if fact.source == "emulator"]
        return emulated, {
            (fact.metric, fact.line if fact.scope == "line" else None): (
                fact.value,
                fact.confidence,
                fact.confidence_reason,
            )
            for fact in facts
        }

    return run


def test_what_a_race_may_have_decided_is_an_estimate_that_names_both_lines(counts):
    emulated, found = counts("relax")
    assert emulated.returncode == 0, emulated.stderr
    assert "race" not in emulated.stdout.lower(), "it was not asked for"
    for metric in ("global.load.sectors", "global.store.requests"):
        _, confidence, reason = found[metric, None]
        assert confidence == "estimate", metric
        assert "the order of threads" in reason and "(a race of decided.cu:" in reason
        assert f"decided.cu:{line_of('write of relax')}" in reason


@pytest.mark.parametrize("way", ["gather", "gather_within"])
def test_what_no_thread_of_the_launch_writes_decides_exact_counts(counts, way):
    emulated, found = counts(way)
    assert emulated.returncode == 0, emulated.stderr
    for metric in ("global.load.sectors", "global.store.sectors"):
        value, confidence, _ = found[metric, None]
        assert value > 0 and confidence == "exact"


def test_a_race_that_is_asked_for_is_a_finding_as_before(counts):
    emulated, _ = counts("relax", "--check", "races")
    assert emulated.returncode == 2
    assert "races found" in emulated.stderr


@pytest.mark.parametrize("way, confidence", [("decide", "estimate"), ("results", "exact")])
def test_launches_behind_a_small_copy_of_what_a_race_decided_are_estimates(counts, way, confidence):
    emulated, found = counts(way)
    assert emulated.returncode == 0, emulated.stderr
    load = found["global.load.requests", line_of("load of copy")]
    assert load[:2] == (128, confidence)
    if confidence == "estimate":
        assert "the host may have decided on a launch" in load[2] and "a race of" in load[2]


# An H200 executes the loads in front of the loop's first YIELD once for each way in which lanes
# left the loop before: 633 times where the emulator meets, as PTX does, in 367.
def test_behind_a_loop_that_yields_counts_are_estimates(counts):
    emulated, found = counts("divide")
    assert emulated.returncode == 0, emulated.stderr
    _, confidence, reason = found["global.load.requests", line_of("load of divide")]
    assert confidence == "estimate"
    assert "may come to it" in reason


# An H200 counts fewer BSYNC than ways out of the loop: lanes that wait are joined by later ones.
def test_where_lanes_meet_behind_a_loop_instructions_are_estimates(counts):
    emulated, found = counts("multiply")
    assert emulated.returncode == 0, emulated.stderr
    line = line_of("load of multiply")
    assert found["global.load.requests", line][1] == "exact"
    _, confidence, reason = found["instructions", None]
    assert confidence == "estimate"
    assert "wait for each other at one place" in reason
    of_lines = [
        trust for (metric, at), (_, trust, _) in found.items() if metric == "instructions" and at
    ]
    assert of_lines.count("exact") > 2, "other lines stay exact"
    assert of_lines.count("estimate") == 1, "that of the BSYNC"


def test_what_a_fused_sum_decides_is_an_estimate(counts):
    emulated, found = counts("newton")
    assert emulated.returncode == 0, emulated.stderr
    _, confidence, reason = found["global.load.requests", line_of("load of newton")]
    assert confidence == "estimate"
    assert (
        f"a product and a sum in one instruction give at decided.cu:{line_of('sum of newton')}"
        in reason
    )


# Seed 5726 of tests/exactness: an H200 stored 16 times, where the emulator, as PTX, does in 8.
def test_behind_a_function_that_calls_itself_counts_are_estimates(counts):
    emulated, found = counts("recurse")
    assert emulated.returncode == 0, emulated.stderr
    _, confidence, reason = found["global.store.requests", line_of("store of recurse")]
    assert confidence == "estimate"
    assert "may come to it" in reason


# An H200 stored 8 times where the PTX has 32 (seed 4323), and loaded 2 times instead of 3 (2320).
@pytest.mark.parametrize(
    "way, metric, why",
    [
        ("overwrite", "global.store.requests", "one address in a loop"),
        ("reload", "global.load.requests", "the machine code has it once, and not the loop"),
    ],
)
def test_where_one_access_can_stand_for_several_rounds_counts_are_estimates(
    counts, way, metric, why
):
    emulated, found = counts(way)
    assert emulated.returncode == 0, emulated.stderr
    kind = "store" if "store" in metric else "load"
    _, confidence, reason = found[metric, line_of(f"{kind} of {way}")]
    assert confidence == "estimate"
    assert why in reason


# An H200 executes the loop's code 4 times, where the branch of the PTX executes 5 times (seed 603).
def test_where_ptxas_has_turned_a_loop_instructions_are_estimates(counts):
    emulated, found = counts("turn")
    assert emulated.returncode == 0, emulated.stderr
    _, confidence, reason = found["instructions", None]
    assert confidence == "estimate"
    assert "taken a round out of it" in reason

"""`warpgauge diff` of runs that were counted by different sources: the emulator and a GPU."""

import json
from pathlib import Path

import pytest
from diff_runs import run
from some_facts import EMULATED, FACT, write

ROOT = Path(__file__).resolve().parents[2]
LARGER = {"size": "2048x2048"}
ON_EMULATOR = {"source": "emulator", "device": EMULATED}
METRICS = [
    *("shared.wavefronts", "shared.wavefronts_ideal", "shared.requests"),
    *(f"global.{op}.{n}" for op in ("load", "store", "atomic") for n in ("sectors", "requests")),
    *("global.sectors_ideal", "global.l1_tags", "local.sectors", "local.requests"),
]


def counts(wavefronts, **members):
    """A case of one line with as many wavefronts; nothing else was counted."""
    facts = []
    for scope, verdict in ((None, "unbudgeted"), ("line", None)):
        for metric in METRICS:
            value = wavefronts if metric == "shared.wavefronts" else 0
            if scope is None or value:
                what = {"metric": metric, "value": value, "scope": scope, "verdict": verdict}
                facts.append(FACT | what | {"budget": None, "reason": None} | members)
    return facts


@pytest.fixture
def diff(tmp_path):
    """Compares counts of the emulator with counts of a GPU."""

    def compare(emulated, measured, *options):
        files = [tmp_path / "emulated.jsonl", tmp_path / "h100.jsonl"]
        for file, facts in zip(files, (emulated, measured), strict=True):
            write(file, facts)
        return run(*files, *options)

    return compare


def test_equal_counts(diff, tmp_path):
    code, out, err = diff(counts(64, **ON_EMULATOR), counts(64))
    assert code == 0, err
    assert "emulated.jsonl (commit 3b1f0c7, Emulated GPU (sm_90), CUDA 13.0, emulator, " in out
    assert "h100.jsonl (commit 3b1f0c7, NVIDIA H100, CUDA 13.0, cupti, " in out
    assert "1 of 1 source lines (100.0%) and 1 of 1 whole cases are exact and equal" in out


def test_exact_counts_that_differ(diff, tmp_path):
    code, out, _ = diff(counts(64, **ON_EMULATOR), counts(32), "--json", tmp_path / "diff.json")
    assert code == 1
    assert "kernels/transpose/transpose.cu:42: shared.wavefronts is 64 in A" in out
    document = json.loads((tmp_path / "diff.json").read_text())
    none = {"equal": 0, "different": 0}
    different = {"compared": 1, "exact": {"equal": 0, "different": 1}}
    different |= {"predicted": none, "estimate": none}
    total = {"cases": 1, "lines": different, "whole_cases": different}
    what = {"metric": "shared.wavefronts", "a": 64, "b": 32, "confidence": "exact"}
    case = {"id": "transpose.tiled.f32@1024x1024", "arch": "sm_90"}
    line = {"file": "kernels/transpose/transpose.cu", "line": 42, "kernel": FACT["kernel"]}
    del document["a"], document["b"]
    assert document == {
        **{"schema": "warpgauge.diff/1", "kind": "counts", "exit_code": 1},
        "headline": out.splitlines()[-1],
        **{"total": total, "families": {"transpose": total}},
        "left_out": {"only_in_a": [], "only_in_b": [], "other_code": [], "without_lines": []},
        "differences": [case | what, case | line | what],
    }


def test_what_is_not_sure_may_differ(diff):
    doubt = {"confidence": "estimate", "confidence_reason": "an atomic loop"}
    code, out, _ = diff(counts(64, **ON_EMULATOR, **doubt), counts(32))
    assert code == 0
    assert "is 64 in A and 32 in B (an atomic loop)" in out


def test_counts_of_one_source_are_compared_as_values(diff):
    code, out, _ = diff(counts(32), counts(64))
    assert code == 1
    assert "shared.wavefronts 32 -> 64 wavefronts (+100.0%)" in out


@pytest.mark.parametrize(
    "files, message",
    [
        (["good.jsonl", "none.jsonl"], "none.jsonl: cannot be read"),
        (["good.jsonl", "bad_nan.jsonl"], "bad_nan.jsonl:"),
        (["good_empty.jsonl", "good_empty.jsonl"], "good_empty.jsonl: no facts"),
        (["good.jsonl"], "name two files of facts"),
    ],
)
def test_bad_input_is_a_fault_with_a_clear_message(files, message):
    code, out, err = run(*(ROOT / "tests/data/facts" / name for name in files))
    assert code == 2
    assert message in out + err


def test_a_case_that_was_counted_in_part_is_a_fault(diff):
    code, _, err = diff(counts(64, **ON_EMULATOR)[1:], counts(64))
    assert code == 2
    assert "was counted without shared.wavefronts; record the facts again" in err


def test_cases_that_only_one_side_has(diff):
    for side, where in ((0, "A"), (1, "B")):
        files = [counts(64, **ON_EMULATOR), counts(64)]
        files[side] += [{**fact, **LARGER} for fact in files[side]]
        code, out, err = diff(*files)
        assert code == 0, err
        case = "transpose.tiled.f32@2048x2048 on sm_90"
        assert f"\nnot compared: {case}, counted in {where} only\n" in out
        assert out.endswith("are exact and equal; cases not compared: 1\n")
        assert diff(*files, "--require-all")[0] == 3
    assert diff(counts(64, **ON_EMULATOR), counts(64), "--require-all")[0] == 0


def test_other_machine_code_is_another_program(diff):
    emulated, measured = counts(64, **ON_EMULATOR), counts(64)
    emulated += [fact | LARGER for fact in emulated]
    measured += [fact | LARGER | {"sass_hash": "b"} for fact in measured]
    code, out, _ = diff(emulated, measured)
    assert code == 3
    assert "not compared: transpose.tiled.f32@2048x2048 on sm_90, other machine code\n" in out
    assert diff(emulated, counts(32))[0] == 1, "a count that differs goes first"


def test_counts_without_lines_are_compared_as_a_whole(diff):
    whole = [fact for fact in counts(64) if fact["scope"] is None]
    for files in ((counts(64, **ON_EMULATOR), whole), (whole, counts(64, **ON_EMULATOR))):
        code, out, err = diff(*files)
        assert code == 0, err
        case = "transpose.tiled.f32@1024x1024 on sm_90"
        assert f"not compared: {case}, source lines: counted on one side only\n" in out
        assert "0 of 0 source lines (0.0%) and 1 of 1 whole cases are exact and equal" in out
        assert diff(*files, "--require-all")[0] == 3
    whole = [fact for fact in counts(32) if fact["scope"] is None]
    assert diff(counts(64, **ON_EMULATOR), whole)[0] == 1

"""`warpgauge compare` as a user or a CI job sees it: exit codes, messages, JSON."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from some_facts import FACT, write

BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"
ROOT = Path(__file__).resolve().parents[2]
LARGER = {"size": "2048x2048"}
METRICS = [
    *("shared.wavefronts", "shared.wavefronts_ideal", "shared.requests"),
    *(f"global.{op}.{n}" for op in ("load", "store", "atomic") for n in ("sectors", "requests")),
    *("global.sectors_ideal", "local.sectors", "local.requests"),
]


def write_facts(path, wavefronts, **members):
    """A case of one line with as many wavefronts; nothing else was counted."""
    facts = []
    for scope, verdict in ((None, "unbudgeted"), ("line", None)):
        for metric in METRICS:
            value = wavefronts if metric == "shared.wavefronts" else 0
            if scope is None or value:
                facts.append(
                    FACT
                    | {"metric": metric, "value": value, "budget": None}
                    | {"scope": scope, "verdict": verdict, "reason": None}
                    | members
                )
    return write(path, facts)


def compare(*arguments):
    return subprocess.run(
        [BIN / "warpgauge", "compare", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_equal_counts(tmp_path):
    a = write_facts(tmp_path / "a.jsonl", 64, source="emulator", device=None)
    result = compare(a, write_facts(tmp_path / "b.jsonl", 64))
    assert result.returncode == 0, result.stderr
    assert f"A: {a} (emulator)\n" in result.stdout
    assert "b.jsonl (cupti on NVIDIA H100)\n" in result.stdout
    assert "1 of 1 source lines (100.0%) are exact and equal" in result.stdout


def test_exact_counts_that_differ(tmp_path):
    files = [write_facts(tmp_path / f"{n}.jsonl", n) for n in (64, 32)]
    result = compare(*files, "--json", tmp_path / "comparison.json")
    assert result.returncode == 1
    assert "kernels/transpose/transpose.cu:42: shared.wavefronts is 64 in A" in result.stdout
    comparison = json.loads((tmp_path / "comparison.json").read_text())
    assert comparison["total"]["lines"]["exact"] == {"equal": 0, "different": 1}
    assert comparison["families"]["transpose"]["cases"] == 1
    case, line = comparison["differences"]
    assert (case["line"], line["line"], line["a"], line["b"]) == (None, 42, 64, 32)
    assert comparison["left_out"] == {"only_in_a": [], "only_in_b": [], "other_code": []}


def test_what_is_not_sure_may_differ(tmp_path):
    doubt = {"confidence": "estimate", "confidence_reason": "an atomic loop"}
    a = write_facts(tmp_path / "a.jsonl", 64, **doubt)
    result = compare(a, write_facts(tmp_path / "b.jsonl", 32))
    assert result.returncode == 0
    assert "is 64 in A and 32 in B (an atomic loop)" in result.stdout


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["good.jsonl", "none.jsonl"], "none.jsonl: cannot be read"),
        (["good.jsonl", "bad_nan.jsonl"], "bad_nan.jsonl:2: not a JSON object"),
        (["good_empty.jsonl", "good_empty.jsonl"], "good_empty.jsonl: no facts"),
        (["../summary/h100.jsonl", "good_empty.jsonl"], "was counted without"),
        (["good.jsonl"], "required"),
    ],
)
def test_bad_input_is_a_fault_with_a_clear_message(arguments, message):
    result = compare(*(ROOT / "tests/data/facts" / name for name in arguments))
    assert result.returncode == 2
    assert message in result.stdout + result.stderr


def test_cases_that_only_one_side_has(tmp_path):
    both = write_facts(tmp_path / "both.jsonl", 64)
    other = write_facts(tmp_path / "other.jsonl", 64, **LARGER)
    both.write_text(both.read_text() + other.read_text())
    one = write_facts(tmp_path / "one.jsonl", 64)
    for files, where in ((both, one), "A"), ((one, both), "B"):
        result = compare(*files)
        assert result.returncode == 0, result.stderr
        assert f"1 not compared, counted in {where} only: " in result.stdout
        assert result.stdout.endswith("are exact and equal; cases not compared: 1\n")
        assert compare(*files, "--require-all").returncode == 3
    assert compare(one, one, "--require-all").returncode == 0


def test_has_help():
    result = compare("--help")
    assert result.returncode == 0
    assert "EXIT CODES" in result.stdout

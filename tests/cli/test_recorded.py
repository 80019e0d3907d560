"""The emulator against counts that were recorded on an H100: line by line, to the last digit."""

import gzip
import json
import os
import subprocess
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from warpgauge.facts.reader import read_facts

BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"
DATA = Path(__file__).resolve().parents[1] / "data" / "diff"
RECORDED = DATA / "h100.jsonl.gz"


def run(*arguments):
    return subprocess.run(
        [BIN / "warpgauge", *map(str, arguments)], capture_output=True, text=True, timeout=900
    )


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    if "sm_90" not in run("list", "--archs").stdout.split():
        pytest.skip("this build has no sm_90, which was recorded")
    gate = run("gate", "--device=emulated", "--arch", "sm_90", "--out", folder / "emulated")
    assert gate.returncode == 0, gate.stdout + gate.stderr
    (folder / "h100.jsonl").write_bytes(gzip.decompress(RECORDED.read_bytes()))
    result = run(
        *("diff", folder / "emulated" / "facts.jsonl", folder / "h100.jsonl"),
        *("--json", folder / "comparison.json"),
    )
    # 3: another ptxas makes other code of some kernels, which are then left out.
    assert result.returncode in (0, 3), result.stdout + result.stderr
    comparison = json.loads((folder / "comparison.json").read_text())
    facts = read_facts(folder / "emulated" / "facts.jsonl")
    comparison["emulated"] = counted_ids(facts)
    comparison["exact"] = {
        metric: exact(facts, metric) for metric in ("instructions", "branches.divergent")
    }
    return comparison


def exact(facts, metric):
    """The cases with an exact count of the metric."""
    return {f.id for f in facts if f.metric == metric and f.confidence == "exact"}


def counted_ids(facts):
    """The cases of which accesses to shared memory were counted, be it none."""
    return {fact.id for fact in facts if fact.metric == "shared.requests"}


def test_every_recorded_case_is_compared(comparison):
    recorded, emulated = counted_ids(read_facts(RECORDED)), comparison["emulated"]
    assert recorded <= emulated, "record again: see tests/data/diff/README.md"
    later = (DATA / "not_recorded.txt").read_text().split()
    for id in emulated - recorded:
        assert any(fnmatchcase(id, glob) for glob in later), "record again, or see not_recorded.txt"
    for glob in later:
        assert any(fnmatchcase(id, glob) for id in emulated - recorded), f"{glob} names no case"
    # Other code of all kernels would compare nothing.
    assert comparison["total"]["cases"] > len(recorded) / 2


def test_exact_means_equal(comparison):
    lines = comparison["total"]["lines"]
    assert lines["exact"]["different"] == 0
    assert lines["exact"]["equal"] >= 0.99 * lines["compared"]


@pytest.mark.parametrize("metric", ["instructions", "branches.divergent"])
def test_most_cases_branch_as_their_ptx(comparison, metric):
    assert len(comparison["exact"][metric]) > 0.6 * len(comparison["emulated"])

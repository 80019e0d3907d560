"""The gate's self test as a user sees it: what it says, and what a gate that fails it does."""

import os
import subprocess
from pathlib import Path

import pytest
from warpgauge.facts.reader import read_facts

BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"
HAS_GPU = Path("/dev/nvidia0").exists()
needs_gpu = pytest.mark.skipif(not HAS_GPU, reason="no GPU on this machine")
needs_no_gpu = pytest.mark.skipif(HAS_GPU, reason="shows what happens without a GPU")
on_any_device = pytest.mark.parametrize(
    "device", [pytest.param("gpu", marks=needs_gpu), "emulated"]
)


def run(program, *arguments):
    return subprocess.run(
        [BIN / program, *map(str, arguments)], capture_output=True, text=True, timeout=300
    )


def gate(out, *arguments, program="warpgauge-faulty"):
    return run(program, "gate", "--filter", "canaries.healthy.*", "--out", out, *arguments)


def line_of(result):
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("self test: ")]
    return line


@on_any_device
def test_a_gate_says_what_its_self_test_caught(tmp_path, device):
    archs = run("warpgauge-faulty", "list", "--archs").stdout.split()
    result = gate(tmp_path, "--device", device)
    assert result.returncode == 0, result.stdout + result.stderr
    assert line_of(result) == (
        f"self test: a planted bank conflict and a planted spill ({', '.join(archs)}) were caught"
    )


def test_it_is_of_the_architectures_that_were_chosen(tmp_path):
    archs = run("warpgauge-faulty", "list", "--archs").stdout.split()
    line = line_of(gate(tmp_path, "--device=emulated", "--arch", archs[-1]))
    assert f"({archs[-1]})" in line


@on_any_device
def test_without_counters_only_the_spill_is_looked_for(tmp_path, device):
    line = line_of(gate(tmp_path, "--device", device, "--no-cupti"))
    assert line.startswith("self test: a planted spill was caught (sm_")
    assert line.endswith("a planted bank conflict cannot be counted here: CUPTI was switched off")


@needs_no_gpu
def test_without_a_device_only_the_spill_is_looked_for(tmp_path):
    result = gate(tmp_path, "--device=gpu")
    assert result.returncode == 3
    assert "cannot be counted here: no CUDA device" in line_of(result)


@on_any_device
def test_a_gate_whose_counter_is_blind_is_a_fault(tmp_path, device):
    result = gate(tmp_path, "--device", device, program="warpgauge-blind")
    assert result.returncode == 2
    assert result.stderr == (
        "self test: a planted bank conflict was missed: shared.bank_conflicts is 0 instead of 992;"
        " nothing was measured\n"
    )
    assert "PASS" not in result.stdout
    assert (tmp_path / "facts.jsonl").read_bytes() == b""
    assert not (tmp_path / "summary.md").exists()


def test_the_canaries_are_shown_nowhere_else(tmp_path):
    gate(tmp_path, "--device=emulated")
    assert {fact.family for fact in read_facts(tmp_path / "facts.jsonl")} == {"canaries"}
    assert "planted" not in (tmp_path / "summary.md").read_text()
    assert "self_test" not in run("warpgauge-faulty", "list", "--large").stdout
    refused = run("warpgauge-faulty", "gate", "--filter", "self_test.*", "--out", tmp_path)
    assert refused.returncode == 2 and "selects no case" in refused.stderr

"""Programs built without -lineinfo, or with older PTX, under `warpgauge emulate`.

The toolkit's ptxas compiles the PTX again: where that makes the same machine code, or there is
none, it tells how the PTX counts.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from warpgauge.facts.reader import read_facts

BUILD = Path(os.environ["WARPGAUGE_BINARY_DIR"])
ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "tests" / "emulator" / "programs"


def built(folder, name, *options):
    nvcc = shutil.which("nvcc") or Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "bin/nvcc"
    program = folder / name
    command = [nvcc, *options, "-o", program, SOURCES / f"{name}.cu"]
    subprocess.run(list(map(str, command)), check=True)
    return program


def counted(program, out, **variables):
    """Facts of whole cases, by metric and case."""
    command = [BUILD / "bin" / "warpgauge", "emulate", "--arch", "sm_90", "--out", out]
    done = subprocess.run(
        [*command, "--", program],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "PASSED" in done.stdout, done.stderr
    facts = list(read_facts(out / "facts.jsonl"))
    return {(f.case.id, f.metric): f for f in facts if f.scope == "case"}, facts


def confidences(facts, wanted):
    return {fact.confidence for (_, metric), fact in facts.items() if metric == wanted}


@pytest.fixture(scope="module")
def without_lines(tmp_path_factory):
    return built(tmp_path_factory.mktemp("built"), "histogram", "-arch=sm_90")


def test_counts_are_those_of_the_build_with_lines(without_lines, tmp_path):
    with_lines, _ = counted(BUILD / "programs" / "static" / "histogram", tmp_path / "with")
    facts, all_facts = counted(without_lines, tmp_path / "without")
    assert {key: (fact.value, fact.confidence) for key, fact in facts.items()} == {
        key: (fact.value, fact.confidence) for key, fact in with_lines.items()
    }
    assert confidences(facts, "shared.requests") == {"exact"}
    assert not [fact for fact in all_facts if fact.scope == "line" and fact.line]


def test_without_ptxas_they_are_predicted(without_lines, tmp_path):
    facts, _ = counted(without_lines, tmp_path, PATH="/usr/bin:/bin", CUDA_HOME=str(tmp_path))
    assert confidences(facts, "shared.requests") == {"predicted"}


def test_other_machine_code_than_that_of_its_ptx_is_only_predicted(tmp_path):
    program = built(tmp_path, "histogram", "-arch=sm_90", "-Xptxas", "-O1")
    facts, _ = counted(program, tmp_path / "out")
    assert confidences(facts, "shared.requests") == {"predicted"}


def test_older_ptx_is_compiled_for_the_architecture(tmp_path):
    program = built(tmp_path, "histogram", "-gencode", "arch=compute_75,code=compute_75")
    facts, _ = counted(program, tmp_path / "out")
    registers = [fact.value for (_, metric), fact in facts.items() if metric == "registers"]
    assert registers and all(registers)
    assert confidences(facts, "shared.requests") == {"exact"}

"""The soak in a few seconds, and that it fails when a gate is not as it should be."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from soak import Gauge, Wrong, check_killed, make_reference, run_gate

SOAK = Path(__file__).with_name("soak.py")
GAUGE = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin/warpgauge"
END = '{"record":"end","run":"1","counts":{},"exit_code":0}\n'


def soak(*options):
    words = [sys.executable, SOAK, "--program", GAUGE, "--families=hello", "--jobs=2", *options]
    return subprocess.run(words, capture_output=True, text=True)


def test_gates_are_as_expected():
    passed = soak("--gates=4")
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert "0 of 4 gates are not as expected" in passed.stdout


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    return make_reference(Gauge(GAUGE, "emulated"), ["hello"], tmp_path_factory.mktemp("soak"))


def gate(folder, afterwards):
    """The values of a gauge that does something wrong after its gate."""
    program = folder / "warpgauge"
    program.write_text(f'#!/bin/sh\n{GAUGE} "$@"\ncode=$?\n{afterwards}\nexit $code\n')
    program.chmod(0o755)
    return run_gate(Gauge(program, "emulated"), folder, "hello.*", ["sm_90"])


def test_a_value_that_is_lost_added_or_different_is_found(reference, tmp_path):
    wanted = reference.chosen("hello.*", ["sm_90"])
    found = gate(tmp_path, "sed -i 's/\"registers\":[0-9]*,//' out/facts.jsonl")
    lost = found.differences(wanted)
    assert lost and all(line.startswith("registers of ") for line in lost)
    assert all(": None, reference ['" in line for line in lost)
    assert all(line.endswith("reference None") for line in wanted.differences(found))
    assert gate(tmp_path, "true").differences(wanted) == []
    key = next(iter(wanted.exact))
    wanted.exact[key] = ["4711 pass"]
    (line,) = gate(tmp_path, "true").differences(wanted)
    assert line.endswith("reference ['4711 pass']")


@pytest.mark.parametrize(
    "afterwards, message",
    [
        ("sed -i '/\"end\"/d' out/facts.jsonl", "exit code 0, and the run was cut off"),
        ("touch out/results.json.half-1", "results.json.half-1"),
        ("touch $TMPDIR/it", "in the folders are .*, it, "),
        ("code=1", "exit code 1, in facts 0, 0"),
        ("rm out/facts.jsonl", "exit code 0, and no facts"),
    ],
)
def test_a_gate_that_does_wrong_is_found(tmp_path, afterwards, message):
    with pytest.raises(Wrong, match=message):
        gate(tmp_path, afterwards)


def test_a_process_that_is_left_behind_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr("soak.PATIENCE", 0.1)
    with pytest.raises(Wrong, match="a process of the gate has not ended"):
        gate(tmp_path, "exec 9>>out/.lock; flock 9; sleep 5 &")


def test_an_outcome_of_facts_that_were_cut_off_is_found(tmp_path):
    (tmp_path / "facts.jsonl").write_text(END[:9])
    check_killed(tmp_path)
    (tmp_path / "results.json").write_text("{}")
    with pytest.raises(Wrong, match="results.json of a run that was cut off"):
        check_killed(tmp_path)
    (tmp_path / "facts.jsonl").write_text(END)
    check_killed(tmp_path)


def test_what_cannot_be_compared_is_a_fault(tmp_path):
    missing = soak("--program", tmp_path / "no-such-gauge")
    assert missing.returncode == 2 and "no-such-gauge" in missing.stderr

"""The soak in a few seconds, and that it fails when a gate is not as it should be."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import scenes
from facts import Broken, Sample

SOAK = Path(__file__).with_name("soak")
GAUGE = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin/warpgauge"


def soak(*options, gates=1, jobs=1, program=GAUGE):
    words = [SOAK, "--program", program, "--families=hello", "--gates", gates, "--jobs", jobs]
    return subprocess.run(
        [sys.executable, *map(str, [*words, *options])], capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """The reference of a soak that passes."""
    path = tmp_path_factory.mktemp("soak") / "reference.json"
    passed = soak("--save", path, gates=3, jobs=2)
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert "as expected: no exact fact differs, none is lost" in passed.stdout
    return path


def doctored(reference, folder, change):
    """The reference with one row of each case and architecture changed."""
    document = json.loads(reference.read_text())
    rows = {tuple(row[:3]): row for row in document["exact"] if row[7] != "case"}
    for row in rows.values():
        change(document["exact"], row)
    path = folder / "doctored.json"
    path.write_text(json.dumps(document))
    return path


def test_a_fact_that_differs_is_found(reference, tmp_path):
    def change(_, row):
        row[-1][0][0] = 4711

    failed = soak("--reference", doctored(reference, tmp_path, change))
    assert failed.returncode == 1, failed.stdout + failed.stderr
    assert "differs: " in failed.stdout and "reference [4711" in failed.stdout
    assert "missing: " not in failed.stdout and "added: " not in failed.stdout


def test_a_fact_that_is_lost_or_added_is_found(reference, tmp_path):
    def lose(rows, row):
        rows.append([*row[:7], "registers.lost", *row[8:]])

    failed = soak("--reference", doctored(reference, tmp_path, lose))
    assert failed.returncode == 1 and "missing: registers.lost of hello." in failed.stdout

    failed = soak("--reference", doctored(reference, tmp_path, list.remove))
    assert failed.returncode == 1 and "added: " in failed.stdout


@pytest.mark.parametrize(
    "afterwards, message",
    [
        ("sed -i '/\"registers\"/d' out/facts.jsonl", "missing: registers of hello."),
        ("sed -i '/\"end\"/d' out/facts.jsonl", "exit code 0, and the run was cut off"),
        ("touch out/results.json.half-1", "also in the folder: results.json.half-1"),
        ("touch $TMPDIR/it", "temporary files are left: it"),
        ("code=1", "say (1, 0, 0), expected 0"),
    ],
)
def test_a_gauge_that_does_wrong_is_found(reference, tmp_path, afterwards, message):
    program = tmp_path / "warpgauge"
    program.write_text(f'#!/bin/sh\n{GAUGE} "$@"\ncode=$?\n{afterwards}\nexit $code\n')
    program.chmod(0o755)
    failed = soak("--reference", reference, "--seed=3", program=program)  # begins with one alone
    assert failed.returncode == 1 and message in failed.stdout, failed.stdout + failed.stderr


def test_processes_left_behind_are_found_and_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(scenes, "PATIENCE", 0.1)
    program = scenes.Program(["sh", "-c", "sleep 600 & exit 0"], tmp_path, "orphan")
    with pytest.raises(Broken, match=r"left processes behind: \d+ \(sleep\)"):
        program.wait()
    deadline = time.monotonic() + 10  # they were killed, and are gone when the kernel gets to it
    while program._living() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert program._living() == []


def killed(tmp_path, writes):
    """What the soak finds after a program that writes this was killed."""
    out = tmp_path / "out"
    out.mkdir(parents=True)
    for name, text in writes.items():
        (out / name).write_text(text)
    sample = Sample(exact={}, estimates=set(), archs=(), default_archs=())
    scene = scenes.Scene(sample, GAUGE, "emulated", scenes.Tally())
    program = scenes.Program(["sleep", "600"], tmp_path, "killed")
    program.kill(scenes.End(0, scenes.SIGNALS[0], None))
    return scene._after_a_kill(program, program.wait(), {}, tmp_path)


RUN = (
    '{"record":"run","schema":"warpgauge.fact/2","run":"1","time":"2026-01-15T01:00:00Z",'
    '"dirty":false}\n'
)
END = '{"record":"end","run":"1","counts":{},"exit_code":0}\n'


def test_a_killed_gate_leaves_facts_that_say_so_and_nothing_else(tmp_path):
    assert killed(tmp_path / "a", {"facts.jsonl": RUN}) == []
    assert killed(tmp_path / "b", {"facts.jsonl": RUN + END[:9]}) == []
    assert killed(tmp_path / "c", {}) == []
    old = {"facts.jsonl": RUN, "results.json": "{}"}
    assert killed(tmp_path / "d", old) == ["facts.jsonl, results.json of a run that was cut off"]
    assert killed(tmp_path / "e", {"summary.md": "# PASS"}) == ["summary.md without facts"]
    with pytest.raises(Broken, match=r"facts.jsonl:1: "):
        killed(tmp_path / "f", {"facts.jsonl": END[:9] + "\n" + RUN})


def test_what_cannot_be_compared_is_a_fault(tmp_path):
    missing = soak(program=tmp_path / "no-such-gauge")
    assert missing.returncode == 2 and "no-such-gauge" in missing.stderr
    assert soak("--reference", tmp_path / "no-such-file").returncode == 2
    assert soak("--gates=0").returncode == 2

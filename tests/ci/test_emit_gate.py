"""ci/gate writes its results for CI systems, and keeps the gate's exit code."""

import fcntl
import json
import os
import re
import signal
import subprocess
import time
import xml.etree.ElementTree as xml

import pytest
from scratch_checkout import BIN, ONE_FAILS, ONE_PASSES, ROOT, scratch_checkout
from warpgauge.outputs import FORMATS

FILES = {format.file for format in FORMATS.values()}


def stand_in(checkout, program, script):
    """Puts a script in the place of a program."""
    path = checkout / "build" / "ci" / "bin" / program
    path.unlink()
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def gate(checkout, options, *more, **environment):
    named = [f"--{name}={value}" for name, value in options.items()]
    return subprocess.run(
        [checkout / "ci" / "gate", *named, "--no-bounded", *more],
        cwd=checkout,
        env=os.environ | {"GITHUB_ACTIONS": "false"} | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


def written(folder):
    return {file.name for file in folder.iterdir()} & FILES


@pytest.mark.parametrize(
    ("program", "options", "code"),
    [("warpgauge", ONE_PASSES, 0), ("warpgauge-faulty", ONE_FAILS, 1)],
)
def test_writes_every_format_and_keeps_the_exit_code(tmp_path, program, options, code):
    checkout = scratch_checkout(tmp_path / "checkout", program)
    result = gate(checkout, options)
    assert result.returncode == code, result.stderr
    assert written(checkout / "out") == FILES
    assert "::" not in result.stdout
    annotations = (checkout / "out" / "github.txt").read_text()
    assert annotations.startswith("::error " if code else "::notice ")


def test_formats_show_the_line_of_a_fault(tmp_path):
    checkout = scratch_checkout(tmp_path / "checkout", "warpgauge-faulty")
    result = gate(checkout, ONE_FAILS | {"filter": "canaries.out_of_bounds.*"})
    assert result.returncode == 2, result.stderr
    file = "tests/canaries/family.cu"
    lines = (ROOT / file).read_text().splitlines()
    (line,) = (n for n, text in enumerate(lines, 1) if "// fault of out_of_bounds" in text)
    out = checkout / "out"
    assert f",file={file},line={line},endLine={line}::" in (out / "github.txt").read_text()
    (sarif,) = json.loads((out / "warpgauge.sarif").read_text())["runs"][0]["results"]
    (place,) = sarif["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == file
    assert place["physicalLocation"]["region"]["startLine"] == line
    (quality,) = json.loads((out / "gl-code-quality.json").read_text())
    assert quality["location"] == {"path": file, "lines": {"begin": line}}
    junit = xml.parse(out / "junit.xml")
    (failed,) = (case for case in junit.iter("testcase") if case.find("error") is not None)
    assert (failed.get("file"), failed.get("line")) == (file, str(line))


def test_prints_annotations_on_github(tmp_path):
    checkout = scratch_checkout(tmp_path / "checkout", "warpgauge-faulty")
    result = gate(checkout, ONE_FAILS, GITHUB_ACTIONS="true")
    assert result.returncode == 1
    assert result.stdout.endswith((checkout / "out" / "github.txt").read_text())


@pytest.mark.parametrize("out", [["--out", "a b/c"], ["--out=a b/c"]])
def test_writes_into_the_folder_that_was_named(tmp_path, out):
    checkout = scratch_checkout(tmp_path / "checkout")
    assert gate(checkout, ONE_PASSES, *out).returncode == 0
    assert written(checkout / "a b" / "c") == FILES
    assert not (checkout / "out").exists()


@pytest.mark.parametrize("options", [ONE_PASSES | {"filter": "no.such.case"}, {"colour": "red"}])
def test_a_run_that_gets_nowhere_leaves_no_results_of_an_earlier_one(tmp_path, options):
    checkout = scratch_checkout(tmp_path / "checkout")
    assert gate(checkout, ONE_PASSES).returncode == 0
    assert gate(checkout, options).returncode == 2
    assert written(checkout / "out") == set()
    assert not (checkout / "out" / "summary.md").exists()


@pytest.mark.parametrize(
    ("program", "options"), [("warpgauge", ONE_PASSES), ("warpgauge-faulty", ONE_FAILS)]
)
def test_results_that_cannot_be_written_are_a_fault(tmp_path, program, options):
    checkout = scratch_checkout(tmp_path / "checkout", program)
    stand_in(checkout, "warpgauge-python", "echo no space left >&2\nexit 1")
    result = gate(checkout, options)
    assert result.returncode == 2
    assert "no space left\n[gate] the results could not be written for CI systems" in result.stderr


def test_results_of_an_earlier_run_that_cannot_be_removed_are_a_fault(tmp_path):
    checkout = scratch_checkout(tmp_path / "checkout")
    (checkout / "out" / "ctest.txt").mkdir(parents=True)
    result = gate(checkout, ONE_PASSES)
    assert result.returncode == 2
    assert "out/ctest.txt is of an earlier run" in result.stderr


def test_who_ends_the_script_ends_the_gate(tmp_path):
    checkout = scratch_checkout(tmp_path / "checkout")
    stand_in(
        checkout,
        "warpgauge",
        "trap 'sleep 0.3; echo ended; exit 3' TERM\necho began\nwhile :; do sleep 0.05; done",
    )
    with subprocess.Popen([checkout / "ci" / "gate"], cwd=checkout, stdout=subprocess.PIPE) as run:
        assert run.stdout.readline() == b"began\n"
        run.terminate()
        time.sleep(0.1)
        run.terminate()  # an impatient user leaves no gate behind that still writes
        assert run.wait(timeout=30) == 128 + signal.SIGTERM
        assert run.stdout.read() == b"ended\n"  # already when the script has ended


def test_a_gate_that_ends_well_without_a_summary_is_a_fault(tmp_path):
    checkout = scratch_checkout(tmp_path / "checkout")
    stand_in(checkout, "warpgauge", "exit 0")
    result = gate(checkout, ONE_PASSES)
    assert result.returncode == 2
    assert "ended with 0, but wrote no out/results.json" in result.stderr


def test_a_build_that_fails_leaves_no_results_of_an_earlier_run(tmp_path):
    checkout = scratch_checkout(tmp_path / "checkout")
    assert gate(checkout, ONE_PASSES).returncode == 0
    with (checkout / "ci/common.sh").open("a") as common:
        common.write("\nbuild_preset() { fault 'it does not build'; }\n")
    result = gate(checkout, ONE_PASSES)
    assert (result.returncode, result.stderr) == (2, "[gate] it does not build\n")
    assert {file.name for file in (checkout / "out").iterdir()} == {".lock"}


def test_results_of_a_run_that_is_still_writing_are_left_alone(tmp_path):
    checkout = scratch_checkout(tmp_path / "checkout")
    assert gate(checkout, ONE_PASSES).returncode == 0
    before = {file.name: file.read_bytes() for file in (checkout / "out").iterdir()}
    with (checkout / "out/.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        result = gate(checkout, ONE_PASSES)
    assert result.returncode == 2 and "another run is writing to it" in result.stderr
    assert {file.name: file.read_bytes() for file in (checkout / "out").iterdir()} == before


def test_the_list_of_results_is_that_of_the_formats():
    listed = subprocess.run(
        ["bash", "-c", 'source "$0" && result_files', ROOT / "ci/common.sh"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert sorted(listed) == sorted({"facts.jsonl", "results.json", "summary.md"} | FILES)


def test_help_has_every_option_of_the_program():
    def options(*command):
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return set(re.findall(r"^\s+(?:-h, *)?(--[a-z-]+)", text, re.M)) - {"--help"}

    assert options(ROOT / "ci/gate", "--help") == options(BIN / "warpgauge", "gate", "--help")


def test_formats_are_drawn_from_the_results_of_the_gate(tmp_path):
    checkout = scratch_checkout(tmp_path / "checkout")
    results = "out/facts.jsonl out/results.json out/summary.md"
    stand_in(checkout, "warpgauge", f"mkdir -p out && touch {results} && exit 3")
    outputs = " ".join(f"out/{file}" for file in FILES)
    stand_in(checkout, "warpgauge-python", f'echo "$@" && touch {outputs}')
    result = gate(checkout, {}, "--strict", "--require", "cupti")
    assert result.stdout == "emit --all out -- out/results.json\n"
    assert result.returncode == 3


@pytest.mark.parametrize("out", [["--out="], ["--out", ""]])
def test_an_empty_folder_name_removes_nothing(tmp_path, out):
    checkout = scratch_checkout(tmp_path / "checkout")
    assert gate(checkout, ONE_PASSES).returncode == 0
    assert gate(checkout, ONE_PASSES, *out).returncode == 2
    assert written(checkout / "out") == FILES


def test_what_made_the_run_red_is_red_in_its_formats(tmp_path):
    checkout = scratch_checkout(tmp_path / "checkout")
    result = gate(checkout, ONE_PASSES | {"device": "auto"}, "--no-cupti", "--require", "cupti")
    assert result.returncode == 3, result.stdout
    out = checkout / "out"
    assert 'type="NotMeasured"' in (out / "junit.xml").read_text()
    assert "\nnot ok 2 - transpose.padded" in (out / "results.tap").read_text()
    assert (out / "summary-ci.md").read_text().startswith("# warpgauge: NOT MEASURED: ")


def test_a_folder_of_our_name_where_the_gate_is_started_is_not_run(tmp_path):
    checkout = scratch_checkout(tmp_path / "checkout")
    own = checkout / "warpgauge"
    own.mkdir()
    (own / "__init__.py").touch()
    (own / "__main__.py").write_text("raise SystemExit(0)\n")
    result = gate(checkout, ONE_PASSES)
    assert result.returncode == 0, result.stderr
    assert written(checkout / "out") == FILES


def test_an_output_that_is_not_there_is_a_fault_though_nothing_complained(tmp_path):
    checkout = scratch_checkout(tmp_path / "checkout")
    stand_in(checkout, "warpgauge-python", "exit 0")
    result = gate(checkout, ONE_PASSES)
    assert result.returncode == 2
    assert re.search(r"out/\S+ was not written", result.stderr)


def test_a_pipe_for_a_lock_is_not_waited_for(tmp_path):
    checkout = scratch_checkout(tmp_path / "checkout")
    (checkout / "out").mkdir()
    os.mkfifo(checkout / "out/.lock")
    result = subprocess.run(
        [checkout / "ci/gate"], cwd=checkout, capture_output=True, text=True, timeout=20
    )
    assert result.returncode == 2
    assert "out/.lock: is not a file" in result.stderr

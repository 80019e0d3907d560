"""ci/gate writes its results for CI systems, and keeps the gate's exit code."""

import os
import subprocess

import pytest
from scratch_checkout import ONE_FAILS, ONE_PASSES, scratch_checkout
from warpgauge_ci.formats import FORMATS

FILES = {format.file for format in FORMATS.values()}


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
    emit = checkout / "build" / "ci" / "bin" / "warpgauge-emit"
    emit.unlink()
    emit.write_text("#!/bin/sh\necho no space left >&2\nexit 1\n")
    emit.chmod(0o755)
    result = gate(checkout, options)
    assert result.returncode == 2
    assert "no space left\n[gate] the results could not be written for CI systems" in result.stderr


def test_results_of_an_earlier_run_that_cannot_be_removed_are_a_fault(tmp_path):
    checkout = scratch_checkout(tmp_path / "checkout")
    (checkout / "out" / "ctest.txt").mkdir(parents=True)
    result = gate(checkout, ONE_PASSES)
    assert result.returncode == 2
    assert "out/ctest.txt must not outlive this run" in result.stderr


def test_who_ends_the_script_ends_the_gate(tmp_path):
    checkout = scratch_checkout(tmp_path / "checkout")
    gauge = checkout / "build" / "ci" / "bin" / "warpgauge"
    gauge.unlink()
    gauge.write_text(
        "#!/bin/sh\ntrap 'echo ended; exit 143' TERM\necho began\nwhile :; do sleep 0.05; done\n"
    )
    gauge.chmod(0o755)
    with subprocess.Popen([checkout / "ci" / "gate"], cwd=checkout, stdout=subprocess.PIPE) as run:
        assert run.stdout.readline() == b"began\n"
        run.terminate()
        assert run.stdout.read() == b"ended\n"
    assert run.returncode == 143


def test_a_gate_that_ends_well_without_a_summary_is_a_fault(tmp_path):
    checkout = scratch_checkout(tmp_path / "checkout")
    gauge = checkout / "build" / "ci" / "bin" / "warpgauge"
    gauge.unlink()
    gauge.write_text("#!/bin/sh\nexit 0\n")
    gauge.chmod(0o755)
    result = gate(checkout, ONE_PASSES)
    assert result.returncode == 2
    assert "ended with 0, but wrote no out/summary.md" in result.stderr

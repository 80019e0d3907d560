"""The command emit: its options, its exit codes, and what it leaves behind."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from emit_samples import CANARIES, GOLDEN, H100, SOURCE
from warpgauge.outputs import FORMATS

BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"
FILES = {format.file for format in FORMATS.values()}


def emit(*arguments, **options):
    return subprocess.run(
        [BIN / "warpgauge-python", "emit", *arguments],
        **{"capture_output": True, "text": True, "timeout": 120} | options,
    )


def refused(*arguments):
    """What is said about a fault."""
    result = emit(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert "Traceback" not in result.stderr
    return result.stderr


@pytest.mark.parametrize("format", FORMATS.values(), ids=FORMATS)
def test_writes_one_format(format, tmp_path):
    expected = (GOLDEN / format.file).read_text()
    options = [CANARIES, "--format", format.name, "--source-root", SOURCE]
    printed = emit(*options)
    assert (printed.returncode, printed.stdout, printed.stderr) == (0, expected, "")
    file = tmp_path / "new folder" / "file"
    assert emit(*options, "--out", file).returncode == 0
    assert file.read_text() == expected


def test_writes_all_formats(tmp_path):
    result = emit(CANARIES, "--all", tmp_path, "--source-root", SOURCE)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {
        name: (GOLDEN / name).read_text() for name in FILES
    }


def test_warpgauge_hands_on_to_it(tmp_path):
    result = subprocess.run(
        [BIN / "warpgauge", "emit", H100, "--format", "tap"], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("TAP version 14\n")


def test_several_runs_are_shown_together(tmp_path):
    result = emit(CANARIES, H100, "--format", "junit")
    assert 'classname="canaries"' in result.stdout and 'classname="transpose"' in result.stdout


def test_pictures_beside_the_facts_are_handed_to_ctest(tmp_path):
    facts = tmp_path / "facts.jsonl"
    facts.write_bytes(CANARIES.read_bytes())
    (tmp_path / "a.svg").touch()
    (tmp_path / "b.txt").touch()
    text = emit(facts, "--format", "ctest").stdout
    assert text.endswith(
        '<CTestMeasurementFile type="image/svg+xml" name="a">'
        f"{tmp_path / 'a.svg'}</CTestMeasurementFile>\n"
    )
    assert "b.txt" not in text


@pytest.mark.parametrize("target", [["--all", "out"], ["--format", "junit", "--out", "out/j.xml"]])
@pytest.mark.parametrize("facts", ["empty.jsonl", "lines.jsonl"])
def test_facts_of_nothing_are_a_fault(tmp_path, facts, target, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [line for line in CANARIES.read_text().splitlines(True) if '"scope":"line"' in line]
    Path(facts).write_text("".join(lines if facts == "lines.jsonl" else []))
    assert f"{facts}: has no facts of cases" in refused(facts, *target)
    assert f"{facts}: has no facts of cases" in refused(CANARIES, facts, *target)
    assert not Path("out").exists()
    assert emit(facts, *target, "--allow-empty").returncode == 0
    assert Path("out").exists()


def test_empty_results_look_like_none(tmp_path):
    facts = tmp_path / "facts.jsonl"
    facts.touch()
    text = {name: emit(facts, "--format", name, "--allow-empty").stdout for name in FORMATS}
    assert "1..0\n" in text["tap"]
    assert 'tests="0"' in text["junit"]
    assert "nothing was held against a budget" in text["github"]
    assert "nothing was held against a budget" in text["markdown"]


@pytest.mark.parametrize(
    ("options", "headline"),
    [
        (["--exit-code", "0"], "PASS: "),
        (["--exit-code=1", "--strict"], "FAIL: "),
        (["--exit-code=3", "--require=cupti"], "NOT MEASURED: "),
    ],
)
def test_how_the_gate_was_run_is_shown(options, headline):
    text = emit(H100, "--format", "markdown", *options).stdout
    assert text.startswith(f"# warpgauge: {headline}")


@pytest.mark.parametrize(
    "required",
    [["--require", "ptxas,cupti"], ["--require=ptxas,", "--require", "cupti"]],
)
def test_all_that_was_required_is_an_error_if_it_is_missing(tmp_path, required):
    facts = tmp_path / "facts.jsonl"
    fact = json.loads(CANARIES.read_text().splitlines()[-1])
    fact |= {"value": None, "verdict": "unmeasured", "reason": "lost"}
    registers = fact | {"metric": "registers", "unit": "registers/thread"}
    facts.write_text("".join(json.dumps(one) + "\n" for one in (fact, registers)))
    says = '"2 values required, but unmeasured: lost"'
    assert says in emit(facts, "--format", "junit", *required).stdout
    assert says not in emit(facts, "--format", "junit").stdout


def test_bad_facts_are_told_with_their_line_and_nothing_is_written(tmp_path):
    facts = tmp_path / "facts.jsonl"
    facts.write_text(CANARIES.read_text() + "{}\n")
    out = tmp_path / "out"
    assert refused(facts, "--all", out) == f"{facts}:146: missing key 'schema'\n"
    assert not out.exists()
    assert "none.jsonl: cannot be read" in refused("none.jsonl", "--all", out)


def test_what_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").touch()
    assert "cannot be written" in refused(CANARIES, "--all", tmp_path / "file")
    assert "cannot be written" in refused(CANARIES, "--format", "tap", "--out", tmp_path)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "FACTS"),
        ([CANARIES], "one of the arguments --format --all is required"),
        ([CANARIES, "--format", "junitt"], "'junitt' is none of bencher, "),
        ([CANARIES, "--format", "tap", "--all", "out"], "not allowed with"),
        ([CANARIES, "--all", "out", "--out", "file"], "--out goes with --format"),
        ([CANARIES, "--al", "out"], "--al"),
        ([CANARIES, "--all", "out", "--require", "luck"], "'luck' is none of ptxas, cupti"),
        ([CANARIES, "--all", "out", "--device", "tpu"], "'tpu' is none of auto, gpu, emulated"),
        ([CANARIES, "--all", "out", "--exit-code", "-1"], "--exit-code"),
        ([CANARIES, "--all", "out", "--exit-code", "256"], "'256' is no exit code"),
    ],
)
def test_bad_options_are_faults(tmp_path, arguments, says, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert says in refused(*arguments)
    assert list(tmp_path.iterdir()) == []


def test_help_lists_the_formats():
    text = emit("--help").stdout
    assert all(format.name in text and format.file in text for format in FORMATS.values())

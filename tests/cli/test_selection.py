"""--filter and --exclude: which cases a command takes, and what it says of the others."""

import json

import pytest
from programs import run
from warpgauge.facts.reader import read_facts

FAMILY = "gpu_only"
GATE = ["gate", "--device=emulated", "--arch", "sm_90", "--no-bounded"]


def ids(*arguments):
    listed = run("warpgauge-faulty", "list", *arguments)
    assert listed.returncode == 0, listed.stderr
    return set(listed.stdout.split())


def test_filters_add_up_and_what_is_excluded_is_left_out():
    everything, ours = ids(), ids("--filter", f"{FAMILY}.*")
    endings = ids("--filter", "endings.*")
    assert ids("--filter", f"{FAMILY}.*", "--filter", "endings.*") == ours | endings
    assert ids("--filter", f"{FAMILY}.*,endings.*") == ours | endings
    assert ids("--exclude", f"{FAMILY}.*", "--exclude=endings.*") == everything - ours - endings
    assert ids("--exclude", f"{FAMILY}.*,endings.*") == everything - ours - endings
    assert ids("--filter", f"{FAMILY}.*", "--exclude", "*.plain.*") == {
        case for case in ours if ".plain." not in case
    }
    assert ids("--filter", "", "--exclude", "") == everything  # as jobs pass inputs that are empty


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--filter", "no.such"], "--filter 'no.such' selects no case; `"),
        (["--filter", "endings.*,no.such"], "--filter 'no.such' selects no case; `"),
        (["--exclude", "no.such"], "--exclude 'no.such' matches no case; `"),
        (["--filter", "endings.*", "--exclude", "*"], "--exclude '*' leaves none of "),
    ],
)
@pytest.mark.parametrize("command", [["warpgauge-faulty", "list"], ["warpgauge-faulty", *GATE]])
def test_a_selection_of_nothing_is_a_fault(command, options, message, tmp_path):
    refused = run(*command, *options, cwd=tmp_path)
    assert refused.returncode == 2, refused.stdout
    assert refused.stderr.startswith(message) and refused.stderr.count("\n") == 1


def test_a_bench_leaves_out_what_is_excluded():
    options = ["--filter", f"{FAMILY}.*", "--exclude", "*.undeclared.*,*.declared.*,*.nothing*"]
    options += ["--exclude", "*.spilling.*", "--samples", "6", "--no-counters"]
    timed = run("warpgauge-faulty-bench-emulated", *options)
    assert timed.returncode == 0, timed.stderr
    assert f"{FAMILY}.plain" in timed.stdout and "declared" not in timed.stdout
    assert "cases left out by --exclude: 4" in timed.stderr


def test_the_gate_counts_what_is_excluded_and_records_the_globs(tmp_path):
    excluded = [f"--exclude={FAMILY}.{name}.*" for name in ("undeclared", "spilling")]
    result = run("warpgauge-faulty", *GATE, "--filter", f"{FAMILY}.*", *excluded, cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "cases left out by --exclude: 2" in result.stdout
    summary = (tmp_path / "out" / "summary.md").read_text()
    assert r"- cases left out by --exclude: 2" in summary.replace("\\", "")
    lines = (tmp_path / "out" / "facts.jsonl").read_text().splitlines()
    asked = json.loads(lines[0])["asked"]
    assert (asked["filter"], asked["exclude"]) == (
        [f"{FAMILY}.*"],
        [f"{FAMILY}.undeclared.*", f"{FAMILY}.spilling.*"],
    )
    measured = {fact.id for fact in read_facts(tmp_path / "out" / "facts.jsonl")}
    assert measured == ids("--filter", f"{FAMILY}.*", *excluded)
    assert "cases left out by --exclude: 2" in json.loads(lines[-1])["left_out"]

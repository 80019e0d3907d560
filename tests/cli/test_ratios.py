"""Budgets that are multiples of another case or of the ideal, and those of a whole project."""

import subprocess
from pathlib import Path

import pytest
from private_mounts import needs_mounts, with_file
from stored_facts import of_cases
from test_gate import BIN

ROOT = Path(__file__).resolve().parents[2]
BUDGETS = ROOT / "tests" / "canaries" / "budgets.toml"
CASE = "canaries.stride_added.f32@1024"
METRIC = "global.store.requests"
OTHER = "canaries.healthy.f32@1024"
EMULATED = ("gate", "--device=emulated", "--arch", "sm_90", "--filter", CASE)


def gate(tmp_path, *prefix, program="warpgauge-faulty", options=()):
    return subprocess.run(
        [*prefix, BIN / program, *EMULATED, "--out", tmp_path / "out", *options],
        capture_output=True,
        text=True,
        timeout=300,
    )


def budgets(tmp_path, text=""):
    """In place of the budget file of the canaries."""
    file = tmp_path / "budgets.toml"
    file.write_text(text)
    return with_file(file, BUDGETS)


def ratio(tmp_path, most):
    limit = f'{{ max = {most}, of = "healthy.f32" }}'
    return budgets(tmp_path, f'[stride_added]\n"{METRIC}" = {limit}\n')


@needs_mounts
@pytest.mark.parametrize("most, verdict, code", [(100, "pass", 0), (0.5, "fail", 1)])
def test_the_other_case_is_run_with_it_and_judged(tmp_path, most, verdict, code):
    done = gate(tmp_path, *ratio(tmp_path, most))
    assert done.returncode == code, done.stdout + done.stderr
    assert f"run, too, because budgets are multiples of it: {OTHER}\n" in done.stdout
    facts = of_cases(tmp_path / "out")
    fact = facts[CASE, METRIC, "sm_90"]
    other = facts[OTHER, METRIC, "sm_90"].value
    assert (fact.verdict, fact.limit.reference) == (verdict, other)
    assert fact.limit.text == f"<= {most} x {other:g} of healthy.f32"
    assert facts[OTHER, "shared.bank_conflicts", "sm_90"].verdict == "pass"
    assert (f"budget   {fact.limit.text}" in done.stdout) == (verdict == "fail")


@needs_mounts
def test_a_case_waits_for_the_other_though_it_is_registered_before(tmp_path):
    text = f'[healthy]\n"{METRIC}" = {{ max = 100, of = "stride_added.f32" }}\n'
    done = gate(tmp_path, *budgets(tmp_path, text), options=("--filter", OTHER, "--jobs", "1"))
    assert done.returncode == 0, done.stdout + done.stderr
    facts = of_cases(tmp_path / "out")
    fact = facts[OTHER, METRIC, "sm_90"]
    reference = facts[CASE, METRIC, "sm_90"].value
    assert (fact.verdict, fact.limit.reference) == ("pass", reference)


@needs_mounts
def test_without_the_other_case_it_is_unmeasured_and_no_pass(tmp_path):
    done = gate(tmp_path, *ratio(tmp_path, 100), options=("--exclude", OTHER, "--require=cubin"))
    fact = of_cases(tmp_path / "out")[CASE, METRIC, "sm_90"]
    assert fact.verdict == "unmeasured"
    assert fact.reason.endswith("and healthy.f32 is not known: not measured in this run")
    assert "1 unmeasured" in done.stdout


@needs_mounts
def test_the_file_of_the_project_stands_below_those_of_families(tmp_path):
    project = tmp_path / "warpgauge.toml"
    project.write_text(
        '[default]\n"global.excess_sectors" = { max = 0.5, of = "ideal" }\n[other]\nregisters = 1\n'
    )
    done = gate(tmp_path, *budgets(tmp_path), options=("--project", project))
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"budgets of the project: {project}\n" in done.stdout
    assert "sections of families that are not in this program: other\n" in done.stdout
    facts = of_cases(tmp_path / "out")
    limit = facts[CASE, "global.excess_sectors", "sm_90"].limit
    ideal = facts[CASE, "global.sectors_ideal", "sm_90"].value
    assert (limit.origin, limit.reference) == (f"{project}:2", ideal)


def test_a_broken_file_of_the_project_stops_the_gate(tmp_path):
    project = tmp_path / "warpgauge.toml"
    project.write_text('["canaries.healthy"]\nregisters = 1\n')
    done = gate(tmp_path, options=("--project", project))
    assert done.returncode == 2
    assert f"{project}:1:2: 'canaries.healthy' is not a family" in done.stderr
    assert not (tmp_path / "out" / "facts.jsonl").exists()


def test_the_project_file_that_init_writes_can_be_read(tmp_path):
    project = ROOT / "reports" / "warpgauge" / "templates" / "warpgauge.toml"
    done = gate(tmp_path, options=("--project", project))
    assert "budgets of the project: reports/warpgauge/templates/warpgauge.toml\n" in done.stdout

"""The GitHub action, run step by step on gates that pass, fail, and go wrong."""

from pathlib import Path

import pytest
import yaml
from github_runner import Runner, annotations
from scratch_checkout import ONE_FAILS, ONE_PASSES, ROOT, scratch_checkout
from warpgauge.facts.reader import read_facts

ACTION = yaml.safe_load((ROOT / "ci/github/action.yml").read_text())
UPLOAD = "actions/upload-artifact"
SARIF = "github/codeql-action/upload-sarif"
needs_no_gpu = pytest.mark.skipif(
    Path("/dev/nvidia0").exists(), reason="shows what happens without a GPU"
)


@pytest.fixture
def runner(tmp_path):
    """A function that makes a Runner of the action, on a checkout whose gate is PROGRAM."""

    def make(program="warpgauge", **github):
        checkout = scratch_checkout(tmp_path / "checkout", program)
        return Runner(ACTION, checkout / "ci/github", checkout, github)

    return make


def facts(runner, job):
    return read_facts(runner.workspace / job.outputs["facts"])


def test_a_gate_that_passes_makes_a_green_job_with_all_its_results(runner):
    action = runner()
    job = action.run(**ONE_PASSES)
    assert job.code == 0, job.log
    assert job.outputs["exit-code"] == "0"
    assert {fact.id for fact in facts(action, job)} >= {ONE_PASSES["filter"]}
    assert "transpose" in job.summary
    assert job.used[UPLOAD] == {"name": "warpgauge", "path": "out", "if-no-files-found": "error"}
    assert not [line for line in annotations(job) if line.startswith("::error")]


def test_a_gate_that_fails_makes_a_red_job_after_the_uploads(runner):
    job = runner("warpgauge-faulty").run(**ONE_FAILS, out="results/of this", name="mine")
    assert job.code == 1, job.log
    assert job.outputs["exit-code"] == "1"
    assert "tests/canaries/family.cu" in job.summary
    assert job.used[UPLOAD]["path"] == "results/of this" and job.used[UPLOAD]["name"] == "mine"
    blamed = [line for line in annotations(job) if "tests/canaries/family.cu" in line]
    assert any(line.startswith("::error") for line in blamed), annotations(job)


FORK = {
    "github.event_name": "pull_request",
    "github.event.pull_request.head.repo.full_name": "stranger/kernels",
}


def test_a_pull_request_from_a_fork_is_judged(runner):
    job = runner("warpgauge-faulty", **FORK).run(**ONE_FAILS)
    assert job.code == 1 and UPLOAD in job.used
    assert annotations(job)


def test_a_pull_request_from_a_fork_uploads_no_alerts(runner):
    job = whole_run(runner, 1, **FORK)
    assert job.code == 1 and UPLOAD in job.used and SARIF not in job.used


def test_alerts_are_uploaded_for_pull_requests_of_the_repository_itself(runner):
    own = {
        "github.event_name": "pull_request",
        "github.event.pull_request.head.repo.full_name": "owner/kernels",
    }
    assert SARIF in whole_run(runner, 0, **own).used


def test_alerts_are_left_out_where_the_caller_says_so(runner):
    assert SARIF not in whole_run(runner, 0, {"upload_sarif": "false"}).used


@pytest.mark.parametrize("code, uploaded", [(0, True), (1, True), (2, False), (3, False)])
def test_alerts_of_a_run_that_has_not_judged_all_do_not_close_those_of_another(
    runner, code, uploaded
):
    job = whole_run(runner, code)
    assert job.code == code and UPLOAD in job.used
    assert job.used.get(SARIF) == ({"sarif_file": "out/warpgauge.sarif"} if uploaded else None)


def test_alerts_of_some_cases_do_not_close_those_of_the_others(runner):
    job = whole_run(runner, 0, {"filter": "transpose.*"})
    assert job.code == 0 and UPLOAD in job.used and SARIF not in job.used


@pytest.mark.parametrize(
    "inputs, says",
    [
        ({}, "device must be one of"),
        ({"device": "none"}, "device must be one of"),
        ({**ONE_PASSES, "strict": "yes"}, "strict must be one of"),
        ({**ONE_PASSES, "upload_sarif": ""}, "upload-sarif must be one of"),
        ({**ONE_PASSES, "out": ""}, "out is empty"),
        ({**ONE_PASSES, "out": "a\nfacts=b"}, "control character"),
        ({**ONE_PASSES, "filter": "nothing.like.this"}, "nothing.like.this"),
        ({**ONE_PASSES, "filter": "$(touch stolen); `touch stolen` ' \" %0A::error::"}, "touch"),
        ({**ONE_PASSES, "require": "luck"}, "luck"),
    ],
)
def test_bad_inputs_are_faults(runner, inputs, says):
    action = runner()
    job = action.run(**inputs)
    assert job.code == 2 and job.outputs["exit-code"] == "2", job.log
    assert says in job.log and not job.used
    assert "exit code 2" in job.summary
    assert not (action.workspace / "stolen").exists()


@needs_no_gpu
def test_what_could_not_be_measured_is_the_verdict_when_it_was_required(runner):
    job = runner().run(**{**ONE_PASSES, "device": "auto"}, require="cupti")
    assert job.code == 3 and job.outputs["exit-code"] == "3", job.log


@needs_no_gpu
def test_a_gpu_that_has_gone_is_never_replaced_by_the_emulator(runner):
    job = runner().run(**{**ONE_PASSES, "device": "gpu"})
    assert job.code == 3 and "unmeasured" in job.summary.lower(), job.log


def test_results_of_an_earlier_run_are_not_taken_for_those_of_this_one(runner):
    action = runner()
    out = action.workspace / "out"
    out.mkdir()
    for name in ("facts.jsonl", "summary-ci.md", "github.txt", "warpgauge.sarif"):
        (out / name).write_text("{}")
    job = action.run(device="emulated", filter="nothing.like.this")
    assert job.code == 2 and not job.used and job.outputs["facts"] == ""


def stand_in(action, script):
    """Puts SCRIPT in the place of ci/gate; it gets $out."""
    gate = action.workspace / "ci/gate"
    gate.write_text(f"#!/usr/bin/env bash\nout=out\nmkdir -p $out\n{script}\n")


ALL_RESULTS = (
    "for f in facts.jsonl summary-ci.md github.txt warpgauge.sarif; do echo {} >$out/$f; done\n"
)


def whole_run(runner, code, inputs=None, **github):
    """The job of a gate without a filter that ends with this code."""
    action = runner(**github)
    stand_in(action, ALL_RESULTS + f"exit {code}")
    return action.run(device="emulated", **(inputs or {}))


@pytest.mark.parametrize(
    "missing", ["facts.jsonl", "summary-ci.md", "github.txt", "warpgauge.sarif"]
)
def test_a_pass_without_its_results_is_a_fault(runner, missing):
    action = runner()
    stand_in(action, ALL_RESULTS + f"rm $out/{missing}")
    job = action.run(device="emulated")
    assert job.code == 2 and f"wrote no {missing}" in job.log


@pytest.mark.parametrize("code", [2, 4, 139])
def test_any_other_exit_code_is_a_fault(runner, code):
    action = runner()
    stand_in(action, ALL_RESULTS + f"exit {code}")
    assert action.run(device="emulated").code == 2


def test_what_kernels_print_is_no_workflow_command(runner):
    action = runner()
    stand_in(action, "echo ::error::forged; echo ::add-mask::x; printf no-newline\n" + ALL_RESULTS)
    job = action.run(device="emulated")
    assert job.code == 0 and not annotations(job) and "forged" in job.log


def test_a_setup_that_fails_makes_a_red_job(runner):
    action = runner()
    (action.workspace / "ci/bootstrap").write_text("#!/usr/bin/env bash\nexit 2\n")
    job = action.run(**ONE_PASSES)
    assert job.code == 2 and not job.used and "exit code 2" in job.summary
    assert job.outputs["exit-code"] == "2"

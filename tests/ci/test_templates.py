"""The action, workflows and templates for GitHub and GitLab: what each must hold to, and the
nightly jobs of GitLab, run."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from scratch_checkout import ONE_PASSES, REPORT, ROOT, scratch_checkout, stand_in

ACTION = ROOT / "action.yml"
OWN = sorted((ROOT / ".github/workflows").glob("*.yml"))  # of this repository
WORKFLOWS = [*OWN, *sorted((ROOT / "ci/github/workflows").glob("*.yml"))]
GITLAB = ROOT / "ci/gitlab/warpgauge-nightly.gitlab-ci.yml"
GITLAB_FILES = sorted((ROOT / "ci/gitlab").glob("*.yml"))
ADDRESS = (ROOT / "ci/address").read_text().strip()
CALLS = ("./", ADDRESS)  # of the action
SHELLCHECK = ROOT / "build/venv/bin/shellcheck"


def parsed(file):
    return yaml.safe_load(file.read_text())


def triggers(workflow):
    return workflow[True]  # YAML 1.1 takes the key `on` for a truth value


def steps(file):
    """All steps of a workflow or an action."""
    document = parsed(file)
    if "runs" in document:
        return document["runs"]["steps"]
    return [step for job in document["jobs"].values() for step in job["steps"]]


def gitlab_jobs():
    return {name: job for name, job in parsed(GITLAB).items() if name.startswith("warpgauge:")}


def jobs_of(file):
    """The jobs of a file for GitLab that measure."""
    return [job for name, job in parsed(file).items() if name.startswith("warpgauge:")]


def shell_of_gitlab(job):
    return "\n".join(parsed(GITLAB)[job]["script"])


def validate(schema, files):
    # GitLab's addresses may begin with a variable, which its schema does not know.
    gitlab = ["--data-transform", "gitlab-ci", "--disable-formats", "uri"]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "check_jsonschema",
            "--builtin-schema",
            f"vendor.{schema}",
            *(gitlab if schema == "gitlab-ci" else ()),
            *files,
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "schema, files",
    [("github-actions", [ACTION]), ("github-workflows", WORKFLOWS), ("gitlab-ci", GITLAB_FILES)],
    ids=["github-actions", "github-workflows", "gitlab-ci"],
)
def test_templates_are_valid_by_the_schemas_of_their_hosts(schema, files):
    validate(schema, files)


def test_shellcheck_finds_nothing_in_run_blocks(tmp_path):  # ci/lint checks the scripts
    files = []
    blocks = [step["run"] for file in [ACTION, *WORKFLOWS] for step in steps(file) if "run" in step]
    of_gitlab = ["\n".join(job["script"]) for file in GITLAB_FILES for job in jobs_of(file)]
    for number, block in enumerate([*blocks, *of_gitlab]):
        files.append(tmp_path / f"block{number}.sh")
        shell = "bash" if number < len(blocks) else "sh"
        files[-1].write_text(f"# shellcheck shell={shell}\n{block}\n")
    assert len(files) >= 12
    done = subprocess.run([SHELLCHECK, "-x", *files], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout


def test_all_of_the_folders_of_scripts_and_workflows_is_known():
    names = {file.name for file in (ROOT / "ci/github").iterdir() if file.is_file()}
    scripts = {"comment", "gate", "gauge", "inputs", "nightly", "summary", "toolkit", "verdict"}
    assert names == {"common.sh", *scripts}
    assert {file.name for file in OWN} == {"nightly.yml", "release.yml", "tests.yml"}


@pytest.mark.parametrize("file", [ACTION, *WORKFLOWS], ids=lambda file: file.name)
def test_inputs_reach_scripts_as_variables_only(file):
    for step in steps(file):
        assert "${{" not in step.get("run", ""), step


@pytest.mark.parametrize(
    "file", [ACTION, *WORKFLOWS, ROOT / "README.md"], ids=lambda file: file.name
)
def test_actions_are_pinned_by_commit_with_their_version_beside_it(file):
    uses = re.findall(r"^[ -]*uses: *(.*)$", file.read_text(), re.M)
    assert uses
    for used in uses:
        assert used in CALLS or re.fullmatch(
            r"[\w-]+(/[\w-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+", used
        ), used


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_workflows_can_read_and_no_more_unless_a_job_says_so(file):
    workflow = parsed(file)
    assert workflow["permissions"] == {"contents": "read"}
    assert not {"pull_request_target", "workflow_run"} & set(triggers(workflow))
    secrets = re.findall(r"^.*secrets[.\[].*$", file.read_text(), re.M)
    of_a_tag = list(triggers(workflow)) == ["push"] and "branches" not in triggers(workflow)["push"]
    if "pull_request" in triggers(workflow):
        assert not secrets
    assert all(re.match(r" {10}PGPASSWORD: \$\{\{", line) for line in secrets)  # of one step
    for job in workflow["jobs"].values():
        more = {k for k, v in job.get("permissions", {}).items() if v != "read"}
        runs = [step.get("uses", "").partition("@")[0] for step in job["steps"]]
        if more == {"pages", "id-token"}:  # of a job that deploys, and runs nothing else
            assert runs == ["actions/deploy-pages"]
            continue
        assert more <= ({"contents"} if of_a_tag else {"security-events", "pull-requests"})
        assert "contents" not in more or not {"actions/checkout", "./"} & set(runs)
        assert "timeout-minutes" in job


def test_workflows_call_the_action_with_inputs_that_it_has():
    inputs = parsed(ACTION)["inputs"]
    required = {name for name, about in inputs.items() if about.get("required")}
    calls = [step for file in WORKFLOWS for step in steps(file) if step.get("uses") in CALLS]
    assert len(calls) == 3
    for call in (step["with"] for step in calls):
        assert required <= set(call) <= set(inputs)
        assert call["device"] in ("gpu", "emulated")


def test_the_example_that_the_workflow_gates_is_there():
    (call,) = (step["with"] for file in OWN for step in steps(file) if step.get("uses") == "./")
    lists = (ROOT / call["source-dir"] / "CMakeLists.txt").read_text()
    assert f"warpgauge_add_kernels(NAME {call['gauge']}" in lists


def test_the_ten_lines_of_the_readme_are_a_workflow(tmp_path):
    readme = (ROOT / "README.md").read_text()
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", readme, re.M | re.S)
    assert len(text.splitlines()) == 10
    file = tmp_path / "kernels.yml"
    file.write_text(text)
    validate("github-workflows", [file])
    (call,) = (step["with"] for step in steps(file) if step["uses"] in CALLS)
    assert set(call) <= set(parsed(ACTION)["inputs"])


def test_self_hosted_runners_never_see_pull_requests_from_forks():
    for file in WORKFLOWS:
        workflow = parsed(file)
        for job in workflow["jobs"].values():
            if "self-hosted" in job["runs-on"] and "pull_request" in triggers(workflow):
                assert "head.repo.full_name == github.repository" in job["if"]


@pytest.mark.parametrize(
    "result, code", [("success", 0), ("failure", 1), ("skipped", 1), ("cancelled", 1), ("", 1)]
)
def test_gpu_verdict_is_red_unless_the_gpu_jobs_succeeded(result, code):
    verdict = parsed(ROOT / "ci/github/workflows/warpgauge-gpu.yml")["jobs"]["verdict"]
    assert verdict["if"] == "always()" and verdict["needs"] == "gpu"
    (step,) = verdict["steps"]
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", step["run"]], env={"RESULT": result}, capture_output=True
    )
    assert done.returncode == code


def run_gitlab_job(checkout, job, **variables):
    """Runs the script of a GitLab job; returns its exit code and output."""
    defaults = {name: str(value) for name, value in parsed(GITLAB)["variables"].items()}
    done = subprocess.run(
        ["sh", "-ec", shell_of_gitlab(job)],
        cwd=checkout,
        env={**os.environ, **defaults, **variables},
        capture_output=True,
        text=True,
        timeout=300,
    )
    return done.returncode, done.stdout + done.stderr


def gitlab_job(tmp_path, job="warpgauge:nightly", **variables):
    """The same in a new checkout, which is returned as well."""
    checkout = scratch_checkout(tmp_path / "checkout")
    return *run_gitlab_job(checkout, job, **variables), checkout


def as_variables(inputs):
    """The inputs of the emulator's job: that it is the emulator's is no variable."""
    named = {name: value for name, value in inputs.items() if name != "device"}
    return {f"WARPGAUGE_{name.upper()}": value for name, value in named.items()}


@pytest.mark.parametrize(
    "variables", [{"WARPGAUGE_STRICT": "yes"}, {"WARPGAUGE_FILTER": "nothing.like.this"}]
)
def test_gitlab_jobs_refuse_what_is_wrong(tmp_path, variables):
    assert gitlab_job(tmp_path, "warpgauge:report", **variables)[0] == 2


def test_every_gitlab_job_says_its_device_and_none_may_fail():
    jobs = gitlab_jobs()
    assert len(jobs) == 2
    night = jobs["warpgauge:nightly"]["script"][-1]
    for job in jobs.values():
        assert job["script"][0].startswith(("set -- --device=gpu", "set -- --device=emulated"))
        assert job["script"][-1] == night
        assert "allow_failure" not in job and job["rules"] and "variables" not in job


@pytest.mark.parametrize(
    "job, output",
    [
        (
            "warpgauge:nightly",
            "nightly --device=gpu --no-report --require=cupti --out=out/l40s --filter=a b",
        ),
        (
            "warpgauge:report",
            "nightly --device=emulated --out=out --gather out/h100 out/l40s --db=postgresql://db/x "
            "--keep=365d --ack= --reason= --until= --address=https://k.example/ "
            "--source-link=https://git.example/k/-/blob/{commit}/{file}#L{line} "
            "--commit-link=https://git.example/k/-/commit/{commit} "
            "--compare-link=https://git.example/k/-/compare/{base}...{commit} "
            "--filter=a b",
        ),
    ],
)
def test_variables_of_a_schedule_do_not_disarm_a_gitlab_job(tmp_path, job, output):
    checkout = scratch_checkout(tmp_path / "checkout")
    (checkout / "ci/nightly").write_text('#!/bin/sh\necho "nightly $*"\n')
    variables = {"WARPGAUGE_DEVICE": "emulated", "WARPGAUGE_REQUIRE": "", "WARPGAUGE_ARCH": ""}
    variables |= {"WARPGAUGE_STRICT": "false", "WARPGAUGE_FILTER": "a b", "device": "emulated"}
    variables |= {
        "WARPGAUGE_GPU": "l40s",
        "WARPGAUGE_GPUS": "",
        "CI_PROJECT_URL": "https://git.example/k",
        "WARPGAUGE_ADDRESS": "https://k.example/",
    }
    done = subprocess.run(
        ["sh", "-ec", shell_of_gitlab(job)],
        cwd=checkout,
        env=os.environ | variables | {"WARPGAUGE_DB": "postgresql://db/x"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, output + "\n")


def test_the_gitlab_report_gathers_from_all_gpus_however_they_ended():
    nightly, report = (gitlab_jobs()[f"warpgauge:{name}"] for name in ("nightly", "report"))
    gathered = shlex.split(report["script"][0].split("--gather ")[1])
    (matrix,) = nightly["parallel"]["matrix"]
    assert gathered == [f"out/{gpu}" for gpu in matrix["WARPGAUGE_GPU"]]
    assert nightly["tags"] == ["gpu", "$WARPGAUGE_GPU"]
    assert report["needs"] == [{"job": "warpgauge:nightly", "artifacts": True, "optional": True}]
    assert [rule["when"] for rule in report["rules"]] == ["always"]
    assert [rule["if"] for rule in report["rules"]] == [rule["if"] for rule in nightly["rules"]]


def test_a_gpu_that_left_nothing_makes_the_gitlab_report_fail_after_all_else_is_done(tmp_path):
    checkout = scratch_checkout(tmp_path / "checkout")
    stand_in(checkout, "warpgauge-python", REPORT)
    (checkout / "out/h100/model").mkdir(parents=True)
    (checkout / "out/h100/model/facts.jsonl").write_text("{}\n")
    ended, log = run_gitlab_job(
        checkout,
        "warpgauge:report",
        CI_PROJECT_URL="https://git.example/k",
        CALLS=str(checkout / "calls"),
        **as_variables(ONE_PASSES),
    )
    assert ended == 2 and "lost: out/l40s: no facts" in log
    calls = (checkout / "calls").read_text()
    facts = "out/emulated/facts.jsonl out/h100/model/facts.jsonl"
    assert f"ingest --night --db=out/history.db -- {facts}\n" in calls and "html" in calls
    (history,) = (cache for cache in gitlab_jobs()["warpgauge:report"]["cache"] if "when" in cache)
    assert history["paths"] == ["out/history.db*"] and history["when"] == "always"
    for report in gitlab_jobs()["warpgauge:report"]["artifacts"]["reports"].values():
        assert (checkout / report).is_file()


def test_pages_are_published_only_at_an_address_and_of_red_nights_too():
    pages = parsed(GITLAB)["pages"]
    assert pages["rules"] == [
        {"if": '$CI_PIPELINE_SOURCE == "schedule" && $WARPGAUGE_ADDRESS', "when": "always"}
    ]
    assert pages["artifacts"]["paths"] == ["public"]
    assert parsed(GITLAB)["variables"]["WARPGAUGE_ADDRESS"] == ""
    jobs = parsed(ROOT / "ci/github/workflows/warpgauge-nightly.yml")["jobs"]
    assert jobs["publish"]["if"] == "always() && vars.WARPGAUGE_ADDRESS != ''"
    assert jobs["publish"]["permissions"] == {"pages": "write", "id-token": "write"}


@pytest.mark.skipif(Path("/dev/nvidia0").exists(), reason="shows what happens without a GPU")
def test_a_gitlab_night_without_its_gpu_is_red(tmp_path):
    ended, log, checkout = gitlab_job(tmp_path, WARPGAUGE_GPU="h100")
    assert ended == 3 and not list(checkout.rglob("out/**/facts.jsonl"))

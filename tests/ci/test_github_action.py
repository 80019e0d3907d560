"""The GitHub action, run step by step on another repository: gates that pass, fail and go wrong."""

import subprocess
from pathlib import Path

import pytest
from github_action import ALL_RESULTS, CASE, FAILS, PASSES, UPLOAD, errors, stand_in
from github_runner import annotations
from second_repository import calls_file
from warpgauge.facts.reader import read_facts

needs_no_gpu = pytest.mark.skipif(
    Path("/dev/nvidia0").exists(), reason="shows what happens without a GPU"
)


def test_a_gate_that_passes_makes_a_green_job_with_all_its_results(runner):
    action = runner()
    job = action.run(**PASSES)
    assert job.code == 0, job.log
    assert job.outputs["exit-code"] == "0"
    facts = read_facts(action.workspace / job.outputs["facts"])
    assert {fact.family for fact in facts} == {"canaries"}
    assert "canaries" in job.summary and not errors(job)
    assert job.used[UPLOAD] == {"name": "warpgauge", "path": "out", "if-no-files-found": "error"}


def test_a_gate_that_fails_makes_a_red_job_after_the_uploads(runner):
    job = runner().run(**FAILS, out="results/of this", name="mine")
    assert job.code == 1, job.log
    assert job.outputs["exit-code"] == "1"
    assert "tests/canaries/family.cu" in job.summary
    assert job.used[UPLOAD]["path"] == "results/of this" and job.used[UPLOAD]["name"] == "mine"
    assert any("file=tests/canaries/family.cu" in line for line in errors(job)), job.log


def test_inputs_are_options_of_the_gauge(runner):
    action = runner()
    job = action.run(**PASSES, exclude="canaries.a*,*@7", require="cubin", fuzz="2", strict="true")
    assert job.code in (0, 1), job.log
    gate = calls_file(action.workspace).read_text().splitlines()[0]
    assert gate == (
        f"gate --device=emulated --out=out --filter={PASSES['filter']} "
        "--exclude=canaries.a*,*@7 --arch=sm_90 --require=cubin --fuzz=2 --strict"
    )


def test_globs_of_exclude_are_not_names_of_files(runner):
    action = runner()
    action.run(**PASSES, exclude="*")
    assert " --exclude=* " in calls_file(action.workspace).read_text()


def test_what_the_action_writes_is_no_change_of_the_tree(runner):
    action = runner()

    def git(*words):
        return subprocess.check_output(["git", "-C", action.workspace, *words], text=True)

    git("init", "-q")
    (action.workspace / ".gitignore").write_text("/.GITHUB*\n/.step.sh\n")
    before = git("status", "--porcelain")
    assert action.run(**PASSES).code == 0
    assert "gauge.sh" in before and git("status", "--porcelain") == before


def test_a_gauge_can_be_a_program(runner):
    action = runner()
    job = action.run(**{**PASSES, "gauge": "gauge.sh"})
    assert job.code == 0, job.log
    assert not (action.workspace / "build").exists()


def test_a_build_folder_that_is_configured_is_built_as_it_is(runner, tmp_path):
    action = runner()
    configure = ["cmake", "-S", action.workspace, "-B", action.workspace / "mine", "-DKEPT=1"]
    subprocess.run(configure, check=True, capture_output=True)
    (tmp_path / "programs/warpgauge").unlink()  # not needed: the build has found it
    job = action.run(**PASSES, build_dir="mine", source_dir="nowhere")
    assert job.code == 0, job.log
    assert "KEPT:UNINITIALIZED=1" in (action.workspace / "mine/CMakeCache.txt").read_text()


def test_warpgauge_is_found_by_a_build_that_the_action_configures(runner, tmp_path):
    action = runner()
    with (action.workspace / "CMakeLists.txt").open("a") as lists:
        lists.write('file(WRITE "${CMAKE_BINARY_DIR}/prefix" "$ENV{CMAKE_PREFIX_PATH}")\n')
    assert action.run(**PASSES).code == 0
    prefix = (action.workspace / "build/prefix").read_text()
    assert prefix.split(":")[0] == str(tmp_path / "programs")


@pytest.mark.parametrize(
    "gauge, says",
    [
        ("", "the input gauge is empty: name the program or the build target"),
        ("nothing", "the target nothing could not be built in build"),
        ("broken", "the target broken could not be built in build"),
        ("bin/nothing", "there is no program bin/nothing, and it is no name of a build target"),
        ("--version", "the input gauge is not a path"),
        ("CMakeLists.txt", "could not be built"),
        ("a=b", "the input gauge is not a path"),
    ],
)
def test_a_gauge_that_is_not_there_is_an_error(runner, gauge, says):
    job = runner().run(**{**PASSES, "gauge": gauge})
    assert job.code == 2 and job.outputs["exit-code"] == "2", job.log
    assert says in errors(job)[0] and UPLOAD not in job.used
    assert "exit code 2" in job.summary


def test_a_repository_without_a_gauge_is_an_error_and_not_warpgauges_own_gate(runner):
    action = runner()
    (action.workspace / "CMakeLists.txt").unlink()
    job = action.run(**PASSES)
    assert job.code == 2 and UPLOAD not in job.used
    assert "this repository has no gauge: there is no program my-gauge" in errors(job)[0]
    assert not calls_file(action.workspace).exists()


def test_a_target_that_leaves_no_program_is_an_error(runner):
    action = runner()
    (action.workspace / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(k NONE)\nadd_custom_target(my-gauge)\n"
    )
    job = action.run(**PASSES)
    assert job.code == 2 and "left 0 programs of that name" in errors(job)[0]


@pytest.mark.parametrize(
    "inputs, says",
    [
        ({"device": ""}, "device must be one of"),
        ({"device": "none"}, "device must be one of"),
        ({"strict": "yes"}, "strict must be one of"),
        ({"upload_sarif": ""}, "upload-sarif must be one of"),
        ({"filter": "nothing.like.this"}, "nothing.like.this"),
        ({"filter": "$(touch stolen); `touch stolen` ' \" %0A::error::"}, "touch"),
        ({"out": "$(touch stolen)"}, "the input out is not a path"),
        ({"require": "luck"}, "luck"),
    ],
)
def test_bad_inputs_are_faults(runner, inputs, says):
    action = runner()
    job = action.run(**{**PASSES, **inputs})
    assert job.code == 2 and job.outputs["exit-code"] == "2", job.log
    assert says in job.log and UPLOAD not in job.used
    assert "exit code 2" in job.summary
    assert not (action.workspace / "stolen").exists()


def test_actions_inputs_are_checked_before_anything_is_built(runner):
    action = runner()
    assert action.run(**{**PASSES, "device": "gup"}).code == 2
    assert not (action.workspace / "build").exists()


@needs_no_gpu
def test_what_could_not_be_measured_is_the_verdict_when_it_was_required(runner):
    job = runner().run(**{**PASSES, "device": "auto"}, require="cupti")
    assert job.code == 3 and job.outputs["exit-code"] == "3", job.log


@needs_no_gpu
def test_a_gpu_that_has_gone_is_never_replaced_by_the_emulator(runner):
    job = runner().run(**{**PASSES, "device": "gpu"})
    assert job.code == 3 and "unmeasured" in job.summary.lower(), job.log


def test_results_of_an_earlier_run_are_not_taken_for_those_of_this_one(runner):
    action = runner()
    (action.workspace / "out/base").mkdir(parents=True)
    for name in ("facts.jsonl", "summary-ci.md", "github.txt", "warpgauge.sarif", "diff.json"):
        (action.workspace / "out" / name).write_text("{}")
    (action.workspace / "out/base/facts.jsonl").write_text("{}")
    job = action.run(**{**PASSES, "filter": "nothing.like.this"})
    assert job.code == 2 and UPLOAD not in job.used
    assert job.outputs["facts"] == "" and job.outputs["diff"] == ""
    assert not (action.workspace / "out/base/facts.jsonl").exists()


@pytest.mark.parametrize(
    "missing", ["facts.jsonl", "summary-ci.md", "comment.md", "github.txt", "warpgauge.sarif"]
)
def test_a_pass_without_its_results_is_a_fault(runner, missing):
    action = runner()
    stand_in(action, ALL_RESULTS + f"rm $out/{missing}")
    job = action.run(**CASE, baseline="none")
    assert job.code == 2 and f"wrote no {missing}" in job.log


@pytest.mark.parametrize("code", [2, 4, 139])
def test_any_other_exit_code_is_a_fault(runner, code):
    action = runner()
    stand_in(action, ALL_RESULTS + f"exit {code}")
    assert action.run(**CASE, baseline="none").code == 2


def test_what_kernels_and_builds_print_is_no_workflow_command(runner):
    action = runner()
    forged = "echo ::error::forged; echo ::add-mask::x; printf no-newline\n"
    stand_in(action, forged + ALL_RESULTS)
    with (action.workspace / "CMakeLists.txt").open("a") as lists:
        lists.write('execute_process(COMMAND echo "::error::forged")\n')
    job = action.run(**CASE, baseline="none")
    assert job.code == 0 and not annotations(job) and "forged" in job.log

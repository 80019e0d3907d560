"""The GitHub action, run step by step on another repository: gates that pass, fail and go wrong,
and what a pull request shows."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest
import yaml
from github_runner import Runner, annotations
from scratch_checkout import ROOT
from second_repository import (
    calls_file,
    programs_folder,
    second_repository,
    set_gauge,
    write_program,
)
from warpgauge.facts.reader import read_facts

ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
UPLOAD = "actions/upload-artifact"
SARIF = "github/codeql-action/upload-sarif"
RESTORE, SAVE = "actions/cache/restore", "actions/cache/save"
CASE = {"device": "emulated", "arch": "sm_90", "gauge": "my-gauge"}
PASSES = CASE | {"filter": "canaries.healthy.*"}
FAILS = CASE | {"filter": "canaries.padding_removed.*"}
BROKEN = PASSES | {"gauge": "broken"}  # cannot be built
PULL = {
    "github.event_name": "pull_request",
    "github.event.pull_request.number": "7",
    "github.base_ref": "main",
    "github.event.pull_request.base.sha": "b45e",
    "github.event.pull_request.head.repo.full_name": "owner/kernels",
}
FORK = PULL | {"github.event.pull_request.head.repo.full_name": "stranger/kernels"}
PUSH = {"github.event_name": "push", "github.sha": "b45e", "github.event.before": "0"}
WORSE = '"shared.bank_conflicts":0', '"shared.bank_conflicts":1984'
needs_no_gpu = pytest.mark.skipif(
    Path("/dev/nvidia0").exists(), reason="shows what happens without a GPU"
)


@pytest.fixture
def runner(tmp_path, monkeypatch):
    """A function that makes a Runner of the action in the second repository."""
    repository = second_repository(tmp_path / "kernels")
    programs = programs_folder(tmp_path / "programs")
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("RUNNER_TEMP", str(tmp_path / "temp"))
    caches = {}

    def make(github=PUSH):
        always = {"github.token": "a token", "runner.temp": str(tmp_path / "temp")}
        return Runner(ACTION, ROOT, repository, always | github, caches=caches)

    return make


def comments(runner):
    file = runner.workspace.parent / "programs/comments.json"
    return [comment["body"] for comment in json.loads(file.read_text())] if file.exists() else []


def errors(job):
    return [line for line in annotations(job) if line.startswith("::error")]


# ---- the gate ------------------------------------------------------------------------------------


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
    git = f"git -C {action.workspace}"
    os.system(f"{git} init -q && echo '/.GITHUB*\n/.step.sh' >{action.workspace}/.gitignore")
    before = os.popen(f"{git} status --porcelain").read()
    assert action.run(**PASSES).code == 0
    assert "gauge.sh" in before and os.popen(f"{git} status --porcelain").read() == before


# ---- the gauge -----------------------------------------------------------------------------------


def test_a_gauge_can_be_a_program(runner):
    action = runner()
    job = action.run(**{**PASSES, "gauge": "gauge.sh"})
    assert job.code == 0, job.log
    assert not (action.workspace / "build").exists()


def test_a_build_folder_that_is_configured_is_built_as_it_is(runner, tmp_path):
    action = runner()
    os.system(f"cmake -S {action.workspace} -B {action.workspace}/mine -DKEPT=1 >/dev/null")
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


# Stand-ins of the two that a runner without anything has: a venv whose pip builds a wheel that says
# when, and installs it; and the bootstrap, whose toolkit is of the version in $CUDA.
PYTHON = """#!/bin/sh
[ "$1 $2 $3" = "-I -m venv" ] || exec REAL "$@"
mkdir -p "$4/bin" && cp "$0.pip" "$4/bin/pip"
"""
PIP = """#!/bin/bash
echo "pip $*"
if [[ $1 == wheel ]]; then mkdir -p "$4" && echo a wheel >"$4/warpgauge-0.1.0-any.whl"
else [[ $(cat "$2") == 'a wheel' ]] && cp "WARPGAUGE" "$(dirname "$0")/warpgauge"; fi
"""
BOOTSTRAP = """#!/bin/sh
here=$(dirname $0)/../build; mkdir -p $here
printf '#!/bin/sh\\necho "Cuda compilation tools, release %s, V1"\\n' "$CUDA" >$here/nvcc
chmod +x $here/nvcc
echo "export CUDACXX=$PWD/$here/nvcc BOOTSTRAPPED=$WARPGAUGE_PYTHON_EXTRA" >$here/env.sh
"""


@pytest.fixture
def bare(runner, tmp_path, monkeypatch):
    """A function that makes a Runner of the action, in a checkout of its own, on a machine that
    has neither a toolkit nor warpgauge, as each job of a hosted runner is."""
    monkeypatch.setenv("CUDA", "13.0")
    programs, path = tmp_path / "programs", tmp_path / "action"
    shutil.copytree(ROOT / "ci", path / "ci")
    shutil.copy(ROOT / "CMakeLists.txt", path)
    (path / "reports").symlink_to(ROOT / "reports")
    write_program(path / "ci/bootstrap", BOOTSTRAP.replace("$PWD/", ""))
    write_program(programs / "python3", PYTHON.replace("REAL", shutil.which("python3")))
    installed = (programs / "warpgauge").rename(programs / "installed")
    write_program(programs / "python3.pip", PIP.replace("WARPGAUGE", str(installed)))

    def make(github=PUSH):
        action = runner(github)
        action.path = path
        for left in (tmp_path / "temp", action.workspace / "build", path / "build"):
            shutil.rmtree(left, ignore_errors=True)
        return action

    return make


def test_a_runner_that_has_nothing_gets_a_toolkit_and_warpgauge(bare, tmp_path):
    action = bare()
    with (action.workspace / "CMakeLists.txt").open("a") as lists:
        lists.write('file(WRITE "${CMAKE_BINARY_DIR}/env" "$ENV{BOOTSTRAPPED} $ENV{PATH}")\n')
    job = action.run(**PASSES)
    assert job.code == 0, job.log
    extra, path = (action.workspace / "build/env").read_text().split(" ", 1)
    assert extra == "gate" and path.startswith(f"{tmp_path}/temp/warpgauge/bin:")
    assert (
        f"pip wheel --no-deps --wheel-dir {tmp_path}/temp/warpgauge-wheel {action.path}" in job.log
    )
    assert action.folders == [f"{tmp_path}/temp/warpgauge/bin"], "later steps have warpgauge"


def wheels(action):
    return [key for key in action.caches if not key.startswith("warpgauge-facts")]


def test_the_wheel_is_built_once_for_all_jobs(bare):
    first = bare(PUSH).run(**FAILS)
    assert first.log.count("pip wheel ") == 1 and first.log.count("pip install ") == 1
    action = bare(PULL)
    later = action.run(**FAILS)
    assert later.code == first.code == 1
    assert "pip wheel " not in later.log and later.log.count("pip install ") == 1
    (key,) = wheels(action)
    assert re.fullmatch(r"warpgauge-[\d.]+-[0-9a-f]{16}-cuda13\.0-\w[\w.]*-\w+", key)


def test_the_wheel_is_kept_although_the_gauge_cannot_be_built(bare):
    first, later = bare().run(**BROKEN), bare().run(**BROKEN)
    assert first.code == later.code == 2
    assert "pip wheel " in first.log and "pip wheel " not in later.log


@pytest.mark.parametrize("other", ["toolkit", "version", "sources"])
def test_a_wheel_of_another_version_or_toolkit_is_not_taken(bare, monkeypatch, other):
    bare().run(**BROKEN)
    action = bare()
    if other == "toolkit":
        monkeypatch.setenv("CUDA", "13.5")
    elif other == "version":
        lists = action.path / "CMakeLists.txt"
        lists.write_text(re.sub(r"(warpgauge VERSION )[\d.]+", r"\g<1>9.9.9", lists.read_text()))
    else:
        (action.path / "metrics.cpp").write_text("int changed;\n")
    assert "pip wheel " in action.run(**BROKEN).log
    assert len(wheels(action)) == 2


def test_a_damaged_wheel_is_a_fault(bare):
    action = bare()
    action.run(**BROKEN)
    (key,) = wheels(action)
    action.caches[key] = dict.fromkeys(action.caches[key], b"damaged")
    job = bare().run(**PASSES)
    assert job.code == 2 and "warpgauge could not be installed from" in errors(job)[0]


@pytest.mark.parametrize(
    "lacks, says",
    [
        ("bootstrap", "ci/bootstrap failed"),
        ("toolkit", "the version of warpgauge or of CUDA is not known"),
        ("venv", "could not be made"),
        ("pip", "the wheel of warpgauge could not be built from"),
    ],
)
def test_an_installation_that_fails_is_a_fault(bare, tmp_path, monkeypatch, lacks, says):
    action = bare()
    if lacks == "toolkit":
        monkeypatch.setenv("CUDA", "?")
    else:
        program = {
            "bootstrap": action.path / "ci/bootstrap",
            "venv": tmp_path / "programs/python3",
            "pip": tmp_path / "programs/python3.pip",
        }[lacks]
        write_program(program, "#!/bin/sh\nexit 1\n")
    job = action.run(**PASSES)
    assert job.code == 2 and UPLOAD not in job.used and not action.caches, job.log
    assert says in errors(job)[0]


def test_the_action_can_be_a_folder_of_the_repository(bare):
    action = bare()
    action.path = action.path.rename(action.workspace / "warpgauge")
    job = action.run(**PASSES)
    assert job.code == 0, job.log
    assert f"pip wheel --no-deps --wheel-dir {action.values['runner.temp']}" in job.log


def test_the_packages_that_the_document_lists_are_those_of_the_bootstrap():
    script = (ROOT / "ci/bootstrap").read_text()
    (words,) = re.findall(r"for package in (.*?) \"\$\{test_packages", script, re.S)
    (line,) = re.findall(
        r"^apt-get install (.*?)^```", (ROOT / "docs/ci.md").read_text(), re.M | re.S
    )
    assert line.replace("\\\n", "").split() == sorted(words.replace("\\\n", "").split())


def test_a_machine_that_has_all_gets_nothing(runner, tmp_path):
    write_program(tmp_path / "programs/nvcc", "#!/bin/sh\n")
    action = runner()
    job = action.run(**PASSES)
    assert job.code == 0 and not wheels(action) and not action.folders


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


# ---- what a pull request shows -------------------------------------------------------------------


def pushed(runner, change=lambda facts: facts):
    """The baseline of the commit b45e: the facts of the gate, changed."""
    action = runner(PUSH)
    job = action.run(**FAILS)
    assert job.used[SAVE] == {"path": "out/base/facts.jsonl", "key": "warpgauge-facts-b45e"}
    (key,) = action.caches
    action.caches[key]["facts.jsonl"] = change(action.caches[key]["facts.jsonl"].decode()).encode()


def was_better(facts):
    facts = facts.replace(*reversed(WORSE))
    return facts.replace('"verdict":"fail"', '"verdict":"pass"')


def test_a_pull_request_shows_what_got_worse_first_and_in_one_comment(runner):
    pushed(runner, was_better)
    for time in range(2):
        action = runner(PULL)
        job = action.run(**FAILS)
        assert job.code == 1, job.log
        worse = "1 kernel worse, against main at "
        assert job.summary.startswith(f"# warpgauge: {worse}")
        assert job.summary.index("| worse |") < job.summary.index("FAIL: 1 value over budget")
        (comment,) = comments(action)
        head = "<!-- warpgauge warpgauge -->\n### warpgauge: FAIL: 1 value over budget\n\n"
        assert comment.startswith(head + worse), time
        assert any("file=tests/canaries/family.cu" in line for line in errors(job))
        assert job.outputs["diff"] == "out/diff.json" and SAVE not in job.used


def test_the_comment_says_what_is_true_now(runner):
    pushed(runner, was_better)
    runner(PULL).run(**FAILS)
    action = runner(PULL)
    facts = (action.workspace / "out/facts.jsonl").read_bytes()
    action.caches["warpgauge-facts-b45e"] = {"facts.jsonl": facts}
    action.run(**FAILS)
    (comment,) = comments(action)
    assert "1 kernel the same, against main at " in comment


def test_what_main_has_too_is_not_annotated_and_still_red(runner):
    pushed(runner)
    job = runner(PULL).run(**FAILS)
    assert job.code == 1
    assert "1 kernel the same, against" in job.summary and "## Failures" in job.summary
    assert [line.split("::")[2] for line in errors(job)] == [
        "over budget, better than it and strict, or worse than before; see the job summary"
    ]
    assert not [line for line in annotations(job) if line.startswith("::warning")]


def test_each_job_of_a_matrix_has_a_comment_and_a_baseline_of_its_own(runner):
    pushed(runner)
    action = runner(PULL)
    job = action.run(**FAILS, name="on h100")
    assert "there is no baseline yet" in job.summary
    action.run(**FAILS)
    assert [comment.splitlines()[0] for comment in comments(action)] == [
        "<!-- warpgauge on h100 -->",
        "<!-- warpgauge warpgauge -->",
    ]


def test_a_comment_of_somebody_else_is_left_alone(runner):
    action = runner(PULL)
    file = action.workspace.parent / "programs/comments.json"
    theirs = {"id": 1, "login": "mallory", "body": "<!-- warpgauge warpgauge -->\nhello"}
    file.write_text(json.dumps([theirs]))
    action.run(**PASSES)
    assert comments(action)[0].endswith("hello") and len(comments(action)) == 2


@pytest.mark.parametrize("contexts", [FORK, PULL | {"github.actor": "dependabot[bot]"}])
def test_a_pull_request_whose_token_cannot_write_has_the_summary_only(runner, contexts):
    pushed(runner, was_better)
    action = runner(contexts)
    job = action.run(**FAILS)
    assert job.code == 1 and not comments(action)
    assert "1 kernel worse, against main at " in job.summary


@pytest.mark.parametrize("refused", ["--paginate", "POST"])
def test_a_job_without_the_permission_to_comment_is_no_failure(runner, refused, monkeypatch):
    monkeypatch.setenv("GH_REFUSES", refused)
    action = runner(PULL)
    job = action.run(**PASSES)
    assert job.code == 0 and not comments(action) and not errors(job)
    assert "give the job 'permissions: pull-requests: write'" in job.log


def test_the_token_reaches_only_the_comment():
    steps = ACTION["runs"]["steps"]
    assert [step["name"] for step in steps if "token" in str(step)] == ["Comment"]


def test_an_earlier_push_is_compared_with_where_its_base_has_none(runner):
    pushed(runner)
    job = runner(PULL | {"github.event.pull_request.base.sha": "newer"}).run(**FAILS)
    assert job.used[RESTORE]["key"] == "warpgauge-facts-newer"
    assert "1 kernel the same, against" in job.summary and "The base: commit " in job.summary


def test_a_merge_queue_is_compared_with_the_base_of_its_group(runner):
    pushed(runner, was_better)
    group = {"github.event_name": "merge_group", "github.event.merge_group.base_sha": "b45e"}
    action = runner(group)
    job = action.run(**FAILS)
    assert job.code == 1 and job.summary.startswith("# warpgauge: 1 kernel worse")
    assert job.used[RESTORE]["key"] == "warpgauge-facts-b45e"
    assert SAVE not in job.used and not comments(action)


def test_a_first_run_says_that_there_is_no_baseline(runner):
    job = runner(PULL).run(**PASSES)
    assert job.code == 0
    assert job.summary.startswith("No delta: there is no baseline yet; the next push to the base")


def test_a_baseline_that_cannot_be_compared_is_no_success_of_the_comparison(runner):
    action = runner(PULL)
    action.caches["warpgauge-facts-b45e"] = {"facts.jsonl": b"damaged"}
    job = action.run(**PASSES)
    assert job.code == 0 and job.outputs["diff"] == ""
    assert job.summary.startswith("No delta: the facts cannot be compared with those of the base")
    assert "unchanged" not in job.summary


def test_a_gate_that_has_a_fault_leaves_no_baseline(runner):
    job = runner(PUSH).run(**{**PASSES, "filter": "nothing.*"})
    assert job.code == 2 and SAVE not in job.used


def test_a_baseline_can_be_a_file(runner):
    action = runner()
    action.run(**FAILS, baseline="none")
    (action.workspace / "main.jsonl").write_text(
        was_better((action.workspace / "out/facts.jsonl").read_text())
    )
    job = action.run(**FAILS, baseline="main.jsonl")
    assert job.code == 1 and job.summary.startswith("# warpgauge: 1 kernel worse")
    assert RESTORE not in job.used and SAVE not in job.used


@pytest.mark.parametrize(
    "text, says", [(None, "there is no such file"), ("damaged", "cannot be compared with main")]
)
def test_a_file_that_is_no_baseline_is_a_fault(runner, text, says):
    action = runner()
    if text:
        (action.workspace / "main.jsonl").write_text(text)
    job = action.run(**PASSES, baseline="main.jsonl")
    assert job.code == 2 and says in errors(job)[0]


def test_without_a_baseline_only_the_budgets_speak(runner):
    job = runner(PULL).run(**PASSES, baseline="none")
    assert job.code == 0 and RESTORE not in job.used
    assert job.summary.startswith("# warpgauge: PASS")


# ---- alerts --------------------------------------------------------------------------------------


def whole_run(runner, code, inputs=None, github=PUSH):
    """The job of a gate without a filter that ends with this code."""
    action = runner(github)
    stand_in(action, ALL_RESULTS + f"exit {code}")
    inputs = {"upload_sarif": "true"} | (inputs or {})
    return action.run(**{**CASE, "baseline": "none", **inputs})


def stand_in(action, gate):
    """Makes the script the gate of the gauge, whose emit does nothing; it gets $out."""
    set_gauge(action.workspace, f"#!/bin/sh\nout=out\n[ $1 = gate ] || exit 0\n{gate}\n")


ALL_RESULTS = (
    "mkdir -p $out; for f in facts.jsonl results.json summary-ci.md comment.md github.txt "
    "warpgauge.sarif; do echo {} >$out/$f; done\n"
)


def test_a_pull_request_from_a_fork_uploads_no_alerts(runner):
    job = whole_run(runner, 1, github=FORK)
    assert job.code == 1 and UPLOAD in job.used and SARIF not in job.used


def test_alerts_are_uploaded_for_pull_requests_of_the_repository_itself(runner):
    assert SARIF in whole_run(runner, 0, github=PULL).used


def test_alerts_are_left_out_unless_the_caller_wants_them(runner):
    assert SARIF not in whole_run(runner, 0, {"upload_sarif": "false"}).used
    assert ACTION["inputs"]["upload-sarif"]["default"] == "false"


@pytest.mark.parametrize("code, uploaded", [(0, True), (1, True), (2, False), (3, False)])
def test_alerts_of_a_run_that_has_not_judged_all_do_not_close_those_of_another(
    runner, code, uploaded
):
    job = whole_run(runner, code)
    assert job.code == code and UPLOAD in job.used
    assert job.used.get(SARIF) == ({"sarif_file": "out/warpgauge.sarif"} if uploaded else None)


@pytest.mark.parametrize("some", [{"filter": "transpose.*"}, {"exclude": "transpose.*"}])
def test_alerts_of_some_cases_do_not_close_those_of_the_others(runner, some):
    job = whole_run(runner, 0, some)
    assert job.code == 0 and UPLOAD in job.used and SARIF not in job.used


# ---- what goes wrong -----------------------------------------------------------------------------


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
    assert whole_run(runner, code).code == 2


def test_what_kernels_and_builds_print_is_no_workflow_command(runner):
    action = runner()
    forged = "echo ::error::forged; echo ::add-mask::x; printf no-newline\n"
    stand_in(action, forged + ALL_RESULTS)
    with (action.workspace / "CMakeLists.txt").open("a") as lists:
        lists.write('execute_process(COMMAND echo "::error::forged")\n')
    job = action.run(**CASE, baseline="none")
    assert job.code == 0 and not annotations(job) and "forged" in job.log

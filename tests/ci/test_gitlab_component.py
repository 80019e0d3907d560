"""The GitLab component: its inputs, and the script of its job, run on another repository."""

import os
import re
import shutil
import subprocess
import sys

import pytest
import yaml
from scratch_checkout import ROOT
from second_repository import calls_file, programs_folder, second_repository, write_program

COMPONENT = ROOT / "templates/gate.yml"
SPEC, JOBS = yaml.safe_load_all(COMPONENT.read_text())
INPUTS = SPEC["spec"]["inputs"]
CASE = {"device": "emulated", "arch": "sm_90", "gauge": "my-gauge"}
PASSES = CASE | {"filter": "canaries.healthy.*"}
FAILS = CASE | {"filter": "canaries.padding_removed.*"}
BROKEN = PASSES | {"gauge": "broken"}  # cannot be built
MAIN = {"CI_COMMIT_BRANCH": "main", "CI_DEFAULT_BRANCH": "main"}
MERGE_REQUEST = {"CI_DEFAULT_BRANCH": "main", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"}


def refused(given):
    """The inputs that GitLab would not take, as it checks them."""
    wrong = set(given) - set(INPUTS)
    for name, spec in INPUTS.items():
        value = given.get(name, spec.get("default"))
        kinds = {"boolean": bool, "array": list}
        right = isinstance(value, kinds.get(spec.get("type"), str))
        if right and "options" in spec:
            right = value in spec["options"]
        if right and "regex" in spec:
            right = re.search(spec["regex"].replace("$", r"\Z"), value)
        if not right:
            wrong.add(name)
    return wrong


def filled(part, given):
    """The document with the inputs in their places."""
    if isinstance(part, dict):
        return {filled(key, given): filled(value, given) for key, value in part.items()}
    if isinstance(part, list):
        return [filled(item, given) for item in part]
    if not isinstance(part, str):
        return part
    values = {name: given.get(name, spec.get("default")) for name, spec in INPUTS.items()}
    if whole := re.fullmatch(r"\$\[\[ inputs\.([\w-]+) \]\]", part):
        return values[whole[1]]

    def text(match):
        value = values[match[1]]
        return str(value).lower() if isinstance(value, bool) else value

    return re.sub(r"\$\[\[ inputs\.([\w-]+) \]\]", text, part)


@pytest.fixture
def pipeline(tmp_path):
    """A function that runs the job with inputs in the repository: exit code, log, repository."""
    repository = second_repository(tmp_path / "kernels")
    programs = programs_folder(tmp_path / "programs")

    def run(inputs, variables=MAIN):
        assert not refused(inputs)
        (job,) = filled(JOBS, inputs).values()
        done = subprocess.run(
            ["sh", "-ec", "\n".join(job["script"])],
            cwd=repository,
            env=os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
        return done.returncode, done.stdout, repository

    return run


def test_the_job_is_valid_by_the_schema_of_gitlab(tmp_path):
    file = tmp_path / "filled.yml"
    file.write_text(yaml.safe_dump(filled(JOBS, PASSES)))
    schema = ["--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci"]
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", *schema, file], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_inputs_are_in_the_form_of_gitlab():
    for name, spec in INPUTS.items():
        assert set(spec) <= {"description", "default", "options", "regex", "type"}, name
        assert spec["description"]
    assert {name for name, spec in INPUTS.items() if "default" not in spec} == {"gauge", "device"}
    assert refused({}) == {"gauge", "device"} and not refused(PASSES)


def test_the_component_has_the_inputs_of_the_action():
    action = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    assert set(action) - set(INPUTS) == {"out", "upload-sarif", "name"}


def test_shellcheck_finds_nothing_in_the_script(tmp_path):
    (job,) = filled(JOBS, PASSES).values()
    file = tmp_path / "job.sh"
    file.write_text(
        "# shellcheck shell=sh disable=SC2194,SC2157,SC2050,SC2329\n" + job["script"][0]
    )
    done = subprocess.run(
        [ROOT / "build/venv/bin/shellcheck", file], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "name, value",
    [
        ("gauge", "a';touch stolen;'"),
        ("gauge", "-x"),
        ("filter", "'$(touch stolen)'"),
        ("filter", "a\nb"),
        ("exclude", "a' b"),
        ("device", "gup"),
        ("strict", "yes"),
        ("require", "luck"),
        ("fuzz", "0"),
        ("fuzz", "100001"),
        ("package", "'"),
    ],
)
def test_inputs_that_would_leave_their_quotes_are_refused(name, value):
    assert refused(PASSES | {name: value}) == {name}


def test_every_input_in_the_script_is_quoted_and_has_a_pattern():
    script = "".join(JOBS["$[[ inputs.job-name ]]"]["script"])
    for match in re.finditer(r"(.)\$\[\[ inputs\.([\w-]+) \]\](.)", script):
        assert match[1] == match[3] == "'", match[2]
        spec = INPUTS[match[2]]
        assert "regex" in spec or "options" in spec or spec["type"] == "boolean"


def test_what_the_shell_would_obey_is_text(pipeline):
    code, log, repository = pipeline(PASSES | {"filter": "$(touch${IFS}stolen)`touch`"})
    assert code == 2 and not (repository / "stolen").exists()


@pytest.mark.parametrize("inputs, code", [(PASSES, 0), (FAILS, 1)])
def test_the_job_ends_with_the_code_of_the_gate_and_leaves_its_reports(pipeline, inputs, code):
    ended, log, repository = pipeline(inputs)
    assert ended == code, log
    job = JOBS["$[[ inputs.job-name ]]"]
    assert job["artifacts"]["when"] == "always" and "allow_failure" not in job
    for report in job["artifacts"]["reports"].values():
        assert (repository / report).is_file(), report


def test_inputs_are_options_of_the_gauge(pipeline):
    more = {
        "exclude": "canaries.a*",
        "require": "cubin",
        "fuzz": "2",
        "strict": True,
        "gauge": "gauge.sh",
    }
    code, log, repository = pipeline(PASSES | more)
    assert code in (0, 1), log
    assert calls_file(repository).read_text().splitlines()[0] == (
        "gate --out=out --device=emulated --filter=canaries.healthy.* --exclude=canaries.a* "
        "--arch=sm_90 --require=cubin --fuzz=2 --strict"
    )


@pytest.mark.parametrize(
    "gauge, says",
    [
        ("nothing", "the target nothing could not be built"),
        ("bin/nothing", "there is no program bin/nothing"),
    ],
)
def test_a_gauge_that_is_not_there_is_an_error(pipeline, gauge, says):
    code, log, _ = pipeline(PASSES | {"gauge": gauge})
    assert code == 2 and f"warpgauge: {says}" in log


def test_a_project_without_a_gauge_is_an_error(pipeline, tmp_path):
    (tmp_path / "kernels/CMakeLists.txt").unlink()
    code, log, _ = pipeline(PASSES)
    assert code == 2 and "this project has no gauge" in log


# Stand-ins: git, whose ls-remote knows a tag and a branch; a venv whose pip makes wheels.
GIT = """#!/bin/sh
[ "$1" = ls-remote ] || exec REAL "$@"
case "$(REAL ls-remote --get-url "$2") $3" in
  'https://git.example/some/gauge v0' | 'ssh://git@git.example/some/gauge HEAD') echo "$COMMIT" ;;
  'https://gitlab-ci-token:a-token@git.example/private/gauge HEAD') echo "$COMMIT" ;;
  *) exit 128 ;;
esac
"""
PYTHON = """#!/bin/sh
[ "$1 $2 $3" = "-I -m venv" ] || exec REAL "$@"
mkdir -p "$4/bin" && cp "$0.pip" "$4/bin/pip"
"""
PIP = """#!/bin/sh
echo "pip $*"
case $5 in */private/*) git ls-remote "${5#git+}" HEAD || exit 1 ;; esac
case $1 in
  wheel) mkdir -p "$4" && echo "a wheel" >"$4/warpgauge-0.1.0-any.whl" ;;
  install) grep -q "a wheel" "$2" && cp "WARPGAUGE" "$(dirname "$0")/warpgauge" ;;
esac
"""
PACKAGE = "git+https://git.example/some/gauge@v0"


@pytest.fixture
def bare(pipeline, tmp_path, monkeypatch):
    """As pipeline, on an image without warpgauge, in a fresh workspace with the cache of the last
    job."""
    programs = tmp_path / "programs"
    installed = (programs / "warpgauge").rename(programs / "installed")
    write_program(programs / "git", GIT.replace("REAL", shutil.which("git")))
    write_program(programs / "python3", PYTHON.replace("REAL", shutil.which("python3")))
    write_program(programs / "python3.pip", PIP.replace("WARPGAUGE", str(installed)))
    write_program(programs / "nvcc", '#!/bin/sh\necho "release $CUDA"\n')
    monkeypatch.setenv("CUDA", "13.0")
    monkeypatch.setenv("COMMIT", "1234")

    def run(inputs=BROKEN, variables=MAIN):
        for left in ("build", ".warpgauge"):
            shutil.rmtree(tmp_path / "kernels" / left, ignore_errors=True)
        return pipeline({"package": PACKAGE} | inputs, variables)

    return run


@pytest.mark.parametrize(
    "package", [PACKAGE, "git+ssh://git@git.example/some/gauge", "wheels/warpgauge-0.1.0-any.whl"]
)
def test_the_wheel_is_made_once_for_all_jobs(bare, package):
    code, log, _ = bare(PASSES | {"package": package})
    assert code == 0 and f"pip wheel --no-deps --wheel-dir .warpgauge-wheel {package}" in log, log
    code, log, _ = bare(BROKEN | {"package": package})
    assert "pip wheel" not in log and "pip install .warpgauge-wheel/" in log
    (job,) = JOBS.values()
    assert job["cache"][1]["paths"] == [".warpgauge-wheel"]


PRIVATE = "git+https://git.example/private/gauge"
ON_GITLAB = MAIN | {"CI_SERVER_URL": "https://git.example", "CI_JOB_TOKEN": "a-token"}


def test_a_private_repository_of_this_gitlab_is_read_with_the_token_of_the_job(bare):
    configured = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "a.b", "GIT_CONFIG_VALUE_0": "c"}
    code, log, repository = bare(PASSES | {"package": PRIVATE}, ON_GITLAB | configured)
    assert code == 0 and "pip install .warpgauge-wheel/" in log, log
    assert "a-token" not in log + (repository / ".warpgauge-wheel/of").read_text()


@pytest.mark.parametrize(
    "variables",
    [MAIN, ON_GITLAB | {"CI_JOB_TOKEN": "b"}, ON_GITLAB | {"CI_SERVER_URL": "https://x"}],
)
def test_a_repository_that_the_job_may_not_read_is_a_fault(bare, variables):
    code, log, _ = bare(PASSES | {"package": PRIVATE}, variables)
    assert code == 2 and f"there is no {PRIVATE}, or none that this job may read" in log


@pytest.mark.parametrize("name", ["CUDA", "COMMIT", "package"])
def test_a_wheel_of_another_toolkit_commit_or_package_is_not_taken(bare, monkeypatch, name):
    bare()
    other = {"package": "some.whl"} if name == "package" else {}
    monkeypatch.setenv(name, "other")
    assert "pip wheel" in bare(BROKEN | other)[1]


@pytest.mark.parametrize(
    "package, says",
    [
        ("git+https://git.example/none@v0", "there is no git+https://git.example/none@v0"),
        (PACKAGE, "the wheel of warpgauge could not be made"),
    ],
)
def test_a_package_that_cannot_be_had_is_a_fault(bare, tmp_path, package, says):
    write_program(tmp_path / "programs/python3.pip", "#!/bin/sh\nexit 1\n")
    code, log, repository = bare(BROKEN | {"package": package})
    assert code == 2 and f"warpgauge: {says}" in log
    assert not (repository / ".warpgauge-wheel/of").exists()


def test_a_damaged_wheel_is_a_fault(bare):
    (wheel,) = (bare()[2] / ".warpgauge-wheel").glob("*.whl")
    wheel.write_text("damaged")
    code, log, _ = bare()
    assert code == 2 and "warpgauge could not be installed" in log


def test_the_log_ends_with_verdict_and_delta(pipeline):
    _, log, repository = pipeline(FAILS)
    assert "no delta: there is no baseline" in log
    base = repository / "out/base/facts.jsonl"
    facts = base.read_text().replace('"shared.bank_conflicts":1984', '"shared.bank_conflicts":0')
    base.write_text(facts)
    code, log, repository = pipeline(FAILS, MERGE_REQUEST)
    assert code == 1, log
    verdict, empty, delta = log.rstrip("\n").splitlines()[-3:]
    assert (verdict, empty) == ("### warpgauge: FAIL: 1 value over budget", "")
    assert delta.startswith("1 kernel worse, against main at ")
    assert base.read_text() == facts, "only the default branch leaves a baseline"


def test_a_baseline_that_cannot_be_compared_is_said(pipeline):
    _, _, repository = pipeline(PASSES)
    (repository / "out/base/facts.jsonl").write_text("damaged")
    code, log, _ = pipeline(PASSES, MERGE_REQUEST)
    assert code == 0 and "no delta: the facts cannot be compared" in log
    assert "unchanged" not in log
    (repository / "main.jsonl").write_text("damaged")
    code, log, _ = pipeline(PASSES | {"baseline": "main.jsonl"}, MERGE_REQUEST)
    assert code == 2 and "cannot be compared with main.jsonl" in log
    assert pipeline(PASSES | {"baseline": "none.jsonl"}, MERGE_REQUEST)[0] == 2


def test_results_of_an_earlier_run_are_not_taken_for_those_of_this_one(pipeline):
    _, _, repository = pipeline(PASSES)
    code, log, _ = pipeline(PASSES | {"filter": "nothing.*"})
    assert code == 2 and not (repository / "out/results.json").exists()

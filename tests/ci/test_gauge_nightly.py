"""The nights of a gauge in another repository, as GitHub and GitLab run them: programs that are
installed alone, a history that is kept, and a page."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from github_runner import Runner, job_of
from scratch_checkout import ROOT
from second_repository import BIN, programs_folder, second_repository, write_program

GITHUB = ROOT / "ci/github/workflows/gauge-nightly.yml"
GITLAB = ROOT / "ci/gitlab/gauge-nightly.gitlab-ci.yml"
ACTION = yaml.safe_load((ROOT / "action.yml").read_text()), ROOT
UPLOAD, SAVE = "actions/upload-artifact", "actions/cache/save"
PASSES, FAILS = "canaries.healthy.*", "canaries.padding_removed.*"
INSTALLED = f'#!/bin/sh\n[ "$1" = config ] && dirname "$0" || exec {BIN}/warpgauge "$@"\n'
HISTORY = {"history-6-1": {"history.db": b""}}  # which SQLite takes for an empty one
BEGINS = {"inputs.new-history": True}


@pytest.fixture
def kernels(tmp_path, monkeypatch):
    """The other repository, on a machine where warpgauge is installed."""
    repository = second_repository(tmp_path / "kernels")
    subprocess.run(["git", "init", "-q", repository], check=True)
    programs = programs_folder(tmp_path / "programs")
    write_program(programs / "warpgauge", INSTALLED)
    write_program(programs / "nvcc", "#!/bin/sh\n")
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    return repository


# ---- GitHub --------------------------------------------------------------------------------------


@pytest.fixture
def night(kernels, tmp_path):
    """A function that runs the workflow with a filter, and returns the Job and the caches."""
    text = GITHUB.read_text().replace("gauge: first", "gauge: my-gauge, arch: sm_90")
    job = job_of(yaml.safe_load(text), "night")
    (name,) = (step["uses"] for step in job["runs"]["steps"] if "gauge" in step.get("with", {}))

    def run(cases, caches=HISTORY, **contexts):
        for step in job["runs"]["steps"]:
            if step.get("uses") == name:
                step["with"]["filter"] = cases
        always = {"inputs.new-history": "", "github.run_id": "7", "github.run_attempt": "1"}
        always |= {"runner.temp": str(tmp_path / "temp")}
        actions = {name.partition("@")[0]: ACTION}
        runner = Runner(job, "", kernels, always | contexts, dict(caches), actions)
        return runner.run(), runner.caches

    return run


def test_the_workflow_is_short_and_calls_nothing_of_this_repository():
    lines = GITHUB.read_text().splitlines()
    assert len(lines) <= 25 and all(len(line) <= 120 for line in lines)
    for file in (GITHUB, GITLAB):
        assert not re.search(r"ci/(?!md\b)\w+", file.read_text().replace("docs/ci.md", ""))


def test_a_night_leaves_a_page_and_the_history(night, kernels):
    done, caches = night(PASSES)
    assert done.code == 0, done.log
    assert done.used[UPLOAD] == {"name": "page", "path": "page"}
    assert "canaries" in (kernels / "page/index.html").read_text()
    assert (kernels / "page/digest.md").read_text() in done.summary
    assert len(caches["history-7-1"]["history.db"]) > 0


def test_a_red_night_is_red_after_its_page_and_its_history(night, kernels):
    done, caches = night(FAILS, {}, **BEGINS)
    assert done.code == 1, done.log
    assert UPLOAD in done.used and "history-7-1" in caches
    assert (kernels / "page/digest.md").read_text() in done.summary


def test_a_history_that_is_not_found_is_red_and_not_replaced(night):
    done, caches = night(PASSES, {})
    assert done.code == 1 and not caches and UPLOAD not in done.used


def test_a_night_that_measures_nothing_is_red_and_keeps_the_history_as_it_is(night, kernels):
    done, caches = night("nothing.*")
    assert done.code == 2 and UPLOAD not in done.used
    assert caches["history-7-1"] == HISTORY["history-6-1"] or "history-7-1" not in caches
    assert not (kernels / "page").exists()


# ---- GitLab --------------------------------------------------------------------------------------

PYTHON = f"""#!/bin/sh
[ "$1 $2" = "-m venv" ] || exec python3 "$@"
mkdir -p "$3/bin"
printf '#!/bin/sh\\necho "pip $*"\\n' >"$3/bin/pip"
cat >"$3/bin/warpgauge" <<'EOF'
{INSTALLED}EOF
chmod +x "$3"/bin/*
"""


@pytest.fixture
def gitlab_night(kernels):
    """A function that runs the script of the job: exit code, log."""
    programs = kernels.parent / "programs"
    (programs / "warpgauge").unlink()
    write_program(programs / "python3", PYTHON.replace("exec python3", f"exec {sys.executable}"))
    write_program(programs / "apt-get", '#!/bin/sh\necho "apt-get $*"\n')
    script = "\n".join(yaml.safe_load(GITLAB.read_text())["warpgauge:night"]["script"])
    script = re.sub(r"(--target |build/)first", r"\1my-gauge", script)

    def run(cases, **variables):
        text = script.replace("--device=emulated", f"--device=emulated --filter='{cases}'")
        done = subprocess.run(
            ["sh", "-ec", text.replace("--filter", "--arch=sm_90 --filter")],
            cwd=kernels,
            env=os.environ | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
        return done.returncode, done.stdout

    return run


def test_a_gitlab_night_begins_its_history_only_if_told(gitlab_night, kernels):
    code, log = gitlab_night(PASSES)
    assert code == 2 and "no history here; begin it with NEW_HISTORY=1" in log
    assert not (kernels / "history.db").exists() and "apt-get" not in log


def test_a_gitlab_night_is_red_after_its_page_and_its_history(gitlab_night, kernels):
    ended, log = gitlab_night(FAILS, NEW_HISTORY="1")
    assert ended == 1, log
    assert "canaries" in (kernels / "out/page/index.html").read_text()
    job = yaml.safe_load(GITLAB.read_text())["warpgauge:night"]
    assert (kernels / "history.db").stat().st_size and job["cache"]["paths"] == ["history.db"]
    assert job["artifacts"] == {"when": "always", "paths": ["out"]} and "allow_failure" not in job


def test_a_gitlab_night_that_measures_nothing_is_red(gitlab_night, kernels):
    ended, _ = gitlab_night("nothing.*", NEW_HISTORY="1")
    assert ended == 2 and not Path(kernels / "out/page").exists()

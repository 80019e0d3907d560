"""The nights of a gauge in another repository, as GitHub and GitLab run them: programs that are
installed alone, a history that is kept, and a page."""

import json
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
from warpgauge.program import main

GITHUB = ROOT / "ci/github/workflows/gauge-nightly.yml"
OWN_GITLAB = ROOT / "ci/gitlab/warpgauge-nightly.gitlab-ci.yml"
GITLAB = ROOT / "ci/gitlab/gauge-nightly.gitlab-ci.yml"
ACTION = yaml.safe_load((ROOT / "action.yml").read_text()), ROOT
UPLOAD, SAVE = "actions/upload-artifact", "actions/cache/save"
PASSES, FAILS = "canaries.healthy.*", "canaries.padding_removed.*"
INSTALLED = f'#!/bin/sh\n[ "$1" = config ] && dirname "$0" || exec {BIN}/warpgauge "$@"\n'
HISTORY = {"history-6-1": {"history.db": b""}}  # which SQLite takes for an empty one
BEGINS = {"inputs.new-history": True}
INPUTS = ("new-history", "acknowledge", "reason", "until")
ACK = ("canaries.healthy.*/code.bytes", "The tile is larger", "2999-12-31")


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


def history_of_a_better_night(kernels):
    """A history with a night before that of the facts, whose code was half as large."""
    facts = (kernels / "out/facts.jsonl").read_text()
    better, count = re.subn(
        r'"code.bytes":(\d+)', lambda m: f'"code.bytes":{int(m[1]) // 2}', facts
    )
    assert count
    better = re.sub(r'("(?:sass|source|code)_hash":)"\w+"', r'\1"0123456789abcdef"', better)
    run = json.loads(facts.partition("\n")[0])["run"]
    file, db = kernels.parent / "better.jsonl", kernels.parent / "history.db"
    file.write_text(better.replace(f'"run":"{run}"', '"run":"the-night-before"'))
    options = ["--db", str(db), "--time", "2026-01-14T01:00:00Z"]
    assert main(["report", "ingest", str(file), *options]) == 0
    return db.read_bytes()


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
        always = dict.fromkeys(map("inputs.{}".format, INPUTS), "") | {
            "github.run_id": "7",
            "github.run_attempt": "1",
        }
        always |= {"runner.temp": str(tmp_path / "temp")}
        actions = {name.partition("@")[0]: ACTION}
        runner = Runner(job, "", kernels, always | contexts, dict(caches), actions)
        return runner.run(), runner.caches

    return run


def test_the_workflow_is_short_and_calls_nothing_of_this_repository():
    lines = GITHUB.read_text().splitlines()
    assert len(lines) <= 27 and all(len(line) <= 120 for line in lines)
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


def test_what_got_worse_is_red_until_it_is_acknowledged_by_hand(night, kernels):
    assert night(PASSES, {}, **BEGINS)[0].code == 0
    caches = {"history-6-1": {"history.db": history_of_a_better_night(kernels)}}
    names = ("inputs.acknowledge", "inputs.reason", "inputs.until")
    done, _ = night(PASSES, caches, **dict(zip(names, (ACK[0], "", ""), strict=True)))
    assert done.code != 0 and "--until" in done.log, done.log
    assert UPLOAD in done.used and "1 value got worse" in done.summary  # kept all the same
    done, caches = night(PASSES, caches, **dict(zip(names, ACK, strict=True)))
    assert done.code == 0 and f"acknowledged until {ACK[2]}" in done.log, done.log
    assert ACK[1] in (kernels / "page/index.html").read_text()
    assert len(caches["history-7-1"]["history.db"]) > 0


def test_the_workflow_has_the_inputs_of_the_nights_of_this_repository():
    own = ROOT / "ci/github/workflows/warpgauge-nightly.yml"
    both = [yaml.safe_load(file.read_text())[True] for file in (GITHUB, own)]  # "on" is true
    found = [of["workflow_dispatch"]["inputs"] for of in both]
    assert tuple(found[0]) == tuple(found[1]) == INPUTS


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


def test_a_gitlab_night_acknowledges_what_its_variables_name(gitlab_night, kernels):
    assert gitlab_night(PASSES, NEW_HISTORY="1")[0] == 0
    (kernels / "history.db").write_bytes(history_of_a_better_night(kernels))
    job = yaml.safe_load(GITLAB.read_text())["warpgauge:night"]
    own = yaml.safe_load(OWN_GITLAB.read_text())["variables"]
    names = [name for name in own if name.startswith("WARPGAUGE_ACK")]
    assert [job["variables"][name] for name in names] == ["", "", ""]
    ended, log = gitlab_night(PASSES, **{names[0]: ACK[0]})
    assert ended == 2 and "--until" in log and (kernels / "out/page/index.html").exists(), log
    ended, log = gitlab_night(PASSES, **dict(zip(names, ACK, strict=True)))
    assert ended == 0 and f"acknowledged until {ACK[2]}" in log, log

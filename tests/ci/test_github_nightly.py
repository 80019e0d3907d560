"""The nightly workflow for GitHub, each of its jobs run step by step."""

import fnmatch
import json
from pathlib import Path

import pytest
import yaml
from github_runner import Runner, annotations, job_of
from scratch_checkout import (
    ONE_FAILS,
    ONE_PASSES,
    REPORT,
    ROOT,
    pretend_gpus,
    scratch_checkout,
    stand_in,
)

WORKFLOW = yaml.safe_load((ROOT / "ci/github/workflows/warpgauge-nightly.yml").read_text())
UPLOAD, DOWNLOAD = "actions/upload-artifact", "actions/download-artifact"
PAGES = "actions/upload-pages-artifact"
RESTORE, SAVE = "actions/cache/restore", "actions/cache/save"
SCHEDULED = {
    "inputs.new-history": "",
    "inputs.acknowledge": "",
    "inputs.reason": "",
    "inputs.until": "",
    "matrix.gpu": "h100",
    "github.run_id": "7",
    "github.run_attempt": "1",
}
TWO = ["h100", "l40s"]


@pytest.fixture
def job(tmp_path, monkeypatch):
    """A function that makes a Runner of the job NAME, a night of one case; the history and its
    page are stand-ins."""
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("MODELS", "")

    def make(name, program="warpgauge", case=ONE_PASSES, **contexts):
        checkout = scratch_checkout(tmp_path / "checkout", program)
        pretend_gpus(checkout, program)
        stand_in(checkout, "warpgauge-python", REPORT)
        nightly = checkout / "ci/nightly"
        real = nightly.rename(checkout / "ci/real")
        nightly.write_text(f"#!/bin/sh\nexec '{real}' --filter='{case['filter']}' \"$@\"\n")
        nightly.chmod(0o755)
        kept = {"warpgauge-history-6-1": {"history.db": b"a history"}}
        return Runner(job_of(WORKFLOW, name), "", checkout, SCHEDULED | contexts, kept)

    return make


def leave_facts(runner, *gpus):
    """Writes the files of the measuring jobs' artifacts."""
    for gpu in gpus:
        folder = runner.workspace / "out" / gpu / "model"
        folder.mkdir(parents=True)
        (folder / "facts.jsonl").write_text("{}\n")
        (folder / "github.txt").write_text("::error::of another job\n")


def calls(tmp_path):
    return (tmp_path / "calls").read_text()


def test_the_kinds_of_gpu_are_those_of_one_list(job):
    runner = job("gpus")
    assert runner.run().code == 0
    assert json.loads(runner.values["steps.gpus.outputs.gpus"]) == TWO
    matrix = WORKFLOW["jobs"]["measure"]["strategy"]["matrix"]["gpu"]
    assert matrix == "${{ fromJSON(needs.gpus.outputs.gpus) }}"
    assert WORKFLOW["jobs"]["gpus"]["outputs"] == {"gpus": "${{ steps.gpus.outputs.gpus }}"}


def test_a_gpu_is_measured_and_its_results_are_where_the_report_looks(job, monkeypatch):
    monkeypatch.setenv("MODELS", "GPU-1\tNVIDIA H100\n")
    runner = job("measure")
    done = runner.run()
    assert done.code == 0, done.log
    for file in ("facts.jsonl", "times.jsonl"):
        assert (runner.workspace / "out/h100/nvidia-h100" / file).stat().st_size
    assert "padded.f32" in done.summary or "transpose" in done.summary
    assert not [line for line in annotations(done) if line.startswith("::error")]
    assert done.used[UPLOAD] == {
        "name": "warpgauge-nightly-h100",
        "path": "out",
        "if-no-files-found": "error",
    }
    download = job_uses("report", DOWNLOAD)
    assert fnmatch.fnmatch(done.used[UPLOAD]["name"], download["pattern"])
    assert download["path"] == "out" and download["merge-multiple"] is True


def job_uses(name, action):
    (used,) = (
        step["with"]
        for step in WORKFLOW["jobs"][name]["steps"]
        if step.get("uses", "").startswith(action)
    )
    return used


def test_a_gpu_that_has_gone_is_red_and_never_replaced_by_the_emulator(job):
    runner = job("measure")
    done = runner.run()
    assert done.code == 3 and UPLOAD in done.used, done.log
    assert not list((runner.workspace / "out").rglob("facts.jsonl"))
    assert "exit code 3, and no results" in done.summary
    assert any("could not be measured" in line for line in annotations(done))


def test_what_is_over_budget_is_red_after_the_upload(job, monkeypatch):
    monkeypatch.setenv("MODELS", "GPU-1\tNVIDIA H100\n")
    runner = job("measure", "warpgauge-faulty", ONE_FAILS)
    stand_in(runner.workspace, "warpgauge-bench", "#!/bin/sh\n")
    done = runner.run()
    assert done.code == 1, done.log
    assert UPLOAD in done.used and "tests/canaries/family.cu" in done.summary
    blamed = [line for line in annotations(done) if "tests/canaries/family.cu" in line]
    assert any(line.startswith("::error") for line in blamed)


def test_all_that_was_measured_comes_into_the_history_and_onto_the_page(job, tmp_path):
    runner = job("report")
    leave_facts(runner, *TWO)
    done = runner.run()
    assert done.code == 0, done.log
    ingest, prune, html = [line for line in calls(tmp_path).splitlines() if "report " in line]
    files = [f"out/{name}/facts.jsonl" for name in ("emulated", "h100/model", "l40s/model")]
    assert ingest == f"report ingest --night --db=out/history.db -- {' '.join(files)}"
    assert prune == "report prune --db=out/history.db --keep=365d"
    assert "--source-link=https://git.example/owner/kernels/blob/{commit}/{file}#L{line}" in html
    assert done.summary == "a digest\n\n"
    assert "out/report" in done.used[UPLOAD]["path"].split()
    keys = {"path": "out/history.db*", "key": "warpgauge-history-7-1"}
    assert done.used[SAVE] == keys
    restore = {"restore-keys": "warpgauge-history-", "fail-on-cache-miss": "True"}
    assert done.used[RESTORE] == keys | restore
    assert not [line for line in annotations(done) if line.startswith("::error")]
    assert "--commit-link=https://git.example/owner/kernels/commit/{commit}" in html
    compare = "--compare-link=https://git.example/owner/kernels/compare/{base}...{commit}"
    assert compare in html and "--address" not in html and PAGES not in done.used


def test_with_an_address_the_page_goes_to_github_pages(job, tmp_path):
    runner = job("report", **{"vars.WARPGAUGE_ADDRESS": "https://owner.example/kernels/"})
    leave_facts(runner, *TWO)
    done = runner.run()
    assert done.code == 0, done.log
    assert "--address=https://owner.example/kernels/ " in calls(tmp_path)
    assert done.used[PAGES] == {"path": "out/report"}


def test_a_gpu_that_left_nothing_is_named_and_red_after_all_else_is_done(job):
    runner = job("report")
    leave_facts(runner, "h100")
    done = runner.run()
    assert done.code == 2
    assert done.summary.startswith("**Lost: out/l40s: no facts.**\n\na digest")
    assert "out/h100" not in done.summary and "lost: out/l40s: no facts" in done.log
    assert {UPLOAD, SAVE} <= set(done.used)


def test_the_report_is_made_however_the_gpus_ended():
    report = WORKFLOW["jobs"]["report"]
    assert report["if"] == "always()" and report["needs"] == "measure"
    assert "permissions" not in report


def test_a_history_that_is_not_found_is_red_and_not_replaced(job, tmp_path):
    runner = job("report")
    runner.caches.clear()
    done = runner.run()
    assert done.code == 1 and SAVE not in done.used and not (tmp_path / "calls").exists()


def test_a_history_is_begun_by_hand(job):
    done = job("report", **{"inputs.new-history": True}).run()
    assert RESTORE not in done.used and "the history begins with this night" in done.log


def test_what_got_worse_is_acknowledged_by_hand(job, tmp_path):
    given = {"acknowledge": "a.b.f32@1/registers", "reason": "issue $12", "until": "2999-12-31"}
    runner = job("report", **{f"inputs.{name}": value for name, value in given.items()})
    leave_facts(runner, *TWO)
    assert runner.run().code == 0
    ingest, ack, *_ = [line for line in calls(tmp_path).splitlines() if "report " in line]
    assert "report ingest" in ingest
    options = "--db=out/history.db --reason=issue $12 --until=2999-12-31"
    assert ack == f"report ack {options} -- a.b.f32@1/registers"


def test_a_server_keeps_the_history_where_there_is_one(job, tmp_path):
    done = job("report", **{"vars.WARPGAUGE_DB": "postgresql://ci@db.example/warpgauge"}).run()
    assert "ingest --night --db=postgresql://ci@db.example/warpgauge --" in calls(tmp_path)
    assert not {RESTORE, SAVE} & set(done.used)


def test_an_empty_list_of_gpus_is_a_fault(job):
    runner = job("report", **{"env.GPUS": "[]"})
    done = runner.run()
    assert done.code == 2 and "--gather needs a value" in done.log


@pytest.mark.parametrize("name", ["measure", "report"])
def test_what_a_night_prints_is_no_workflow_command(job, name):
    runner = job(name)
    Path(runner.workspace / "ci/nightly").write_text("#!/bin/sh\necho ::error::forged\nexit 139\n")
    done = runner.run()
    assert done.code == 2 and "forged" in done.log
    assert annotations(done) == ["::error title=warpgauge::a fault; the log says why"]

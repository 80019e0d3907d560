"""The sample report of simulated nights: it says that they are, and shows one of each thing."""

import subprocess
import sys
from pathlib import Path

import pytest
from warpgauge.changes.series import changes, is_regressed
from warpgauge.facts.catalog import catalog
from warpgauge.history import open_history

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "reports"))

import sample  # noqa: E402
import simulated_nights  # noqa: E402
from simulated_nights import CONFLICTS, REGISTERS, TIME  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sample")
    assert sample.write_simulated(folder) == 0
    return folder


@pytest.fixture(scope="module")
def history(folder):
    with open_history(folder / "history.db") as history:
        yield history


@pytest.fixture(scope="module")
def regressed(history):
    """Case and metric of each series that got worse and did not recover."""
    found = (series.key for series in history.series() if is_regressed(series))
    return {(key.id, key.metric) for key in found}


def test_every_record_says_that_it_is_simulated(folder, history):
    assert {run.label for run in history.runs()} == {"simulated"}
    for fact in history.export():
        assert fact.file.startswith("simulated/")
        assert fact.device is None or fact.device.name.endswith(", simulated")
    page = (folder / "index.html").read_text("utf-8")
    assert "warpgauge, simulated nights" in page.partition("<title>")[2].partition("</title>")[0]
    assert (folder / "digest.md").read_text("utf-8").count("simulated") > 5


def test_the_nights_are_the_same_each_time(tmp_path):
    files = [
        [path.read_bytes() for path in simulated_nights.write(tmp_path, tmp_path / name)]
        for name in ("one", "other")
    ]
    assert files[0] == files[1]
    assert len(files[0]) == simulated_nights.NIGHTS


def test_what_the_machine_moved_is_no_regression(history):
    moved = {
        series.key.id
        for series in history.series(metric=TIME)
        for change in changes(series, catalog()[TIME])
        if change.mark == "moved" and change.better is False
    }
    assert moved == {
        simulated_nights.HISTOGRAM.id,  # the driver
        simulated_nights.TRANSPOSE.id,
        simulated_nights.LAYER_NORM.id,  # a drift of the same machine code
    }


def test_what_is_planted_is_found_and_nothing_else(regressed):
    assert regressed == {
        (simulated_nights.HISTOGRAM.id, CONFLICTS),  # over budget
        (simulated_nights.ATTENTION.id, TIME),  # a shift
        (simulated_nights.SOFTMAX.id, REGISTERS),  # the compiler
        (simulated_nights.SCAN.id, REGISTERS),
        (simulated_nights.MATMUL.id, REGISTERS),  # acknowledged
        (simulated_nights.MATMUL.id, TIME),
    }


def test_what_was_repaired_was_worse_before(history):
    (repaired,) = (event.change for event in simulated_nights.EVENTS if event.end)
    found = [each for each in history.series(metric=REGISTERS) if each.key.id == repaired.case]
    for series in found:
        values = [point.value for point in series.points]
        assert values[repaired.night] > values[0] == values[repaired.until] == values[-1]
    assert len(found) == 3


def test_the_acknowledged_regression_is_kept_with_its_reason(history):
    keys = {key.id for key in history.acknowledgements()}
    assert keys == {simulated_nights.MATMUL.id}


def test_causes_are_those_that_are_planted(folder):
    page = (folder / "index.html").read_text("utf-8")
    for cause in ("code", "compiler", "driver", "environment"):
        assert f"<b>{cause}</b>" in page


def test_the_commits_are_those_of_a_repository(folder, history):
    git = ["git", "-C", folder / "repository.git"]
    subprocess.run([*git, "fsck", "--strict"], check=True, capture_output=True)
    command = [*git, "log", "--reverse", "--format=%H %s"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    logged = dict(line.split(" ", 1) for line in lines)
    assert [run.commit for run in history.runs()] == list(logged)
    subjects = list(logged.values())
    for event in simulated_nights.EVENTS:
        assert not event.subject or subjects[event.change.night] == event.subject


def test_the_runs_say_what_the_gate_would_have_said(history):
    codes = [run.exit_code for run in history.runs()]
    assert codes == [0] * (simulated_nights.NIGHTS - 1) + [1]

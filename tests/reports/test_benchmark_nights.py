"""The generator of nights for the benchmark: valid facts, repeatable, with known changes."""

import itertools
import subprocess
import sys
from pathlib import Path

import pytest
from warpgauge.facts.reader import read_facts
from warpgauge.history import open_history

BENCHMARKS = Path(__file__).parents[2] / "reports" / "benchmarks"
sys.path.append(str(BENCHMARKS))

from nights import nights, year  # noqa: E402

PLAN = year(nights=30, cases=20)


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nights")
    with open_history(folder / "history.db", create=True) as history:
        for night, (_, content) in enumerate(nights(PLAN)):
            path = folder / f"{night}.jsonl"
            path.write_bytes(content)
            history.ingest(path)
        yield history


def test_nights_are_facts_and_repeatable(tmp_path):
    plan = year(nights=2, cases=3, lines=True)
    first, again = list(nights(plan)), list(nights(plan))
    assert first == again
    for time, content in first:
        path = tmp_path / f"{time:%Y%m%d}.jsonl"
        path.write_bytes(content)
        facts = read_facts(path)
        assert len([fact for fact in facts if fact.scope == "case"]) == 3 * 12 * 8
        assert len([fact for fact in facts if fact.scope == "line"]) == 3 * 2 * 8
    assert first[0][1] != first[1][1]


def test_exact_values_change_on_the_planted_nights_only(history):
    expected = {change.case: change.night for change in PLAN.changes}
    assert expected
    for series in history.series(metric="instructions"):
        values = [point.value for point in series.points]
        changes = [n for n, (a, b) in enumerate(itertools.pairwise(values), 1) if a != b]
        assert changes == ([expected[series.key.id]] if series.key.id in expected else [])


def test_what_changes_with_the_code_and_what_with_the_compiler(history):
    changes = {change.case: change for change in PLAN.changes}
    for series in history.series(metric="registers", arch="sm_90"):
        if change := changes.get(series.key.id):
            before, after = series.points[change.night - 1], series.points[change.night]
            assert before.sass_hash != after.sass_hash
            assert (before.source_hash != after.source_hash) == (change.kind == "code")


def test_times_have_what_times_have(history):
    for series in history.series(metric="time.median_us"):
        assert series.key.device_name and series.key.source == "clock"
        assert all(point.interval and point.code_hash for point in series.points)
    points = [p for series in history.series(metric="time.median_us") for p in series.points]
    assert any(point.disturbance for point in points)


def test_the_benchmark_runs(tmp_path):
    command = [sys.executable, BENCHMARKS / "scale.py", "--nights", "8", "--cases", "5"]
    command += ["--db", tmp_path / "history.db"]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    for step, values in (("ingest, all nights", 3840), ("read all series", 3840)):
        assert f"| {step} | {values:,} |" in ended.stdout
    assert "| prune --keep 6 | 960 |" in ended.stdout


def test_the_benchmark_of_several_machines_runs(tmp_path):
    command = [sys.executable, BENCHMARKS / "scale.py", "--nights", "2", "--cases", "3"]
    command += ["--machines", "3", "--keep", "--db", tmp_path / "history.db"]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert f"| ingest, 3 machines at once | {3 * 2 * 3 * 12 * 8:,} |" in ended.stdout

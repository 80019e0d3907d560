"""Which runs are one night, and that reading and deleting take whole nights."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from some_facts import a_fact, write
from warpgauge.history import Keep, Run, nights_of, open_history
from warpgauge.program import main

MIDNIGHT = datetime(2026, 1, 5, tzinfo=UTC)


def runs_at(*hours):
    """Runs so many hours after a midnight, named after them."""
    about = {"commit": None, "dirty": False, "toolkit": None, "flags": None, "device": None}
    return [
        Run(id=str(hour), time=MIDNIGHT + timedelta(hours=hour), emulated=True, **about)
        for hour in hours
    ]


@pytest.mark.parametrize(
    ("hours", "nights"),
    [
        ([], []),
        ([-0.5, 2, 23.5, 26], [["-0.5", "2"], ["23.5", "26"]]),  # midnight is within the night
        ([26, -0.5, 23.5, 2], [["-0.5", "2"], ["23.5", "26"]]),  # in any order
        ([1, 4, 9], [["1", "4", "9"]]),  # GPUs report hours after each other
        ([1, 7], [["1", "7"]]),
        ([1, 7.01], [["1"], ["7.01"]]),
        ([1, 9, 12, 16, 25], [["1"], ["9", "12", "16"], ["25"]]),  # the day's work is not the night
        ([1, 73, 74], [["1"], ["73", "74"]]),  # after days without
    ],
)
def test_runs_of_a_night(hours, nights):
    assert [[run.id for run in night] for night in nights_of(runs_at(*hours))] == nights


def test_where_something_always_runs_a_night_is_a_day():
    nights = nights_of(runs_at(*range(72)))
    assert [len(night) for night in nights] == [24, 24, 24]


def test_a_new_run_leaves_the_nights_before_as_they_are():
    hours = [-0.5, 2, 9, 23.5, 29, 34, 40, 46, 47.5, 50, 56]
    every = nights_of(runs_at(*hours))
    for count in range(1, len(hours)):
        *before, last = nights_of(runs_at(*hours[:count]))
        assert before == every[: len(before)]
        assert last == every[len(before)][: len(last)]


@pytest.fixture
def history(url, tmp_path):
    """Three nights of two runs each, on both sides of midnight (UTC)."""
    with open_history(url, create=True) as history:
        for day, time in enumerate(("04T23:30", "05T23:30", "07T23:30"), start=1):
            for part, begin in enumerate((time, f"{int(time[:2]) + 1:02}T02:00"), start=1):
                about = {"run": f"night-{day}.{part}", "time": f"2026-01-{begin}:00Z"}
                path = write(tmp_path / "facts.jsonl", [a_fact(day, day, **about)])
                history.ingest(path)
        yield history


def test_the_last_nights_are_whole(history):
    for count in (1, 2, 3, 4):
        (series,) = history.series(last_nights=count)
        nights = range(max(1, 4 - count), 4)
        expected = [f"night-{night}.{part}" for night in nights for part in (1, 2)]
        assert [point.run.id for point in series.points] == expected


def test_series_know_whether_the_history_has_the_occupancy_of_their_case(url, tmp_path):
    cases = {"a": ["registers", "occupancy.theoretical"], "b": ["registers"]}
    facts = [a_fact(1, case=case, metric=metric, verdict="unbudgeted", budget=None)
             for case, metrics in cases.items() for metric in metrics]  # fmt: skip
    with open_history(url, create=True) as history:
        history.ingest(write(tmp_path / "facts.jsonl", facts))
        found = {series.key.variant: series.has_occupancy for series in history.series()}
        assert found == {"a": True, "b": False}
        (of_a, of_b) = history.series(metric="registers")
        assert of_a.has_occupancy and not of_b.has_occupancy


@pytest.mark.parametrize("days", [1, 2, 3])
def test_nights_are_deleted_as_a_whole(history, days):
    """(A night that ended two days before the newest run began before those two days.)"""
    history.prune(Keep(days=days))
    assert len(history.runs()) == 2 * days
    assert history.prune(Keep(days=days)).values == 0


FUTURE, BEFORE = "2099-01-01T01:00:00Z", "1970-01-01T00:00:07Z"


def test_a_run_is_dated_by_a_wrong_clock():
    now = MIDNIGHT
    wrong = runs_at(6.1, 24 * 365 * 70, -24 * 365 * 56)
    right = runs_at(0, 5.9, -24 * 365)
    assert [run.id for night in nights_of(wrong + right, now) for run in night] == [
        run.id for run in sorted(right, key=lambda run: run.time)
    ]


@pytest.mark.parametrize("time", [FUTURE, BEFORE])
def test_an_impossible_date_is_warned_of_and_never_the_headline_s_night(time, tmp_path, capsys):
    db, site = str(tmp_path / "history.db"), tmp_path / "site"
    good = write(tmp_path / "good.jsonl", [a_fact(1), a_fact(2)], exit_code=0)
    wrong = write(tmp_path / "wrong.jsonl", [a_fact(3)])
    wrong.write_text(wrong.read_text().replace("2026-01-03T01:00:00Z", time))
    assert main(["report", "ingest", "--db", db, str(good), str(wrong)]) == 0
    warned = capsys.readouterr().err
    assert f"{wrong}: warning: run run-3 is dated {time}, which only a wrong clock" in warned
    # What stays is counted from the newest night, not from 2099.
    assert main(["report", "prune", "--db", db, "--keep", "365d"]) == 0
    assert main(["report", "html", "--db", db, "--out", str(site)]) == 0
    digest = (site / "digest.md").read_text()
    assert "night of 2026-01-02" in digest
    left_out = f"only a wrong clock can have dated them:** `run-3` ({time[:10]})"
    assert (left_out in digest) == (time == FUTURE)  # prune has removed the other
    page = (site / "index.html").read_text()
    assert ("only a wrong clock can have dated them" in page) == (time == FUTURE)


def test_only_impossible_dates_are_no_history(tmp_path, capsys):
    db = str(tmp_path / "history.db")
    wrong = write(tmp_path / "wrong.jsonl", [a_fact(3)])
    wrong.write_text(wrong.read_text().replace("2026-01-03T01:00:00Z", FUTURE))
    assert main(["report", "ingest", "--db", db, str(wrong)]) == 0
    assert main(["report", "html", "--db", db, "--out", str(tmp_path / "site")]) == 2
    assert "no runs but 1 run with an impossible date" in capsys.readouterr().err


def test_the_worst_run_of_a_night_is_its_exit_code(tmp_path, capsys):
    db = str(tmp_path / "history.db")
    for night, (codes, worst) in enumerate([((0, 0), 0), ((3, 0), 3), ((3, 1), 1), ((1, 2), 2)], 1):
        paths = []
        for place, code in enumerate(codes):
            path = write(tmp_path / f"{night}{place}.jsonl", [a_fact(2 * night + place)])
            (run,) = re.findall('"run":"([^"]*)"', path.read_text())
            end = {"record": "end", "run": run, "counts": {}, "exit_code": code, "left_out": []}
            path.write_text(f"{path.read_text()}{json.dumps(end)}\n")
            paths.append(str(path))
        assert main(["report", "ingest", "--night", "--db", db, *paths]) == worst
        assert main(["report", "ingest", "--db", db, *paths]) == 0

"""What was found stays found: alarms of noisy series over their nights, open values, and
acknowledgements on the page, in the digest and in exit codes."""

import re
import shlex
from datetime import date
from html import unescape

import numpy as np
import pytest
from followed_series import follow
from page_samples import GPU, HOSTILE, RUNS, a_run, a_series, build, conflicts, digest_of, render
from some_facts import a_fact, registers, write
from warpgauge.changes.alarms import alarms
from warpgauge.changes.drifts import Drift
from warpgauge.changes.level_shifts import level_shifts
from warpgauge.changes.series import changes
from warpgauge.facts.catalog import catalog
from warpgauge.history import Acknowledgement, Keep, open_history
from warpgauge.page import badge
from warpgauge.page.groups import groups
from warpgauge.page.sections import change_text
from warpgauge.program import main

FAR = "2999-12-31"
STILL = "1 value got worse before and did not recover"


def shifted(seed, shift=0.02, at=30, back=None, count=120, noise=0.01):
    logs = np.random.default_rng(seed).normal(2.0, noise, count)
    logs[at:back] += np.log1p(shift)
    return logs


def worse(logs, at=30):
    return [alarm for alarm in alarms(logs) if alarm.rises and alarm.start > at - 6]


@pytest.fixture
def remembered(monkeypatch):
    """The detector answers at once where it was asked about the same values before: following a
    series night by night asks it again about all nights before."""
    known = {}

    def shifts_of(logs):
        key = logs.tobytes()
        if key not in known:
            known[key] = level_shifts(logs)
        return known[key]

    monkeypatch.setattr("warpgauge.changes.alarms.level_shifts", shifts_of)


# Alarms


def told(found):
    return [(a.what, a.found, a.before, a.after) for a in sorted(found, key=lambda a: a.found)]


@pytest.mark.parametrize("seed", range(5))
def test_more_nights_leave_the_alarms_of_earlier_nights_as_they_are(seed, remembered):
    logs = shifted(seed, back=80)
    all_of_them = told(alarms(logs))
    assert all_of_them
    for count in range(10, len(logs)):
        assert told(alarms(logs[:count])) == [alarm for alarm in all_of_them if alarm[1] < count]


def test_a_shift_that_the_detector_loses_again_is_kept():
    """2 % at a noise of 1 %: 20 series, 170 nights each after the change."""
    found = [worse(shifted(seed, count=200)) for seed in range(20)]
    assert sum(map(bool, found)) >= 18
    assert sum(len(of_one) > 1 for of_one in found) <= 1  # a false alarm among 4,000 nights
    assert [alarm for of_one in found for alarm in of_one if alarm.recovered is not None] == []


def test_a_series_that_is_back_closes_its_alarm():
    for seed in range(20):
        for alarm in worse(shifted(seed, 0.05, back=60)):
            assert 60 < alarm.recovered < 80


def test_half_way_back_is_not_back():
    for seed in range(20):
        logs = shifted(seed, 0.05, noise=0.005)
        logs[60:] -= 0.025
        (alarm,) = worse(logs)
        assert alarm.recovered is None


def test_a_shift_that_is_older_than_the_window_is_kept():
    for seed in range(5):
        (alarm,) = worse(shifted(seed, 0.05, count=400))
        assert alarm.recovered is None


def test_a_second_step_is_another_alarm():
    for seed in range(20):
        logs = shifted(seed, 0.05, noise=0.005)
        logs[60:] += 0.05
        assert [alarm.found > 59 for alarm in worse(logs)] == [False, True]


def drifting(seed, drift=0.03, over=60, at=60, count=180, back=None, noise=0.01):
    logs = np.random.default_rng(seed).normal(2.0, noise, count)
    logs[at : at + over] += np.linspace(0, np.log1p(drift), over)
    logs[at + over : back] += np.log1p(drift)
    return logs


def drifts(logs):
    return [alarm for alarm in alarms(logs) if isinstance(alarm.what, Drift)]


def test_a_drift_that_shows_no_shift_is_found():
    """3 % in 60 nights at a noise of 1 %."""
    found = [[alarm for alarm in alarms(drifting(seed)) if alarm.rises] for seed in range(20)]
    assert sum(map(bool, found)) >= 18
    assert sum(isinstance(a.what, Drift) for of_one in found for a in of_one) >= 8
    firsts = [min(alarm.found for alarm in of_one) for of_one in found if of_one]
    assert sum(70 < first < 150 for first in firsts) >= 18


def test_nights_without_a_drift_show_none():
    """At most 1 in 40 series of 200 nights."""
    noise = np.random.default_rng(3).normal(2.0, 0.01, (40, 200))
    assert sum(len(drifts(logs)) for logs in noise) <= 1


def test_a_step_is_no_drift():
    assert [drifts(shifted(seed, 0.05, at=60)) for seed in range(20)] == [[]] * 20


def test_a_drift_is_over_when_the_level_is_back():
    found = [drifts(drifting(seed, back=150, count=220)) for seed in range(20)]
    rising = [alarm for of_one in found for alarm in of_one if alarm.rises]
    assert len(rising) >= 8
    assert sum(150 <= (alarm.recovered or 999) < 200 for alarm in rising) >= len(rising) - 1


def test_a_drift_that_goes_on_is_found_again_and_stays_open():
    logs = drifting(1, 0.12, over=240, at=60, count=300)
    found = [alarm for alarm in alarms(logs) if alarm.rises]
    assert len(found) > 1 and [alarm.recovered for alarm in found] == [None] * len(found)


def test_a_drift_says_over_how_many_nights_it_crept():
    seed = next(seed for seed in range(20) if drifts(drifting(seed)))
    values = [float(value) for value in np.exp(drifting(seed))]
    runs = [a_run(night, gpu=True) for night in range(len(values))]
    gpu = {"source": "clock", "device_name": GPU}
    timed = a_series("time.median_us", values, runs=runs, code_hash="c", **gpu)
    found = changes(timed, catalog()["time.median_us"])
    (drift,) = [change for change in found if change.nights]
    assert drift.before == pytest.approx(np.exp(2), rel=0.01) and drift.ratio > 1.015
    assert re.fullmatch(r"\+[\d.]+ % in (30|60) nights", change_text(drift))
    assert drift.run.time < drift.detected.time and not drift.recovered


def test_every_commit_that_a_drift_crept_over_may_be_to_blame():
    seed = next(seed for seed in range(20) if drifts(drifting(seed)))
    points = [
        {"value": float(value), "source_hash": f"q{night // 10}"}
        for night, value in enumerate(np.exp(drifting(seed)))
    ]
    runs = [a_run(night, gpu=True, commit=f"{night:010}") for night in range(len(points))]
    gpu = {"source": "clock", "device_name": GPU}
    found = build([a_series("time.median_us", points, runs=runs, **gpu)], runs)
    (group,) = [
        group for group in groups([*found.new, *found.earlier]) if group.moves[0].change.nights
    ]
    found_with = group.moves[0].change.detected
    assert group.cause == "code" and group.label == f"up to {found_with.commit}"
    assert group.run == found_with and group.base.time < group.moves[0].change.run.time
    assert f"up to <code>{found_with.commit}" in render(found)


def test_an_exact_value_is_back_with_its_old_value_only():
    def opened(values):
        series = a_series("registers", values, source="cubin")
        return [change.is_open for change in changes(series, catalog()["registers"])]

    assert opened([20, 20, 30, 30]) == [True]
    assert opened([20, 30, 21]) == [True, False]
    assert opened([20, 30, 20]) == [False, False]
    assert opened([20, 30, 18, 19]) == [False, False, True]


def test_the_page_of_every_night_of_simulated_series_keeps_what_was_found(tmp_path, remembered):
    followed = follow(45, 1, tmp_path)
    found = [series for series in followed if series.found is not None]
    assert {"5 % slower", "5 % slower, then back"} <= {series.kind.name for series in found}
    assert [series.kind.name for series in found if not series.reported or series.lost] == []


# The page


def a_slow_time(count=60, last=None):
    """5 % slower from the 21st night on, and a value that is judged."""
    runs = [a_run(night, gpu=True) for night in range(count)]
    times = [float(v) for v in np.exp(shifted(3, 0.05, 20, count=count))][:last]
    timed = a_series("time.median_us", times, runs=runs, source="clock", device_name=GPU)
    judged = a_series("registers", [{"value": 5, "verdict": "pass"}] * count, runs=runs)
    return [timed, judged], runs


def a_time_that_is_back(nights, left=0.0, noise=0.005):
    """5 % slower from the 21st night on, and in the newest nights `left` of it."""
    runs = [a_run(night, gpu=True) for night in range(60 + nights)]
    logs = np.random.default_rng(3).normal(2.0, noise, len(runs))
    logs[20:] += np.log1p(0.05)
    logs[60:] = 2.0 + left + noise * np.resize([1.2, 1.4], nights)
    times = [float(value) for value in np.exp(logs)]
    timed = a_series("time.median_us", times, runs=runs, source="clock", device_name=GPU)
    judged = a_series("registers", [{"value": 5, "verdict": "pass"}] * len(runs), runs=runs)
    return build([timed, judged], runs)


def test_what_looks_to_be_back_stays_open_until_that_is_confirmed():
    found = a_time_that_is_back(3)
    assert (found.open, found.back, found.exit_code) == (1, 1, 1)
    assert found.headline.endswith("1 value that got worse has recovered, to be confirmed")
    assert badge.words(found) == "1 recovered, to be confirmed"
    assert "**open**, recovered since 2026-03-02, to be confirmed |" in digest_of(found)
    page = render(found)
    for part in ("morning", "open"):
        text = page.split(f'id="{part}"')[1].split("</section>")[0]
        assert re.search(r"recovered since <time[^>]*>2 Mar 2026</time></b>, to be confirmed", text)
        assert re.search(r"\+0\.\d+ %.* when found", text)


@pytest.mark.parametrize(("nights", "left"), [(0, 0.0), (1, 0.0), (4, 0.02), (30, 0.015)])
def test_half_way_back_and_one_night_are_not_back(nights, left):
    found = a_time_that_is_back(nights, left)
    assert (found.open, found.back) == (1, 0)


def test_what_is_older_than_the_nights_shown_stays_open():
    series, runs = a_slow_time(150)
    found = build(series, runs, nights=10)
    assert len(found.nights) == 10 and found.all_nights == 150
    assert found.headline == f"{STILL}: time.median_us of transpose.padded"
    assert (found.tone, found.exit_code, found.open) == ("attention", 1, 1)
    (regression,) = found.regressions
    assert regression.move.index is None and regression.age > 100
    assert len(regression.rows[0].spark) == 40 and 'id="open"' in render(found)


def test_a_change_that_began_before_the_nights_shown_is_new_on_the_night_that_finds_it():
    for count in range(21, 30):
        series, runs = a_slow_time(count)
        if build(series, runs).worse:
            break
    found = build(series, runs, nights=1)
    assert (found.worse, found.headline) == (
        1,
        "1 value got worse: time.median_us of transpose.padded",
    )
    assert "got worse" in render(found)


def test_what_is_measured_no_more_stays_open():
    (timed, judged), runs = a_slow_time(60)
    stopped = type(timed)(timed.key, timed.points[:40])
    found = build([stopped, judged], runs, nights=5)
    assert (found.open, found.exit_code) == (1, 1)
    assert [row.key.metric for row in found.rows] == ["registers"]
    assert "time.median_us" in render(found)


def test_nothing_is_wrong_is_never_said_where_a_value_is_open_or_nothing_was_judged():
    series, runs = a_slow_time()
    timed, judged = series
    headline = f"Nothing was judged last night; {STILL}: time.median_us of transpose.padded"
    found = build([timed], runs)
    assert (found.headline, found.tone, found.exit_code) == (headline, "bad", 1)
    found = build([a_series("instructions", [5] * 30)], RUNS)
    assert (found.headline, found.exit_code) == ("Nothing was judged last night", 3)
    found = build([judged], runs)
    assert (found.headline, found.exit_code) == ("Nothing is wrong: 1 value within budget", 0)


def test_what_is_over_budget_does_not_hide_what_is_open():
    series, runs = a_slow_time(30)
    found = build([*series, conflicts()], [*runs, *RUNS])
    named = "1 value over budget: shared.bank_conflicts of transpose.padded"
    assert found.headline == f"Something is wrong: {named}; {STILL}"
    assert found.exit_code == 1


def test_a_speed_is_not_listed_beside_its_time():
    series, runs = a_slow_time()
    speeds = [1e12 / point.value for point in series[0].points]
    gpu = {"runs": runs, "source": "clock", "device_name": GPU}
    found = build([*series, a_series("throughput.bytes_per_second", speeds, **gpu)], runs)
    assert found.open == 1 and len(found.regressions) == 1


def acknowledged(series, run, until, reason="the new driver"):
    return {series.key: [Acknowledgement(run.time, until, reason)]}


def test_what_is_acknowledged_is_shown_and_not_open():
    series, runs = a_slow_time()
    known = acknowledged(series[0], runs[-2], runs[-1].time.date())
    found = build(series, runs, acknowledged=known)
    assert (found.open, found.acknowledged, found.exit_code) == (0, 1, 0)
    assert found.headline == (
        "Nothing is wrong: 1 value within budget; 1 value that got worse acknowledged"
    )
    until = f"{runs[-1].time:%Y-%m-%d}"
    assert "acknowledged" in render(found) and "the new driver" in render(found)
    assert f"| acknowledged until {until}: the new driver |" in digest_of(found)


def test_an_acknowledgement_of_a_far_day_is_for_good():
    series, runs = a_slow_time()
    known = acknowledged(series[0], runs[-2], date.fromisoformat(FAR))
    found = build(series, runs, acknowledged=known)
    assert "for good: the new driver" in render(found) and FAR not in render(found)
    assert "| acknowledged for good: the new driver |" in digest_of(found)


def shown_commands(page):
    found = re.findall(r'<code class="command">(.*?)</code>', page)
    return [shlex.split(unescape(command)) for command in found]


def test_each_open_row_has_the_command_that_acknowledges_it():
    hostile = f"a b'c$(d);{HOSTILE}"
    worse = [a_series("registers", [5] * 20 + [6] * 10, arch=arch) for arch in ("sm_80", "sm_90")]
    worse.append(a_series("instructions", [5] * 20 + [6] * 10, family=hostile))
    commands = shown_commands(render(build(worse, RUNS)))
    rest = ["--reason", "REASON", "--until", "DATE"]
    assert sorted(command[-5] for command in commands) == sorted(
        [
            f"{hostile}.padded.f32@64x64/instructions/sm_90/emulator",
            "transpose.padded.f32@64x64/registers",
        ]
    )
    assert all(command[-7:-5] == ["report", "ack"] for command in commands)
    assert all(command[-4:] == rest for command in commands)
    series, runs = a_slow_time()
    known = acknowledged(series[0], runs[-2], runs[-1].time.date())
    assert shown_commands(render(build(series, runs, acknowledged=known))) == []


def test_an_acknowledgement_runs_out():
    series, runs = a_slow_time()
    known = acknowledged(series[0], runs[-2], runs[-2].time.date())
    found = build(series, runs, acknowledged=known)
    assert (found.open, found.acknowledged, found.exit_code) == (1, 0, 1)
    until = f"{runs[-2].time:%Y-%m-%d}"
    assert f"| **open**, was acknowledged until {until}: the new driver |" in digest_of(found)


def test_an_acknowledgement_is_not_of_what_is_found_later():
    series, runs = a_slow_time()
    known = acknowledged(series[0], runs[21], date(2999, 12, 31))  # before it was found
    assert build(series, runs, acknowledged=known).open == 1
    values = [5] * 10 + [6] * 10 + [7] * 10
    twice = a_series("instructions", values)
    known = acknowledged(twice, RUNS[15], date(2999, 12, 31))
    found = build([twice, conflicts(after=0)], RUNS, acknowledged=known)
    (regression,) = found.regressions
    assert regression.is_open and (regression.move.change.before, regression.move.change.after) == (
        6,
        7,
    )


def test_the_newest_acknowledgement_counts():
    series, runs = a_slow_time()
    key, time = series[0].key, runs[-1].time
    ends = [
        Acknowledgement(time, date(2999, 1, 1), "a"),
        Acknowledgement(time, date(2026, 1, 2), "b"),
    ]
    assert build(series, runs, acknowledged={key: ends}).open == 1
    assert build(series, runs, acknowledged={key: ends[::-1]}).open == 0


def test_a_new_change_that_is_acknowledged_is_not_in_the_headline():
    last = a_series("instructions", [5] * 29 + [6])
    within = conflicts(after=0)
    assert build([last, within], RUNS).exit_code == 1
    known = acknowledged(last, RUNS[-1], date(2999, 1, 1))
    found = build([last, within], RUNS, acknowledged=known)
    assert (found.worse, found.acknowledged, found.exit_code) == (0, 1, 0)
    assert len(found.new) == 1


# The commands


@pytest.fixture
def db(url, tmp_path):
    """Registers that went from 20 to 30 on the second of three nights; conflicts that stay at 0."""
    facts = [
        fact
        for night, value in ((1, 20), (2, 30), (3, 30))
        for fact in (a_fact(night), registers(night, value, verdict="unbudgeted", budget=None))
    ]
    with open_history(url, create=True) as history:
        history.ingest(write(tmp_path / "facts.jsonl", facts, exit_code=0))
    return url


def html(db, out):
    return main(["report", "html", "--db", db, "--out", str(out)])


def ack(db, series, *options, until=FAR, reason="issue 12"):
    options = options or ("--reason", reason, "--until", until)
    return main(["report", "ack", series, "--db", db, *options])


NAME = "transpose.naive.f32@1024x1024/registers"


def headline(out):
    return (out / "digest.md").read_text().splitlines()[0]


CASE = "transpose.naive.f32@1024x1024"


@pytest.mark.parametrize("pattern", ["", "/", CASE, f"{CASE}/", f"{CASE}/register", f"{NAME}/"])
def test_a_name_without_its_metric_is_that_of_no_series(pattern, db, capsys):
    assert ack(db, pattern) == 2
    assert f": no series matches '{pattern}'" in capsys.readouterr().err


def test_the_exit_code_is_that_of_the_headline(db, tmp_path, capsys):
    assert html(db, tmp_path / "a") == 1
    assert headline(tmp_path / "a").startswith(f"# {STILL}: ")
    assert (tmp_path / "a/index.html").exists()
    assert ack(db, NAME) == 0
    assert f"acknowledged until {FAR}: {NAME}/sm_90/cubin" in capsys.readouterr().out
    assert html(db, tmp_path / "b") == 0
    assert headline(tmp_path / "b").startswith("# Nothing is wrong")
    assert "issue 12" in (tmp_path / "b/index.html").read_text()
    assert "issue 12" in (tmp_path / "b/digest.md").read_text()


def test_a_run_that_was_cut_off_is_no_success(tmp_path):
    db = str(tmp_path / "history.db")
    facts = write(tmp_path / "facts.jsonl", [registers(1)])
    with open_history(db, create=True) as history:
        history.ingest(facts)
    assert html(db, tmp_path / "a") == 1
    assert headline(tmp_path / "a") == "# Something is wrong: 1 run cut off"
    with open_history(db) as history:
        history.ingest(write(facts, [registers(1)], exit_code=0))
    assert html(db, tmp_path / "b") == 0
    assert headline(tmp_path / "b") == "# Nothing is wrong: 1 value within budget"


def test_nothing_judged_is_exit_code_3(tmp_path):
    db = str(tmp_path / "history.db")
    facts = [registers(1, verdict="unbudgeted", budget=None)]
    with open_history(db, create=True) as history:
        history.ingest(write(tmp_path / "facts.jsonl", facts, exit_code=2))
    assert html(db, tmp_path / "a") == 3
    assert headline(tmp_path / "a") == "# Nothing was judged last night"


@pytest.mark.parametrize(
    "pattern",
    [NAME, f"{NAME}/sm_90", f"{NAME}/sm_90/cubin", "*/registers", "*/registers/*", "*"],
)
def test_a_series_is_named_by_its_beginning_or_a_glob(pattern, db):
    assert ack(db, pattern) == 0
    with open_history(db) as history:
        ((key, (acknowledgement,)),) = history.acknowledgements().items()
    assert key.metric == "registers" and (acknowledgement.reason, str(acknowledgement.until)) == (
        "issue 12",
        FAR,
    )


@pytest.mark.parametrize(
    "series, options, says",
    [
        ("transpose.naive.f32@1024x1024/register", {}, f"did you mean '{NAME}'?"),
        ("nothing", {}, "no series matches 'nothing'; SERIES is CASE/METRIC"),
        ("*/shared.bank_conflicts", {}, "nothing got worse: of 1 series that match"),
        (NAME, {"reason": " \u200b\n"}, "--reason is empty"),
        (NAME, {"until": "2020-01-31"}, "--until: 2020-01-31 is past"),
    ],
)
def test_what_cannot_be_acknowledged_is_an_error(series, options, says, db, capsys):
    assert ack(db, series, **options) == 2
    assert says in capsys.readouterr().err
    with open_history(db) as history:
        assert history.acknowledgements() == {}


@pytest.mark.parametrize(
    "options, says",
    [
        (("--reason", "r", "--until", "soon"), "--until: 'soon' is not a date such as"),
        (("--reason", "r"), "--until"),
        (("--until", FAR), "--reason"),
    ],
)
def test_an_option_that_is_missing_or_no_date_is_an_error(options, says, db, capsys):
    assert ack(db, NAME, *options) == 2
    assert says in capsys.readouterr().err


def test_a_run_with_an_impossible_date_is_not_what_an_acknowledgement_covers(db, tmp_path):
    wrong = a_fact(4, run="wrong", time="2099-01-01T01:00:00Z")
    with open_history(db) as history:
        history.ingest(write(tmp_path / "wrong.jsonl", [wrong]))
    assert ack(db, NAME) == 0
    with open_history(db) as history:
        ((acknowledgement,),) = history.acknowledgements().values()
    assert f"{acknowledgement.covers:%Y-%m-%d}" == "2026-01-03"


def test_pruning_leaves_what_is_open_and_forgets_acknowledgements_of_what_is_gone(db, capsys):
    assert ack(db, NAME) == 0
    assert main(["report", "prune", "--keep", "1", "--db", db]) == 0
    assert "deleted: 2 values" in capsys.readouterr().out
    with open_history(db) as history:
        counts = {series.key.metric: len(series.points) for series in history.series()}
        assert counts == {"registers": 3, "shared.bank_conflicts": 1}
        assert len(history.acknowledgements()) == 1


def test_acknowledgements_of_a_series_go_with_it(db, tmp_path):
    assert ack(db, NAME) == 0
    with open_history(db) as history:
        history.ingest(write(tmp_path / "later.jsonl", [a_fact(29)]))
        history.prune(Keep.parse("1d"))
        (key,) = history.keys()
        assert key.metric == "shared.bank_conflicts"
        assert history.acknowledgements() == {}

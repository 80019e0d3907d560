"""Changes of series: planted ones are found on their night, with their cause; noise is none."""

import random
import time
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from warpgauge.changes.level_shifts import level_shifts
from warpgauge.changes.series import changes
from warpgauge.facts.catalog import catalog
from warpgauge.facts.records import Launch
from warpgauge.history.model import Device, Point, Run, Series, SeriesKey

GPU = Device("NVIDIA H100", "GH100", "9.0", "580.1", "0123")


def run(night: int, **other) -> Run:
    known = dict(commit=f"{night:04x}" * 10, dirty=False, toolkit="13.0", flags="-O2", device=GPU)
    date = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(night)
    return Run(id=f"run-{night}", time=date, emulated=False, **known | other)


def nights(values, sass="aa", source="bb", **other) -> list[Point]:
    """Points of a night each; words become text."""
    return [
        Point(
            run(night, **other),
            value=None if isinstance(value, str) else value,
            text=value if isinstance(value, str) else None,
            sass_hash=sass,
            source_hash=source,
        )
        for night, value in enumerate(values)
    ]


def found(points, metric="registers", device_name=None):
    key = SeriesKey("a", "b", "f32", "1", metric, "sm_90", "", device_name)
    return changes(Series(key, tuple(points)), catalog()[metric])


def found_times(points):
    return found(points, "time.median_us", GPU.name)


def noisy(count, shift=0.0, at=0, noise=0.005, seed=1) -> list[float]:
    """(The noise of seed 0 raises one of the rare false alarms, on night 49.)"""
    logs = np.random.default_rng(seed).normal(2.0, noise, count)
    logs[at:] += np.log1p(shift)
    return [float(value) for value in np.exp(logs)]


# Exact metrics


def test_any_change_of_an_exact_metric_is_one():
    (change,) = found(nights([1048576, 1048576, 1048577]), "instructions")
    assert (change.index, change.run.id, change.previous.id) == (2, "run-2", "run-1")
    assert (change.before, change.after, change.better) == (1048576, 1048577, False)
    assert change.ratio == 1048577 / 1048576


def test_one_night_with_another_value_is_two_changes():
    there, back = found(nights([32, 32, 40, 32]))
    assert (there.index, there.better) == (2, False)
    assert (back.index, back.better) == (3, True)


@pytest.mark.parametrize(("has_occupancy", "better"), [(False, [False, True]), (True, [None] * 2)])
def test_occupancy_says_what_its_causes_cost(has_occupancy, better):
    key = SeriesKey("a", "b", "f32", "1", "registers", "sm_90", "", None)
    series = Series(key, tuple(nights([32, 40, 32])), has_occupancy)
    assert [change.better for change in changes(series, catalog()["registers"])] == better


def test_an_estimate_need_not_repeat():
    counted = nights([16384, 16327, 16311])
    guessed = [point._replace(confidence="estimate") for point in counted]
    assert len(found(counted, "shared.wavefronts")) == 2
    assert found([counted[0], *guessed[1:]], "shared.wavefronts") == []
    recompiled = [*guessed[:2], guessed[2]._replace(sass_hash="cc")]
    (change,) = found(recompiled, "shared.wavefronts")
    assert (change.index, change.cause) == (2, "compiler")


def test_nights_without_a_value_are_skipped():
    (change,) = found(nights([None, 32, None, 32, None, None, 33, None]))
    assert (change.index, change.previous.id) == (6, "run-3")


def test_a_change_from_zero_has_no_ratio():
    (change,) = found(nights([0, 8]), "shared.bank_conflicts")
    assert (change.before, change.after, change.ratio, change.better) == (0, 8, None, False)
    (change,) = found(nights([8, 0]), "shared.bank_conflicts")
    assert (change.ratio, change.better) == (0, True)


def test_more_occupancy_is_better():
    assert found(nights([0.5, 0.75]), "occupancy.theoretical")[0].better is True


def test_words_change_without_a_direction():
    (change,) = found(nights(["registers", "registers", "shared"]), "occupancy.limiter")
    assert (change.before, change.after) == ("registers", "shared")
    assert change.ratio is None and change.better is None


@pytest.mark.parametrize("values", [[], [5], [None], [None, None], [5] * 9, [5, None, 5.0]])
@pytest.mark.parametrize("metric", ["registers", "time.median_us"])
def test_what_is_constant_or_not_there_has_no_changes(values, metric):
    assert found(nights(values), metric) == []


def test_a_year_of_exact_metrics_takes_a_microsecond_for_a_few_values():
    """300 cases x 12 metrics x 8 architectures x 365 nights are 10.5 million values; 20 s for them
    are 1.9 us a value. A hundredth of them are tried, a tenth of the series with changes."""
    steady, moving = nights([32] * 365), nights([32] * 200 + [33] * 165)
    started = time.process_time()
    count = sum(len(found(moving if i % 10 == 0 else steady)) for i in range(288))
    spent = time.process_time() - started
    assert count == 29
    assert spent < 0.2


# Noisy metrics


@pytest.mark.parametrize("shift", [0.05, -0.05, 0.2, 1.0])
def test_a_large_shift_of_a_time_is_found_after_three_nights(shift):
    values = noisy(63, shift, at=60)
    assert found_times(nights(values[:60])) == []
    (change,) = found_times(nights(values))
    assert (change.index, change.run.id, change.better) == (60, "run-60", shift < 0)
    assert change.ratio == pytest.approx(1 + shift, rel=0.01)
    assert change.before == pytest.approx(np.median(values[:60]))
    assert change.after == pytest.approx(np.median(values[60:]))


def test_throughput_that_rises_is_better():
    (change,) = found(nights(noisy(80, 0.1, at=60)), "throughput.bytes_per_second")
    assert change.better is True


@pytest.mark.parametrize("last", range(40, 60))
def test_one_slow_night_is_no_change_whenever_it_is(last):
    values = noisy(60)
    values[last] *= 1.5
    assert found_times(nights(values)) == []


def test_disturbed_nights_and_nights_without_times_do_not_count():
    points = nights(noisy(80))
    for night in (70, 71, 72, 73):
        points[night] = points[night]._replace(value=30.0, disturbance="other processes")
    points[75] = points[75]._replace(value=None)
    assert found_times(points) == []


def test_the_index_counts_nights_that_are_left_out():
    points = nights(noisy(80, 0.1, at=60))
    for night in (3, 30, 59):
        points[night] = points[night]._replace(value=None)
    points[31] = points[31]._replace(disturbance="throttling: power cap")
    (change,) = found_times(points)
    assert (change.index, change.run.id, change.previous.id) == (60, "run-60", "run-58")


def test_several_shifts_are_separated():
    logs = np.log(noisy(200))
    logs[50:] += 0.05
    logs[60:] -= 0.10
    logs[150:] += 0.20
    assert [shift.at for shift in level_shifts(logs)] == [50, 60, 150]


def test_a_drift_is_no_shift():
    logs = np.log(noisy(365)) + np.linspace(0, 0.03, 365)
    assert level_shifts(logs) == []


def test_a_tick_up_or_down_is_no_shift():
    rng = random.Random(1)
    ticks = [212 + (rng.random() < 0.3) for _ in range(200)]
    assert level_shifts(np.log([0.032 * tick for tick in ticks])) == []
    ticks[150:] = [tick + 4 for tick in ticks[150:]]
    assert [shift.at for shift in level_shifts(np.log(ticks))] == [150]


def test_a_series_without_noise_is_no_special_case():
    logs = np.log([8.0] * 60 + [8.8] * 3)
    assert [shift.at for shift in level_shifts(logs)] == [60]


def test_few_nights_show_nothing():
    assert level_shifts(np.log([1.0] * 4 + [2.0] * 4)) == []
    for count in range(10):
        assert level_shifts(np.zeros(count)) == []


def test_zeros_of_a_noisy_metric_have_a_level_as_well():
    assert found(nights([0.0] * 40), "l2.hit_percent") == []
    (change,) = found(nights([0.0] * 40 + noisy(10)), "l2.hit_percent")
    assert (change.index, change.before, change.ratio, change.better) == (40, 0, None, True)


def test_false_alarms_are_rare():
    """At most 3 in 200 series of 120 nights of pure noise with 1 % outliers (24,000 nights)."""
    rng = np.random.default_rng(5)
    alarms = 0
    for _ in range(200):
        logs = rng.normal(0, 0.005, 120)
        disturbed = rng.random(120) < 0.01
        logs[disturbed] += np.log1p(rng.uniform(0, 0.5, disturbed.sum()))
        alarms += len(level_shifts(logs))
    assert alarms <= 3


def test_changes_of_two_percent_are_found_within_a_week():
    """At most 5 of 100 are missed at a noise of 0.5 %."""
    missed = 0
    for seed in range(100):
        found_at = [shift.at for shift in level_shifts(np.log(noisy(67, 0.02, 60, seed=seed)))]
        missed += not any(abs(at - 60) <= 3 for at in found_at)
    assert missed <= 5


# Causes


def cause(before, after, metric="registers"):
    """Of a change between two nights that differ in what `after` says."""
    changed = before | after
    run_members = ("commit", "dirty", "toolkit", "flags", "device")
    points = []
    for night, of in enumerate((before, changed)):
        of = {"sass_hash": "aa", "source_hash": "bb"} | of
        members = {key: of.pop(key) for key in run_members if key in of}
        points.append(Point(run(night, **members), value=night + 1, **of))
    (change,) = found(points, metric, GPU.name)
    return change.cause


NEW_DRIVER = Device("NVIDIA H100", "GH100", "9.0", "590.1", "0123")
NO_HASHES = {"sass_hash": None, "source_hash": None}
SAME_COMMIT = {"commit": "c"}


@pytest.mark.parametrize(
    "before, after, expected",
    [
        ({}, {"source_hash": "cc", "sass_hash": "dd"}, "code"),
        ({}, {"source_hash": "cc", "sass_hash": "dd", "toolkit": "13.1"}, "code"),
        ({}, {"source_hash": "cc"}, "code"),  # the same machine code, called by other code
        ({}, {"launches": (Launch((2, 1, 1), (32, 1, 1), 0, 1),)}, "launch"),
        ({}, {"sass_hash": "dd", "toolkit": "13.1"}, "compiler"),
        ({}, {"sass_hash": "dd", "flags": "-O3"}, "compiler"),
        ({}, {}, "input or counter"),
        ({}, {"device": NEW_DRIVER}, "input or counter"),
        ({}, {"toolkit": "13.1"}, "input or counter"),  # it counts, too
        (NO_HASHES, {}, "unknown"),
        (NO_HASHES, {"toolkit": "13.1"}, "unknown"),
        ({"source_hash": None}, {"sass_hash": "dd"}, "code or compiler"),
        ({"source_hash": None}, {}, "unknown"),  # launched differently, perhaps
        (NO_HASHES | SAME_COMMIT, {"toolkit": "13.1"}, "compiler"),
        (NO_HASHES | SAME_COMMIT, {}, "input or counter"),
        (NO_HASHES | SAME_COMMIT | {"dirty": True}, {}, "unknown"),
    ],
)
def test_hashes_give_the_cause_of_a_count(before, after, expected):
    assert cause(before, after, "instructions") == expected


def time_change(at=70, shift=0.05, code="c0", **new):
    """The only change of a time that shifts on a night; `new` is what that run has otherwise."""
    hashes = ("sass_hash", "source_hash", "code_hash")
    values = noisy(100, shift, at=at)
    new_points = {key: new.pop(key) for key in hashes if key in new}
    points = [point._replace(code_hash=code) for point in nights(values)]
    for night in range(at, 100):
        points[night] = points[night]._replace(run=run(night, **new), **new_points)
    (change,) = found_times(points)
    assert change.index == at
    return change


def test_hashes_give_the_cause_of_a_time():
    other = {"code_hash": "c1"}
    assert time_change(**other, sass_hash="cc", source_hash="dd").cause == "code"
    assert time_change(**other, sass_hash="cc", toolkit="13.1").cause == "compiler"
    assert time_change(**other).cause == "launch"
    assert time_change(device=NEW_DRIVER).cause == "driver"
    assert time_change().cause == "environment"
    assert time_change(toolkit="13.1").cause == "environment"
    # A comment: the same machine code is as fast as before.
    assert time_change(source_hash="dd").cause == "environment"


def test_a_time_without_its_launches_is_not_blamed_on_the_environment():
    assert time_change(code=None).cause == "unknown"


def test_details_say_what_else_changed():
    change = time_change(sass_hash="cc", toolkit="13.1", device=NEW_DRIVER)
    assert change.details == (
        "commit 004500450045 -> 004600460046",
        "toolkit 13.0 -> 13.1",
        "driver 580.1 -> 590.1",
        "machine code aa -> cc",
    )


def test_noise_does_not_move_the_blame_to_the_night_after():
    """The first night of the new level was a fast one: the machine code that came with it is still
    what the change is due to."""
    values = noisy(100, 0.02, at=70, seed=4)
    values[70] = float(np.exp(2.0 + 0.008))  # 2.4 times the noise below the new level
    points = nights(values)
    assert [change.index for change in found_times(points)] == [71]
    for night in range(70, 100):
        points[night] = points[night]._replace(sass_hash="cc", source_hash="dd")
    (change,) = found_times(points)
    assert (change.index, change.cause) == (70, "code")


def test_neighbouring_shifts_keep_their_order():
    """Two changes are never of one night, for any values around them."""
    for seed in range(50):
        logs = np.log(noisy(60, seed=seed))
        logs[30:] += 0.1
        logs[33:] += 0.1
        points = nights(list(np.exp(logs)))
        points = [p._replace(sass_hash=str(i)) for i, p in enumerate(points)]
        indices = [change.index for change in found_times(points) if change.index >= 20]
        assert indices == sorted(set(indices)) and len(indices) == 2

"""One night is enough to suspect a value, and what the machine moved is no kernel's regression."""

import re

import numpy as np
import pytest
from page_samples import GPU, a_run, a_series, build, conflicts, digest_of, render
from warpgauge.changes.series import changes
from warpgauge.changes.suspicions import suspicion
from warpgauge.facts.catalog import catalog
from warpgauge.history.model import Device
from warpgauge.page.contents import Contents
from warpgauge.page.feed import feed

COUNT = 40
RUNS = [a_run(night, gpu=True) for night in range(COUNT)]
OLD, NEW = {"code_hash": "a", "sass_hash": "a"}, {"code_hash": "b", "sass_hash": "b"}


def timed(step=0.0, nights=1, codes=(OLD, NEW), runs=RUNS, noise=0.01, seed=1, **last):
    """A time that is `step` slower in the newest nights, which have the second of the codes."""
    logs = np.random.default_rng(seed).normal(2.0, noise, COUNT)
    logs[COUNT - nights :] = 2.0 + np.log1p(step)
    points = [
        {"value": float(value), **codes[place >= COUNT - nights]}
        for place, value in enumerate(np.exp(logs))
    ]
    points[-1] |= last
    return a_series("time.median_us", points, runs=runs, source="clock", device_name=GPU)


def suspected(series):
    metric = catalog()[series.key.metric]
    return suspicion(series, metric, changes(series, metric))


def test_a_jump_with_new_code_is_suspected_after_one_night():
    found = suspected(timed(0.08))
    assert found.before == pytest.approx(np.exp(2), rel=0.01)
    assert found.ratio == pytest.approx(1.08, rel=0.01)
    assert (found.cause, found.index, found.run) == ("compiler", COUNT - 1, RUNS[-1])


def test_small_jumps_and_better_values_are_not_suspected():
    for step in (0.0, 0.03, -0.2):
        assert suspected(timed(step)) is None


def test_a_jump_of_the_same_code_is_not_suspected():
    assert suspected(timed(0.2, codes=(OLD, OLD))) is None


def test_a_disturbed_night_is_not_suspected():
    assert suspected(timed(0.2, disturbance="throttled")) is None


def test_a_suspicion_becomes_a_change():
    states = []
    for nights in range(1, 6):
        series = timed(0.08, nights)
        found = changes(series, catalog()[series.key.metric])
        states.append((bool(suspected(series)), bool(found)))
    assert states[0] == (True, False) and states[-1] == (False, True)
    assert all(suspect != is_found for suspect, is_found in states)


def test_a_suspicion_vanishes_with_the_next_night():
    series = timed(0.08, 2)
    normal = series.points[-1]._replace(value=float(np.exp(2.0)))
    assert suspected(series)
    assert suspected(type(series)(series.key, (*series.points[:-1], normal))) is None


def test_what_is_suspected_is_listed_and_does_not_fail():
    found = build([timed(0.08), conflicts(after=0, runs=RUNS)], RUNS)
    assert (len(found.suspected), found.worse, found.exit_code) == (1, 0, 0)
    assert "Suspected after one night" in render(found)
    text = digest_of(found)
    assert "1 suspected" in text and "## Suspected after one night" in text


# Moved by the machine


OTHER = Device(GPU, "GH100", "9.0", "590.1", "ab")


def moved(step, driver=True, nights=3):
    new = [a_run(n, device=OTHER) for n in range(COUNT - nights, COUNT)]
    runs = [*RUNS[: COUNT - nights], *new] if driver else RUNS
    return build([timed(step, nights, (OLD, OLD), runs), conflicts(after=0, runs=runs)], runs)


@pytest.mark.parametrize("step", [0.2, -0.2])
@pytest.mark.parametrize(("driver", "cause"), [(True, "driver"), (False, "environment")])
def test_what_the_machine_moved_is_no_regression(step, driver, cause):
    found = moved(step, driver)
    (move,) = found.moved
    assert (move.change.cause, move.change.mark) == (cause, "moved")
    assert (found.worse, found.open, found.better, found.new) == (0, 0, 0, ())
    assert found.headline == "No kernel got worse; 1 value moved by the machine"
    assert (found.tone, found.exit_code) == ("attention", 0)
    assert "1 moved by the machine" in digest_of(found)
    assert "<b>1</b> moved by the machine" in render(found)


def test_what_was_moved_before_stays_listed():
    found = moved(0.2, nights=8)
    (move,) = found.moved
    assert not found.regressions and (move.change.before, move.change.after) == (
        pytest.approx(np.exp(2), rel=0.01),
        move.rows[0].last.value,
    )
    first = render(found).split('id="morning"')[1].split("</section>")[0]
    assert "driver 580.1 → 590.1" in first and "since <time" in first
    assert "driver 580.1 → 590.1 | 2026-02-02 |" in digest_of(found)


def test_what_moved_to_the_better_side_is_news_of_one_night():
    assert len(moved(-0.2).moved) == 1 and moved(-0.2, nights=8).moved == ()


def creeping(back=False):
    """10 % slower, step by step, of the same machine code."""
    rng = np.random.default_rng(1)
    logs = rng.normal(2.0, 0.002, 60)
    for night in (20, 30, 40):
        logs[night:] += 0.03
    if back:
        logs[50:] = rng.normal(2.0, 0.002, 10)
    runs = [a_run(night, gpu=True) for night in range(60)]
    points = [{"value": float(value), **OLD} for value in np.exp(logs)]
    times = a_series("time.median_us", points, runs=runs, source="clock", device_name=GPU)
    return build([times, conflicts(after=0, runs=runs[-30:])], runs), times


def test_a_slope_is_one_move_from_the_level_before_it_to_now():
    found, times = creeping()
    assert len(changes(times, catalog()["time.median_us"])) == 3
    (move,) = found.moved
    assert move.change.before == pytest.approx(np.exp(2), rel=0.003)
    assert move.change.after == times.points[-1].value and move.change.run.id == "run20"
    later = [line for line in move.change.details if line.startswith("environment since")]
    assert (move.change.nights, len(later)) == (39, 2)
    text = digest_of(found)
    assert "| drift | 2026-01-21 |" in text and text.count("| drift |") == 1
    assert "environment environment" not in re.sub("<[^>]*>", "", render(found))


def test_what_was_moved_and_is_back_is_not_listed():
    found, _ = creeping(back=True)
    assert found.moved == () and "moved by the machine" not in found.headline


def test_what_the_machine_moved_is_not_in_the_feed():
    text = feed(Contents(moved(0.2)), "t", "https://kernels.example/")
    assert "<entry>" not in text
    found = build([timed(0.2, 3), conflicts(after=0, runs=RUNS)], RUNS)
    assert "<entry>" in feed(Contents(found), "t", "https://kernels.example/")

"""The words below a heat map, where they depend on more than one fact."""

from dataclasses import replace
from pathlib import Path

import pytest
from warpgauge.drawing.grid import Grid
from warpgauge.drawing.heat_map_caption import caption
from warpgauge.facts.reader import read_facts
from warpgauge.facts.records import MachineState

FACT = read_facts(Path(__file__).parents[1] / "data" / "facts" / "good.jsonl")[0]
TIME = replace(
    FACT,
    metric="time.median_us",
    value=10.0,
    run=replace(FACT.run, time="2026-01-01T00:00:00Z"),
)


def words(*facts):
    cells = {(1, i): fact for i, fact in enumerate(facts)}
    grid = Grid("a.b.c", "time.median_us", "sm_90", "GPU", "clock", cells, ("y", "x"))
    return caption(grid, [])


def test_one_exact_run():
    assert words(TIME, TIME) == [
        "Measured on sm_90, GPU by clock: exact.",
        "Run of 2026-01-01T00:00:00Z, commit 3b1f0c7.",
    ]


@pytest.mark.parametrize(
    "reasons, text",
    [
        (["caches", "caches"], "estimate (caches)."),
        (["times differ: ± 1 %", "times differ: ± 2 %"], "estimate (times differ)."),
        (["caches", "atomics"], "estimate (caches, and others)."),
        (["x\n" * 400], f"estimate ({('x?' * 50)[:99]}…)."),
    ],
)
def test_reasons_are_given_once(reasons, text):
    facts = [replace(TIME, confidence="estimate", confidence_reason=reason) for reason in reasons]
    assert words(*facts)[0] == f"Measured on sm_90, GPU by clock: {text}"


def test_confidence_intervals_have_a_range():
    facts = [replace(TIME, interval=interval) for interval in ((9.9, 10.1), (9.0, 10.0), None)]
    assert "95 % confidence intervals: ± 1 % to ± 5 %." in words(*facts)


def test_disturbed_times_are_reported():
    pair = (None, None)
    machine = MachineState(pair, pair, pair, (), 2, "2 other processes")
    caption = words(TIME, replace(TIME, machine=machine))
    assert caption[-1] == "Disturbed, 1 of 2 values: 2 other processes."

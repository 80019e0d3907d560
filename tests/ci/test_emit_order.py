"""The order in which formats show facts, and which of several count."""

import random

import pytest
from emit_samples import CANARIES, changed, facts_of, one_of_each_verdict, results
from warpgauge.outcome import words
from warpgauge.outcome.results import VERDICTS, unmeasured_reasons


def failing(**members):
    fact = next(f for f in facts_of(CANARIES) if f.verdict == "fail")
    return changed(fact, **members)


def test_the_worst_verdict_comes_first_however_the_facts_lie():
    facts = one_of_each_verdict()
    for seed in range(5):
        random.Random(seed).shuffle(facts)
        found = [fact.verdict for fact in results(facts).facts]
        assert found == sorted(found, key=VERDICTS.index)


@pytest.mark.parametrize(
    ("worse", "less_bad"),
    [
        ((300, "<= 100"), (1100, "<= 1000")),  # relative to the budget, not in units
        ((1, "= 0"), (300, "<= 100")),  # of nothing, anything is endlessly more
        ((9, "= 0"), (8, "= 0")),
        ((1, ">= 10"), (9, ">= 10")),
        ((30, ">= 5 and <= 10"), (3, ">= 5 and <= 10")),
        ((200, "<= 100 ± 5%"), (150, "<= 100 ± 300%")),
        ((3000, "<= 1000 until 2027-01-31"), (2026, "<= 1000 until 2027-01-31")),
        ((3e9, "<= 1e+09"), (2e9, "<= 1e+09")),
    ],
)
def test_the_farthest_beyond_its_budget_comes_first(worse, less_bad):
    facts = [
        failing(size=str(i), value=value, budget=budget)
        for i, (value, budget) in enumerate((less_bad, worse))
    ]
    assert [(f.value, f.budget) for f in results(facts).facts] == [worse, less_bad]


@pytest.mark.parametrize("order", [1, -1])
def test_of_several_runs_the_worst_counts(order):
    facts = [failing(verdict="pass", value=0), failing(), failing(verdict="unmeasured")][::order]
    (fact,) = results(facts).facts
    assert fact.verdict == "fail"
    (measured,) = results([f for f in facts if f.verdict != "fail"]).facts
    assert measured.verdict == "pass"


def test_facts_of_lines_do_not_count():
    facts = [failing(), failing(scope="line", verdict=None, line=1)]
    shown = results(facts)
    assert len(shown.facts) == 1
    assert len(shown.cases) == 1
    assert shown.counts == {"fail": 1}


def test_a_case_is_one_id_on_one_architecture():
    facts = [
        failing(arch=arch, metric=m)
        for arch in ("sm_80", "sm_90")
        for m in ("registers", "barriers")
    ]
    shown = results(facts)
    assert [(case.arch, len(case.facts)) for case in shown.cases] == [("sm_80", 2), ("sm_90", 2)]
    assert shown.archs == ["sm_80", "sm_90"]
    assert results([failing(arch=None), failing()]).archs == ["sm_80", None]


def test_reasons_are_grouped_as_in_the_summary_of_the_gate():
    unsure = {"verdict": "unmeasured", "confidence": "estimate", "confidence_reason": "spills"}
    facts = [
        failing(size="1", verdict="unmeasured", value=None, reason="no CUPTI"),
        failing(size="2", value=1, reason="is 1 (estimate: spills)", **unsure),
        failing(size="3", value=2, reason="is 2 (estimate: spills)", **unsure),
        failing(size="4", value=3, **unsure | {"confidence": "predicted"}),
    ]
    found = [(reason, len(group)) for reason, group in unmeasured_reasons(facts)]
    assert found[0] == ("only estimated: spills", 2)
    assert set(found[1:]) == {("unmeasured: no CUPTI", 1), ("only predicted: spills", 1)}


def test_device_is_that_of_the_facts_that_have_one():
    compiled = failing(size="1", source="ptxas", device=None)
    run = next(fact for fact in facts_of(CANARIES) if fact.source == "emulator")
    assert words.devices([compiled, run, run]) == "Emulated GPU (sm_80)"
    assert words.devices([compiled]) == ""


def test_headline_counts_one_and_many():
    assert words.headline(results([failing()])) == "1 value over budget"
    facts = [failing(), failing(size="2"), failing(size="3", verdict="error")]
    assert words.headline(results(facts)) == "1 error, 2 values over budget"
    free = [failing(verdict="unbudgeted")]
    assert words.headline(results(free)) == "nothing was held against a budget"


@pytest.mark.parametrize(
    ("members", "command"),
    [
        ({"source": "ptxas"}, "ci/gate --arch sm_80 --large --filter"),
        ({"source": "emulator"}, "ci/gate --device=emulated --arch sm_80 --large --filter"),
        ({"source": "cupti"}, "ci/gate --large --filter"),
        ({"metric": "time.median_us"}, "build/gate/bin/warpgauge-bench --large --filter"),
        ({"metric": "throughput.percent_of_peak"}, "build/gate/bin/warpgauge-bench --large"),
        ({"metric": "time.profiled_us", "source": "cupti"}, "ci/gate --large --filter"),
    ],
)
def test_repeat_asks_for_the_same_device(members, command):
    fact = failing(device=None, **members)
    assert words.repeat(fact) == f"{command} {fact.id}"


def test_repeat_is_one_word_for_the_shell():
    fact = failing(source="cupti", device=None, variant="a b;$(c)'d")
    assert words.repeat(fact).endswith(""" --filter 'canaries.a b;$(c)'"'"'d.f32@1024'""")


def test_a_program_of_another_project_is_repeated_by_its_own_name(monkeypatch):
    monkeypatch.setenv("WARPGAUGE_GATE_COMMAND", "imaging-gauge gate")
    fact = failing(source="cupti", device=None)
    assert words.repeat(fact) == f"imaging-gauge gate --large --filter {fact.id}"
    timed = failing(metric="time.median_us", device=None)
    assert words.repeat(timed) == f"imaging-gauge-bench --large --filter {timed.id}"

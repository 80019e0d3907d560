"""What made a run red is red in every format that can show it, and what only might have is told."""

import ci_readers as read
import pytest
from emit_samples import changed, one_of_each_verdict, rendered, results
from junitparser import Error, Failure, Skipped
from warpgauge.facts.reader import would_fail
from warpgauge.outcome import words
from warpgauge.outcome.results import Demands, unmeasured_reasons

STRICT = Demands(strict=True, exit_code=1)
CUPTI = Demands(cupti=True, exit_code=3)


def of(*variants):
    return [fact for fact in one_of_each_verdict() if fact.variant in variants]


def shown(format, variants, demands):
    return rendered(format, results(of(*variants), demands=demands))


def compiled():
    (fact,) = of("blind")
    return changed(fact, variant="compiled", metric="registers", reason="no ptxas")


def result():
    (fact,) = of("blind")
    return changed(fact, variant="run", metric="result.correct", reason="there is no GPU")


def unsure(value=31, would="fail", **members):
    """As metrics/judge.cpp (withhold) leaves it."""
    (fact,) = of("bad")[:1]
    return changed(
        fact,
        **{
            "variant": "unsure",
            "value": value,
            "confidence": "estimate",
            "confidence_reason": "ptxas spills",
            "budget": "= 0",
            "verdict": "unmeasured",
            "reason": f"shared.bank_conflicts is {value} (estimate: ptxas spills), which budget "
            f'= 0 would {would}; gate_on = "estimate" in the budget file would judge it',
        }
        | members,
    )


@pytest.mark.parametrize(
    ("demands", "wrong"),
    [
        (Demands(), {"error", "fail"}),
        (Demands(strict=True), {"error", "fail", "better"}),
        (Demands(device=True), {"error", "fail", "result.correct"}),
        (Demands(cupti=True), {"error", "fail", "result.correct", "shared.bank_conflicts"}),
        (Demands(ptxas=True), {"error", "fail", "registers"}),
    ],
)
def test_what_is_wrong_is_what_the_gate_was_asked_for(demands, wrong):
    facts = [f for f in one_of_each_verdict() if f.metric != "shared.requests"]
    shown = results([*facts, compiled(), result()], demands=demands)
    found = [f.metric if f.verdict == "unmeasured" else f.verdict for f in shown.wrong]
    assert (set(found), len(found)) == (wrong, len(wrong))
    assert shown.facts == shown.wrong + shown.noted  # and shown first


def test_a_required_value_that_one_of_two_runs_lacks_is_missing():
    (blind,) = of("blind")
    measured = changed(blind, value=0, verdict="pass", reason="within")
    for facts in ([blind, measured], [measured, blind]):
        assert [f.verdict for f in results(facts, demands=CUPTI).facts] == ["unmeasured"]


@pytest.mark.parametrize(
    ("variant", "demands", "kind", "type", "says"),
    [
        ("good", STRICT, Failure, "BetterThanBudget", "better (padded)"),
        ("blind", CUPTI, Error, "NotMeasured", "1 value required, but unmeasured: no CUPTI"),
    ],
)
def test_junit_shows_what_made_the_run_red(variant, demands, kind, type, says):
    (suite,) = read.junit(shown("junit", ["right", variant], demands)).values()
    found = {case.name.split(".")[0]: case.result for case in suite}
    (problem,) = found[variant]
    assert (problem.__class__, problem.type, problem.message) == (kind, type, says)
    assert found["right"] == []
    assert suite.errors + suite.failures == 1


def test_junit_says_all_that_is_wrong_with_a_case():
    (suite,) = read.junit(shown("junit", ["bad"], CUPTI)).values()
    ((problem,),) = (case.result for case in suite)
    assert (problem.type, problem.message) == ("BudgetExceeded", "is 9 (padded); and 1 more")
    assert "1 value required, but unmeasured: the profiler is taken" in problem.text


@pytest.mark.parametrize(
    ("variant", "demands", "message"),
    [
        ("good", STRICT, "better (padded)"),
        ("blind", CUPTI, "1 value required, but unmeasured: no CUPTI"),
    ],
)
def test_tap_shows_what_made_the_run_red(variant, demands, message):
    wrong, right = read.tap(shown("tap", ["right", variant], demands))
    assert (wrong.ok, wrong.skip, right.ok) == (False, False, True)
    assert [finding["message"] for finding in wrong.yaml_block["findings"]] == [message]


def test_github_shows_what_made_the_run_red():
    strict = read.github(shown("github", ["right", "good"], STRICT))
    assert [kind for kind, *_ in strict] == ["error", "notice"]
    assert strict[0][1]["line"] and strict[0][2].startswith("better (padded)")
    assert strict[1][2] == "FAIL: 1 better than budget (--strict), 1 within budget"
    required = read.github(shown("github", ["right", "blind"], CUPTI))
    assert required == [
        (
            "error",
            {"title": "warpgauge: not measured"},
            "1 value required, but unmeasured: no CUPTI",
        ),
        (
            "notice",
            {"title": "warpgauge"},
            "NOT MEASURED: 1 within budget, 1 unmeasured (1 required)",
        ),
    ]


def test_codequality_shows_what_made_the_run_red():
    (strict,) = read.code_quality(shown("codequality", ["right", "good"], STRICT))
    assert (strict["severity"], strict["check_name"]) == ("major", "shared.bank_conflicts")
    (required,) = read.code_quality(shown("codequality", ["right", "blind"], CUPTI))
    assert (required["severity"], required["check_name"]) == ("critical", "run")


def test_sarif_shows_what_made_the_run_red():
    (strict,) = read.sarif(shown("sarif", ["right", "good"], STRICT))
    assert [result["level"] for result in strict["results"]] == ["error"]
    (required,) = read.sarif(shown("sarif", ["right", "blind"], CUPTI))
    (invocation,) = required["invocations"]
    (notification,) = invocation["toolExecutionNotifications"]
    assert (required["results"], invocation["executionSuccessful"]) == ([], False)
    assert (notification["level"], notification["message"]["text"]) == (
        "error",
        "1 value required, but unmeasured: no CUPTI",
    )


def test_markdown_shows_what_made_the_run_red():
    strict = shown("markdown", ["right", "good"], STRICT)
    assert strict.startswith("# warpgauge: FAIL: 1 better than budget (--strict), 1 within budget")
    assert "## Better" not in strict
    assert "<code>transpose.good." in strict.split("## Failures")[1]
    required = shown("markdown", ["right", "blind"], CUPTI)
    assert required.startswith("# warpgauge: NOT MEASURED: ")
    assert "## Unmeasured" not in required
    section = required.split("## Required, but not measured\n")[1]
    assert section == "\n- 1 value required, but unmeasured: no CUPTI\n"


def test_gitlab_metrics_have_the_exit_code():
    metrics = read.open_metrics(shown("gitlab-metrics", ["right", "blind"], CUPTI))
    assert metrics["warpgauge_exit_code"] == [({}, 3.0)]


@pytest.mark.parametrize(
    ("variants", "code", "says"),
    [
        (["blind"], 2, "exit code 2: nothing was judged"),
        (["right"], 2, "exit code 2: the log says why"),
        (["right"], 139, "exit code 139: the log says why"),
    ],
)
def test_a_red_run_without_a_red_fact_is_red_all_the_same(variants, code, says):
    demands = Demands(exit_code=code)
    suite = read.junit(shown("junit", variants, demands))["warpgauge.run"]
    assert [r.message for case in suite for r in case.result] == [says]
    *_, point = read.tap(shown("tap", variants, demands))
    assert not point.ok and says in point.description
    commands = read.github(shown("github", variants, demands))
    assert ("error", {"title": "warpgauge"}, says) in commands
    assert commands[-1][2].startswith("ERROR: " if code == 2 else "ERROR (exit code 139): ")
    (issue,) = read.code_quality(shown("codequality", variants, demands))
    assert (issue["severity"], issue["description"]) == ("critical", says)
    (run,) = read.sarif(shown("sarif", variants, demands))
    assert run["invocations"][0]["executionSuccessful"] is False
    assert says in shown("markdown", variants, demands)


def test_a_green_run_has_nothing_of_that_kind():
    demands = Demands(strict=True, ptxas=True, cupti=True, device=True, exit_code=0)
    (suite,) = read.junit(shown("junit", ["right", "slow", "let"], demands)).values()
    assert (suite.tests, suite.errors, suite.failures, suite.skipped) == (3, 0, 0, 0)
    assert all(point.ok for point in read.tap(shown("tap", ["right"], demands)))
    assert shown("markdown", ["right"], demands).startswith("# warpgauge: PASS: 1 within budget\n")


def test_without_demands_missing_and_better_values_are_only_noted():
    suite = read.junit(shown("junit", ["good", "blind"], Demands()))["warpgauge.sm_90"]
    found = {case.name.split(".")[0]: [type(r) for r in case.result] for case in suite}
    assert found == {"good": [], "blind": [Skipped]}
    assert words.headline(results(of("good"))) == "1 better than budget"


# ---- values that are not sure enough to fail -----------------------------------------------------


def test_only_the_judge_says_what_would_fail():
    assert would_fail(unsure())
    assert not would_fail(unsure(value=0, would="pass"))
    assert not would_fail(unsure(verdict="fail"))
    assert not would_fail(unsure(budget="= 1"))
    assert not would_fail(unsure(reason=None))


def test_markdown_lists_what_would_fail_the_worst_first():
    facts = [unsure(value=9, size="9"), unsure(size="31"), unsure(value=0, would="pass", size="0")]
    text = rendered("markdown", results(facts))
    rows = text.split("## Not sure enough to fail\n\n")[1].split("\n\n")[0].split("\n")[2:]
    assert [row.split("&#64;")[1].split("<")[0] for row in rows] == ["31", "9"]
    assert "| 31 wavefronts | = 0 (padded) |" in rows[0] and "ptxas spills" in rows[0]
    assert "## Not sure" not in rendered("markdown", results([facts[2]]))


def test_github_warns_of_what_would_fail_at_its_line():
    first, *_, (_, _, notice) = read.github(rendered("github", results([unsure()])))
    kind, properties, message = first
    assert kind == "warning" and properties["title"].endswith(" on sm_90: not sure")
    assert properties["line"] == str(unsure().line)
    assert "which budget = 0 would fail" in message and "(estimate: ptxas spills)" in message
    assert notice == "1 unmeasured"


def test_a_time_whose_interval_reaches_its_budget_says_so():
    time = unsure(confidence=None, confidence_reason=None, reason="is 9 (95 % interval 7 to 11)")
    ((reason, _),) = unmeasured_reasons([time])
    assert reason == "unmeasured: is 9 (95 % interval 7 to 11)"


# ---- what facts of several runs say of them ------------------------------------------------------


def test_junit_and_markdown_name_every_run():
    (right,) = of("right")
    facts = [
        changed(right, run="second", time="2026-02-02T00:00:00Z", size="2", commit="b" * 40),
        changed(right, run="first", time="2026-01-01T00:00:00Z", size="1", toolkit="12.8"),
    ]
    text = rendered("junit", results(facts))
    (suite,) = read.junit(text).values()
    properties = {p.get("name"): p.get("value") for p in suite._elem.find("properties")}
    assert set(properties["run"].split(", ")) == {"first", "second"}
    assert set(properties["toolkit"].split(", ")) == {right.toolkit, "12.8"}
    assert suite.timestamp == "2026-01-01T00:00:00"
    text = rendered("markdown", results(facts))
    assert "Run first at 2026-01-01T00:00:00Z" in text
    assert "Run second at 2026-02-02T00:00:00Z, commit bbbbbbbbbbbb" in text


def test_a_place_is_printable_without_a_line_as_well():
    assert words.place(unsure(file="a\x1b\u202eb", line=None)) == "a??b"
    assert words.place(unsure(file=None, line=None)) == ""

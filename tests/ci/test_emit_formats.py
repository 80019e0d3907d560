"""What each format says of each verdict, as independent readers of the formats find it."""

import json
import re

import ci_readers as read
import pytest
from emit_samples import (
    CANARIES,
    changed,
    facts_of,
    one_of_each_verdict,
    rendered,
    results,
)
from junitparser import Error, Failure, Skipped

H100_ID = "transpose.{}.f32@1024x1024"


def each(format):
    return rendered(format, results(one_of_each_verdict()))


def failing(metric="shared.bank_conflicts"):
    return next(f for f in facts_of(CANARIES) if f.metric == metric and f.verdict == "fail")


def many(count, **members):
    """So many failing facts, each worse than the next."""
    fact = failing()
    return [
        changed(fact, size=str(i), budget="= 1", value=10 + count - i, **members)
        for i in range(count)
    ]


# ---- JUnit ---------------------------------------------------------------------------------------


def test_junit_has_a_result_for_each_case():
    suite = read.junit(each("junit"))["warpgauge.sm_90"]
    kinds = {case.name.split(".")[0]: [type(result) for result in case.result] for case in suite}
    assert kinds == {
        "crash": [Error],
        "bad": [Failure],
        "right": [],
        "good": [],
        "let": [],
        "slow": [],
        "free": [Skipped],
        "blind": [Skipped],
    }
    totals = (suite.tests, suite.errors, suite.failures, suite.skipped)
    assert totals == (8, 1, 1, 2)


def test_junit_says_what_is_wrong_and_how_to_see_it_again():
    suites = read.junit(rendered("junit", results(facts_of(CANARIES))))
    assert list(suites) == ["warpgauge.sm_80", "warpgauge.sm_90"]
    (case,) = (case for case in suites["warpgauge.sm_80"] if "shared_stride" in case.name)
    fact = failing()
    assert case.classname == "canaries"
    assert case._elem.get("file") == "tests/canaries/family.cu"
    assert case._elem.get("line") == str(fact.line)
    (failure,) = case.result
    assert failure.type == "BudgetExceeded"
    assert failure.message.startswith("shared.bank_conflicts is 32, budget = 0")
    assert "ci/gate --device=emulated --arch sm_80" in failure.text
    assert "s[2 * t] = a[i];" in failure.text
    properties = {p.get("name"): p.get("value") for p in case._elem.iter("property")}
    assert properties["shared.bank_conflicts"] == "32"


def test_junit_names_what_was_not_measured_of_a_case_that_passed():
    facts = one_of_each_verdict()
    lost = changed(facts[0], metric="shared.requests", verdict="unmeasured", reason="no CUPTI")
    (suite,) = read.junit(rendered("junit", results([facts[0], lost]))).values()
    (case,) = suite
    assert case.result == []
    assert case.system_out == "UNMEASURED no CUPTI"


def test_junit_time_is_in_seconds():
    fact = changed(facts_of(CANARIES)[0], metric="time.median_us", unit="us", value=1500.0)
    (suite,) = read.junit(rendered("junit", results([fact]))).values()
    assert [case.time for case in suite] == [0.0015]


# ---- SARIF ---------------------------------------------------------------------------------------


def test_sarif_has_a_run_for_each_architecture_and_a_result_for_each_finding():
    runs = read.sarif(rendered("sarif", results(facts_of(CANARIES))))
    assert {run["automationDetails"]["id"] for run in runs} == {
        "warpgauge/sm_80/",
        "warpgauge/sm_90/",
    }
    for run in runs:
        assert {result["ruleId"] for result in run["results"]} == {
            "result.correct",
            "shared.bank_conflicts",
            "spill.load_bytes",
            "spill.store_bytes",
        }
        assert run["results"][0]["ruleId"] == "result.correct"  # the worst one first
        assert run["invocations"][0]["executionSuccessful"] is False


def test_sarif_levels_are_the_verdicts():
    (run,) = read.sarif(each("sarif"))
    found = {r["message"]["text"].split(".")[1]: r["level"] for r in run["results"]}
    assert found == {"crash": "error", "bad": "error", "slow": "warning"}


def test_sarif_has_a_run_without_results_where_all_is_well():
    (right, *_) = one_of_each_verdict()
    (run,) = read.sarif(rendered("sarif", results([right])))
    assert run["results"] == []
    assert run["invocations"][0]["executionSuccessful"] is True


@pytest.mark.parametrize("format", ["sarif", "codequality"])
def test_fingerprints_outlive_edits_elsewhere(format, tmp_path):
    fact = failing()
    code = tmp_path / fact.file
    code.parent.mkdir(parents=True)

    def fingerprint(text, fact):
        code.write_text(text)
        shown = rendered(format, results([fact], tmp_path))
        if format == "sarif":
            ((result,),) = (run["results"] for run in read.sarif(shown))
            return result["partialFingerprints"]["primaryLocationLineHash"]
        (issue,) = read.code_quality(shown)
        return issue["fingerprint"]

    before = fingerprint("a\nblamed();\n", changed(fact, line=2))
    assert fingerprint("a\nb\n\n  blamed();\n", changed(fact, line=4)) == before
    assert fingerprint("a\nblamed();\n", changed(fact, line=2, value=99, reason="is 99")) == before
    assert fingerprint("a\nchanged();\n", changed(fact, line=2)) != before
    assert fingerprint("a\nblamed();\n", changed(fact, line=2, size="2")) != before
    assert fingerprint("a\nblamed();\n", changed(fact, line=2, metric="instructions")) != before


def test_sarif_names_the_other_lines_that_have_some_of_it():
    fact = failing()
    lines = [
        changed(fact, scope="line", verdict=None, line=line, value=value)
        for line, value in ((fact.line, 16), (7, 5), (8, 11), (9, 0))
    ]
    ((result,),) = (
        run["results"] for run in read.sarif(rendered("sarif", results([fact, *lines])))
    )
    related = result["relatedLocations"]
    assert [place["physicalLocation"]["region"]["startLine"] for place in related] == [8, 7]
    assert result["message"]["text"].endswith(
        "Also at [tests/canaries/family.cu:8](0), [tests/canaries/family.cu:7](1)."
    )


def test_sarif_keeps_the_worst_of_what_github_takes():
    (run,) = read.sarif(rendered("sarif", results(many(25_010))))
    assert len(run["results"]) == 25_000
    assert f"is {10 + 25_010}" not in run["results"][-1]["message"]["text"]
    assert "@0 on" in run["results"][0]["message"]["text"]
    (left_out,) = run["invocations"][0]["toolExecutionNotifications"]
    assert left_out["message"]["text"].endswith(": 10.")

    facts = [changed(failing(), arch=f"sm_{n}", budget="= 1", value=n) for n in range(100, 130)]
    runs = read.sarif(rendered("sarif", results(facts)))
    assert runs[0]["automationDetails"]["id"] == "warpgauge/sm_129/"
    (left_out,) = runs[0]["invocations"][0]["toolExecutionNotifications"]
    assert left_out["message"]["text"].endswith(
        ": " + ", ".join(f"sm_{n}" for n in range(109, 99, -1)) + "."
    )


# ---- GitHub --------------------------------------------------------------------------------------


def test_github_annotates_lines():
    (error, *_) = (
        command
        for command in read.github(rendered("github", results([failing()])))
        if command[0] == "error"
    )
    _, properties, message = error
    assert properties == {
        "title": "canaries.shared_stride_added.f32@1024 on sm_80",
        "file": "tests/canaries/family.cu",
        "line": "50",
        "endLine": "50",
    }
    first, second = message.split("\n")
    assert first.startswith("shared.bank_conflicts is 32, budget = 0 (built-in default")
    assert "Pad each row" in second


def test_github_tells_verdicts_apart():
    found = [(kind, properties["title"]) for kind, properties, _ in read.github(each("github"))]
    assert found == [
        ("error", H100_ID.format("crash") + " on sm_90"),
        ("error", H100_ID.format("bad") + " on sm_90"),
        ("warning", H100_ID.format("slow") + " on sm_90: environment"),
        ("warning", "1 not judged"),
        ("warning", "1 not judged"),
        ("notice", "warpgauge"),
    ]


def test_github_shows_the_worst_ten_and_counts_the_rest():
    facts = many(25) + many(12, arch="sm_90", verdict="environment")
    *shown, (kind, _, notice) = read.github(rendered("github", results(facts)))
    assert [command[0] for command in shown] == ["error"] * 10 + ["warning"] * 10
    assert [c[1]["title"] for c in shown[:2]] == [
        f"canaries.shared_stride_added.f32@{i} on sm_80" for i in (0, 1)
    ]
    assert kind == "notice"
    assert notice.startswith("25 values over budget, 12 values moved by the environment\n17 more")


# ---- Markdown ------------------------------------------------------------------------------------


def test_markdown_counts_families_and_shows_what_is_wrong():
    text = each("markdown")
    assert text.startswith(
        "# warpgauge: 1 error, 1 value over budget, 1 value moved by the environment, 1 waived, "
        "1 better than budget, 1 within budget, 2 unmeasured\n"
    )
    tokens = read.markdown(text)
    headings = [
        tokens[i + 1].content for i, token in enumerate(tokens) if token.type == "heading_open"
    ]
    assert headings[1:] == [
        "Failures",
        "Moved by the environment",
        "Waived",
        "Better than budget",
        "Unmeasured",
    ]
    family = "| <code>transpose</code> | 8 | 1 | 1 | 1 | 1 | 1 | 1 | 2 |"
    assert family in text
    assert "- 1 unmeasured: the profiler is taken" in text


def test_markdown_stays_below_what_github_takes():
    text = rendered("markdown", results(many(20_000)))
    assert 900_000 < len(text.encode()) < 2**20
    rows = text.count("\n| <code>canaries.")
    left_out = int(re.search(r"(\d+) more lines were left out", text)[1])
    assert left_out == 20_000 - rows + 4  # and what the metric means, and the command
    assert "f32&#64;0</code>" in text and "f32&#64;19999</code>" not in text


# ---- GitLab --------------------------------------------------------------------------------------


def test_codequality_severities_are_the_verdicts():
    issues = read.code_quality(each("codequality"))
    found = {issue["description"].split(".")[1]: issue["severity"] for issue in issues}
    assert found == {"crash": "critical", "bad": "major", "slow": "minor"}
    assert issues[0]["location"] == {"path": "transpose", "lines": {"begin": 1}}


def test_codequality_of_what_is_right_is_an_empty_list():
    assert read.code_quality(rendered("codequality", results(one_of_each_verdict()[:1]))) == []


def test_gitlab_metrics_have_every_value():
    metrics = read.open_metrics(rendered("gitlab-metrics", results(facts_of(CANARIES))))
    labels = {"id": "canaries.shared_stride_added.f32@1024", "arch": "sm_80"}
    assert (labels, 32.0) in metrics["warpgauge_shared_bank_conflicts"]
    words = metrics["warpgauge_occupancy_limiter"]
    assert {"resource": "warps", **labels} in [labels for labels, _ in words]
    assert {value for _, value in words} == {1.0}
    verdicts = {labels["verdict"]: value for labels, value in metrics["warpgauge_verdicts"]}
    assert (verdicts["error"], verdicts["fail"]) == (2, 6)
    values = [f for f in facts_of(CANARIES) if f.scope == "case" and f.value is not None]
    assert sum(map(len, metrics.values())) == len(values) + len(verdicts)


# ---- TAP -----------------------------------------------------------------------------------------


def test_tap_has_a_point_for_each_case():
    points = read.tap(each("tap"))
    found = {p.description.split(".")[1]: (p.ok, p.skip) for p in points}
    assert found == {
        "crash": (False, False),
        "bad": (False, False),
        "slow": (True, False),
        "let": (True, False),
        "good": (True, False),
        "right": (True, False),
        "free": (True, True),
        "blind": (True, True),
    }
    (finding,) = points[1].yaml_block["findings"]
    assert finding["metric"] == "shared.bank_conflicts"
    assert finding["message"] == "is 9 (padded)"


# ---- trends --------------------------------------------------------------------------------------


def test_smaller_is_better_leaves_out_what_is_better_higher_or_never_judged():
    fact = facts_of(CANARIES)[0]
    facts = [
        changed(fact, metric="time.median_us", unit="us", value=2.5, interval=(2.25, 2.75)),
        changed(fact, metric="occupancy.theoretical", unit="fraction", value=1),
        changed(fact, metric="occupancy.limiter", unit="resource", value="warps"),
        changed(fact, metric="shared.raw_bank_conflicts", unit="conflicts", value=439),
        changed(fact, metric="shared.bank_conflicts", value=None, verdict="unmeasured"),
    ]
    (entry,) = json.loads(rendered("smaller-is-better", results(facts)))
    assert entry == {
        "name": f"{fact.id} on {fact.arch}: time.median_us",
        "unit": "us",
        "value": 2.5,
        "range": "2.25 to 2.75",
        "extra": f"{fact.verdict}: {fact.reason}"
        + (f" ({fact.budget_reason})" if fact.budget_reason else ""),
    }


def test_bencher_has_numbers_with_their_intervals():
    fact = facts_of(CANARIES)[0]
    facts = [
        changed(fact, metric="time.median_us", unit="us", value=2.5, interval=(2.25, 2.75)),
        changed(fact, metric="occupancy.theoretical", unit="fraction", value=1),
        changed(fact, metric="occupancy.limiter", unit="resource", value="warps"),
    ]
    assert json.loads(rendered("bencher", results(facts))) == {
        f"{fact.id} on {fact.arch}": {
            "time.median_us": {"value": 2.5, "lower_value": 2.25, "upper_value": 2.75},
            "occupancy.theoretical": {"value": 1},
        }
    }


def test_ctest_records_values_and_pictures(tmp_path):
    picture = tmp_path / "trend & more.png"
    picture.write_bytes(b"\x89PNG")
    fact = failing()
    word = changed(fact, metric="occupancy.limiter", unit="resource", value="warps")
    text = rendered("ctest", results([fact, word], pictures=[picture]))
    recorded = read.ctest(text, tmp_path)
    name = "canaries.shared_stride_added.f32@1024 on sm_80"
    assert recorded[f"{name}: shared.bank_conflicts"] == ("numeric/double", "32")
    assert recorded[f"{name}: occupancy.limiter"] == ("text/string", "warps")
    assert recorded["trend & more"][0] == "image/png"


@pytest.mark.parametrize("format", ["smaller-is-better", "bencher"])
def test_nothing_measured_is_no_value(format):
    blind = [f for f in one_of_each_verdict() if f.verdict == "unmeasured"]
    assert not json.loads(rendered(format, results(blind)))

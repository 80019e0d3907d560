"""Each verdict in each format, as independent readers of the formats find it."""

import html
import json
import shlex

import ci_readers as read
import pytest
from emit_samples import (
    CONFLICTS,
    FILE,
    a_case,
    a_document,
    a_finding,
    a_value,
    grouped,
    many,
    one_of_each_verdict,
    rendered,
)
from junitparser import Error, Failure, Skipped

TITLE = "transpose.{}.f32@1024 on sm_90"


@pytest.fixture
def draw(tmp_path):
    return lambda format, document: rendered(format, document, tmp_path)


@pytest.fixture
def each(draw):
    return lambda format: draw(format, one_of_each_verdict())


def required():
    """A run that was to measure everything, and could not."""
    blind = a_value("unmeasured", None, reason="unmeasured: no CUPTI", wrong=True)
    missing = [{"reason": "unmeasured: no CUPTI", "count": 2, "required": 1}]
    case = a_case("blind", blind)
    members = {"exit_code": 3, "headline": "NOT MEASURED: 2 unmeasured (2 required)"}
    return a_document(a_case("right"), case, unmeasured=missing, findings=[], **members)


# ---- JUnit ---------------------------------------------------------------------------------------


def test_junit_has_a_result_for_each_case(each):
    (suite,) = read.junit(each("junit")).values()
    kinds = {case.name.split(".")[0]: [type(result) for result in case.result] for case in suite}
    assert kinds == {
        "crash": [Error],
        "bad": [Failure],
        "slow": [],
        "let": [],
        "good": [],
        "right": [],
        "free": [Skipped],
        "blind": [Skipped],
        "unsure": [Skipped],
    }
    assert (suite.tests, suite.errors, suite.failures, suite.skipped) == (9, 1, 1, 3)


def test_junit_says_what_is_wrong_and_how_to_see_it_again(each):
    (suite,) = read.junit(each("junit")).values()
    (case,) = (case for case in suite if case.name.startswith("bad."))
    assert (case.classname, case.name) == ("transpose", "bad.f32@1024 on sm_90")
    assert (case._elem.get("file"), case._elem.get("line")) == (FILE, "42")
    assert case.time == 0.0015  # seconds
    (failure,) = case.result
    assert failure.type == "BudgetExceeded"
    assert failure.message == "shared.bank_conflicts is 9 wavefronts, budget = 0 (padded)"
    assert "FAIL transpose.bad.f32@1024 on sm_90" in failure.text
    assert failure.text.count("ci/gate --filter transpose.bad") == 1
    properties = {p.get("name"): p.get("value") for p in case._elem.iter("property")}
    assert properties == {CONFLICTS: "9", "time.median_us": "1500.0"}


def test_junit_shows_what_was_required_and_is_missing(draw):
    (suite,) = read.junit(draw("junit", required())).values()
    problems = [result for case in suite for result in case.result]
    assert [problem.type for problem in problems] == ["Fault", "NotMeasured"]
    assert problems[0].message == "2 values required, but unmeasured: no CUPTI"
    assert (suite.tests, suite.errors) == (3, 2)


# ---- SARIF ---------------------------------------------------------------------------------------


def test_sarif_levels_are_the_verdicts(each):
    (run,) = read.sarif(each("sarif"))
    found = {r["message"]["text"].split(".")[1]: r["level"] for r in run["results"]}
    assert found == {"crash": "error", "bad": "error", "slow": "warning"}
    assert run["invocations"][0]["executionSuccessful"] is False


def test_sarif_has_a_run_without_results_where_all_is_well(draw):
    (run,) = read.sarif(draw("sarif", a_document(a_case("right"))))
    assert run["results"] == []
    assert run["invocations"][0]["executionSuccessful"] is True


def test_sarif_names_the_other_lines(draw):
    value = a_value("fail", 9)
    case = a_case("bad", value)
    blame = [{"file": FILE, "line": line, "share": 0.5} for line in (42, 8, 7)]
    ((result,),) = (
        run["results"]
        for run in read.sarif(
            draw("sarif", a_document(case, findings=[a_finding(case, value, blame=blame)]))
        )
    )
    related = result["relatedLocations"]
    assert [place["physicalLocation"]["region"]["startLine"] for place in related] == [8, 7]
    assert result["message"]["text"].endswith(f"Lines: [{FILE}:8](0), [{FILE}:7](1).")


def test_sarif_keeps_the_worst_of_what_github_shows(draw):
    (run,) = read.sarif(draw("sarif", many(5_010)))
    assert len(run["results"]) == 5_000
    assert ".v0." in run["results"][0]["message"]["text"]
    (left_out,) = run["invocations"][0]["toolExecutionNotifications"]
    assert left_out["message"]["text"].startswith("10 of 5010 results are left out")


def test_sarif_shows_what_was_required_and_is_missing(draw):
    (run,) = read.sarif(draw("sarif", required()))
    (invocation,) = run["invocations"]
    (note,) = invocation["toolExecutionNotifications"]
    assert (run["results"], invocation["executionSuccessful"]) == ([], False)
    assert note["message"]["text"] == "2 values required, but unmeasured: no CUPTI"


# ---- GitHub --------------------------------------------------------------------------------------


def test_github_tells_verdicts_apart(each):
    found = [(kind, properties["title"]) for kind, properties, _ in read.github(each("github"))]
    assert found == [
        ("error", TITLE.format("crash")),
        ("error", TITLE.format("bad")),
        ("warning", TITLE.format("slow")),
        ("warning", TITLE.format("unsure")),
        ("notice", "warpgauge"),
    ]


def test_github_annotates_lines(draw):
    value = a_value("fail", 9)
    case = a_case("bad", value)
    (_, properties, message), _ = read.github(draw("github", a_document(case)))
    assert properties == {"title": TITLE.format("bad"), "file": FILE, "line": "42", "endLine": "42"}
    assert message.split("\n") == [
        "shared.bank_conflicts is 9 wavefronts, budget = 0 (padded)",
        "Passes taken beyond the ideal. Pad each row.",
        "Repeat: ci/gate --filter transpose.bad.f32@1024",
    ]


def test_github_shows_at_most_ten_annotations_and_counts_the_rest(draw):
    *shown, (kind, _, notice) = read.github(draw("github", many(25)))
    assert [command[0] for command in shown] == ["error"] * 9
    assert [c[1]["title"] for c in shown[:2]] == [TITLE.format(f"v{i}") for i in (0, 1)]
    assert kind == "notice"
    assert notice == (
        "FAIL: 25 over budget\n"
        "16 of 25 annotations are left out, the least bad ones; facts.jsonl has all"
    )


def test_github_shows_what_was_required_and_is_missing(draw):
    error, notice = read.github(draw("github", required()))
    assert error[2] == "2 values required, but unmeasured: no CUPTI"
    assert notice[2] == "NOT MEASURED: 2 unmeasured (2 required)"


# ---- Markdown ------------------------------------------------------------------------------------


def test_markdown_counts_families_and_shows_what_is_wrong(each):
    text = each("markdown")
    assert text.startswith("# warpgauge: ERROR: 1 over budget\n")
    tokens = read.markdown(text)
    headings = [
        tokens[i + 1].content for i, token in enumerate(tokens) if token.type == "heading_open"
    ]
    assert headings[1:] == [
        "Failures",
        "Moved by the environment",
        "Not sure enough to fail",
        "Unmeasured",
    ]
    assert "| <code>transpose</code> | 9 | 1 | 1 | 1 | 1 | 1 | 2 | 2 |" in text
    assert "- 1 value unmeasured: no CUPTI" in text


def test_markdown_stays_below_what_github_takes(draw):
    text = draw("markdown", many(20_000))
    assert 900_000 < len(text.encode()) < 2**20
    rows = text.count("\n| <code>transpose.")
    assert f"\n{20_000 - rows + 4} of " in text  # and meaning and command
    assert ".v0." in text and ".v19999." not in text


def test_markdown_shows_what_was_required_and_is_missing(draw):
    text = draw("markdown", required())
    assert "\n**2 values required, but unmeasured: no CUPTI**\n" in text
    assert "## Unmeasured" not in text


def test_markdown_has_no_empty_meaning(draw):
    fault = a_value("error", None, "result.correct", reason="a race", budget=None)
    case = a_case("raced", fault)
    bare = {"meaning": None, "cure": None}
    text = draw("markdown", a_document(case, findings=[a_finding(case, fault, **bare)]))
    assert "\n**result.correct**\n\nRepeat: <code>ci/gate " in text


def accepting(page):
    """The words of the command in a comment that accepts what is over budget."""
    command = html.unescape(page.rpartition("<code>")[2].partition("</code>")[0])
    return shlex.split(command.replace("\\", ""))


@pytest.mark.parametrize(("kernels", "is_chosen"), [(1, True), (5, True), (6, False)])
def test_a_comment_has_one_command_for_all_that_is_over_budget(draw, kernels, is_chosen):
    words = accepting(draw("comment", many(kernels)))
    globs = ",".join(f"transpose.v{i}.f32@*" for i in range(kernels))
    assert words[:3] == ["warpgauge", "accept", "out/facts.jsonl"]
    assert words[3:] == [*(["--filter", globs] if is_chosen else []), "--reason", "why it is meant"]


def test_the_command_of_a_comment_has_kernels_of_one_group_and_no_names_that_are_globs(draw):
    assert (
        accepting(draw("comment", grouped()))[4] == "transpose.tiled.f32@*,transpose.padded.f32@*"
    )
    assert "--filter" not in accepting(draw("comment", many(2, "x[1],")))


@pytest.mark.parametrize(
    ("repeat", "file"),
    [
        (
            "warpgauge emulate --arch sm_90 --budgets 'my own.toml' -- ./p --budgets x",
            "my own.toml",
        ),
        ("warpgauge attach --kernels k -- ./p --budgets x", "budgets.toml"),
        ("ci/gate --filter 'a.b.c@1'", None),
        ("VARIABLE=' warpgauge emulate", None),
    ],
)
def test_the_command_of_a_comment_names_the_budget_file_of_a_program(draw, repeat, file):
    over = a_case("bad", a_value("fail", 3), repeat=repeat)
    words = accepting(draw("comment", a_document(over)))
    assert words[:3] == ["warpgauge", "accept", "out/facts.jsonl"]
    assert words[3:5] == ["--filter", "transpose.bad.f32@*"]
    assert words[5:-2] == (["--budgets", file] if file else [])


def test_a_comment_counts_the_other_values_once(draw):
    page = draw("comment", grouped())
    assert "| <code>transpose.tiled.f32&#64;1024 on sm\\_90</code> and 3 more values |" in page
    assert "| <code>transpose.padded.f32&#64;1024 on sm\\_80</code> and 1 more value |" in page


@pytest.mark.parametrize("path", ["k.cu", "a/long/path/" * 30 + "k.cu"])
def test_a_comment_keeps_the_end_of_a_reason(draw, path):
    reason = f"race: shared read at s[32], which thread (32,0,0) has written at {path}:29; " * 2
    reason += "no __syncthreads() stands between"
    fault = a_value("error", None, "result.correct", reason=reason, budget=None)
    above = draw("comment", a_document(a_case("raced", fault))).partition("<details>")[0]
    assert "| race: shared read at s\\[32\\], " in above
    assert "no \\_\\_syncthreads() stands between |" in above
    assert len(above) < 900


# ---- GitLab --------------------------------------------------------------------------------------


def test_codequality_severities_are_the_verdicts(each):
    issues = read.code_quality(each("codequality"))
    found = {issue["description"].split(".")[1]: issue["severity"] for issue in issues}
    assert found == {"crash": "critical", "bad": "major", "slow": "minor"}
    assert issues[1]["location"] == {"path": FILE, "lines": {"begin": 42}}


def test_codequality_of_what_is_right_is_an_empty_list(draw):
    assert read.code_quality(draw("codequality", a_document(a_case("right")))) == []


def test_codequality_shows_what_was_required_and_is_missing(draw):
    (issue,) = read.code_quality(draw("codequality", required()))
    assert (issue["severity"], issue["check_name"]) == ("critical", "run")


def test_gitlab_metrics_have_every_value(each, draw):
    metrics = read.open_metrics(each("gitlab-metrics"))
    labels = {"id": "transpose.bad.f32@1024", "arch": "sm_90"}
    assert (labels, 9.0) in metrics["warpgauge_shared_bank_conflicts"]
    verdicts = {labels["verdict"]: value for labels, value in metrics["warpgauge_verdicts"]}
    assert (verdicts["error"], verdicts["fail"]) == (1, 1)
    assert metrics["warpgauge_exit_code"] == [({}, 2.0)]
    word = a_case("word", a_value("unbudgeted", "warps", "occupancy.limiter", budget=None))
    metrics = read.open_metrics(draw("gitlab-metrics", a_document(word)))
    (((labels, value),),) = (metrics["warpgauge_occupancy_limiter"],)
    assert (labels["resource"], value) == ("warps", 1.0)


# ---- TAP -----------------------------------------------------------------------------------------


def test_tap_has_a_point_for_each_case(each):
    points = read.tap(each("tap"))
    found = {p.description.split(".")[1]: (p.ok, p.skip) for p in points}
    assert found == {
        "crash": (False, False),
        "bad": (False, False),
        **dict.fromkeys(("slow", "let", "good", "right"), (True, False)),
        **dict.fromkeys(("free", "blind", "unsure"), (True, True)),
    }
    (finding,) = points[1].yaml_block["findings"]
    assert finding["metric"] == CONFLICTS
    assert finding["message"] == "shared.bank_conflicts is 9 wavefronts, budget = 0 (padded)"
    assert list(finding) == ["metric", "verdict", "at", "message", "repeat"]


def test_tap_shows_what_was_required_and_is_missing(draw):
    run, right, wrong = read.tap(draw("tap", required()))
    assert [point.ok for point in (run, right, wrong)] == [False, True, False]


# ---- trends --------------------------------------------------------------------------------------

NUMBERS = (
    a_value("pass", 2.5, "time.median_us", interval=[2.25, 2.75], budget="<= 3"),
    a_value("pass", 1, "occupancy.theoretical"),
    a_value("unbudgeted", "warps", "occupancy.limiter"),
    a_value("unmeasured", None),
)


def test_smaller_is_better_leaves_out_what_is_better_higher_or_never_judged(draw):
    (entry,) = json.loads(draw("smaller-is-better", a_document(a_case("a", *NUMBERS))))
    assert entry == {
        "name": f"{TITLE.format('a')}: time.median_us",
        "unit": "us",
        "value": 2.5,
        "range": "2.25 to 2.75",
        "extra": "pass: time.median_us is 2.5 us, budget <= 3",
    }


@pytest.mark.parametrize("format", ["smaller-is-better", "tap", "junit"])
def test_numbers_are_rounded_for_people(draw, format):
    time = a_value("fail", 12.3456789, "time.median_us", value_text="12.3457 us", budget="<= 10")
    document = a_document(a_case("a", time), findings=[])
    assert "time.median_us is 12.3457 us, budget " in html.unescape(draw(format, document))


@pytest.mark.parametrize("format", ["smaller-is-better", "bencher", "ctest", "gitlab-metrics"])
def test_numbers_are_whole_for_programs(draw, format):
    time = a_value("fail", 12.3456789, "time.median_us", value_text="12.3457 us", budget="<= 10")
    assert "12.3456789" in draw(format, a_document(a_case("a", time)))


def test_bencher_has_numbers_with_their_intervals(draw):
    assert json.loads(draw("bencher", a_document(a_case("a", *NUMBERS)))) == {
        TITLE.format("a"): {
            "time.median_us": {"value": 2.5, "lower_value": 2.25, "upper_value": 2.75},
            "occupancy.theoretical": {"value": 1},
        }
    }


def test_ctest_records_values(draw, tmp_path):
    recorded = read.ctest(draw("ctest", a_document(a_case("a", *NUMBERS))), tmp_path)
    assert recorded[f"{TITLE.format('a')}: time.median_us"] == ("numeric/double", "2.5")
    assert recorded[f"{TITLE.format('a')}: occupancy.limiter"] == ("text/string", "warps")


@pytest.mark.parametrize("format", ["smaller-is-better", "bencher"])
def test_nothing_measured_is_no_value(draw, format):
    assert not json.loads(draw(format, a_document(a_case("a", a_value("unmeasured", None)))))

"""The alerts of code scanning that the GitHub action uploads."""

import pytest
from github_action import ACTION, ALL_RESULTS, CASE, FORK, PULL, PUSH, SARIF, UPLOAD, stand_in


def whole_run(runner, code, inputs=None, github=PUSH):
    """The job of a gate without a filter that ends with this code."""
    action = runner(github)
    stand_in(action, ALL_RESULTS + f"exit {code}")
    inputs = {"upload_sarif": "true"} | (inputs or {})
    return action.run(**{**CASE, "baseline": "none", **inputs})


def test_a_pull_request_from_a_fork_uploads_no_alerts(runner):
    job = whole_run(runner, 1, github=FORK)
    assert job.code == 1 and UPLOAD in job.used and SARIF not in job.used


def test_alerts_are_uploaded_for_pull_requests_of_the_repository_itself(runner):
    assert SARIF in whole_run(runner, 0, github=PULL).used


def test_alerts_are_left_out_unless_the_caller_wants_them(runner):
    assert SARIF not in whole_run(runner, 0, {"upload_sarif": "false"}).used
    assert ACTION["inputs"]["upload-sarif"]["default"] == "false"


@pytest.mark.parametrize("code, uploaded", [(0, True), (1, True), (2, False), (3, False)])
def test_alerts_of_a_run_that_has_not_judged_all_do_not_close_those_of_another(
    runner, code, uploaded
):
    job = whole_run(runner, code)
    assert job.code == code and UPLOAD in job.used
    assert job.used.get(SARIF) == ({"sarif_file": "out/warpgauge.sarif"} if uploaded else None)


@pytest.mark.parametrize("some", [{"filter": "transpose.*"}, {"exclude": "transpose.*"}])
def test_alerts_of_some_cases_do_not_close_those_of_the_others(runner, some):
    job = whole_run(runner, 0, some)
    assert job.code == 0 and UPLOAD in job.used and SARIF not in job.used

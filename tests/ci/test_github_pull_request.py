"""What the GitHub action shows in a pull request: its values against those of the base."""

import json

import pytest
from github_action import ACTION, FAILS, FORK, PASSES, PULL, PUSH, RESTORE, SAVE, errors
from github_runner import annotations

WORSE = '"shared.bank_conflicts":0', '"shared.bank_conflicts":1984'


def comments(runner):
    file = runner.workspace.parent / "programs/comments.json"
    return [comment["body"] for comment in json.loads(file.read_text())] if file.exists() else []


def pushed(runner, change=lambda facts: facts):
    """The baseline of the commit b45e: the facts of the gate, changed."""
    action = runner(PUSH)
    job = action.run(**FAILS)
    assert job.used[SAVE] == {"path": "out/base/facts.jsonl", "key": "warpgauge-facts-b45e"}
    (key,) = action.caches
    action.caches[key]["facts.jsonl"] = change(action.caches[key]["facts.jsonl"].decode()).encode()


def was_better(facts):
    facts = facts.replace(*reversed(WORSE))
    return facts.replace('"verdict":"fail"', '"verdict":"pass"')


def test_a_pull_request_shows_what_got_worse_first_and_in_one_comment(runner):
    pushed(runner, was_better)
    for time in range(2):
        action = runner(PULL)
        job = action.run(**FAILS)
        assert job.code == 1, job.log
        worse = "1 kernel worse, against main at "
        assert job.summary.startswith(f"# warpgauge: {worse}")
        assert job.summary.index("| worse |") < job.summary.index("FAIL: 1 value over budget")
        (comment,) = comments(action)
        head = "<!-- warpgauge warpgauge -->\n### warpgauge: FAIL: 1 value over budget\n\n"
        assert comment.startswith(head + worse), time
        assert any("file=tests/canaries/family.cu" in line for line in errors(job))
        assert job.outputs["diff"] == "out/diff.json" and SAVE not in job.used


def test_the_comment_says_what_is_true_now(runner):
    pushed(runner, was_better)
    runner(PULL).run(**FAILS)
    action = runner(PULL)
    facts = (action.workspace / "out/facts.jsonl").read_bytes()
    action.caches["warpgauge-facts-b45e"] = {"facts.jsonl": facts}
    action.run(**FAILS)
    (comment,) = comments(action)
    assert "1 kernel the same, against main at " in comment


def test_what_main_has_too_is_not_annotated_and_still_red(runner):
    pushed(runner)
    job = runner(PULL).run(**FAILS)
    assert job.code == 1
    assert "1 kernel the same, against" in job.summary and "## Failures" in job.summary
    assert [line.split("::")[2] for line in errors(job)] == [
        "over budget, better than it and strict, or worse than before; see the job summary"
    ]
    assert not [line for line in annotations(job) if line.startswith("::warning")]


def test_each_job_of_a_matrix_has_a_comment_and_a_baseline_of_its_own(runner):
    pushed(runner)
    action = runner(PULL)
    job = action.run(**FAILS, name="on h100")
    assert "there is no baseline yet" in job.summary
    action.run(**FAILS)
    assert [comment.splitlines()[0] for comment in comments(action)] == [
        "<!-- warpgauge on h100 -->",
        "<!-- warpgauge warpgauge -->",
    ]


def test_a_comment_of_somebody_else_is_left_alone(runner):
    action = runner(PULL)
    file = action.workspace.parent / "programs/comments.json"
    theirs = {"id": 1, "login": "mallory", "body": "<!-- warpgauge warpgauge -->\nhello"}
    file.write_text(json.dumps([theirs]))
    action.run(**PASSES)
    assert comments(action)[0].endswith("hello") and len(comments(action)) == 2


@pytest.mark.parametrize("contexts", [FORK, PULL | {"github.actor": "dependabot[bot]"}])
def test_a_pull_request_whose_token_cannot_write_has_the_summary_only(runner, contexts):
    pushed(runner, was_better)
    action = runner(contexts)
    job = action.run(**FAILS)
    assert job.code == 1 and not comments(action)
    assert "1 kernel worse, against main at " in job.summary


@pytest.mark.parametrize("refused", ["--paginate", "POST"])
def test_a_job_without_the_permission_to_comment_is_no_failure(runner, refused, monkeypatch):
    monkeypatch.setenv("GH_REFUSES", refused)
    action = runner(PULL)
    job = action.run(**PASSES)
    assert job.code == 0 and not comments(action) and not errors(job)
    assert "give the job 'permissions: pull-requests: write'" in job.log


def test_the_token_reaches_only_the_comment():
    steps = ACTION["runs"]["steps"]
    assert [step["name"] for step in steps if "token" in str(step)] == ["Comment"]


def test_an_earlier_push_is_compared_with_where_its_base_has_none(runner):
    pushed(runner)
    job = runner(PULL | {"github.event.pull_request.base.sha": "newer"}).run(**FAILS)
    assert job.used[RESTORE]["key"] == "warpgauge-facts-newer"
    assert "1 kernel the same, against" in job.summary and "The base: commit " in job.summary


def test_a_merge_queue_is_compared_with_the_base_of_its_group(runner):
    pushed(runner, was_better)
    group = {"github.event_name": "merge_group", "github.event.merge_group.base_sha": "b45e"}
    action = runner(group)
    job = action.run(**FAILS)
    assert job.code == 1 and job.summary.startswith("# warpgauge: 1 kernel worse")
    assert job.used[RESTORE]["key"] == "warpgauge-facts-b45e"
    assert SAVE not in job.used and not comments(action)


def test_a_first_run_says_that_there_is_no_baseline(runner):
    job = runner(PULL).run(**PASSES)
    assert job.code == 0
    assert job.summary.startswith("No delta: there is no baseline yet; the next push to the base")


def test_a_baseline_that_cannot_be_compared_is_no_success_of_the_comparison(runner):
    action = runner(PULL)
    action.caches["warpgauge-facts-b45e"] = {"facts.jsonl": b"damaged"}
    job = action.run(**PASSES)
    assert job.code == 0 and job.outputs["diff"] == ""
    assert job.summary.startswith("No delta: the facts cannot be compared with those of the base")
    assert "unchanged" not in job.summary


def test_a_gate_that_has_a_fault_leaves_no_baseline(runner):
    job = runner(PUSH).run(**{**PASSES, "filter": "nothing.*"})
    assert job.code == 2 and SAVE not in job.used


def test_a_baseline_can_be_a_file(runner):
    action = runner()
    action.run(**FAILS, baseline="none")
    (action.workspace / "main.jsonl").write_text(
        was_better((action.workspace / "out/facts.jsonl").read_text())
    )
    job = action.run(**FAILS, baseline="main.jsonl")
    assert job.code == 1 and job.summary.startswith("# warpgauge: 1 kernel worse")
    assert RESTORE not in job.used and SAVE not in job.used


@pytest.mark.parametrize(
    "text, says", [(None, "there is no such file"), ("damaged", "cannot be compared with main")]
)
def test_a_file_that_is_no_baseline_is_a_fault(runner, text, says):
    action = runner()
    if text:
        (action.workspace / "main.jsonl").write_text(text)
    job = action.run(**PASSES, baseline="main.jsonl")
    assert job.code == 2 and says in errors(job)[0]


def test_a_baseline_that_cannot_be_copied_is_a_fault(runner):
    action = runner()
    action.run(**PASSES, baseline="none")
    facts = (action.workspace / "out/facts.jsonl").read_text()
    (action.workspace / "main.jsonl").write_text(facts)
    (action.workspace / "out/base").write_text("no folder")
    assert action.run(**PASSES, baseline="main.jsonl").code == 2


def test_without_a_baseline_only_the_budgets_speak(runner):
    job = runner(PULL).run(**PASSES, baseline="none")
    assert job.code == 0 and RESTORE not in job.used
    assert job.summary.startswith("# warpgauge: PASS")

"""emit --diff --base: the changes since a base head the page, and what the base has is not
annotated. A gate's own run, whose facts are changed to make the base."""

import json
import subprocess

import ci_readers as read
import pytest
from emit_samples import BIN

CONFLICTS = '"shared.bank_conflicts":1984'


def program(folder, *words):
    return subprocess.run(
        [BIN / "warpgauge-faulty", *map(str, words)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    """A gate with one value over its budget."""
    folder = tmp_path_factory.mktemp("run")
    options = ["--device=emulated", "--arch", "sm_90", "--filter", "canaries.padding_removed.*"]
    done = program(folder, "gate", *options)
    assert done.returncode == 1, done.stderr
    return folder


@pytest.fixture
def drawn(run_folder, tmp_path):
    """A function that draws the run beside a base, whose facts `change` makes of the run's."""

    def draw(change):
        base = tmp_path / "facts.jsonl"
        facts = (run_folder / "out/facts.jsonl").read_text()
        base.write_text(change(facts))
        program(run_folder, "diff", base, "out/facts.jsonl", "--json", tmp_path / "diff.json")
        program(run_folder, "outcome", base, "--out", tmp_path / "results.json")
        delta = ["--diff", tmp_path / "diff.json", "--base", tmp_path / "results.json"]
        done = program(run_folder, "emit", "out/results.json", "--all", tmp_path / "all", *delta)
        assert done.returncode == 0, done.stderr
        texts = {file.name: file.read_text() for file in (tmp_path / "all").iterdir()}
        return texts, read.github(texts["github.txt"])

    return draw


def errors(annotations):
    return [(properties, text) for kind, properties, text in annotations if kind == "error"]


def was_better(facts):
    """The facts of a base without the failure."""
    return facts.replace(CONFLICTS, '"shared.bank_conflicts":0').replace(
        '"verdict":"fail"', '"verdict":"pass"'
    )


def was_worse(facts):
    return facts.replace(CONFLICTS, '"shared.bank_conflicts":3000')


def had_less(facts):
    return facts.replace(CONFLICTS, '"shared.bank_conflicts":992')


def was_in_budget(facts):
    """The same value, below the budget of then."""
    return facts.replace('"verdict":"fail"', '"verdict":"waived"')


def test_what_got_worse_heads_the_page_and_is_annotated(drawn):
    texts, annotations = drawn(was_better)
    for page in (texts["summary-ci.md"], texts["comment.md"]):
        head, rest = page.split("## warpgauge: FAIL: 1 value over budget")
        assert head.startswith("# warpgauge: 1 worse, 0 better, 43 unchanged against the base\n")
        assert "The base: commit " in head and "| worse | <code>canaries.padding" in head
        assert "## Failures" in rest
        read.markdown(page)
    ((properties, text),) = errors(annotations)
    assert properties["file"] == "tests/canaries/family.cu" and "is 1984" in text
    assert annotations[-1][2].startswith("1 worse, 0 better, 43 unchanged against the base\nFAIL")


@pytest.mark.parametrize("change", [lambda facts: facts, was_worse])
def test_what_the_base_has_is_in_the_summary_and_not_annotated(drawn, change):
    texts, annotations = drawn(change)
    assert not errors(annotations)
    assert "1 finding is not new; the summary has it" in annotations[-1][2]
    for page in (texts["summary-ci.md"], texts["comment.md"]):
        assert "## Failures\n" in page and "padding\\_removed" in page.split("## Failures")[1]
    assert json.loads(texts["warpgauge.sarif"])["runs"][0]["results"]  # code scanning knows itself


@pytest.mark.parametrize("change", [had_less, was_in_budget])
def test_a_failure_that_the_base_did_not_have_so_is_annotated(drawn, change):
    _, annotations = drawn(change)
    assert len(errors(annotations)) == 1


def test_the_options_go_together(run_folder):
    done = program(run_folder, "emit", "out/results.json", "--format=github", "--diff", "x")
    assert done.returncode == 2 and "--diff and --base go together" in done.stderr


def test_many_changes_leave_room_for_what_is_over_budget(run_folder, tmp_path):
    side = {"file": "a.jsonl", "origin": "a run", "runs": ["r"]}
    change = {"id": "a.b.f32@1", "metric": "registers", "unit": "registers/thread", "b": 2}
    change |= {"class": "exact", "mark": "worse", "a": 1, "relative": 1.0}
    document = {"schema": "warpgauge.diff/1", "kind": "values", "exit_code": 1, "a": side}
    document |= {"headline": "WORSE", "b": side, "marks": {"worse": 2000, "better": 0, "same": 1}}
    (tmp_path / "diff.json").write_text(
        json.dumps(document | {"causes": [], "changes": [change] * 2000})
    )
    delta = ["--diff", tmp_path / "diff.json", "--base", "out/results.json"]
    page = program(run_folder, "emit", "out/results.json", "--format=comment", *delta).stdout
    assert page.startswith("# warpgauge: 2,000 worse, 0 better, 1 unchanged against the base\n")
    assert "and 1975 more changes; diff.json has all" in page and "## Failures" in page

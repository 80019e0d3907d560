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
    head, rest = texts["summary-ci.md"].split("## warpgauge: FAIL: 1 value over budget")
    assert head.startswith("# warpgauge: 1 kernel worse, against the base at ")
    assert "The base: commit " in head and "| worse | <code>canaries.padding" in head
    assert "## Failures" in rest
    for page in (texts["summary-ci.md"], texts["comment.md"]):
        read.markdown(page)
    ((properties, text),) = errors(annotations)
    assert properties["file"] == "tests/canaries/family.cu" and "is 1984" in text
    assert annotations[-1][2].startswith("1 kernel worse, against the base at ")


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
    kernel = {"name": "a.b.f32", "mark": "worse", "cases": 1}
    kernel["facts"] = [change | {"told": True}]
    document |= {"headline": "WORSE: 2000 kernels worse", "b": side, "marks": {}, "changes": []}
    (tmp_path / "diff.json").write_text(
        json.dumps(document | {"causes": [], "kernels": [kernel] * 2000})
    )
    delta = ["--diff", tmp_path / "diff.json", "--base", "out/results.json"]
    page = program(run_folder, "emit", "out/results.json", "--format=comment", *delta).stdout
    above, fold = page.split("<details>")
    assert "2000 kernels worse, against the base." in above and "**over budget**" in above
    assert above.count("\n| worse, not over budget | ") == 4 and "and 1996 more, below" in above
    assert "and 1975 more kernels; diff.json has all" in fold and "## Failures" in fold


# The summary draws the kernels, and so does the comment: what one hides is in neither.
def kernel(mark, name, **members):
    fact = {
        "id": f"{name}@1",
        "arch": "sm_90",
        "metric": "shared.bank_conflicts",
        "unit": "wavefronts",
    }
    fact |= {
        "mark": mark,
        "a": 0,
        "b": 9,
        "file": "k.cu",
        "line": 7,
        "cause": "code",
        "told": True,
    } | members
    return {"name": name, "mark": mark, "cases": 2, "facts": [fact]}


def test_ten_lines_stand_above_the_fold_and_name_losses_and_gains(run_folder, tmp_path):
    side = {"file": "a.jsonl", "origin": "a run", "runs": ["r"], "commits": ["1a2b3c4d5e6f"]}
    kernels = [kernel("worse", f"w{i}.v.f32") for i in range(9)]
    kernels += [kernel("better", f"b{i}.v.f32") for i in range(9)]
    document = {"schema": "warpgauge.diff/1", "kind": "values", "exit_code": 1, "a": side}
    document |= {"headline": "WORSE: 9 kernels worse, 9 better", "b": side, "marks": {}}
    document |= {"causes": [], "kernels": kernels, "changes": []}
    (tmp_path / "diff.json").write_text(json.dumps(document))
    delta = ["--diff", tmp_path / "diff.json", "--base", "out/results.json", "--base-name=main"]
    page = program(run_folder, "emit", "out/results.json", "--format=comment", *delta).stdout
    above, fold = page.split("<details>")
    lines = [line for line in above.splitlines() if line]
    assert len(lines) <= 10
    assert lines[0] == "### warpgauge: FAIL: 1 value over budget"
    assert lines[1] == "9 kernels worse, 9 better, against main at 1a2b3c4d5."
    marks = [line.split(" | ")[0].strip("| ") for line in lines[4:9]]
    assert marks == ["**over budget**", *["worse, not over budget"] * 3, "better"]
    assert "<code>tests/canaries/family.cu:" in lines[4], "the line of code"
    assert "<code>w0.v.f32</code> &#64;1 on sm\\_90 and 1 more case | " in lines[5]
    assert lines[9] == "and 14 more, below"
    assert page.index("</details>") < page.index("- again, on your machine: <code>")
    assert "warpgauge accept out/facts.jsonl" in page.split("</details>")[1]


def test_a_green_comment_is_a_line_and_a_fold(tmp_path):
    gate = ["gate", "--device=emulated", "--arch", "sm_90", "--filter", "transpose.padded.*"]
    subprocess.run([BIN / "warpgauge", *gate], cwd=tmp_path, check=True, capture_output=True)
    page = program(tmp_path, "emit", "out/results.json", "--format=comment").stdout
    above, fold = page.split("<details>")
    (line,) = filter(None, above.splitlines())
    assert line.startswith("### warpgauge: PASS: ")
    assert fold.endswith("</details>\n")

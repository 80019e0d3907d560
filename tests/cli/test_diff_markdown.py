"""`warpgauge report diff` draws what `warpgauge diff --json` wrote."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from some_facts import EMULATED, FACT, write
from test_diff_counts import counts

BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"


def run(*command):
    return subprocess.run(
        [BIN / "warpgauge", *command], capture_output=True, text=True, timeout=120
    )


@pytest.fixture
def drawn(tmp_path):
    """The headline of the diff of two runs, and its page."""

    def draw(before, after):
        for name, facts in (("a.jsonl", before), ("b.jsonl", after)):
            write(tmp_path / name, facts)
        names = [tmp_path / name for name in ("a.jsonl", "b.jsonl")]
        text = run("diff", *names, "--json", tmp_path / "diff.json").stdout
        page = run("report", "diff", tmp_path / "diff.json")
        assert page.returncode == 0, page.stderr
        return text.splitlines()[-1], page.stdout.splitlines()

    return draw


def test_values_with_their_causes_and_lines(drawn):
    case = FACT | {"metric": "shared.bank_conflicts"}
    line = {"scope": "line", "verdict": None, "budget": None, "reason": None}
    before = [case | {"value": 100}, case | line | {"value": 100}]
    after = [fact | {"value": 150, "sass_hash": "b"} for fact in before]
    headline, page = drawn(before, after)
    assert headline == "WORSE: 1 kernel worse"
    assert page[0] == "# warpgauge diff: WORSE: 1 kernel worse"
    assert "| code or compiler | 1 | 0 | 0 | 0 |" in page
    assert (
        "| worse | <code>transpose.tiled.f32</code> | <code>shared.bank\\_conflicts</code> "
        "100 → 150 wavefronts (+50.0%) | <code>kernels/transpose/transpose.cu:42</code> "
        "| the machine code changed |" in page
    )
    assert (
        "| worse | <code>transpose.tiled.f32&#64;1024x1024 on sm\\_90</code> "
        "| <code>shared.bank\\_conflicts</code> | 100 | 150 | wavefronts | +50.0% "
        "| code or compiler | <code>kernels/transpose/transpose.cu:42</code> |" in page
    )


def test_counts_of_two_sources(drawn):
    emulated = counts(64, source="emulator", device=EMULATED)
    headline, page = drawn(emulated, counts(32))
    assert headline.startswith("DIFFERENT: 1 of 1 source lines")
    assert page[0] == f"# warpgauge diff: {headline}"
    assert "| <code>transpose</code> | 1 | 1 | 0 | 1 | 0 | 0 | 0 | 0 |" in page
    assert any("| 64 | 32 | exact |  | <code>kernels/transpose/" in row for row in page)


def test_cases_that_were_not_compared(drawn):
    emulated = counts(64, source="emulator", device=EMULATED)
    _, page = drawn([*emulated, *(fact | {"size": "2x2"} for fact in emulated)], counts(64))
    assert page[-1] == "- only in a: <code>transpose.tiled.f32&#64;2x2 on sm\\_90</code>"


@pytest.mark.parametrize(
    ("text", "says"),
    [("{", "not a JSON object"), ("[]", "not a JSON object"), ('{"schema": "x"}', "schema is 'x'")],
)
def test_other_files_are_refused(tmp_path, text, says):
    path = tmp_path / "diff.json"
    path.write_text(text)
    page = run("report", "diff", path, "--out", tmp_path / "page.md")
    assert (page.returncode, page.stdout) == (2, "")
    assert says in page.stderr
    assert not (tmp_path / "page.md").exists()
    assert "cannot be read" in run("report", "diff", tmp_path / "none").stderr


MEMBERS = {
    "headline": 5,
    "a": {"file": "a"},
    "marks": {"worse": "<b>"},
    "causes": [{"worse": "<b>", "moved": 0, "changed": 0, "better": 0}],
    "kernels": [{"name": "a", "mark": "<b>", "cases": 1, "facts": []}],
    "changes": [{"id": "a", "metric": "b", "unit": "c", "mark": "<script>"}],
    "kind": "neither",
}


@pytest.mark.parametrize("member", MEMBERS)
def test_forged_documents_are_refused(tmp_path, member):
    side = {"file": "a.jsonl", "origin": "a run", "runs": ["r"]}
    document = {"schema": "warpgauge.diff/1", "kind": "values", "headline": "SAME", "a": side}
    document |= {"b": side, "marks": {}, "causes": [], "kernels": [], "changes": []}
    path = tmp_path / "diff.json"
    for text, code in ((document, 0), (document | {member: MEMBERS[member]}, 2)):
        path.write_text(json.dumps(text))
        page = run("report", "diff", path)
        assert page.returncode == code, page.stderr
    assert page.stdout == "" and "Traceback" not in page.stderr
    assert "does not match warpgauge.diff/1" in page.stderr


def test_a_page_too_long_for_a_comment_is_cut(tmp_path):
    side = {"file": "a.jsonl", "origin": "a run", "runs": ["r"]}
    change = {"id": "a.b.f32@1", "metric": "registers", "unit": "registers/thread"}
    change |= {"class": "exact", "mark": "worse", "a": 1, "b": 2, "relative": 1.0}
    document = {"schema": "warpgauge.diff/1", "kind": "values", "exit_code": 1, "a": side}
    document |= {
        "headline": "WORSE: 2000 worse",
        "b": side,
        "marks": {},
        "causes": [],
        "kernels": [],
    }
    path = tmp_path / "diff.json"
    path.write_text(json.dumps(document | {"changes": [change] * 2000}))
    page = run("report", "diff", path).stdout
    assert len(page.encode()) < 65_536
    assert page.endswith(" of 2009 lines are left out, the least bad ones\n")

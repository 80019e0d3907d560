"""Each format stays below what its reader takes, keeps the worst, and says what was left out."""

import html
import json
import re
import subprocess

import ci_readers as read
import pytest
from emit_samples import BIN, a_case, a_document, a_value, many, results
from warpgauge.outcome.limits import kept
from warpgauge.outputs import FORMATS

VALUES = 10_000  # too much for every format, with names of this length
LONG = "long_" * 200
SENTENCE = r"(\d+) of (\d+) (\D+) are left out, the least bad ones; facts\.jsonl has all"
FRAME = 50_000  # bytes around the entries of a format, at most


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    found = results(many(VALUES, LONG), tmp_path_factory.mktemp("large"))
    return {name: format.draw(found) for name, format in FORMATS.items()}


@pytest.mark.parametrize("format", FORMATS.values(), ids=FORMATS)
def test_it_stays_below_what_its_reader_takes_and_says_what_is_left_out(large, format):
    text, left_out = large[format.name]
    assert len(text.encode()) < format.module.MAX_BYTES + FRAME
    cut, total, noun = re.fullmatch(SENTENCE, left_out).groups()
    assert noun == format.module.ENTRIES
    assert 0 < int(cut) < int(total)
    if format.name == "bencher":
        assert json.loads(text)["warpgauge: left out"] == {noun: {"value": int(cut)}}
    elif format.name == "gitlab-metrics":
        assert f"\nwarpgauge_left_out {cut}\n" in text
    else:
        assert left_out in html.unescape(text)
    assert "v0.f32" in text or f"{LONG}v0" in text
    assert f"v{VALUES - 1}.f32" not in text


def test_readers_take_what_was_cut(large, tmp_path):
    assert len(read.tap(large["tap"].text)) < VALUES
    assert len(read.github(large["github"].text)) == 10
    assert read.sarif(large["sarif"].text)
    assert read.code_quality(large["codequality"].text)
    assert read.junit(large["junit"].text)
    assert read.open_metrics(large["gitlab-metrics"].text)
    assert "left out" in read.ctest(large["ctest"].text, tmp_path)
    (entry,) = (e for e in json.loads(large["smaller-is-better"].text) if e["unit"] == "entries")
    assert entry["name"] == "warpgauge: left out"


@pytest.mark.parametrize("format", ["ctest", "smaller-is-better", "gitlab-metrics"])
def test_values_that_were_judged_go_before_those_that_were_not(format, tmp_path):
    free = a_value("unbudgeted", 7, "time.median_us", budget=None)
    cases = [a_case(f"v{i}", a_value(), free) for i in range(3)]
    found = results(a_document(*cases), tmp_path)
    entries = FORMATS[format].module.entries(found)
    judged = ["conflicts" in entry for entry in entries]
    assert judged == [True] * 3 + [False] * 3


def test_faults_of_the_run_are_never_cut_for_cases(tmp_path):
    found = results(many(3) | {"lost": ["a graph"]}, tmp_path)
    for name in ("junit", "tap", "github", "codequality"):
        assert "a graph" in FORMATS[name].module.entries(found)[0]


def test_the_first_that_fit_are_kept():
    assert kept(["aa", "bb", "cc"], "x", 12, None) == (["aa", "bb", "cc"], 3, "x")
    assert kept(["aa", "bb", "c"], "x", 11, None).entries == ["aa", "bb", "c"]
    assert kept(["aa", "bb", "c"], "x", 10, None).entries == ["aa", "bb"]
    assert kept(["a", "bbbbbbbbb", "c"], "x", 10, None).entries == ["a"], "in order"
    assert kept(["a", "b", "c"], "x", 99, 2).left_out == 1


def test_emit_says_on_stderr_what_is_left_out(tmp_path):
    (tmp_path / "results.json").write_text(json.dumps(many(12)))
    command = [BIN / "warpgauge-python", "emit", tmp_path / "results.json"]
    for options in (["--format", "github"], ["--all", tmp_path / "out"]):
        done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=120)
        assert (done.returncode, done.stderr) == (
            0,
            "github.txt: 3 of 12 annotations are left out, the least bad ones; "
            "facts.jsonl has all\n",
        )

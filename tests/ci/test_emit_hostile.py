"""Names, reasons and paths that try to be more than text, in every format."""

import html
import json

import ci_readers as read
import pytest
from emit_samples import HOSTILE, changed, hostile, one_of_each_verdict, rendered, results
from warpgauge.outcome.results import Sources
from warpgauge.outputs import FORMATS


def shown(format):
    return rendered(format, results(hostile()))


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_is_shown_that_is_only_obeyed(format):
    text = shown(format)
    assert all(line.isprintable() for line in text.split("\n"))
    assert text.encode("utf-8").decode("utf-8") == text
    assert text.count("\n") < 300


def test_junit_keeps_its_cases():
    (suite,) = read.junit(shown("junit")).values()
    assert (suite.tests, suite.errors, suite.failures, suite.skipped) == (8, 1, 1, 2)
    assert all("<script>" in case.name for case in suite)  # a name, not an element


def test_sarif_has_no_links_and_placeholders_but_its_own():
    (run,) = read.sarif(shown("sarif"))
    assert [result["level"] for result in run["results"]] == ["error", "error", "warning"]
    for result in run["results"]:
        text = result["message"]["text"]
        assert "\\[x\\](javascript:1)" in text and "[x]" not in text.replace("\\[x\\]", "")
        assert "{{0}}" in text
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert not set(uri) & set('<>"{}|\\^` \n')
        assert "%3Cscript%3E" in uri


def test_github_has_no_commands_but_its_own():
    commands = read.github(shown("github"))
    assert [kind for kind, *_ in commands] == ["error", "error", "warning", "warning", "notice"]
    (_, properties, message) = commands[1]
    assert set(properties) == {"title", "file", "line", "endLine"}
    assert "%0A::error::x" in properties["title"]  # as it was, and no line break
    assert "%0A::error::x" in message and "\n::" not in message


def test_markdown_has_no_markup_but_its_own():
    text = shown("markdown")
    tokens = read.markdown(text)
    ours = {"<code>", "</code>"}
    assert {t.content for t in tokens if t.type in ("html_inline", "html_block")} <= ours
    kinds = {token.type for token in tokens}
    assert not kinds & {"link_open", "image", "code_inline", "em_open", "s_open", "fence"}
    failures = text.split("## Failures")[1].split("\n\n")[1].split("\n")
    assert [row.count("|") for row in failures] == [8] * 4  # seven cells each
    shown_text = "".join(t.content for t in tokens if t.type in ("text", "text_special"))
    assert "<script>alert(1)</script>" in html.unescape(shown_text)


def test_codequality_keeps_its_issues():
    issues = read.code_quality(shown("codequality"))
    assert [issue["severity"] for issue in issues] == ["critical", "major", "minor"]


def test_gitlab_metrics_keep_their_labels():
    metrics = read.open_metrics(shown("gitlab-metrics"))
    samples = metrics["warpgauge_shared_bank_conflicts"]
    assert len(samples) == 6
    assert all(labels.keys() == {"id", "arch"} for labels, _ in samples)
    assert all("\"'><script>" in labels["id"] for labels, _ in samples)


def test_tap_keeps_its_points():
    points = read.tap(shown("tap"))  # this reader takes "\\# SKIP" for a directive
    assert [(point.ok, point.skip) for point in points] == [
        (False, False),
        (False, False),
        *[(True, False)] * 4,
        *[(True, True)] * 2,
    ]


def test_ctest_keeps_its_measurements(tmp_path):
    recorded = read.ctest(shown("ctest"), tmp_path)
    values = [value for name, value in recorded.items() if "<script>" in name]
    assert len(values) == 6
    assert {kind for kind, _ in values} == {"numeric/double"}


@pytest.mark.parametrize("format", ["smaller-is-better", "bencher"])
def test_trends_keep_their_entries(format):
    assert len(json.loads(shown(format))) == 6


def test_source_lines_are_hostile_as_well(tmp_path):
    fact = next(f for f in one_of_each_verdict() if f.verdict == "fail")
    (tmp_path / "a.cu").write_text("x\n" + HOSTILE.replace("\n", " ") + "\n")
    blamed = changed(fact, file="a.cu", line=2)
    for format in FORMATS:
        text = rendered(format, results([blamed], tmp_path))
        assert all(line.isprintable() for line in text.split("\n"))
    read.junit(rendered("junit", results([blamed], tmp_path)))
    (point,) = read.tap(rendered("tap", results([blamed], tmp_path)))
    assert "<script>" in point.yaml_block["findings"][0]["source"]


@pytest.mark.parametrize("file", ["../secret", "/etc/passwd", "link", "\0", "a" * 5000, "folder"])
def test_only_files_below_the_root_are_read(tmp_path, file):
    root = tmp_path / "root"
    (root / "folder").mkdir(parents=True)
    (tmp_path / "secret").write_text("secret\n")
    (root / "link").symlink_to(tmp_path / "secret")
    assert Sources(root).text(file, 1) == ""


def test_a_line_beyond_the_end_is_none(tmp_path):
    (tmp_path / "a.cu").write_bytes(b"one\n\xff\n")
    sources = Sources(tmp_path)
    assert [sources.text("a.cu", line) for line in (1, 2, 9, None)] == ["one", "\ufffd", "", ""]

"""Names, reasons and paths that try to be more than text, in every format."""

import html
import json

import ci_readers as read
import pytest
from emit_samples import hostile, rendered
from warpgauge.outputs import FORMATS


@pytest.fixture
def shown(tmp_path):
    return lambda format: rendered(format, hostile(), tmp_path)


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_is_shown_that_is_only_obeyed(shown, format):
    text = shown(format)
    assert all(line.isprintable() for line in text.split("\n"))
    assert text.encode("utf-8").decode("utf-8") == text
    assert text.count("\n") < 300


def test_junit_keeps_its_cases(shown):
    (suite,) = read.junit(shown("junit")).values()
    assert (suite.tests, suite.errors, suite.failures, suite.skipped) == (9, 1, 1, 3)
    assert all("<script>" in case.name for case in suite)  # a name, not an element


def test_sarif_has_no_links_and_placeholders_but_its_own(shown):
    (run,) = read.sarif(shown("sarif"))
    assert [result["level"] for result in run["results"]] == ["error", "error", "warning"]
    for result in run["results"]:
        text = result["message"]["text"]
        assert "\\[x\\](javascript:1)" in text and "[x]" not in text.replace("\\[x\\]", "")
        assert "{{0}}" in text
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert not set(uri) & set('<>"{}|\\^` \n')
        assert "%3Cscript%3E" in uri


def test_github_has_no_commands_but_its_own(shown):
    commands = read.github(shown("github"))
    kinds = [kind for kind, *_ in commands]
    assert kinds == ["error", "error", "warning", "warning", "notice"]
    (_, properties, message) = commands[1]
    assert set(properties) == {"title", "file", "line", "endLine"}
    assert "%0A::error::x" in properties["title"]  # as it was, and no line break
    assert "%0A::error::x" in message and "\n::" not in message


def test_markdown_has_no_markup_but_its_own(shown):
    text = shown("markdown")
    tokens = read.markdown(text)
    ours = {"<code>", "</code>"}
    assert {t.content for t in tokens if t.type in ("html_inline", "html_block")} <= ours
    kinds = {token.type for token in tokens}
    assert not kinds & {"link_open", "image", "code_inline", "em_open", "s_open", "fence"}
    failures = text.split("## Failures")[1].split("\n\n")[1].split("\n")
    assert [row.count("|") for row in failures] == [7] * 4  # six cells each
    shown_text = "".join(t.content for t in tokens if t.type in ("text", "text_special"))
    assert "<script>alert(1)</script>" in html.unescape(shown_text)


def test_codequality_keeps_its_issues(shown):
    issues = read.code_quality(shown("codequality"))
    assert [issue["severity"] for issue in issues] == ["critical", "major", "minor"]


def test_gitlab_metrics_keep_their_labels(shown):
    metrics = read.open_metrics(shown("gitlab-metrics"))
    samples = metrics["warpgauge_shared_bank_conflicts"]
    assert len(samples) == 7
    assert all(labels.keys() == {"id", "arch"} for labels, _ in samples)
    assert all("\"'><script>" in labels["id"] for labels, _ in samples)
    assert "#" not in "".join(line for line in shown("gitlab-metrics") if line[:1] != "#")


def test_tap_keeps_its_points(shown):
    points = read.tap(shown("tap"))  # this reader takes "\\# SKIP" for a directive
    assert [(point.ok, point.skip) for point in points] == [
        (False, False),
        (False, False),
        *[(True, False)] * 4,
        *[(True, True)] * 3,
    ]


def test_ctest_keeps_its_measurements(shown, tmp_path):
    recorded = read.ctest(shown("ctest"), tmp_path)
    values = [value for name, value in recorded.items() if "<script>" in name]
    assert len(values) == 8
    assert {kind for kind, _ in values} == {"numeric/double"}


@pytest.mark.parametrize("format", ["smaller-is-better", "bencher"])
def test_trends_keep_their_entries(shown, format):
    assert len(json.loads(shown(format))) == {"smaller-is-better": 8, "bencher": 7}[format]

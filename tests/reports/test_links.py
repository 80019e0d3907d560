"""Patterns of addresses: which are taken, and what they become."""

import pytest
from page_samples import RUNS
from warpgauge.history import Point
from warpgauge.page import links
from warpgauge.page.links import Links


@pytest.mark.parametrize(
    "pattern, kind, problem",
    [
        ("javascript:alert(1)//{commit}", links.COMMIT, "http://"),
        ("git.example/{commit}", links.COMMIT, "http://"),
        ("https://{commit}.example/", links.COMMIT, "http://"),
        ("https://git.example/{commit} ", links.COMMIT, "http://"),
        ("https://git.example/x", links.COMMIT, "needs {commit}"),
        ("https://git.example/{commit}/{file}", links.COMMIT, "known: {commit}"),
        ("https://git.example/{}/{commit}", links.COMMIT, "known: {commit}"),
        ("https://git.example/{commit}", links.COMPARE, "needs {base} and {commit}"),
        ("https://git.example/{commit}#L{line}", links.SOURCE, "needs {file}"),
    ],
)
def test_patterns_that_are_no_addresses_are_refused(pattern, kind, problem):
    with pytest.raises(ValueError, match=problem):
        links.pattern(pattern, kind)


@pytest.mark.parametrize(
    "pattern, kind",
    [
        ("https://git.example/p/commit/{commit}", links.COMMIT),
        ("http://localhost:8080/compare/{base}...{commit}", links.COMPARE),
        ("https://git.example/-/blob/{commit}/{file}#L{line}", links.SOURCE),
        ("https://git.example/{file}", links.SOURCE),
    ],
)
def test_patterns_of_the_usual_hosts_are_taken(pattern, kind):
    assert links.pattern(pattern, kind) == pattern


def test_values_cannot_leave_their_place_in_an_address():
    source = "https://x/{commit}/{file}#L{line}"
    to = Links(source, "https://x/{commit}", "https://x/{base}...{commit}")
    assert to.to_commit('a"/../{base}') == "https://x/a%22%2F..%2F%7Bbase%7D"
    assert to.to_comparison("{commit}", "b") == "https://x/%7Bcommit%7D...b"
    point = Point(RUNS[0], file="a dir/{line}.cu", line=7)
    assert to.to_source(point) == f"https://x/{RUNS[0].commit}/a%20dir/%7Bline%7D.cu#L7"


def test_what_is_not_known_has_no_link():
    to = Links("https://x/{file}", "https://x/{commit}", "https://x/{base}...{commit}")
    assert to.to_commit(None) is to.to_comparison(None, "b") is to.to_comparison("b", None) is None
    assert to.to_source(Point(RUNS[0])) is None
    assert Links().to_commit("c") is Links().to_comparison("b", "c") is None


@pytest.mark.parametrize("text", ["https://kernels.example", "https://kernels.example/"])
def test_the_address_of_a_folder_ends_with_a_slash(text):
    assert links.folder(text) == "https://kernels.example/"


@pytest.mark.parametrize(
    "text",
    ["kernels.example", "file:///srv", "https://x/?a=b", "https://x/#top", "https://x/{commit}"]
    + ["https://x/>[a", "https://x/\x01"],
)
def test_what_is_no_address_of_a_folder_is_refused(text):
    with pytest.raises(ValueError):
        links.folder(text)

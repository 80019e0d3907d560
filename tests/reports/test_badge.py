"""The badge says in two words what the headline says."""

import json
from xml.etree import ElementTree

import pytest
from page_samples import GPU, GPU_RUNS, HOSTILE, NIGHTS, RUNS, a_series, build, conflicts
from warpgauge.page import badge

PASSING = conflicts(after=0)
ERROR = {"value": None, "verdict": "error"}


@pytest.mark.parametrize(
    "series, words, code",
    [
        ([PASSING], "passing", 0),
        ([conflicts(), PASSING], "1 over budget", 1),
        ([a_series("result.correct", [ERROR]), PASSING], "1 error", 1),
        ([a_series("instructions", [5] * 29 + [6]), PASSING], "1 worse", 1),
        ([a_series("instructions", [5] * 20 + [6] * 10), PASSING], "1 worse", 1),
        ([a_series("instructions", [5] * NIGHTS)], "nothing judged", 3),
    ],
)
def test_the_words_are_those_of_the_exit_code(series, words, code):
    found = build(series, RUNS)
    assert (badge.words(found), found.exit_code) == (words, code)


def test_a_badge_has_a_name_for_those_who_do_not_see_it():
    root = ElementTree.fromstring(badge.svg(build([PASSING], RUNS), "warpgauge"))
    assert root.get("role") == "img" and root.get("aria-label") == "warpgauge: passing"
    assert root.findtext("{*}title") == "warpgauge: passing"
    assert [text.text for text in root.findall("{*}text")] == ["warpgauge", "passing"]


def test_what_needs_attention_is_no_red_badge():
    gpu = {"source": "clock", "device_name": GPU, "runs": GPU_RUNS}
    missing = a_series("time.median_us", [5] * 29, **gpu | {"runs": GPU_RUNS[:-1]})
    found = build([PASSING, missing])
    assert found.tone == "attention" and badge.words(found) == "passing"
    worse = build([PASSING, a_series("instructions", [5] * 29 + [6])], RUNS)
    colours = [json.loads(badge.endpoint(report, ""))["color"] for report in (found, worse)]
    colours.append(json.loads(badge.endpoint(build([conflicts()], RUNS), ""))["color"])
    assert len(set(colours)) == 3


def test_titles_are_data():
    found = build([PASSING], RUNS)
    root = ElementTree.fromstring(badge.svg(found, HOSTILE))
    assert [part.tag.split("}")[1] for part in root] == [
        "title",
        "rect",
        "rect",
        "rect",
        "text",
        "text",
    ]
    known = json.loads(badge.endpoint(found, HOSTILE))
    assert (known["schemaVersion"], known["label"], known["message"]) == (1, HOSTILE, "passing")

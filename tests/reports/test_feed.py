"""The feed has an entry for each change for the worse and each recovery, with an id that stays."""

import re
from dataclasses import replace
from xml.etree import ElementTree

from page_samples import HOSTILE, NIGHTS, RUNS, a_series, build, conflicts
from warpgauge.page.contents import Contents
from warpgauge.page.feed import feed

ATOM = "{http://www.w3.org/2005/Atom}"
ADDRESS = "https://kernels.example/nights/"
WORSE_AND_BACK = [5] * 10 + [6] * 10 + [5] * 10  # from night 10 to night 20, 5 again


def fed(series, nights=NIGHTS, title="nightly"):
    """The feed after so many nights; the series have a value for each of all nights."""
    until_then = [replace(whole, points=whole.points[:nights]) for whole in series]
    text = feed(Contents(build(until_then, RUNS[:nights])), title, ADDRESS)
    return ElementTree.fromstring(text)


def entries(root):
    """By name, the text of each part of each entry, or its attributes."""
    return [
        {part.tag.removeprefix(ATOM): part.text or part.attrib for part in entry}
        for entry in root.findall(f"{ATOM}entry")
    ]


def test_worse_and_recovered_are_entries_the_newest_first():
    series = a_series("instructions", WORSE_AND_BACK)
    back, worse = entries(fed([series, conflicts(after=0)]))
    assert worse["title"].endswith(": instructions worse in 1 series of transpose, +20 %")
    assert back["title"].startswith("recovered: ")
    assert worse["updated"] == "2026-01-11T02:00:00Z" and back["updated"] == "2026-01-21T02:00:00Z"
    assert "transpose.padded.f32@64x64 instructions</a> on sm_90, emulator: 5 " in worse["content"]


def test_an_entry_leads_to_the_trend_of_its_largest_change():
    series = [a_series("instructions", [10] * 29 + [by], variant=f"by{by}") for by in (11, 15)]
    (entry,) = entries(fed([*series, conflicts(after=0)]))
    trend = f"{ADDRESS}#trend/transpose.by15.f32%4064x64/instructions/sm_90/emulator"
    assert entry["link"]["href"] == trend
    assert entry["content"].startswith(f'<ul><li><a href="{trend}">')


def test_entries_keep_their_ids_from_night_to_night():
    series = [a_series("instructions", WORSE_AND_BACK), conflicts(after=0)]
    first = entries(fed(series, nights=15))
    later = entries(fed(series))
    assert [entry["id"] for entry in first] == [later[-1]["id"]]
    assert len({entry["id"] for entry in later}) == len(later) == 2


def test_the_feed_has_links_an_author_and_its_last_night():
    root = fed([conflicts(), a_series("instructions", WORSE_AND_BACK)])
    links = {link.get("rel"): link.get("href") for link in root.findall(f"{ATOM}link")}
    assert links == {"self": f"{ADDRESS}feed.xml", "alternate": ADDRESS}
    assert root.find(f"{ATOM}author/{ATOM}name").text == "nightly"
    assert root.findtext(f"{ATOM}updated") == "2026-01-30T02:00:00Z"


def test_the_feed_and_each_entry_have_what_atom_asks_of_both():
    root = fed([conflicts(), a_series("instructions", WORSE_AND_BACK)])
    assert root.tag == f"{ATOM}feed"
    forms = {
        "id": r"tag:kernels\.example,2026(-\d\d-\d\d)?:/nights/[a-z0-9/]+",
        "title": r".*\S.*",
        "updated": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ",
    }
    for part in [root, *root.findall(f"{ATOM}entry")]:
        for name, form in forms.items():
            (found,) = part.findall(f"{ATOM}{name}")
            assert re.fullmatch(form, found.text), name


def test_a_night_without_news_has_a_feed():
    assert entries(fed([conflicts(after=0)])) == []


def test_one_cause_is_one_entry_however_many_series():
    series = [a_series("registers", [20] * 29 + [21], variant=f"v{i}") for i in range(50)]
    (entry,) = entries(fed([*series, conflicts(after=0)]))
    assert "in 50 series" in entry["title"] and "<li>and 30 more</li>" in entry["content"]


def test_better_values_and_those_without_a_direction_are_no_news():
    better = a_series("instructions", [6] * 29 + [5])
    assert entries(fed([better, conflicts(after=0)])) == []


def test_names_are_data():
    bad = a_series("instructions", [5] * 29 + [6], family=HOSTILE)
    (entry,) = entries(fed([bad, conflicts(after=0)], title=f"\x00{HOSTILE}"))
    assert HOSTILE in entry["title"]
    assert "<script" not in entry["content"] and "&lt;script&gt;" in entry["content"]

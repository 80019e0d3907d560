"""The page's words and numbers: what is wrong, what changed, what is left out; and its digest."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from page_samples import (
    ARCHS,
    GPU,
    GPU_RUNS,
    HOSTILE,
    NIGHTS,
    RUNS,
    a_run,
    a_series,
    build,
    conflicts,
    render,
)
from scratch_repository import ScratchRepository
from some_facts import registers, write
from warpgauge.errors import CommandError
from warpgauge.facts.case_filter import CaseFilter
from warpgauge.page import digest, encode, report, rows
from warpgauge.page.contents import Contents
from warpgauge.page.links import Links
from warpgauge.program import main

ROOT = Path(__file__).parents[2]


class Page(HTMLParser):
    """Elements of a page: what stands in each, by name."""

    def __init__(self, text):
        super().__init__()
        self.found, self.open, self.links = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.open.append((tag, []))
        self.links += [value for name, value in attributes if name in ("href", "src")]

    def handle_endtag(self, tag):
        while self.open:
            name, parts = self.open.pop()
            self.found.append((name, "".join(parts)))
            if name == tag:
                break

    def handle_data(self, text):
        for _, parts in self.open:
            parts.append(text)

    def texts(self, tag):
        return [re.sub(r"\s+", " ", text).strip() for name, text in self.found if name == tag]


@pytest.fixture(scope="module")
def sample():
    return build()


@pytest.fixture(scope="module")
def page(sample):
    return render(sample)


def data_of(page):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(found[1])


def axis_of(data, entry):
    """The runs of a series."""
    return data["axes"][data["wheres"][entry[2]][3]]


def test_the_headline_says_what_is_wrong(sample, page):
    assert sample.headline == "Something is wrong: 2 values over budget and 1 error"
    assert sample.tone == "bad"
    assert "Something is wrong: 2 values over budget and 1 error" in Page(page).texts("h1")[0]
    assert "1 unmeasured" in Page(page).texts("li")


def test_nothing_judged_is_never_good():
    found = build([a_series("instructions", [5] * NIGHTS)])
    assert (found.tone, found.headline) == ("bad", "Nothing was judged last night")


def test_all_within_budget_is_good():
    found = build([conflicts(after=0)], RUNS)
    assert (found.tone, found.headline) == ("good", "Nothing is wrong: 1 value within budget")


def test_worse_within_budget_is_reported():
    worse = a_series("instructions", [5] * 29 + [6])
    found = build([conflicts(after=0), worse], RUNS)
    assert found.tone == "attention"
    assert found.headline == "1 value got worse: instructions of transpose.padded"


def test_the_headline_names_two_kernels_and_the_compiler_that_is_to_blame():
    compiled = {"value": 6, "sass_hash": "t"}
    worse = [a_series("registers", [5] * 29 + [compiled], variant=f"v{i}") for i in range(2)]
    found = build([conflicts(after=0), *worse], RUNS)
    named = "registers of transpose.v0, transpose.v1"
    assert found.headline == f"2 values got worse: {named} (CUDA 13.0 → 13.1)"
    worse += [a_series("instructions", [5] * 29 + [6], variant="v2")]
    found = build([conflicts(after=0), *worse], RUNS)
    assert re.fullmatch(
        r"3 values got worse: transpose\.v., transpose\.v. and 1 more", found.headline
    )


def test_counts_that_are_zero_are_left_out():
    page = Page(render(build([conflicts(after=0)], RUNS)))
    shown = [text for text in page.texts("li") if text[:1].isdigit()]
    assert shown == ["0 over budget", "0 got worse", "1 within budget"]


def test_what_is_missing_is_reported():
    stopped = a_series("instructions", [5] * 29, runs=RUNS[:-1])
    found = build([conflicts(after=0), stopped], RUNS)
    (missing,) = found.missing
    assert found.tone == "attention" and [row.key.metric for row in missing.rows] == [
        "instructions"
    ]
    assert missing.what == "value"
    assert "missing" in found.headline


def test_a_missing_case_is_one_line():
    gone = [
        a_series(name, [5] * 29, runs=RUNS[:-1], size="9x9", arch=arch)
        for name in ("instructions", "local.requests")
        for arch in ARCHS
    ]
    there = [conflicts(after=0, arch=arch) for arch in ARCHS]
    found = build([*there, *gone], RUNS)
    (missing,) = found.missing
    assert missing.what == "case" and len(missing.rows) == found.gone == 4
    page = render(found)
    assert page.count("All of <code") == 1 and "4 values <span" in page


def test_an_error_that_is_over_is_not_missing():
    error = {"value": None, "verdict": "error"}
    gpu = {"source": "clock", "device_name": GPU}
    erred = a_series("result.correct", [error], runs=GPU_RUNS[:-1], arch=None, **gpu)
    right = a_series("result.correct", [1], runs=GPU_RUNS, **gpu)
    assert build([erred, right]).missing == ()
    other = {**gpu, "device_name": "NVIDIA H200"}
    elsewhere = a_series("result.correct", [1], runs=GPU_RUNS, **other)
    (missing,) = build([erred, elsewhere]).missing
    assert missing.what == "place"


def test_cases_that_are_no_more_are_left_out_where_values_are_compared():
    here = a_series("registers", [20] * 30, source="cubin")
    renamed = a_series("registers", [30] * 20, runs=RUNS[:20], source="cubin", size="9x9")
    not_measured = a_series("registers", [40] * 20, arch="sm_80", runs=RUNS[:20], source="cubin")
    found = build([here, renamed, not_measured], RUNS)
    assert [row.last.value for row in found.current] == [20, 40]


def test_a_missing_gpu_is_one_line():
    gpu = {"runs": GPU_RUNS[:-1], "source": "cupti", "device_name": GPU}
    gone = [a_series("instructions", [i + 1] * 29, variant=f"v{i}", **gpu) for i in range(300)]
    found = build([conflicts(after=0), *gone])
    (missing,) = found.missing
    assert missing.what == "place" and len(missing.rows) == found.gone == 300
    page = render(found)
    assert f"<b>All of sm_90, {GPU}</b>: 300 values" in page
    assert page.count("v299") < 5


def test_no_history_and_nothing_selected_are_faults():
    with pytest.raises(CommandError, match="no runs"):
        report.build([], [])
    with pytest.raises(CommandError, match="no case that matches --filter 'nowhere'"):
        build(cases=CaseFilter(("nowhere",)))


def test_the_largest_change_comes_first_and_like_ones_share_a_row(sample):
    first, second = sample.new
    assert first.key.metric == "shared.bank_conflicts" and first.change.better is False
    assert [row.key.arch for row in first.rows] == list(ARCHS)
    assert first.change.cause == "code"
    assert second.key.metric == "registers" and second.change.better is True
    assert first.rows[0].bad_since == RUNS[-1]


def test_since_when_a_value_is_bad_does_not_depend_on_the_nights_shown():
    bad = {"value": 9, "verdict": "fail", "budget": "= 0"}
    for first in (5, 10):
        series = a_series(
            "instructions", [{"value": 0, "verdict": "pass"}] * first + [bad] * (30 - first)
        )
        found = build([series], RUNS, nights=20)
        assert len(found.nights) == 20 and found.over[0].bad_since == RUNS[first]
        assert f"2026-01-{first + 1:02} |" in digest.digest(Contents(found), "t")


def test_speeds_that_follow_from_a_time_are_not_listed_beside_it():
    gpu = {"runs": GPU_RUNS, "source": "clock", "device_name": GPU}
    slower = [10 + i % 3 / 100 for i in range(27)] + [12.0] * 3
    shares = [600 / time for time in slower]
    time = a_series("time.median_us", slower, **gpu)
    share = a_series("throughput.percent_of_peak", shares, **gpu)
    found = build([time, share, conflicts(after=0)])
    assert [move.key.metric for move in found.new] == ["time.median_us"] and found.worse == 1
    found = build([share, conflicts(after=0)])
    assert [move.key.metric for move in found.new] == ["throughput.percent_of_peak"]


def test_many_changes_are_folded():
    series = [a_series("registers", [20] * 29 + [21 + i], variant=f"v{i}") for i in range(20)]
    page = render(build([*series, conflicts(after=0)], RUNS))
    page = page[page.index('id="changes"') :]
    shown, folded = page.split('<details class="rest"><summary>20 rows</summary>')
    assert "registers worse in 20 series" in shown and "transpose.v19.f32@64x64" not in shown
    assert folded.index("transpose.v19.f32@64x64") < folded.index("transpose.v0.f32@64x64")


def test_an_earlier_change_is_not_new():
    found = build([a_series("instructions", [5] * 20 + [6] * 10), conflicts(after=0)], RUNS)
    assert not found.new and len(found.earlier) == 1


def test_a_noisy_change_is_new_on_the_night_that_finds_it_and_open_until_it_recovers():
    """5 % for 30 nights at a noise of 1 %, then back."""
    noise = np.random.default_rng(1).normal(2.0, 0.01, 60)
    noise[20:50] += np.log(1.05)
    runs = [a_run(night, gpu=True) for night in range(60)]
    gpu = {"source": "clock", "device_name": GPU}
    new, still = [], []
    for last in range(12, 61):
        times = [float(v) for v in np.exp(noise[:last])]
        judged = a_series("registers", [{"value": 5, "verdict": "pass"}] * last, runs=runs[:last])
        timed = a_series("time.median_us", times, runs=runs[:last], **gpu)
        found = build([timed, judged], runs[:last])
        assert found.headline.startswith("Nothing is wrong") == (not found.worse and not found.open)
        new += [last] * found.worse
        still += [last] * found.open
    assert len(new) == 1 and 23 <= new[0] <= 50
    assert still == list(range(new[0] + 1, still[-1] + 1))
    assert 50 <= still[-1] < 60


def test_descriptions_are_folded():
    ideal = a_series("shared.wavefronts_ideal", [5] * 29 + [6])
    found = build([ideal, conflicts(after=0)], RUNS)
    assert not found.new and found.described[0].key.metric == "shared.wavefronts_ideal"
    assert found.tone == "good"


def test_the_environment_of_two_nights_is_compared(sample, page):
    assert [
        (difference.what, difference.before, difference.after) for difference in sample.differences
    ] == [("CUDA toolkit", "13.0", "13.0, 13.1")]
    assert "CUDA toolkit: 13.0 → 13.0, 13.1" in Page(page).texts("li")


def test_hostile_names_stay_text(page):
    assert HOSTILE not in page and "alert(1)" in page
    parsed = Page(page)
    assert any(HOSTILE in text for text in parsed.texts("code"))
    scripts = re.findall(r"<script[^>]*>", page)
    assert scripts == ['<script type="application/json" id="data">', "<script>"]
    assert any(names[0] == HOSTILE for names in data_of(page)["cases"])


def test_the_page_asks_for_nothing(page):
    assert "default-src 'none'" in page
    links = [link for link in Page(page).links if not link.startswith(("#", "data:"))]
    assert links == []
    assert not re.search(
        r"@import|url\((?!#)|\bfetch\(|XMLHttpRequest|<link rel=\"stylesheet", page
    )


def test_links_lead_to_facts_that_are_there(page):
    data = data_of(page)
    links = re.findall(r'href="#(fact|trend)-(\d+)(?:-(\d+))?"', page)
    assert len(links) > 20
    for _, number, index in links:
        entry = data["series"][int(number)]
        assert not index or int(index) < len(axis_of(data, entry))


def test_every_anchor_of_the_page_exists(page):
    anchors = set(re.findall(r'href="#([a-z]+)"', page))
    assert anchors and anchors <= set(re.findall(r'id="([a-z]+)"', page))


def test_source_lines_have_the_address_that_was_asked_for(sample):
    page = render(sample, links=Links(source="https://git.example/{commit}/{file}#L{line}"))
    commit = RUNS[-1].commit
    address = f"https://git.example/{commit}/kernels/transpose/family.cu#L7"
    assert address in Page(page).links


def test_columns_are_run_lengths():
    assert encode.lengths([1, 1, 1]) == [1]
    assert encode.lengths([1, 1, 2, 2, 2, 1]) == [1, 2, 2, 3, 1]


def test_the_data_holds_every_value(page):
    data = data_of(page)
    assert len(data["series"]) == len(build().rows)
    entry = next(e for e in data["series"] if data["metrics"][e[1]][0] == "shared.bank_conflicts")
    assert entry[5] == [0, 29, 31] and len(axis_of(data, entry)) == NIGHTS
    assert entry[7] == [[29, -1, "code"]]
    (steady,) = [e for e in data["series"] if data["cases"][e[0]][1] == "v149"]
    assert steady[5] == 1149 and len(steady) == 6


def test_series_without_news_are_cut_first_and_that_is_reported(monkeypatch):
    noisy = [[10 + (night * 7 + i) % 13 / 100 for night in range(NIGHTS)] for i in range(20)]
    steady = [
        a_series("occupancy.achieved", values, variant=f"v{i}") for i, values in enumerate(noisy)
    ]
    monkeypatch.setattr(encode, "MAX_BYTES", 3000)
    found = build([*steady, conflicts()], RUNS)
    assert 0 < found.cut <= 20
    data = json.loads(found.data)
    short = [entry for entry in data["series"] if len(entry) == 9]
    assert len(short) == found.cut
    assert all(len(axis_of(data, entry)) == encode.SHORT for entry in short)
    assert f"{found.cut} series that neither changed nor are over budget" in render(found)


def test_speeds_and_errors_have_tables(page):
    captions = Page(page).texts("caption")
    assert any(caption.startswith("Copies and calls of libraries") for caption in captions)
    assert f"{GPU}: the cases nearest to the memory’s peak" in captions
    assert any(caption.startswith("Errors against the CPU reference") for caption in captions)
    assert f'aria-label="Roofline of {GPU}"' in page
    assert "3.333 TB/s" in page  # the peak: 2 TB/s are 60 % of it


def test_the_digest_is_short_and_escaped(sample):
    text = digest.digest(Contents(sample), "nightly")
    assert text.startswith("# Something is wrong: 2 values over budget and 1 error\n")
    assert "<script" not in text and "&lt;script&gt;" in text
    assert "- CUDA toolkit: `13.0` → `13.0, 13.1`" in text
    assert len(text) < 6000


def test_the_digest_leads_to_the_page():
    found = Contents(build([conflicts()]))
    address = "https://kernels.example/nights/"
    with_page = digest.digest(found, "nightly", address)
    assert f"\n[nightly](<{address}>), night of 2026-01-30" in with_page
    assert "\nnightly, night of 2026-01-30" in digest.digest(found, "nightly")


def test_a_move_knows_the_point_before_it():
    gap = [5] * 20 + [{"value": None, "verdict": "unmeasured"}] * 9 + [6]
    (move,) = build([a_series("instructions", gap), conflicts(after=0)], RUNS).new
    assert (move.before_index, move.change.index) == (19, 29)
    assert rows.matters(move)


def test_a_bad_option_is_a_fault(capsys, tmp_path):
    link = ["--source-link", "javascript:alert(1)//{file}"]
    assert main(["report", "html", "--out", str(tmp_path), *link]) == 2
    assert "http://" in capsys.readouterr().err


def test_without_a_history_nothing_is_written(capsys, tmp_path):
    out = tmp_path / "site"
    assert main(["report", "html", "--db", str(tmp_path / "none.db"), "--out", str(out)]) == 2
    assert "none.db" in capsys.readouterr().err and not out.exists()


def test_the_command_writes_page_digest_and_pictures(capsys, tmp_path):
    facts = ROOT / "tests" / "data" / "outcome" / "h100.jsonl"
    db, out = str(tmp_path / "history.db"), tmp_path / "site"
    assert main(["report", "ingest", str(facts), "--db", db]) == 0
    capsys.readouterr()
    assert main(["report", "html", "--db", db, "--out", str(out), "--title", "a <title>"]) == 0
    written = {path.name for path in out.iterdir()}
    assert {"index.html", "digest.md", "badge.svg", "badge.json"} <= written
    assert capsys.readouterr().out.splitlines()[-1] == str(out / "index.html")
    page = (out / "index.html").read_text("utf-8")
    assert "a <title>" not in page and "a &lt;title&gt;" in page
    assert "This is the first night" in page
    assert (out / "digest.md").read_text("utf-8").startswith("# ")


def test_a_page_with_an_address_has_a_feed(capsys, tmp_path):
    facts = ROOT / "tests" / "data" / "outcome" / "h100.jsonl"
    command = ["report", "html", "--db", str(tmp_path / "history.db"), "--out", str(tmp_path)]
    assert main(["report", "ingest", str(facts), "--db", str(tmp_path / "history.db")]) == 0
    assert main(command) != 2 and not (tmp_path / "feed.xml").exists()
    assert 'rel="alternate"' not in (tmp_path / "index.html").read_text("utf-8")
    assert main([*command, "--address", "https://kernels.example/nights"]) != 2
    href = 'href="https://kernels.example/nights/feed.xml"'
    assert f'rel="self" {href}' in (tmp_path / "feed.xml").read_text("utf-8")
    assert href in (tmp_path / "index.html").read_text("utf-8")
    assert main([*command, "--address", "kernels.example"]) == 2
    assert "--address: needs an address with http:// or https://" in capsys.readouterr().err


def test_a_repository_that_lacks_commits_is_reported_and_none_is_an_error(capsys, tmp_path):
    scratch = ScratchRepository(tmp_path / "repository")
    known, db = scratch.commit("Begin"), str(tmp_path / "history.db")
    code = {"sass_hash": "other", "source_hash": "other"}
    nights = [registers(1, 20, commit="a" * 40), registers(2, 24, commit=known, **code)]
    for number, fact in enumerate(nights):
        facts = write(tmp_path / f"{number}.jsonl", [fact])
        assert main(["report", "ingest", str(facts), "--db", db]) == 0
    command = ["report", "html", "--db", db, "--out", str(tmp_path / "site"), "--repo"]
    assert main([*command, str(tmp_path)]) == 2
    assert "name a local repository of git" in capsys.readouterr().err
    assert not (tmp_path / "site").exists()
    assert main([*command, str(scratch.folder)]) == 1
    said = capsys.readouterr().err
    assert said.count("commits without subjects: ") == 1 and "lacks commit aaaaaaaaaaaa" in said


def test_a_filter_without_a_match_writes_nothing(capsys, tmp_path):
    facts = ROOT / "tests" / "data" / "outcome" / "h100.jsonl"
    db, out = str(tmp_path / "history.db"), tmp_path / "site"
    assert main(["report", "ingest", str(facts), "--db", db]) == 0
    assert main(["report", "html", "--db", db, "--out", str(out), "--exclude", "*,"]) == 2
    assert "no case that matches --exclude '*'" in capsys.readouterr().err
    assert not out.exists()

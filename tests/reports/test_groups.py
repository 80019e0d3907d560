"""Changes of one cause and one range of commits are one group, on the page and in the digest."""

import json
import re

import pytest
from page_samples import (
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
from warpgauge.page import digest
from warpgauge.page.contents import Contents
from warpgauge.page.groups import groups
from warpgauge.page.links import Links
from warpgauge.repository import Repository

NEW_CODE = {"sass_hash": "t", "source_hash": "r"}
COMPILED = {"sass_hash": "t"}
LINKS = Links(commit="https://git.example/{commit}", compare="https://git.example/{base}..{commit}")


def changed(metric, before, after, hashes=NEW_CODE, **members):
    """A series that changed with the last night."""
    last = {"value": after} | hashes
    return a_series(metric, [before] * (NIGHTS - 1) + [last], **members)


def test_a_new_compiler_is_one_group_with_the_median_of_each_metric():
    series = [
        changed("registers", 100, after, COMPILED, source="cubin", family=f"f{i}")
        for i, after in enumerate([102, 104, 110, 104])
    ]
    series += [changed("instructions", 50, 40, COMPILED)]
    (group,) = groups(build(series, RUNS).new)
    assert (group.label, group.cause) == ("CUDA 13.0 → 13.1", "compiler")
    assert [part.text for part in group.parts] == [
        "registers worse in 4 series of 4 families, median +4 %",
        "instructions better in 1 series of transpose, \N{MINUS SIGN}20 %",
    ]
    assert len(group.moves) == 5


def test_times_are_slower_or_faster():
    gpu = {"runs": GPU_RUNS, "source": "clock", "device_name": GPU}
    new = [{"value": 10.7 + night % 2 / 100} | NEW_CODE for night in range(15)]
    times = [10 + night % 2 / 100 for night in range(15)]
    found = build([a_series("time.median_us", [*times, *new], **gpu)])
    (group,) = groups([*found.new, *found.earlier])
    (part,) = group.parts
    assert part.text == "transpose slower in 1 series, +7 %"
    assert group.blame.commit == group.run.commit


def test_the_median_counts_every_series_of_a_row():
    alike = [changed("instructions", 10, 11, arch=arch) for arch in ("sm_80", "sm_90", "sm_100")]
    (group,) = groups(build([*alike, changed("instructions", 10, 20, variant="other")], RUNS).new)
    assert group.parts[0].text == "instructions worse in 4 series of transpose, median +10 %"


def test_what_was_none_before_has_no_percentage():
    (group,) = groups(build([conflicts()], RUNS).new)
    assert group.parts[0].text.endswith(" of transpose, from 0")


def test_causes_and_commits_part_groups_and_worse_ones_come_first():
    runs = [a_run(0), a_run(1), a_run(2)]
    better = a_series(
        "instructions", [5, {"value": 4} | NEW_CODE, {"value": 4} | NEW_CODE], runs=runs
    )
    worse = a_series("registers", [5, 5, {"value": 6} | NEW_CODE], runs=runs)
    launched = a_series("local.sectors", [5, 5, {"value": 9, "source_hash": "r"}], runs=runs)
    found = build([better, worse, launched], runs)
    listed = groups([*found.new, *found.earlier])
    assert [group.label for group in listed] == ["c020000000", "c010000000"]
    assert [part.better for part in listed[0].parts] == [False, False]


def test_uncommitted_changes_are_named():
    runs = [a_run(0), a_run(1, dirty=True), a_run(2, commit=None)]
    values = [5, {"value": 6} | NEW_CODE, {"value": 7, "sass_hash": "u", "source_hash": "v"}]
    found = build([a_series("instructions", values, runs=runs)], runs)
    listed = groups([*found.earlier, *found.new])
    assert {group.label for group in listed} == {
        "c010000000 with uncommitted changes",
        "unknown commit",
    }
    assert "with uncommitted changes" in render(found)


def test_machines_are_no_fault_of_commits(tmp_path):
    gpu = {"source": "cupti", "device_name": GPU}
    same = {"code_hash": "k"}
    runs = [a_run(night, gpu=True) for night in range(NIGHTS)]
    values = [{"value": 10 + night % 2 / 100 + night // 15} | same for night in range(NIGHTS)]
    found = build([a_series("time.median_us", values, runs=runs, **gpu)], runs)
    (group,) = groups(found.earlier, Repository(ScratchRepository(tmp_path / "r").folder))
    assert (group.label, group.blame, group.range) == ("environment", None, None)


@pytest.fixture
def two_in_one_night(tmp_path):
    """A function of the files that histogram's facts blame: contents of a night with two commits,
    Cleo's to histogram.cuh and then Dan's to scan.cuh, and the two hashes."""
    scratch = ScratchRepository(tmp_path / "repository")
    base = scratch.commit("Begin")
    commits = []
    for author, name in (("Cleo", "histogram"), ("Dan", "scan")):
        (scratch.folder / f"{name}.cuh").write_text("2")
        commits.append(scratch.commit(f"Write {name}", author=f"{author} <a@x.example>"))
    runs = [a_run(0, commit=base), a_run(1, commit=commits[-1])]

    def told(*sources, repository=True, **members):
        bad = {"value": 31, "verdict": "fail", "budget": "= 0"} | NEW_CODE
        points = [{"value": 0, "verdict": "pass", "budget": "= 0"}, bad | {"sources": sources}]
        series = a_series("shared.bank_conflicts", points, runs=runs, family="histogram", **members)
        found = build([series], runs)
        return Contents(found, Repository(scratch.folder) if repository else None)

    return told, *(commit[:10] for commit in commits)


def parts_of(page):
    """The card of the first screen, what changed, and what is over budget."""
    bounds = ['id="morning"', 'class="won"', 'id="changes"', 'id="budget"', 'id="trends"']
    places = [page.index(bound) for bound in bounds]
    return [page[a:b] for a, b in ((places[0], places[1]), places[2:4], places[3:])]


def test_of_the_commits_of_a_night_the_one_that_changed_the_file_is_named(two_in_one_night):
    told, cleo, dan = two_in_one_night
    contents = told("histogram.cuh", "gate.cu")
    page = render(contents.report, repository=contents.repository)
    for part in parts_of(page):
        assert f"<code>{cleo}</code>" in part and "Write histogram" in part and ">Cleo" in part
    card, changed, over = parts_of(page)
    assert dan not in card + over and "Write scan" not in card + over
    assert changed.index("Write histogram") < changed.index("Write scan")
    text = digest.digest(contents, "nightly")
    assert "| 2026-01-02: Write histogram, by Cleo, of 2 commits |" in text
    assert f"- **{cleo}** (code): " in text
    assert json.loads(re.search(r'"blamed":({.*?}})', page)[1]) == {"0": {"1": cleo}}


def test_where_no_single_commit_is_known_how_many_can_be_is_said(two_in_one_night):
    told, cleo, dan = two_in_one_night
    contents = told("tile.cuh")
    page = render(contents.report, repository=contents.repository)
    for part in parts_of(page):
        assert f"one of 2 commits up to <code>{dan}</code>" in part.replace("\n", "")
    card, _, over = parts_of(page)
    assert "by Dan, Cleo" in card and "by Dan, Cleo" in over and "Write scan" not in card + over
    text = digest.digest(contents, "nightly")
    assert "| 2026-01-02: one of 2 commits by Dan, Cleo |" in text
    assert f"**one of 2 commits up to {dan}** (code)" in text


def test_without_a_repository_the_commit_of_the_night_is_named(two_in_one_night):
    told, cleo, dan = two_in_one_night
    contents = told("histogram.cuh", repository=False)
    page = render(contents.report)
    assert all(f"<code>{dan}</code>" in part for part in parts_of(page))
    assert "commits up to" not in page and cleo not in page and '"blamed":{}' in page


def test_what_one_metric_blames_is_to_blame_for_the_others_of_its_kernel(two_in_one_night):
    told, cleo, dan = two_in_one_night
    contents = told("histogram.cuh")
    runs = [run for night in contents.report.nights for run in night]
    of = {"runs": runs, "family": "histogram"}
    bad = {"value": 31, "verdict": "fail", "budget": "= 0", "sources": ("histogram.cuh",)}
    registers = {"value": 60, "registered": "gate.cu"}
    series = [
        a_series("shared.bank_conflicts", [0, bad | NEW_CODE], **of),
        a_series("registers", [20, registers | NEW_CODE], **of),
    ]
    contents = Contents(build(series, runs), contents.repository)
    (card,) = contents.losses
    assert card.group.label == cleo and [move.key.metric for move in card.moves][-1] == "registers"
    (group,) = contents.new
    assert group.label == cleo and dan not in group.label


def test_changes_of_one_night_are_grouped_by_the_commit_of_their_files(two_in_one_night):
    told, cleo, dan = two_in_one_night
    contents = told("histogram.cuh")
    runs = [run for night in contents.report.nights for run in night]
    worse = [
        a_series(
            "instructions",
            [5, {"value": 6, "sources": (f"{n}.cuh",)} | NEW_CODE],
            runs=runs,
            family=n,
        )
        for n in ("histogram", "scan", "reduce")
    ]
    found = groups(build(worse, runs).new, contents.repository)
    assert {(group.label, group.moves[0].key.family) for group in found} == {
        (cleo, "histogram"),
        (dan, "scan"),
        (f"one of 2 commits up to {dan}", "reduce"),
    }


@pytest.fixture
def told(tmp_path):
    """Contents of two nights with two commits between them, and the commits."""
    scratch = ScratchRepository(tmp_path / "repository")
    base = scratch.commit("Begin")
    scratch.commit(f"Pad the tile {HOSTILE}", author="Ada <ada@x.example>")
    last = scratch.commit("Unroll by 4", author="Grace <g@x.example>")
    runs = [a_run(0, commit=base), a_run(1, commit=last)]
    series = a_series("instructions", [5, {"value": 6} | NEW_CODE], runs=runs)
    repository = Repository(scratch.folder)
    return Contents(build([series], runs), repository), base, last


def test_page_and_digest_name_commits_with_subject_and_author(told):
    contents, base, last = told
    page = render(contents.report, links=LINKS, repository=contents.repository)
    assert f'<a href="https://git.example/{last}"><code>{last[:10]}</code></a> Unroll by 4' in page
    assert f'<a href="https://git.example/{base}..{last}">' in page
    assert "2 commits by Grace, Ada" in page and "<script>alert" not in page
    text = digest.digest(contents, "nightly")
    group = f"- **one of 2 commits up to {last[:10]}** (code)"
    assert f"{group}: instructions worse in 1 series of transpose" in text
    assert f"  - `{last[:10]}` Unroll by 4, Grace\n" in text
    assert "Pad the tile &lt;script&gt;" in text


def test_what_is_open_since_earlier_nights_says_whose_it_is(tmp_path):
    scratch = ScratchRepository(tmp_path / "repository")
    base = scratch.commit("Begin")
    last = scratch.commit("Pad | the tile", author="Ada <ada@x.example>")
    runs = [a_run(0, commit=base), a_run(1, commit=last), a_run(2, commit=last)]
    worse = {"value": 6} | NEW_CODE
    series = a_series("instructions", [5, worse, worse], runs=runs)
    contents = Contents(build([series], runs), Repository(scratch.folder))
    page = render(contents.report, repository=contents.repository)
    opened = page[page.index(' id="open"') : page.index(' id="changes"')]
    assert "<br>Pad | the tile, by Ada" in opened
    assert "2026-01-02: Pad &#124; the tile, by Ada |" in digest.digest(contents, "nightly")


def test_commits_are_counted_without_an_address_too(told):
    contents, base, last = told
    page = render(contents.report, repository=contents.repository)
    assert f"<code>{base[:10]}</code> … <code>{last[:10]}</code>: 2 commits by" in page
    assert f'href="https://git.example/{base}' not in page


def test_a_group_opens_to_its_rows(told):
    contents, _, _ = told
    page = render(contents.report)
    group = page[page.index('<section class="group">') :]
    group = group[: group.index("</section>")]
    assert "<summary>1 row</summary>" in group and 'data-metric="instructions"' in group


def test_commits_that_are_not_in_the_repository_are_named(tmp_path):
    repository = Repository(ScratchRepository(tmp_path / "repository").folder)
    page = render(build([conflicts()], RUNS), repository=repository)
    assert "lacks commit c280000000" in page

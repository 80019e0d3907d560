"""The first screen, and the parts below it, of which one is shown at a time."""

import re

import pytest
from browser_pages import opened, search, shown, tab, wait_for
from page_samples import (
    GPU,
    GPU_RUNS,
    HOSTILE,
    RUNS,
    a_run,
    a_series,
    build,
    conflicts,
    digest_of,
    render,
)
from scratch_repository import ScratchRepository
from selenium.webdriver.common.by import By
from warpgauge.repository import Repository

pytest_plugins = ["browser_pages"]  # its fixtures

PARTS = {
    "open",
    "changes",
    "budget",
    "trends",
    "compare",
    "generations",
    "speeds",
    "every",
    "about",
}


def parts(page):
    return {part.get_attribute("id") for part in shown(page, ".tab")}


def top(page, selector):
    script = "return document.querySelector(arguments[0]).getBoundingClientRect().top + scrollY"
    return page.execute_script(script, selector)


@pytest.mark.parametrize(("width", "height", "screens"), [(1440, 900, 1), (390, 844, 2)])
def test_all_that_a_morning_needs_fits(chromium, tmp_path, width, height, screens):
    """Also with many values over budget, open, better and new."""
    many = [conflicts(variant=f"over{i}") for i in range(20)]
    many += [a_series("registers", [20] * 9 + [30 + i] * 21, variant=f"v{i}") for i in range(30)]
    many += [a_series("instructions", [5] * 29 + [9 + i], variant=f"v{i}") for i in range(30)]
    many += [a_series("instructions", [9 + i], variant=f"new{i}") for i in range(30)]
    better = {"sass_hash": "t", "source_hash": "r"}
    for night in range(22, 30):
        for metric in ("shared.wavefronts", "shared.requests", "local.requests"):
            points = [9] * night + [better | {"value": 5}] * (30 - night)
            many.append(a_series(metric, points, variant=f"win{night}"))
    many += [a_series("registers", [7], arch=f"sm_{arch}") for arch in (75, 80, 86, 89, 100, 120)]
    opened(chromium, tmp_path, many)
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 800}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    chromium.refresh()
    assert shown(chromium, ".open li") and shown(chromium, ".won li")
    assert top(chromium, "nav") <= screens * height
    chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_one_part_is_shown_at_a_time(page):
    assert parts(page) == {"changes"}
    for name in sorted(PARTS):
        tab(page, name)
        assert wait_for(lambda name=name: parts(page) == {name})
        current = page.find_elements(By.CSS_SELECTOR, 'nav a[aria-current="true"]')
        assert [link.get_attribute("hash") for link in current] == [f"#{name}"]


def test_a_link_to_what_is_folded_opens_it(chromium, tmp_path):
    opened(chromium, tmp_path, [conflicts(), a_series("instructions", [5], variant="fresh")])
    tab(chromium, "about")
    assert not shown(chromium, "#newcases li")
    chromium.find_element(By.CSS_SELECTOR, '#morning a[href="#newcases"]').click()
    wait_for(lambda: shown(chromium, "#newcases li"))


def hits(page):
    """What each part of the page says to have of a search."""
    return page.execute_script(  # at once: the page may be drawn anew meanwhile
        """const links = [...document.querySelectorAll("nav a:has(.hits)")];
        return Object.fromEntries(links.map((link) =>
          [link.hash.slice(1), Number(link.querySelector(".hits").textContent)]));"""
    )


def test_a_search_stays_in_its_part_and_counts_what_the_others_have(page):
    search(page, "swizzled")
    wait_for(lambda: hits(page).get("every") == 2)
    assert parts(page) == {"changes"}
    assert {name: hits(page)[name] for name in ("open", "changes", "budget")} == {
        "open": 0,
        "changes": 0,
        "budget": 0,
    }
    page.find_element(By.CSS_SELECTOR, "#filter button[type=reset]").click()
    wait_for(lambda: hits(page) == {})
    page.find_element(By.NAME, "worse").click()
    wait_for(lambda: hits(page).get("open") == 1)
    assert hits(page)["budget"] == len(
        page.find_elements(By.CSS_SELECTOR, "#budget [data-worse]:not([hidden])")
    )
    assert parts(page) == {"changes"}


def test_all_parts_are_printed(page):
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert parts(page) == PARTS - {"compare", "every"}  # which the script fills
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_all_parts_are_there_without_script(page, address):
    page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        page.get("about:blank")
        page.get(address)
        assert parts(page) == PARTS
    finally:
        page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_the_search_does_not_cover_what_a_link_leads_to(page):
    for name in sorted(PARTS):
        tab(page, name)
        under, heading = page.execute_script(
            "return ['#filter', arguments[0]].map((selector, i) => {"
            "const box = document.querySelector(selector).getBoundingClientRect();"
            "return i ? box.top : box.bottom; })",
            f"#{name} > h2",
        )
        assert under <= heading


def test_names_end_a_line_after_dots_and_at_signs_only():
    page = render(build([conflicts()], RUNS))
    assert "transpose.<wbr>padded.<wbr>f32@<wbr>64x64" in page
    assert "overflow-wrap: anywhere" not in page.split("dialog {")[0]


def test_numbers_have_separators():
    found = [a_series("instructions", [123456] * 29 + [654321], runs=RUNS)]
    page = render(build([*found, conflicts()], RUNS))
    assert "654,321" in page and ">654321 " not in page


def test_open_values_that_are_over_budget_stand_there_once():
    page = render(build([conflicts()], RUNS))
    morning = page.split('id="morning"')[1].split("</section>")[0]
    assert morning.count('class="trend"') == 1 and "over budget = 0" in morning


def test_a_first_night_has_nothing_to_compare():
    page = render(build([a_series("registers", [7], runs=[a_run(0)])], [a_run(0)]))
    assert "This is the first night" in page and "No value changed" not in page


def test_a_night_without_news_says_so():
    page = render(build([conflicts(after=0)], [*RUNS, *GPU_RUNS]))
    assert "No value changed." in page and "<p>Nothing.</p>" in page


def morning(page):
    return page.split('id="morning"')[1].split("</section>")[0]


def timed(**newest):
    """A time that varies a little, with what the newest point has."""
    points = [{"value": 10 + night % 3 / 100} for night in range(30)]
    points[-1] |= newest
    return a_series("time.median_us", points, runs=GPU_RUNS, source="clock", device_name=GPU)


def test_what_is_disturbed_is_named():
    rate = [1e12] * 29 + [{"value": 5e11, "disturbance": "throttled: power cap"}]
    gpu = {"runs": GPU_RUNS, "source": "clock", "device_name": GPU}
    series = [
        timed(value=20, disturbance="throttled: power cap"),
        a_series("throughput.bytes_per_second", rate, **gpu),
    ]
    found = build([*series, conflicts(after=0)], [*RUNS, *GPU_RUNS])
    assert [row.key.metric for row in found.disturbed] == ["time.median_us"]
    assert 'href="#disturbed">1 value disturbed</a>, not compared:' in morning(render(found))
    assert "throttled: power cap" in morning(render(found))
    assert "## Disturbed, and not compared" in digest_of(found)
    quiet = build([timed(), conflicts(after=0)], [*RUNS, *GPU_RUNS])
    assert quiet.disturbed == () and "disturbed</a>" not in morning(render(quiet))


def test_an_open_value_whose_newest_night_is_disturbed_says_so_and_shows_its_level():
    points = [{"value": (10 if night < 15 else 11) + night % 3 / 100} for night in range(30)]
    points[-1] |= {"value": 55.5, "disturbance": "throttled: power cap"}
    slow = a_series("time.median_us", points, runs=GPU_RUNS, source="clock", device_name=GPU)
    found = build([slow, conflicts(after=0)], [*RUNS, *GPU_RUNS])
    card = morning(render(found)).split('class="tonight"')[0]
    assert "newest night disturbed: throttled: power cap, not compared" in card
    shown = re.findall(r'class="number"[^>]*>([^<]*)<', card)
    assert shown == ["10.01", "11.01 µs"]
    assert "newest night disturbed (throttled: power cap)" in digest_of(found)


def test_values_of_one_cause_and_range_are_one_card_with_subject_and_author(tmp_path):
    scratch = ScratchRepository(tmp_path / "repository")
    base, last = (
        scratch.commit("Tile"),
        scratch.commit("Load keys before values", author="Carl <c@x.example>"),
    )
    runs = [a_run(0, commit=base), a_run(1, commit=last), a_run(2, commit=last)]
    worse = {"sass_hash": "t", "source_hash": "r"}
    series = [
        a_series("instructions", [5, *[worse | {"value": 6 + i}] * 2], runs=runs, variant=f"v{i}")
        for i in range(3)
    ]
    cards = morning(render(build(series, runs), repository=Repository(scratch.folder)))
    cards = cards.split('class="tonight"')[0]
    assert cards.count('class="trend"') == 1 and "and 2 more kernels" in cards
    assert (
        "transpose.<wbr>v2." in cards and "Load keys before values" in cards and ">Carl<" in cards
    )


def test_a_trend_names_the_commit_of_the_night_that_changed_the_file(chromium, tmp_path):
    scratch = ScratchRepository(tmp_path / "repository")
    commits = [scratch.commit("Begin")]
    for name in ("histogram.cuh", "scan.cuh"):
        (scratch.folder / name).write_text("2")
        commits.append(scratch.commit(f"Write {name}"))
    runs = [a_run(0, commit=commits[0]), a_run(1, commit=commits[2])]
    worse = {"value": 6, "sass_hash": "t", "source_hash": "r"}
    for file, said in (
        ("histogram.cuh", f"by code, commit {commits[1][:10]}, CUDA"),
        ("tile.cuh", f"by code, one of 2 commits up to {commits[2][:10]}, CUDA"),
    ):
        series = a_series("instructions", [5, worse | {"sources": (file,)}], runs=runs)
        path = tmp_path / f"{file}.html"
        found = build([series], runs)
        path.write_text(render(found, repository=Repository(scratch.folder)), encoding="utf-8")
        chromium.get(f"{path.as_uri()}#trend-0")
        wait_for(lambda said=said: said in chromium.find_element(By.ID, "trend").text)


def test_a_compiler_is_named_by_its_versions_and_no_commit():
    compiled = {"value": 6, "sass_hash": "t"}
    page = render(build([a_series("registers", [5] * 29 + [compiled])], RUNS))
    text = page.split("<main")[1].split('id="every"')[0].split('id="about"')[0]
    assert text.count("CUDA 13.0 → 13.1") >= 3 and "<code>c290000000" not in morning(page)
    rows = [row for row in text.split("<tr ") if 'data-metric="registers"' in row]
    assert rows and all("<b>compiler</b> CUDA 13.0 → 13.1" in row for row in rows)
    assert not any("</time> <code>" in row for row in rows)


def test_a_step_is_shown_only_where_generations_differ():
    alike = [a_series("registers", [7], arch=arch) for arch in ("sm_80", "sm_90")]
    assert 'class="strip"' not in render(build(alike, RUNS))
    other = [a_series("registers", [7 + i], arch=arch) for i, arch in enumerate(("sm_80", "sm_90"))]
    assert 'class="strip"' in render(build(other, RUNS))


def test_on_a_phone_what_is_wrong_or_open_comes_first(chromium, tmp_path):
    old = a_series("registers", [20] * 9 + [30] * 21)
    opened(chromium, tmp_path, [conflicts(after=31), old])
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    is_first = top(chromium, "#morning .open") < top(chromium, "#morning .tonight")
    chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert is_first


def test_what_costs_time_is_open_before_what_costs_registers():
    gpu = {"runs": GPU_RUNS, "source": "clock", "device_name": GPU}
    registers = a_series("registers", [20] * 9 + [60] * 21)
    time = a_series("time.median_us", [100] * 9 + [110] * 21, variant="naive", **gpu)
    found = build([registers, time], [*RUNS, *GPU_RUNS])
    assert [regression.move.key.metric for regression in found.regressions] == [
        "time.median_us",
        "registers",
    ]
    assert render(found).index("110 µs") < render(found).index("60 registers/thread")
    text = digest_of(found)
    assert text.index("110 µs") < text.index("60 registers/thread")
    (command,) = re.findall(r"meant to be so: `(.*)`", text)
    assert command.startswith("warpgauge report ack 'transpose.naive.f32@64x64/time.median_us/")


@pytest.mark.parametrize(("after", "is_said"), [(100, True), (110, False)])
def test_beside_registers_it_says_that_the_time_is_no_worse(after, is_said):
    gpu = {"runs": GPU_RUNS, "source": "clock", "device_name": GPU}
    registers = a_series("registers", [20] * 20 + [30] * 10)
    time = a_series("time.median_us", [100] * 20 + [after] * 10, **gpu)
    text = render(build([registers, time], [*RUNS, *GPU_RUNS]))
    assert ("its time is no worse" in text) == is_said


@pytest.mark.parametrize(("last", "is_said"), [(99.5, True), (111, False)])
def test_an_open_value_that_was_as_before_last_night_is_not_told_as_worse(last, is_said):
    gpu = {"runs": GPU_RUNS, "source": "clock", "device_name": GPU}
    time = a_series("time.median_us", [100, 100.5] * 7 + [110, 110.5] * 7 + [110, last], **gpu)
    found = build([time], GPU_RUNS)
    assert [regression.is_open for regression in found.regressions] == [True]
    card = render(found).partition('id="morning"')[2].partition('class="tonight"')[0]
    assert ("last night as before, to be confirmed: " in card) == is_said
    assert ('<b class="worse">' in card) != is_said


def test_a_digest_begins_with_what_is_over_budget():
    text = digest_of(build([conflicts(after=31)], RUNS))
    assert text.index("## Over budget") < text.index("## What changed")


def test_what_matters_most_is_first_of_what_the_night_changed():
    new = {"sass_hash": "t", "source_hash": "r"}

    def series(metric, before, after, **members):
        return a_series(
            metric,
            [before] * 29 + [after if isinstance(after, dict) else new | {"value": after}],
            **members,
        )

    more = [series("instructions", 100, 166, variant=f"v{i}") for i in range(3)]
    more += [series("code.bytes", 100, 200 + i, variant=f"v{i}") for i in range(3)]
    more += [series("registers", 20, 60, variant="v0"), conflicts(variant="over", after=3)]
    found = build([*more, series("global.excess_sectors", 0, 4096, variant="v1")], RUNS)
    tonight = morning(render(found)).split('class="tonight"')[1]
    parts = re.findall(r'<span class="worse">(\S+) worse', tonight)
    assert parts == ["shared.bank_conflicts", "global.excess_sectors"]
    text = digest_of(found).split("## What changed")[1].splitlines()
    (line,) = [line for line in text if line.startswith("- **")]
    names = ("shared.bank&#95;conflicts", "global.excess&#95;sectors", "instructions")
    names = [re.sub("&#95;", "_", name) for name in names]
    places = [line.replace("&#95;", "_").index(f"{name} worse") for name in names]
    assert places == sorted(places) and "registers" not in line and "code.bytes" not in line
    rows = [line.split("`")[1:4:2] for line in text if line.startswith("| `")]
    assert rows[:2] == [
        ["transpose.over.f32@64x64", "shared.bank_conflicts"],
        ["transpose.v1.f32@64x64", "global.excess_sectors"],
    ]


def test_kernels_over_budget_are_first_in_the_digest():
    new = {"sass_hash": "t", "source_hash": "r"}
    slow = [a_series("local.sectors", [0] * 29 + [new | {"value": 9}], variant="a")]
    over = [new | {"value": 22, "verdict": "fail", "budget": "<= 20"}]
    pressed = a_series("registers", [20] * 29 + over, variant="z")
    same = a_series("instructions", [20] * 29 + [new | {"value": 21}], variant="z")
    text = digest_of(build([*slow, pressed, same], RUNS)).split("## What changed")[1]
    rows = [line.split("`")[1:4:2] for line in text.splitlines() if line.startswith("| `")]
    kernels = [name.split(".")[1] for name, _ in rows]
    assert kernels == ["z", "z", "a"] and rows[0][1] == "registers"
    assert text.index("registers worse") < text.index("local.sectors worse")


def five_nights(tmp_path):
    """Commits of five nights, the runs, and what a commit changes."""
    scratch = ScratchRepository(tmp_path / "repository")
    names = ("Start", "Write", "Pad the tile", "Tidy", "Bins side by side")
    runs = [a_run(i, commit=scratch.commit(name)) for i, name in enumerate(names)]

    def changed(metric, before, after, night, verdicts=("unbudgeted", "unbudgeted"), **members):
        old = {"value": before, "verdict": verdicts[0], "budget": "= 0"}
        new = {"value": after, "verdict": verdicts[1], "budget": "= 0"}
        new |= {"sass_hash": "t", "source_hash": "r"}
        values = [new if i >= night else old for i in range(len(runs))]
        return a_series(metric, values, runs=runs, **members)

    return Repository(scratch.folder), runs, changed


def test_all_sizes_of_a_kernel_that_a_commit_made_worse_are_one_card(tmp_path):
    repository, runs, changed = five_nights(tmp_path)
    series = []
    for size, times in (("1000", 1), ("65536", 16)):
        bins = {"family": "histogram", "size": size, "night": 4}
        verdicts = ("pass", "fail")
        series += [
            changed("shared.bank_conflicts", 0, 352 * times, verdicts=verdicts, **bins),
            changed("shared.wavefronts", 1000 * times, 1352 * times, **bins),
            changed("registers", 16, 22, **bins),
        ]
    other = changed("registers", 16, 22, night=4, family="scan")
    found = build([*series, other], runs)
    cards = morning(render(found, repository=repository)).split('class="won"')[0]
    assert cards.count('class="trend"') == 2  # and that of scan
    first, second = cards.split("<li>")[1:]
    assert "histogram." in first and "and 1 more size" in first and "over budget = 0" in first
    assert re.search(r"also shared\.<wbr>wavefronts \+35\.2 %, registers \+37\.5 %", first)
    assert "scan." in second and "histogram" not in second
    assert first.count("Bins side by side") == second.count("Bins side by side") == 1


def test_page_and_digest_count_what_got_worse_alike(tmp_path):
    _, runs, changed = five_nights(tmp_path)
    series = [
        changed("shared.bank_conflicts", 0, 352, 4, verdicts=("pass", "fail")),
        changed("registers", 16, 22, 4),
        changed("instructions", 100, 120, 1),
    ]
    found = build(series, runs)
    assert found.headline.split("; ")[1:] == [
        "2 values got worse, 1 of them over budget",
        "1 value got worse before and did not recover",
    ]
    counted = "1 over budget, 2 got worse, 1 worse since earlier nights"
    assert counted in digest_of(found)
    shown = re.findall(r"<b>([0-9,]+)</b> ([^<]+)</a></li>", render(found))
    assert ", ".join(map(" ".join, shown[:3])) == counted


def test_what_got_better_is_named_as_what_got_worse_is(tmp_path):
    repository, runs, changed = five_nights(tmp_path)
    tiles = {"family": "matmul", "night": 2}
    series = [
        changed(metric, before * times, after * times, size=size, **tiles)
        for size, times in (("128", 1), ("256", 8))
        for metric, before, after in (
            ("shared.bank_conflicts", 522240, 0),
            ("shared.wavefronts", 600000, 96000),
            ("shared.requests", 36864, 86016),
        )
    ]
    series.append(changed("registers", 22, 16, 4, family="scan"))
    found = build(series, runs)
    wins = morning(render(found, repository=repository)).split('class="won"')[1]
    newest, older = wins.split('class="tonight"')[0].split("<li>")[1:]
    assert "scan." in newest and "found last night" in newest and ">16 registers/thread<" in newest
    assert "@<wbr>256" in older and "and 1 more size" in older and "Pad the tile" in older
    assert ">4.178 M</a> → " in older and ">0 wavefronts<" in older
    assert "also shared.<wbr>wavefronts ÷ 6.25" in older and "requests" not in older
    text = digest_of(found).split("## Got better")[1].split("##")[0]
    assert text.index("scan.") < text.index("matmul.") and "4.178 M → 0 wavefronts" in text


def test_names_on_cards_are_escaped(tmp_path):
    repository, runs, changed = five_nights(tmp_path)
    series = [
        changed("instructions", 5, 9, 4, variant=HOSTILE, size=HOSTILE),
        changed("instructions", 9, 5, 4, family=HOSTILE),
        changed("registers", 5, 9, 4, ("pass", "fail"), type=HOSTILE),
    ]
    found = build(series, runs)
    cards = morning(render(found, repository=repository))
    assert cards.count("&lt;script&gt;") >= 3 and "<script" not in cards
    assert "<script" not in digest_of(found)


@pytest.mark.parametrize(
    ("values", "is_said"),
    [([9] * 3 + [5] * 7, True), ([9] * 2 + [5] * 8, False), ([9] * 8 + [5, 9], False)],
)
def test_a_win_is_news_for_a_week_and_while_it_lasts(values, is_said):
    runs = [a_run(night) for night in range(10)]
    found = build([a_series("instructions", values, runs=runs)], runs)
    assert bool(found.wins) == is_said
    assert ("Nothing in the last 7 nights." in morning(render(found))) != is_said


def test_two_values_beside_each_other_have_the_unit_once():
    found = build([a_series("global.excess_sectors", [0] * 20 + [24576] * 10)], RUNS)
    text = morning(render(found)).split('class="won"')[0]
    assert "from 0" not in text
    assert re.findall(r'class="number"[^>]*>([^<]*)<', text) == ["0", "24,576 sectors"]


def test_a_search_counts_what_is_better_than_its_budget_as_of_budgets(chromium, tmp_path):
    better = {"value": 5, "verdict": "better", "budget": "<= 9"}
    series = [a_series("registers", [better] * 30, variant="tiled"), conflicts()]
    opened(chromium, tmp_path, series)
    search(chromium, "tiled")
    wait_for(lambda: hits(chromium).get("budget") == 1)
    link = chromium.find_element(By.CSS_SELECTOR, 'nav a[href="#budget"]')
    assert link.text == "Budgets 1"
    tab(chromium, "budget")
    assert chromium.find_element(By.ID, "budget-title").text == "Budgets"
    folds = [fold.text for fold in shown(chromium, "#budget details[open] summary")]
    assert folds == ["1 value better than the budget, which could be tightened"]


def test_a_search_opens_what_it_counts_and_leaves_folds_as_they_were(chromium, tmp_path):
    old = a_series("registers", [20] * 9 + [30] * 21, variant="tiled")
    more = [a_series("registers", [20] * 9 + [30] * 21, variant=f"v{i}") for i in range(20)]
    opened(chromium, tmp_path, [conflicts(), old, *more])
    assert not shown(chromium, "#changes details .moves tr[data-id]:has(td)")[1:]
    search(chromium, "tiled")
    wait_for(lambda: hits(chromium).get("changes") == 1)
    (row,) = shown(chromium, "#changes .moves tr[data-id]")
    assert "transpose.tiled.f32@64x64" in row.text
    chromium.find_element(By.CSS_SELECTOR, "#filter button[type=reset]").click()
    wait_for(lambda: hits(chromium) == {})
    assert len(shown(chromium, "#changes .moves tr[data-id]")) == 1  # that of the last night

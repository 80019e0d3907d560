"""The page in a real browser: Chromium, headless, without any network."""

from datetime import timedelta

import pytest
from browser_pages import every, opened, search, shown, tab, wait_for
from page_samples import GPU, GPU_RUNS, HOSTILE, RUNS, a_run, a_series, build, conflicts, render
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select
from warpgauge.page.links import Links

pytest_plugins = ["browser_pages"]  # its fixtures

RUN_TO_READ = '#trend input[aria-label="Run to read"]'


def readout(page):
    return page.find_element(By.CSS_SELECTOR, "#trend .readout").text


def see(page, name):
    """Turns a way of seeing the chart on or off."""
    page.find_element(By.CSS_SELECTOR, f'#trend .view-bar [name="{name}"]').click()


def press(page, label):
    page.find_element(By.CSS_SELECTOR, f'#trend .view-bar [aria-label="{label}"]').click()


def shown_range(page):
    """The places of the first and the last run that each chart shows."""
    script = "return [...charts.keys()].map((u) => [u.scales.x.min, u.scales.x.max])"
    return page.execute_script(script)


def colours_drawn(page, *names):
    """Which of the page's colours, by the names of their variables, the first chart has."""
    script = """
      const canvas = document.querySelector("#trend canvas"), all = new Set();
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      for (let i = 0; i < data.length; i += 4) {
        const parts = [...data.slice(i, i + 3)].map((part) => part.toString(16).padStart(2, "0"));
        if (data[i + 3] === 255) all.add("#" + parts.join(""));
      }
      return arguments[0].filter((name) => all.has(colour(name)));"""
    return page.execute_script(script, list(names))


def timed(variant, values, **point):
    """Times with their intervals."""
    points = [{"value": v, "interval": (v * 0.9, v * 1.1), **point} for v in values]
    gpu = {"runs": GPU_RUNS, "source": "clock", "device_name": GPU}
    return a_series("time.median_us", points, variant=variant, **gpu)


def test_what_is_bad_comes_first_among_every_value(page):
    tab(page, "every")
    assert "error" in every(page)[0] or "fail" in every(page)[0]
    assert len(every(page)) == 50 and shown(page, "#more")
    page.find_element(By.ID, "more").click()
    assert len(every(page)) == 100


def test_what_was_bad_before_the_last_night_is_not_among_what_is(chromium, tmp_path):
    gone = conflicts(variant="gone")
    gone = type(gone)(gone.key, tuple(point._replace(run=RUNS[7]) for point in gone.points[-1:]))
    path = tmp_path / "index.html"
    path.write_text(render(build([conflicts(after=0), gone])), encoding="utf-8")
    chromium.get(path.as_uri())
    tab(chromium, "every")
    rows = chromium.find_elements(By.CSS_SELECTOR, "#every-table tbody tr")
    assert "✖" not in "".join(row.text for row in rows)
    assert "2026-01-08, not in the last night" in rows[-1].text


def test_two_runs_of_a_night_differ(chromium, tmp_path):
    runs = [*RUNS, a_run(29, id="again", time=RUNS[-1].time + timedelta(minutes=9))]
    path = tmp_path / "index.html"
    path.write_text(render(build([a_series("instructions", [1, 2], runs=runs)], runs)))
    chromium.get(path.as_uri())
    tab(chromium, "trends")
    assert "2026-01-30 02:09" in readout(chromium)
    chromium.find_element(By.CSS_SELECTOR, RUN_TO_READ).send_keys(Keys.ARROW_LEFT)
    assert "2026-01-30 02:00" in readout(chromium)


def test_search(page):
    search(page, "swizzled sm_90")
    wait_for(lambda: len(every(page)) == 1)
    assert "transpose.swizzled.f32@64x64" in every(page)[0] and "sm_90" in every(page)[0]
    assert shown(page, "#changes .moves tbody tr") == []
    assert "1 of" in page.find_element(By.NAME, "found").text
    page.find_element(By.CSS_SELECTOR, "#filter button[type=reset]").click()
    wait_for(lambda: len(every(page)) == 50)
    assert len(shown(page, "#changes .moves tbody tr")) == 2


def test_a_slow_click_right_after_typing_opens_the_value(page):
    tab(page, "every")
    search(page, "swizzled sm_90")
    number = page.find_element(By.CSS_SELECTOR, "#every-table a.number")
    ActionChains(page).click_and_hold(number).pause(0.4).release().perform()
    assert wait_for(lambda: shown(page, "dialog[open]"))


def test_a_search_without_a_match_says_so(page):
    search(page, "no such thing")
    assert wait_for(lambda: every(page) == ["Nothing matches the filter."])


@pytest.mark.parametrize(
    ("name", "value", "rows"), [("family", "steady", 50), ("metric", "registers", 2)]
)
def test_filters(page, name, value, rows):
    page.find_element(By.CSS_SELECTOR, f'#filter [name="{name}"]').send_keys(value)
    wait_for(lambda: len(every(page)) == rows and all(value in row for row in every(page)))


def test_filter_by_architecture_and_by_what_is_worse(page):
    page.find_element(By.CSS_SELECTOR, '#filter [name="arch"]').send_keys("sm_80")
    wait_for(lambda: len(every(page)) == 5)
    page.find_element(By.NAME, "worse").click()
    wait_for(lambda: len(every(page)) == 1)
    assert "transpose.padded.f32@64x64" in every(page)[0]


def test_a_number_leads_to_its_fact(page):
    page.find_element(By.CSS_SELECTOR, "#changes .moves a.number:nth-of-type(2)").click()
    dialog = wait_for(lambda: shown(page, "dialog[open]"))[0]
    for text in (
        "shared.bank_conflicts of transpose.padded.f32@64x64",
        "31 wavefronts",
        "kernels/transpose/family.cu:7",
        "warpgauge gate --filter 'transpose.padded.f32@64x64' --device=emulated --arch 'sm_80'",
        "run29",
        "c29" + "0" * 37,
        "31 is over budget = 0",
    ):
        assert text in dialog.text
    assert dialog.find_elements(By.CSS_SELECTOR, ".plot canvas")
    dialog.send_keys(Keys.ESCAPE)
    wait_for(lambda: not shown(page, "dialog[open]"))
    wait_for(lambda: "#fact" not in page.current_url)


def test_a_fact_names_its_own_gpu_where_the_run_had_several(chromium, tmp_path):
    timed = {"source": "clock", "device_name": "NVIDIA L4", "arch": "sm_89", "runs": GPU_RUNS}
    opened(chromium, tmp_path, [a_series("time.median_us", [5] * 30, **timed)], GPU_RUNS)
    chromium.execute_script("location.hash = 'fact-0'")
    dialog = wait_for(lambda: shown(chromium, "dialog[open]"))[0]
    assert "NVIDIA L4" in dialog.text and GPU not in dialog.text


def test_the_value_before_a_change_is_another_fact(page):
    page.find_element(By.CSS_SELECTOR, "#changes .moves a.number").click()
    dialog = wait_for(lambda: shown(page, "dialog[open]"))[0]
    assert "run28" in dialog.text and "0 wavefronts" in dialog.text


def test_a_fact_can_be_linked_to(page, address):
    page.get("about:blank")
    page.get(address + "#fact-0-3")
    assert "run3" in wait_for(lambda: shown(page, "dialog[open]"))[0].text


NOTHING = ("#fact-999999", "#fact-x", "#trend-", "#cases/registers/sm_1", "#cases/%/%ff")


@pytest.mark.parametrize("end", [*NOTHING, "#fact-0-99999"])
def test_a_link_to_nothing_does_no_harm(page, address, end):
    page.get("about:blank")
    page.get(address + end)
    assert shown(page, "h1")


def test_trends_have_a_line_for_each_variant_and_the_budget(page):
    page.find_element(By.CSS_SELECTOR, '#changes a[href^="#trend-"]').click()
    wait_for(lambda: page.switch_to.active_element.get_attribute("name") == "problem")
    label = page.find_element(By.CSS_SELECTOR, "#trend .plot").get_attribute("aria-label")
    assert "padded 31 wavefronts" in label and "swizzled 0 wavefronts" in label
    assert "worse, by code, commit c29" in page.find_element(By.ID, "trend").text


def test_no_chart_has_more_than_ten_lines(page):
    tab(page, "trends")
    choice = page.find_element(By.CSS_SELECTOR, '#trend-choice [name="problem"]')
    choice.send_keys("steady")
    wait_for(lambda: len(page.find_elements(By.CSS_SELECTOR, "#trend .legend input")) == 150)
    for _ in range(20):
        left = page.find_elements(
            By.CSS_SELECTOR, "#trend .legend input:not(:checked):not(:disabled)"
        )
        if not left:
            break
        left[0].click()
    assert len(page.find_elements(By.CSS_SELECTOR, "#trend .readout a")) == 10
    assert "At most 10 lines" in page.find_element(By.ID, "trend").text


@pytest.fixture
def times(chromium, tmp_path):
    """A page of the times of two variants, of which one is four times as long."""
    slow = timed("slow", [40.0] * 30, budget="<= 50", verdict="pass")
    opened(chromium, tmp_path, [timed("quick", [10.0 + i % 2 for i in range(30)]), slow], GPU_RUNS)
    tab(chromium, "trends")
    return chromium


def test_a_chart_draws_lines_bands_and_the_budget(times):
    assert colours_drawn(times, "line-0", "line-1", "line-2") == ["line-0", "line-1"]
    without = len(colours_drawn(times, "ink"))
    times.find_element(By.XPATH, '//*[@id="trend"]//button[text()="slow"]').click()
    wait_for(lambda: len(colours_drawn(times, "ink")) > without)


def test_each_run_can_be_read_without_a_pointer(times):
    assert "2026-01-30 03:00" in readout(times) and "11 µs (95 %: 9.900 to 12.10 µs)" in readout(
        times
    )
    times.find_element(By.CSS_SELECTOR, RUN_TO_READ).send_keys(Keys.HOME)
    assert "2026-01-01 03:00" in readout(times) and "10 µs (95 %" in readout(times)
    assert "2026-01-01 03:00" in times.find_element(By.CSS_SELECTOR, RUN_TO_READ).get_attribute(
        "aria-valuetext"
    )


def test_zoom_pan_and_back(times):
    whole = wait_for(lambda: shown_range(times))
    assert whole == [[-0.5, 29.5]]
    press(times, "Zoom in")
    wait_for(lambda: shown_range(times) == [[7, 22]])
    press(times, "Later runs")
    wait_for(lambda: shown_range(times) == [[14.5, 29.5]])
    times.find_element(By.CSS_SELECTOR, '#trend input[aria-label="show slow"]').click()
    wait_for(lambda: shown_range(times) == [[14.5, 29.5]])  # lines come and go
    times.find_element(By.CSS_SELECTOR, RUN_TO_READ).send_keys(Keys.HOME)
    wait_for(lambda: shown_range(times) == [[-0.5, 14.5]])  # what is read comes into view
    press(times, "Show all runs")
    wait_for(lambda: shown_range(times) == whole)
    assert not times.find_element(By.CSS_SELECTOR, '[aria-label="Show all runs"]').is_enabled()


def test_dragging_zooms_and_with_the_shift_key_moves(times):
    over = times.find_element(By.CSS_SELECTOR, "#trend .u-over")
    times.execute_script("arguments[0].scrollIntoView({ block: 'center' })", over)
    drag = ActionChains(times).move_to_element_with_offset(over, -200, 0).click_and_hold()
    drag.move_by_offset(300, 5).release().perform()
    ((low, high),) = wait_for(lambda: shown_range(times) != [[-0.5, 29.5]] and shown_range(times))
    assert 5 < low < 12 and 12 < high < 22
    drag = ActionChains(times).key_down(Keys.SHIFT).move_to_element_with_offset(over, 0, 0)
    drag = drag.click_and_hold().move_by_offset(100, 0).release().key_up(Keys.SHIFT)
    drag.perform()
    ((earlier, end),) = wait_for(lambda: shown_range(times) != [[low, high]] and shown_range(times))
    assert earlier < low and end - earlier == pytest.approx(high - low)
    assert not shown(times, "dialog[open]")


def test_a_click_on_a_chart_opens_the_fact(times):
    over = times.find_element(By.CSS_SELECTOR, "#trend .u-over")
    times.execute_script("arguments[0].scrollIntoView({ block: 'center' })", over)
    right = over.size["width"] // 2 - 3
    ActionChains(times).move_to_element_with_offset(over, right, 0).click().perform()
    assert "gpu29" in wait_for(lambda: shown(times, "dialog[open]"))[0].text


def test_a_log_scale_can_be_chosen(times):
    assert "log scale" not in times.find_element(By.CSS_SELECTOR, ".axis-title").text
    see(times, "log")
    assert "log scale" in times.find_element(By.CSS_SELECTOR, ".axis-title").text


def test_a_log_scale_cannot_be_chosen_where_a_value_is_zero(page):
    tab(page, "trends")
    assert not page.find_element(By.CSS_SELECTOR, '#trend [name="log"]').is_enabled()


def test_shares_of_the_first_value(times):
    see(times, "percent")
    assert "% of the first value shown" in times.find_element(By.CSS_SELECTOR, ".axis-title").text
    assert "11 µs, 110 %" in readout(times) and "40 µs, 100 %" in readout(times)
    assert times.switch_to.active_element.get_attribute("name") == "percent"


def test_a_chart_for_each_variant(times):
    see(times, "split")
    titles = [title.text for title in times.find_elements(By.CSS_SELECTOR, "#trend .plot-title")]
    assert titles == ["quick", "slow"]
    assert len(times.find_elements(By.CSS_SELECTOR, "#trend canvas")) == 2
    press(times, "Zoom in")
    wait_for(lambda: shown_range(times) == [[7, 22], [7, 22]])


def test_charts_follow_the_colours_of_the_page(times):
    for scheme in ("dark", "light"):
        feature = {"name": "prefers-color-scheme", "value": scheme}
        times.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        wait_for(lambda: colours_drawn(times, "line-0", "line-1") == ["line-0", "line-1"])


def test_charts_are_printed_in_light_colours(times):
    dark = {"name": "prefers-color-scheme", "value": "dark"}
    times.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [dark]})
    times.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert times.execute_script("return colour('paper')") == "#ffffff"
    wait_for(lambda: colours_drawn(times, "line-0", "line-1") == ["line-0", "line-1"])
    times.execute_script("dispatchEvent(new Event('afterprint'))")
    assert times.execute_script("return colour('paper')") != "#ffffff"
    wait_for(lambda: colours_drawn(times, "line-0", "line-1") == ["line-0", "line-1"])
    times.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_folded_parts_open(page):
    tab(page, "budget")
    part = page.find_element(By.CSS_SELECTOR, "#budget details")
    assert not part.find_element(By.TAG_NAME, "table").is_displayed()
    part.find_element(By.TAG_NAME, "summary").send_keys(Keys.ENTER)
    wait_for(part.find_element(By.TAG_NAME, "table").is_displayed)


def test_the_commit_of_a_fact_leads_to_its_address(chromium, tmp_path):
    path = tmp_path / "index.html"
    links = Links(commit="https://git.example/commit/{commit}")
    path.write_text(render(build([conflicts()], RUNS), links=links), encoding="utf-8")
    chromium.get(path.as_uri())
    chromium.find_element(By.CSS_SELECTOR, "#changes .moves a.number:last-of-type").click()
    wait_for(lambda: shown(chromium, "#fact"))
    found = [link.get_attribute("href") for link in shown(chromium, "#fact dd a")]
    assert f"https://git.example/commit/{RUNS[-1].commit}" in found


def test_a_search_opens_what_it_finds_in(chromium, tmp_path):
    small = [a_series("registers", [90] * 29 + [91 + i], variant=f"small{i}") for i in range(18)]
    opened(chromium, tmp_path, [*small, conflicts(after=0)])
    part = chromium.find_element(By.CSS_SELECTOR, "#changes details.rest")
    assert "18 rows" in part.text and part.get_attribute("open") is None
    search(chromium, "small1.")
    wait_for(lambda: part.get_attribute("open"))
    (row,) = [
        element
        for element in part.find_elements(By.CSS_SELECTOR, "tbody tr")
        if element.is_displayed()
    ]
    assert "small1.f32" in row.text
    chromium.find_element(By.CSS_SELECTOR, "#filter button[type=reset]").click()
    wait_for(lambda: part.get_attribute("open") is None)


def test_what_is_folded_and_matters_is_printed(chromium, tmp_path):
    waived = {"value": 8, "verdict": "waived", "budget": "= 0", "reason": "waived for now"}
    opened(chromium, tmp_path, [a_series("spill.store_bytes", [waived] * 30), conflicts(after=0)])
    tab(chromium, "budget")
    part = chromium.find_element(By.CSS_SELECTOR, "#budget details.printed")
    assert part.get_attribute("open") is None
    chromium.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert part.get_attribute("open") and "waived for now" in part.text
    chromium.execute_script("dispatchEvent(new Event('afterprint'))")
    assert part.get_attribute("open") is None


def test_cases_by_architecture_per_element(page):
    tab(page, "generations")
    page.find_element(By.CSS_SELECTOR, "#per-element > summary").click()
    families, metrics = page.find_elements(By.CSS_SELECTOR, "#per-element select")
    wait_for(families.is_displayed)
    Select(families).select_by_visible_text("growing")
    wait_for(lambda: "growing" in page.find_element(By.CSS_SELECTOR, "#per-element caption").text)
    table = page.find_element(By.CSS_SELECTOR, "#per-element table")
    assert "instructions per element" in table.text and "0.5000" in table.text
    Select(families).select_by_visible_text("transpose")
    Select(metrics).select_by_visible_text("shared.bank_conflicts")
    wait_for(lambda: "the sizes of this family do not count elements" in table.text)
    assert table.find_elements(By.LINK_TEXT, "31")


def test_a_mean_opens_the_list_of_its_cases(page):
    tab(page, "generations")
    page.find_element(By.CSS_SELECTOR, '#steps a[href="#cases/registers/sm_90/sm_80"]').click()
    dialog = wait_for(lambda: shown(page, "#cases[open]"))[0]
    assert "registers, sm_80 → sm_90" in dialog.text
    assert "1 cases: 1 better, 0 worse, 0 the same." in dialog.text
    assert "Geometric mean of 1 ratios: 0.75." in dialog.text
    (row,) = dialog.find_elements(By.CSS_SELECTOR, "tbody tr")
    assert "better, −25 %" in row.text
    row.find_elements(By.CSS_SELECTOR, "a.number")[1].click()
    fact = wait_for(lambda: shown(page, "#fact[open]"))[0]
    assert "18 registers/thread" in fact.text
    fact.send_keys(Keys.ESCAPE)
    wait_for(lambda: not shown(page, "#fact[open]"))
    assert shown(page, "#cases[open]")  # a fact closes onto the list that it was opened from
    dialog.send_keys(Keys.ESCAPE)
    wait_for(lambda: not shown(page, "#cases[open]"))


def test_a_sum_opens_the_list_of_its_cases(page):
    tab(page, "generations")
    page.find_element(By.CSS_SELECTOR, '#resources a[href="#cases/registers/sm_80"]').click()
    dialog = wait_for(lambda: shown(page, "#cases[open]"))[0]
    assert (
        "1 cases, 1 above 0: median 24, mean 24, most 24, sum 24 registers/thread." in dialog.text
    )
    page.back()
    wait_for(lambda: not shown(page, "#cases[open]"))


def test_the_keyboard_reaches_everything(page):
    body = page.find_element(By.TAG_NAME, "body")
    body.send_keys(Keys.TAB)
    assert page.switch_to.active_element.text == "Skip to the report"
    page.switch_to.active_element.send_keys(Keys.TAB)
    seen = set()
    for _ in range(90):
        active = page.switch_to.active_element
        seen.add(active.get_attribute("name") or active.get_attribute("hash") or active.tag_name)
        if "worse" in seen and active.get_attribute("class") == "number":
            active.send_keys(Keys.ENTER)
            break
        active.send_keys(Keys.TAB)
    assert {"text", "family", "metric", "arch", "worse", "#changes"} <= seen
    wait_for(lambda: shown(page, "dialog[open]"))
    page.switch_to.active_element.send_keys(Keys.ENTER)  # its button to close
    wait_for(lambda: not shown(page, "dialog[open]"))
    assert page.switch_to.active_element.get_attribute("class") == "number"


def test_hostile_names_are_text_everywhere(page):
    search(page, "alert(1)")
    wait_for(lambda: len(every(page)) == 1)
    assert HOSTILE in every(page)[0]
    tab(page, "every")
    page.find_element(By.CSS_SELECTOR, "#every-table a.number").click()
    dialog = wait_for(lambda: shown(page, "dialog[open]"))[0]
    assert HOSTILE in dialog.find_element(By.TAG_NAME, "h2").text
    assert "'\\''" in dialog.text  # the quote in the command
    assert page.execute_script("return document.scripts.length") == 2


@pytest.mark.parametrize("width", [360, 800])
def test_nothing_is_wider_than_the_screen(page, address, width):
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    page.get("about:blank")
    page.get(address)
    assert page.execute_script("return document.documentElement.scrollWidth") <= width


def test_every_link_has_a_name(page):
    script = """
      const name = (link) => link.textContent.trim() || link.getAttribute("aria-label");
      return [...document.querySelectorAll("a")].filter((link) => !name(link)).length"""
    assert page.execute_script(script) == 0


def test_light_and_dark_have_contrast(page):
    """Text on paper as WCAG 2.1 asks for: 4.5 to 1."""
    script = """
      const of = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
      return ["--paper", "--ink", "--faint", "--link", "--better", "--worse"].map(of)"""
    papers = set()
    for scheme in ("light", "dark"):
        feature = {"name": "prefers-color-scheme", "value": scheme}
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        paper, *inks = page.execute_script(script)
        papers.add(paper)
        assert all(contrast(ink, paper) >= 4.5 for ink in inks)
    assert len(papers) == 2


def contrast(text, ground):
    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    low, high = sorted((luminance(text), luminance(ground)))
    return (high + 0.05) / (low + 0.05)

"""The first screen, and the parts below it, of which one is shown at a time."""

import pytest
from browser_pages import opened, search, shown, tab, wait_for
from page_samples import GPU_RUNS, RUNS, a_run, a_series, build, conflicts, render
from selenium.webdriver.common.by import By

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
    """Also with many values over budget, open and new."""
    many = [conflicts(variant=f"over{i}") for i in range(20)]
    many += [a_series("registers", [20] * 9 + [30 + i] * 21, variant=f"v{i}") for i in range(30)]
    many += [a_series("instructions", [5] * 29 + [9 + i], variant=f"v{i}") for i in range(30)]
    many += [a_series("instructions", [9 + i], variant=f"new{i}") for i in range(30)]
    many += [a_series("registers", [7], arch=f"sm_{arch}") for arch in (75, 80, 86, 89, 100, 120)]
    opened(chromium, tmp_path, many)
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 800}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    chromium.refresh()
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


def test_a_search_looks_in_all_parts(page):
    search(page, "padded")
    wait_for(lambda: parts(page) == PARTS)
    page.find_element(By.CSS_SELECTOR, "#filter button[type=reset]").click()
    wait_for(lambda: parts(page) == {"changes"})


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
            "return ['#filter', arguments[0]].map((one, i) => {"
            "const box = document.querySelector(one).getBoundingClientRect();"
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

"""The page's addresses, the comparison of two nights, and what is taken of tables, in Chromium."""

import csv
import io
import json

import pytest
from browser_pages import every, opened, search, shown, tab, wait_for
from page_samples import GPU, GPU_RUNS, HOSTILE, RUNS, a_series
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select
from warpgauge.page.address import trend

pytest_plugins = ["browser_pages"]  # its fixtures

PADDED = "#fact/transpose.padded.f32%4064x64/shared.bank_conflicts/sm_80/emulator"


def go(page, address, end):
    page.get("about:blank")
    page.get(address + end)


def hash_of(page):
    return page.execute_script("return location.hash")


def problem(page):
    return "".join(element.text for element in shown(page, "#address-problem"))


def test_a_fact_has_an_address_that_lasts(page):
    page.find_element(By.CSS_SELECTOR, "#changes .moves a.number").click()
    wait_for(lambda: shown(page, "dialog[open]"))
    assert hash_of(page) == f"{PADDED}/run28"
    page.refresh()
    dialog = wait_for(lambda: shown(page, "dialog[open]"))[0]
    assert "run28" in dialog.text and "0 wavefronts" in dialog.text
    dialog.send_keys(Keys.ESCAPE)
    wait_for(lambda: hash_of(page) == "")


def test_the_chart_of_a_fact_reads_its_run(page, address):
    go(page, address, f"{PADDED}/run3")
    text = page.find_element(By.CSS_SELECTOR, "#fact .readout").text
    assert "2026-01-04 02:00" in text and "0 wavefronts" in text


def test_a_chosen_trend_is_in_the_address(page, address):
    go(page, address, PADDED.replace("#fact", "#trend"))
    choice = page.find_element(By.CSS_SELECTOR, '#trend-choice [name="problem"]')
    Select(choice).select_by_visible_text("growing, f32@1000")
    wait_for(lambda: hash_of(page).startswith("#trend/growing.padded.f32%401000/instructions/"))


def test_an_address_without_a_run_is_that_of_the_newest_value(page, address):
    go(page, address, PADDED)
    assert "run29" in shown(page, "dialog[open]")[0].text
    assert hash_of(page) == f"{PADDED}/run29"


def test_a_hostile_name_is_escaped_in_its_address(page, address):
    search(page, "alert(1)")
    wait_for(lambda: len(every(page)) == 1)
    tab(page, "every")
    page.find_element(By.CSS_SELECTOR, "#every-table a.number").click()
    wait_for(lambda: shown(page, "dialog[open]"))
    found = hash_of(page)
    assert not set('<>"& ') & set(found)
    go(page, address, found)
    assert HOSTILE in shown(page, "dialog[open]")[0].text
    assert hash_of(page) == found


def test_gpus_of_one_architecture_differ_by_their_run(chromium, tmp_path):
    gpu = {"runs": GPU_RUNS, "source": "clock", "device_name": GPU}
    first = a_series("time.median_us", [1] * 29, **{**gpu, "runs": GPU_RUNS[:-1]})
    other = a_series("time.median_us", [2], **{**gpu, "device_name": "NVIDIA H200"})
    opened(chromium, tmp_path, [first, other], GPU_RUNS)
    address = chromium.current_url
    end = "#fact/transpose.padded.f32%4064x64/time.median_us/sm_90/clock/"
    for run, name in (("gpu28", GPU), ("gpu29", "NVIDIA H200")):
        go(chromium, address, end + run)
        assert name in shown(chromium, "dialog[open]")[0].text


def test_gpus_of_one_architecture_have_trends_of_their_own(chromium, tmp_path):
    gpu = {"runs": GPU_RUNS, "source": "clock"}
    both = [
        a_series("time.median_us", [1, 2], device_name=name, **gpu) for name in (GPU, "NVIDIA H200")
    ]
    opened(chromium, tmp_path, both, GPU_RUNS)
    address = chromium.current_url
    for series in both:
        go(chromium, address, trend(series.key))
        assert series.key.device_name in chromium.find_element(By.CSS_SELECTOR, "figcaption").text
        assert hash_of(chromium) == trend(series.key)


def test_addresses_that_the_feed_has_lead_to_the_trend(chromium, tmp_path):
    series = a_series("result.correct", [1] * 30, family=f"{HOSTILE}/'()", arch=None, source=None)
    opened(chromium, tmp_path, [series])
    go(chromium, chromium.current_url, trend(series.key))
    assert not problem(chromium)
    assert series.key.family in chromium.find_element(By.CSS_SELECTOR, "figcaption").text


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ("#fact/no.such.case@1/registers/sm_90/cubin/run1", "no case “no.such.case@1”"),
        (PADDED.replace("sm_80", "sm_1"), "no “shared.bank_conflicts” of"),
        (f"{PADDED}/gone", "no value of the run “gone” here; its newest one is shown"),
        ("#trend/x", "no case “x”"),
        ("#trend/transpose.padded.f32@64x64", "no “” of transpose.padded.f32@64x64 on “”"),
        (f"{PADDED.replace('#fact', '#trend')}/H200", "on “H200” from “emulator”"),
        ("#cases/registers/sm_1", "no case that has a value “registers” on “sm_1”"),
        ("#compare/2020-01-01/2026-01-02", "no night “2020-01-01”; it has 2026-01-01 to"),
        ("#compare/2026-01-02", "no night “”"),
        ("#arch=sm_1&metric=%3Cb%3E", "no metric “<b>”, and no arch “sm_1”"),
        ("#q=a&colour=red", "no filter “colour”"),
        ("#nowhere%ff", "nothing at “#nowhere%ff”"),
        ("#fact-999999", "nothing at “#fact-999999”"),
    ],
)
def test_an_address_that_is_not_known_says_so(page, address, end, words):
    go(page, address, end)
    assert words in problem(page)
    page.execute_script("location.hash = '#changes'")
    wait_for(lambda: not problem(page))


def test_the_filter_is_in_the_address(page, address):
    search(page, "padded a&b=c%")
    Select(page.find_element(By.NAME, "arch")).select_by_visible_text("sm_80")
    wait_for(lambda: hash_of(page) == "#q=padded%20a%26b%3Dc%25&arch=sm_80")
    page.find_element(By.CSS_SELECTOR, "#filter button[type=reset]").click()
    wait_for(lambda: hash_of(page) == "")
    go(page, address, "#q=padded%20a%26b%3Dc%25&worse=1")
    assert page.find_element(By.NAME, "text").get_attribute("value") == "padded a&b=c%"
    assert page.find_element(By.NAME, "worse").is_selected()
    go(page, address, "#q=padded&arch=sm_80")
    assert len(every(page)) == 4 and all("padded" in row and "sm_80" in row for row in every(page))


def test_the_filter_stays_in_the_address_below_a_fact(page, address):
    go(page, address, "#q=swizzled")
    tab(page, "every")
    page.find_element(By.CSS_SELECTOR, "#every-table a.number").click()
    dialog = wait_for(lambda: shown(page, "dialog[open]"))[0]
    assert hash_of(page).startswith("#fact/transpose.swizzled")
    dialog.send_keys(Keys.ESCAPE)
    wait_for(lambda: hash_of(page) == "#q=swizzled")


def test_a_trend_has_an_address(page):
    page.find_element(By.CSS_SELECTOR, '#changes a[href^="#trend-"]').click()
    wait_for(lambda: hash_of(page) == PADDED.replace("#fact", "#trend"))
    page.refresh()
    assert "shared.bank_conflicts of transpose" in page.find_element(By.ID, "trend").text


def compared(page):
    """The rows of the comparison."""
    script = "return [...document.querySelectorAll('#compare tbody tr')].map(r => r.innerText)"
    return page.execute_script(script)


def test_two_nights_are_compared(page):
    tab(page, "compare")
    assert not shown(page, "#compare table")
    page.find_element(By.CSS_SELECTOR, "#compare form button").click()
    assert hash_of(page) == "#compare/2026-01-29T02%3A00/2026-01-30T02%3A00"
    caption = page.find_element(By.CSS_SELECTOR, "#compare caption").text
    assert "2026-01-29 beside 2026-01-30" in caption and "by a known cause" in caption
    (row,) = [
        row
        for row in compared(page)
        if "transpose.padded" in row and "sm_80" in row and "bank_conflicts" in row
    ]
    assert "0 wavefronts" in row and "31 wavefronts" in row and "worse, from 0" in row
    assert "code" in row
    page.refresh()
    wait_for(lambda: row in compared(page))


def test_known_causes_come_before_what_may_be_noise(chromium, tmp_path):
    gpu = {"runs": GPU_RUNS, "source": "clock", "device_name": GPU}
    noisy = a_series("time.median_us", [10.0 + night % 3 for night in range(30)], **gpu)
    counted = a_series("registers", [20] * 29 + [21], variant="known", runs=GPU_RUNS)
    opened(chromium, tmp_path, [noisy, counted], GPU_RUNS)
    go(chromium, chromium.current_url, "#compare/2026-01-29/2026-01-30")
    first, second = compared(chromium)
    assert "known" in first and "worse, +5 %" in first
    assert "time.median_us" in second and "+9.09 %" in second and "no change found" in second
    assert "worse" not in second  # it is no finding


def test_what_is_neither_worse_nor_better_comes_after_what_is_and_says_what_it_is(
    chromium, tmp_path
):
    words = [{"text": "shared"}] * 29 + [{"text": "warps", "sass_hash": "t"}]
    limiter = a_series("occupancy.limiter", words)
    registers = a_series("registers", [20] * 29 + [{"value": 21, "sass_hash": "t"}])
    same = a_series("occupancy.limiter", [{"text": "shared"}] * 30, variant="same")
    opened(chromium, tmp_path, [limiter, registers, same])
    go(chromium, chromium.current_url, "#compare/2026-01-29/2026-01-30")
    first, second = compared(chromium)
    assert "registers" in first and "worse, +5 %" in first
    assert "occupancy.limiter" in second and "another word" in second
    caption = chromium.find_element(By.CSS_SELECTOR, "#compare caption").text
    assert "2 values differ" in caption and "1 are the same" in caption


def test_what_is_of_the_code_is_called_worse_better_or_changed_and_never_moved(chromium, tmp_path):
    new = {"sass_hash": "t", "source_hash": "r"}
    counts = {"instructions": (100, 166), "registers": (40, 20), "shared.requests": (10, 80)}
    series = [a_series(name, [a] * 29 + [new | {"value": b}]) for name, (a, b) in counts.items()]
    opened(chromium, tmp_path, series)
    go(chromium, chromium.current_url, "#compare/2026-01-29/2026-01-30")
    rows = {name: row for name in counts for row in compared(chromium) if name in row}
    assert "worse, +66 %" in rows["instructions"] and "better, " in rows["registers"]
    assert "changed, × 8" in rows["shared.requests"] and "code" in rows["shared.requests"]
    assert not any("moved" in row for row in rows.values())


def test_what_the_machine_moved_is_neither_worse_nor_better(chromium, tmp_path):
    gpu = {"runs": GPU_RUNS, "source": "clock", "device_name": GPU, "code_hash": "c"}
    noise = [night % 3 / 100 for night in range(30)]
    times = [10 + by + (2 if night >= 15 else 0) for night, by in enumerate(noise)]
    opened(chromium, tmp_path, [a_series("time.median_us", times, **gpu)], GPU_RUNS)
    go(chromium, chromium.current_url, "#compare/2026-01-05/2026-01-29")
    (row,) = compared(chromium)
    assert "environment" in row and "moved, +" in row
    assert not shown(chromium, "#compare td.worse")


def test_a_night_has_the_times_of_all_its_runs(page, address):
    go(page, address, "#compare/2026-01-29T03:00/2026-01-30")  # the GPU's runs begin at 3
    assert hash_of(page) == "#compare/2026-01-29T02%3A00/2026-01-30T02%3A00"
    assert not problem(page)


def test_nights_that_are_the_same_have_no_rows(page, address):
    go(page, address, "#compare/2026-01-04/2026-01-07")
    assert [row for row in compared(page) if "time." not in row] == []
    assert " are the same" in page.find_element(By.CSS_SELECTOR, "#compare caption").text


def test_what_only_one_night_has_is_compared(chromium, tmp_path):
    gone = a_series("instructions", [5] * 10, runs=RUNS[:10], variant="gone")
    came = a_series("instructions", [7] * 5, variant="came")
    back = a_series("registers", [20] * 10 + [24] * 20, variant="back")
    opened(chromium, tmp_path, [gone, came, back])
    address = chromium.current_url
    go(chromium, address, "#compare/2026-01-05/2026-01-29")
    rows = compared(chromium)
    assert "back" in rows[0] and "worse, +20 %" in rows[0] and "input or counter" in rows[0]
    assert sorted("not measured in the first" in row for row in rows[1:]) == [False, True]
    assert (
        "1 are only in the first, 1 only in the second"
        in chromium.find_element(By.CSS_SELECTOR, "#compare caption").text
    )
    go(chromium, address, "#compare/2026-01-29/2026-01-05")  # the other way round
    assert "better, −16.7 %" in compared(chromium)[0]


def test_a_page_of_one_night_compares_nothing(chromium, tmp_path):
    opened(chromium, tmp_path, [a_series("registers", [20])], RUNS[-1:])
    go(chromium, chromium.current_url, "#compare/2026-01-29/2026-01-30")
    assert "one night only" in problem(chromium)


@pytest.fixture
def files(chromium, tmp_path):
    """The folder that Chromium saves to, and a function that waits for a file in it."""
    folder = tmp_path / "taken"
    folder.mkdir()
    to = {"behavior": "allow", "downloadPath": str(folder)}
    chromium.execute_cdp_cmd("Browser.setDownloadBehavior", to)

    def take(selector, form):
        button = f'{selector} [aria-label="Take this table as {form}"]'
        chromium.execute_script("document.querySelector(arguments[0]).click()", button)
        path = wait_for(lambda: list(folder.glob(f"*.{form.lower()}")))[0]
        text = wait_for(lambda: path.read_bytes()).decode("utf-8")
        path.unlink()
        return path.name, text

    return take


def test_every_table_can_be_taken(page):
    assert (
        page.execute_script("""
      return [...document.querySelectorAll("table")]
        .filter((table) => table.querySelectorAll("caption .take button").length !== 2).length""")
        == 0
    )


def test_a_table_is_taken_as_json_and_as_csv(page, files):
    search(page, "padded")
    wait_for(lambda: "padded" in every(page)[0] and len(every(page)) < 20)
    name, text = files("#every", "JSON")
    assert name == "warpgauge-every-2026-01-30.json"
    rows = json.loads(text)
    (value,) = [row for row in rows if row["where"] == "sm_80, emulator" and row["value"] == 31]
    assert value["case"] == "transpose.padded.f32@64x64" and value["unit"] == "wavefronts"
    name, text = files("#every", "CSV")
    assert name.endswith(".csv")
    assert [row["case"] for row in csv.DictReader(io.StringIO(text))] == [
        row["case"] for row in rows
    ]


def test_the_list_of_a_mean_is_taken_with_its_numbers(page, address, files):
    go(page, address, "#cases/registers/sm_90/sm_80")
    name, text = files("#cases", "JSON")
    assert name == "warpgauge-cases-2026-01-30.json"
    (row,) = json.loads(text)
    assert (row["sm_80"], row["sm_90"], row["Unit"]) == (24, 18, "registers/thread")


def test_all_that_is_found_is_taken_and_not_only_what_is_written_out(page, files):
    assert len(every(page)) == 50
    assert len(json.loads(files("#every", "JSON")[1])) > 150


def test_a_written_table_is_taken_as_it_is_filtered(page, files):
    search(page, "padded")
    wait_for(lambda: hash_of(page) == "#q=padded")
    name, text = files("#changes", "JSON")
    assert name == "warpgauge-changes-2026-01-30.json"
    rows = json.loads(text)
    assert rows and all("padded" in row["What"] for row in rows)


def test_columns_of_one_name_are_all_taken(page):
    rows = page.execute_script("""
      const cells = (kind, texts) => make("tr", {}, ...texts.map((text) => make(kind, {}, text)));
      const head = cells("th", ["Case", "of the peak", "of the peak", ""]);
      const row = cells("td", ["a", "1", "2", "3"]);
      const table = make("table", {}, make("thead", {}, head), make("tbody", {}, row));
      return JSON.parse(asJson(rowsOf(table)));""")
    names = ["Case", "of the peak", "of the peak column 3", "column 4"]
    assert rows == [dict(zip(names, "a123", strict=True))]


def test_formulas_of_spreadsheets_are_text(page):
    cells = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "-5", -5, 'a "b", c', "plain", None]
    text = page.execute_script("return asCsv([arguments[0]])", cells)
    (row,) = csv.reader(io.StringIO(text))
    assert row == [
        "'=1+1",
        "'+1+1",
        "'-1+1",
        "'@SUM(A1)",
        "'\t=1",
        "-5",
        "-5",
        'a "b", c',
        "plain",
        "",
    ]


def test_the_comparison_is_taken_with_its_numbers(page, files):
    tab(page, "compare")
    page.find_element(By.CSS_SELECTOR, "#compare form button").click()
    rows = json.loads(files("#compare", "JSON")[1])
    conflict = [row for row in rows if row["metric"] == "shared.bank_conflicts"]
    assert {(row["before"], row["after"], row["why"]) for row in conflict} == {(0, 31, "code")}

"""The sample report of recorded nights: what the page says of two nights that real GPUs measured.

A twentieth of the recorded facts is taken: some families, on three architectures.
"""

import json
import lzma
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from warpgauge.page import report, speeds
from warpgauge.program import main as warpgauge

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "reports"))

import sample  # noqa: E402

H100, H200 = "NVIDIA H100 80GB HBM3", "NVIDIA H200"
ARCHS = ("sm_75", "sm_90", "sm_120")
FAMILIES = (
    *("copies", "cublas", "fragments", "kernel_parameters", "matrix_add", "stack"),
    *("transpose_blocks", "vector_add"),
)


def taken_of(recorded, folder):
    """Writes the records that are taken of each recorded file into the folder."""
    for path in recorded.glob("*.jsonl.xz"):
        with lzma.open(path, "rt") as lines, lzma.open(folder / path.name, "wt", preset=0) as taken:
            taken.writelines(lines_taken(lines))


def lines_taken(lines):
    """The runs, and the cases of FAMILIES on ARCHS with their values."""
    cases = set()
    for line in lines:
        kind, key = re.match(r'{"record":"(\w+)",(?:"case":"(\w+)")?', line).groups()
        if kind == "case":
            case = json.loads(line)
            if case["family"] in FAMILIES and case.get("arch") in (None, *ARCHS):
                cases.add(key)
        if key is None or key in cases:
            yield line


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder with the sample, and the report that its page shows."""
    recorded, folder = tmp_path_factory.mktemp("recorded"), tmp_path_factory.mktemp("sample")
    taken_of(sample.RECORDED, recorded)
    reports, build = [], report.build
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sample, "RECORDED", recorded)

        def building(*of, **options):
            reports.append(build(*of, **options))
            return reports[-1]

        patch.setattr(report, "build", building)
        assert sample.write_recorded(folder) == 0
    (found,) = reports
    return folder, found


@pytest.fixture
def folder(made):
    return made[0]


@pytest.fixture
def found(made):
    return made[1]


@pytest.fixture
def page(folder):
    """The page without its data and its script."""
    return (
        (folder / "index.html").read_text("utf-8").partition('<script type="application/json"')[0]
    )


def section(page, name):
    return page.partition(f' id="{name}" ')[2].partition('<section class="tab"')[0]


def test_the_digest_counts_what_the_last_night_was(folder):
    headline, _, counts, *_ = (folder / "digest.md").read_text("utf-8").splitlines()
    assert headline == "# 105 values of the night before missing"
    assert counts == (
        "warpgauge, recorded nights, night of 2026-11-22, commit `d16068ecc2`. 0 over budget, "
        "0 got worse, 105 missing, 4 new cases, 6 unmeasured, 3,753 within budget, "
        "10,608 without budget."
    )


def test_what_changed_has_its_cause(page):
    changes = section(page, "changes")
    assert f"<code>{H100}</code> → <code>{H100}, {H200}</code>" in section(page, "morning")
    rows = re.findall(r"<tr data-family.*?</tr>", changes, re.DOTALL)
    constants, registers = rows
    assert "kernel_parameters.large_by_value.u32@2048" in registers
    assert re.search(r"10</a> → <a [^>]*>8 registers/thread</a>", registers)
    assert "\N{MINUS SIGN}20 %" in registers and "better" not in registers  # occupancy did not move
    assert "<b>code or compiler</b>" in registers
    assert "commit d6864876c3cb → 450453b9cc45" in registers
    assert "constant.bytes" in constants and "better" not in constants


def test_no_time_and_no_estimate_is_a_change(found):
    moved = {move.key.metric for move in (*found.new, *found.described, *found.earlier)}
    assert moved == {"registers", "constant.bytes"}
    lost = [row for row in found.rows if row.key.id == "fragments.async_words.f32@262144"]
    values = {row.last.value for row in lost if row.key.metric == "shared.wavefronts"}
    assert len(values) > 1  # CUPTI loses some


def test_cases_that_have_another_size_now_are_missing(found, page):
    assert [lost.what for lost in found.missing] == ["case"] * 3
    assert all(lost.rows[0].key.id.endswith("@1000") for lost in found.missing)
    assert section(page, "changes").count("<b>All of") == 3


def test_errors_that_are_over_are_not_missing_and_not_over_budget(found, page):
    before = [row for row in found.rows if row.last.verdict == "error"]
    assert {row.key.id for row in before} == {
        "cublas.nrm2.f64@1000003",
        "kernel_parameters.large_by_value.u32@2048",
    }
    assert found.verdicts["error"] == found.verdicts["fail"] == 0
    assert "Nothing is over its budget." in section(page, "budget")


def test_every_architecture_has_the_same_cases(page):
    table = section(page, "generations").partition('id="resources"')[2]
    rows = re.findall(r'<th scope="row">(sm_\d+)</th>.*?>(\d+)</a>', table)
    assert rows == [(arch, "98") for arch in ARCHS]


def test_descriptions_are_not_compared(page):
    assert "constant.bytes" not in section(page, "generations")


def test_both_gpus_are_there(page):
    speeds_part = section(page, "speeds")
    for gpu in (H100, H200):
        assert f'aria-label="Roofline of {gpu}"' in speeds_part
        assert f"{gpu}: the cases nearest to the memory’s peak" in speeds_part
    assert f"{H200} beside {H100}: how many times as fast" in speeds_part
    assert speeds_part.count('aria-label="transpose_blocks.naive.f32, time.median_us"') == 2


def test_the_rooflines_have_the_peaks_of_their_memories_and_nothing_above(found):
    h100, h200 = speeds.rooflines(speeds.speeds(found.current))
    assert (h100.device, h200.device) == (H100, H200)
    assert h100.peak == pytest.approx(2619e6 * 2 * 5120 / 8, rel=1e-3)  # clock, two edges, width
    assert h200.peak == pytest.approx(3201e6 * 2 * 6016 / 8, rel=1e-3)
    for roofline in (h100, h200):
        assert len(roofline.cases) > 20
        assert roofline.measured_peak < roofline.peak
        for case in roofline.cases:
            assert case.flops <= case.intensity * roofline.measured_peak, case.id


def test_the_faster_memory_shows(found):
    ((first, other, families),) = speeds.beside(speeds.speeds(found.current))
    assert (first, other) == (H100, H200)
    assert {family.family: family.median for family in families}["matrix_add"] > 1.05


@pytest.mark.skipif(
    not (shutil.which("chromium") and shutil.which("chromedriver"))
    and "chromium" not in os.environ.get("WARPGAUGE_TEST_PACKAGES", ""),
    reason="needs the packages chromium and chromium-driver",
)
@pytest.mark.parametrize("width, medium", [(390, "screen"), (1280, "screen"), (720, "print")])
def test_nothing_is_wider_than_the_screen_or_the_paper(folder, width, medium):
    import pictures

    with pictures.browser() as chromium:
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width == 390}
        chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": medium})
        chromium.get((folder / "index.html").as_uri())
        assert chromium.execute_script("return document.documentElement.scrollWidth") <= width


def test_the_history_can_be_asked(folder, capsys):
    assert warpgauge(["report", "runs", "--db", str(folder / "history.db")]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 9  # with the head


def test_no_facts_are_a_fault_and_nothing_is_written(tmp_path, capsys):
    bad = tmp_path / "bad.jsonl"
    bad.write_text("{}\n")
    assert sample.write_page([["ingest", str(bad)]], [], tmp_path / "out") == 2
    assert "bad.jsonl:1" in capsys.readouterr().err
    assert list((tmp_path / "out").iterdir()) == []

"""Speeds on the page: rooflines, copies, and errors of functions."""

import re

import pytest
from page_samples import ARCHS, GPU, GPU_RUNS, NIGHTS, RUNS, a_series, build, conflicts, render
from warpgauge.page import sections, speeds
from warpgauge.page.pictures import roofline as roofline_picture

H200 = "NVIDIA H200"


def timed(case, flops=None, bandwidth=None, share=None, device=GPU):
    """The speeds of a case: family, variant, type and size, in any of the units."""
    family, variant, type_, size = case
    of = {"family": family, "variant": variant, "type": type_, "size": size}
    of |= {"runs": GPU_RUNS, "source": "clock", "device_name": device}
    found = []
    for metric, value in (
        (speeds.FLOPS, flops),
        (speeds.BYTES, bandwidth),
        (speeds.PEAK, share),
    ):
        if value is not None:
            found.append(a_series(metric, [value] * NIGHTS, **of))
    return found


def rooflines_of(*groups):
    rows = build([series for group in groups for series in group]).rows
    return speeds.rooflines(speeds.speeds(rows))


def test_of_sizes_with_the_same_intensity_the_fastest_is_on_the_roofline():
    (roofline,) = rooflines_of(
        timed(("dot", "v", "f32", "100"), 1e8, 4e8),
        timed(("dot", "v", "f32", "1000000"), 7e11, 2.8e12, 84),
        timed(("matmul", "v", "f32", "64"), 1e11, 1e10),
        timed(("matmul", "v", "f32", "1024"), 3e13, 2e11),
    )
    assert [(case.id, case.intensity) for case in roofline.cases] == [
        ("dot.v.f32@1000000", 0.25),
        ("matmul.v.f32@1024", 150),
        ("matmul.v.f32@64", 10),
    ]
    assert roofline.peak == pytest.approx(2.8e12 / 0.84) and roofline.measured_peak is None


def test_each_type_has_its_best_case():
    (roofline,) = rooflines_of(
        timed(("a", "v", "f64", "1"), 2e13, 1e11),
        timed(("a", "w", "f64_huge", "1"), 1e12, 1e11),
        timed(("a", "v", "f32", "1"), 5e13, 1e11),
    )
    assert [(case.type, case.flops) for case in roofline.best] == [("f32", 5e13), ("f64", 2e13)]


def test_each_gpu_has_its_roofline_and_one_without_arithmetic_has_none():
    case = ("dot", "v", "f32", "1000000")
    found = rooflines_of(
        timed(case, 7e11, 2.8e12, 84),
        timed(case, 1e12, 4e12, 84, device=H200),
        timed(("copies", "v", "u8", "1"), None, 1e12, device="NVIDIA L4"),
    )
    assert [(roofline.device, round(roofline.peak)) for roofline in found] == [
        (GPU, round(2.8e12 / 0.84)),
        (H200, round(4e12 / 0.84)),
    ]


def test_the_theoretical_peak_of_an_h100_is_the_published_one():
    peak = 2 * 2619e6 * 5120 / 8  # what warpgauge-bench takes shares of
    case = ("dot", "v", "f32", "1000000")
    roofs = rooflines_of(timed(case, 7e11, 2.8e12, 100 * 2.8e12 / peak))
    assert roofs[0].peak == pytest.approx(3.35e12, rel=1e-3)
    (picture,) = roofline_picture.gallery_of(roofs).pictures
    assert b"memory, theoretical: 3.352 TB/s" in picture.files["svg"]
    assert b"memory, measured" not in picture.files["svg"]


def test_the_theoretical_peaks_of_arithmetic_of_an_h100_are_the_published_ones():
    single = 132 * 128 * 2 * 1980e6  # what warpgauge-bench takes shares of
    cases = {"f32": 3e13, "f64_huge": 2e13, "f16": 4e14}
    peaks = {"f32": single, "f64_huge": single / 2}
    groups = []
    for type, flops in cases.items():
        group = timed(("matmul", "v", type, "1024"), flops, 2e11)
        if type in peaks:
            of = {"runs": GPU_RUNS, "source": "clock", "device_name": GPU}
            of |= {"family": "matmul", "variant": "v", "type": type, "size": "1024"}
            group.append(a_series(speeds.FLOPS_PEAK, [100 * flops / peaks[type]] * NIGHTS, **of))
        groups.append(group)
    (roofline,) = rooflines_of(*groups)
    assert {type: round(peak / 1e12) for type, peak in roofline.arithmetic_peaks.items()} == {
        "f32": 67,
        "f64": 33,
    }
    (picture,) = roofline_picture.gallery_of([roofline]).pictures
    assert b"f32, theoretical: 66.91 TFLOP/s" in picture.files["svg"]
    assert b"f16, theoretical" not in picture.files["svg"]


def test_a_roofline_has_no_peak_where_no_share_was_measured():
    roofs = rooflines_of(timed(("dot", "v", "f32", "1000000"), 7e11, 2.8e12))
    (picture,) = roofline_picture.gallery_of(roofs).pictures
    assert b"memory, " not in picture.files["svg"]


def test_marks_of_a_roofline_lead_to_their_facts_on_the_page_only():
    roofs = rooflines_of(
        timed(("dot", "<b>", "f32", "1000000"), 7e11, 2.8e12, 84),
        timed(("zeta", "v", "f64", "9"), 1e12, 1.0),
    )
    (picture,) = roofline_picture.gallery_of(roofs).pictures
    assert b"#fact-" not in picture.files["svg"]
    inline = picture.inline()
    links = re.findall(r'<a href="#fact-(\d+)" tabindex="-1"><title>(.*?)</title>', inline)
    assert {title for _, title in links} == {
        "dot.&lt;b&gt;.f32@1000000: 700.0 GFLOP/s at 0.25 FLOP/byte",
        "zeta.v.f64@9: 1.000 TFLOP/s at 1e+12 FLOP/byte",
    }
    assert inline.count("<a ") == inline.count("</a>") == 2
    assert "Hollow: f64. At the right edge: 1 of higher intensity." in inline


def test_a_roofline_without_peaks_shows_all_intensities():
    (roofline,) = rooflines_of(timed(("zeta", "v", "f32", "9"), 1e12, 1.0))
    low, high = roofline_picture._range(roofline)
    assert low < 1e12 < high


def test_copies_stand_side_by_side_from_the_smallest_on():
    small, large = ("copies", "pinned", "u8", "4096"), ("copies", "pinned", "u8", "10000019")
    series = [
        *timed(large, None, 5e10),
        *timed(small, None, 2e9),
        *timed(large, None, 6e10, 2, device=H200),
        conflicts(),
    ]
    found = build(series)
    copies = speeds.copies(speeds.speeds(found.rows))
    assert copies.devices == (GPU, H200)
    assert [id for id, _ in copies.rows] == ["copies.pinned.u8@4096", "copies.pinned.u8@10000019"]
    assert [speed and speed.device for speed in copies.rows[0][1]] == [GPU, None]
    (table,) = re.findall(r'<table[^>]* id="copies">.*?</table>', render(found), re.DOTALL)
    assert table.count("<td") == 8 and "60.00 GB/s" in table


def test_columns_that_are_empty_are_left_out():
    page = render(build(timed(("dot", "v", "f32", "1000000"), None, 2.8e12, 84)))
    assert "Bytes a second" in page and "Times the yardstick" not in page


def test_long_tables_are_folded():
    cases = [timed(("dot", f"v{i}", "f32", "100"), None, 1e12 + i, 30) for i in range(20)]
    page = render(build([series for case in cases for series in case]))
    assert f"<summary>5 more cases of {GPU}</summary>" in page


def test_errors_of_functions_come_with_the_largest_first_and_emulated_places_together():
    series = []
    for name, error in (("sinf", 1e-8), ("__sinf", 1e-5)):
        for arch in ARCHS:
            of = {"family": "math_accuracy", "variant": name, "source": "harness"}
            of["device_name"] = f"Emulated GPU ({arch})"
            series.append(a_series("result.mean_relative_error", [error] * NIGHTS, arch, **of))
    first, second = sections.accuracy(build(series, RUNS).rows)
    assert (first.id, second.id) == (
        "math_accuracy.__sinf.f32@64x64",
        "math_accuracy.sinf.f32@64x64",
    )
    assert [(row.key.arch, row.finder) for row in first.where] == [
        (arch, "emulator") for arch in ARCHS
    ]


def test_two_gpus_are_compared_by_the_same_cases():
    def times(case, us, device):
        family, variant = case.split(".")
        of = {"family": family, "variant": variant, "source": "clock"}
        return a_series("time.median_us", [us], runs=GPU_RUNS, device_name=device, **of)

    cases = {"a.x": 2, "a.y": 2, "a.z": 20, "b.x": 1, "copies.x": 9}
    old = [times(case, 2, GPU) for case in (*cases, "only.here")]
    new = [times(case, 2 / speed, H200) for case, speed in cases.items()]
    found = build([*old, *new])
    ((first, other, families),) = speeds.beside(speeds.speeds(found.current))
    assert (first, other) == (GPU, H200)
    assert [(family.family, family.cases, family.median) for family in families] == [
        ("a", 3, 2),
        ("b", 1, 1),
    ]
    assert families[0].most[0] == pytest.approx(20)
    assert families[0].most[1].key.variant == "z"
    page = render(found)
    assert (
        f"{H200} beside {GPU}" in page and '">20.00</a> <code>z.<wbr>f32@<wbr>64x64</code>' in page
    )
    assert speeds.beside(speeds.speeds(build(old).current)) == []

"""Times over size: which problems have a picture, and what is in it."""

import re

from page_samples import GPU, GPU_RUNS, NIGHTS, a_series, build
from warpgauge.page import curves, speeds
from warpgauge.page.pictures import times_over_size

TABLES = [4096 << step for step in range(9)]  # to 1 MiB


def times(variant, sizes, family="chase", device=GPU):
    """A series for each size of a variant: 10 µs up to 64 KiB, then 100."""
    of = {"family": family, "variant": variant, "type": "i32", "runs": GPU_RUNS}
    of |= {"source": "clock", "device_name": device}
    return [
        a_series("time.median_us", [100 if size in TABLES[5:] else 10], size=str(size), **of)
        for size in sizes
    ]


def curves_of(*groups):
    rows = build([series for group in groups for series in group]).rows
    return curves.curves(speeds.speeds(rows))


def test_the_variants_of_a_problem_share_a_picture():
    (group,) = curves_of(times("texture", TABLES), times("global", TABLES))
    assert (group.device, group.problem, group.size) == (GPU, "chase.*.i32", "n")
    assert {name: list(curve) for name, curve in group.by_variant.items()} == {
        "global": TABLES,
        "texture": TABLES,
    }
    assert [row.last.value for row in group.by_variant["global"].values()] == [10] * 5 + [100] * 4


def test_one_extent_of_a_size_may_differ():
    sizes = [f"1000x{10**k}" for k in range(2, 8)] + [f"2000x{10**k}" for k in range(2, 5)]
    (group,) = curves_of(times("grid_stride", sizes))
    assert group.size == "1000xn"
    assert list(group.by_variant["grid_stride"]) == [10**k for k in range(2, 8)]


def test_few_sizes_and_near_ones_make_no_curve():
    near = [*range(1, 34)]  # strides, of which the largest is 33 times the smallest
    shapes = [f"{y}x{x}" for y in (1, 2, 4, 8) for x in (8, 16, 32, 64)]
    squares = [f"{2**k}x{2**k}" for k in range(1, 10)]
    for sizes in (TABLES[:5], near, shapes, squares):
        assert curves_of(times("v", sizes)) == []


def test_each_gpu_has_its_picture():
    found = curves_of(times("v", TABLES), times("v", TABLES[1:], device="NVIDIA H200"))
    assert [group.device for group in found] == [GPU, "NVIDIA H200"]
    stems = [picture.stem for picture in times_over_size.gallery_of(found).pictures]
    assert len(set(stems)) == 2 and all(stem.startswith("times-chase._.i32-n-") for stem in stems)


def test_marks_lead_to_their_facts_on_the_page_only():
    found = curves_of(times("<b>", TABLES))
    gallery = times_over_size.gallery_of(found)
    (picture,) = gallery.pictures
    assert gallery.note == "Each mark leads to its fact."
    assert b"#fact-" not in picture.files["svg"] and picture.files["png"].startswith(b"\x89PNG")
    inline = picture.inline()
    links = re.findall(r'<a href="#fact-(\d+)" tabindex="-1"><title>(.*?)</title>', inline)
    assert len(links) == len(TABLES) == inline.count("</a>")
    assert "chase.&lt;b&gt;.i32@1048576: 100 µs" in {title for _, title in links}
    assert picture.title == f"Times of chase.*.i32@n on {GPU}"


def test_no_more_than_a_few_are_drawn_and_the_others_are_counted():
    names = [f"f{i}" for i in range(times_over_size.MOST + 2)]
    found = curves_of(*(times("v", TABLES, family=name) for name in names))
    gallery = times_over_size.gallery_of(found)
    assert len(gallery.pictures) == times_over_size.MOST
    assert gallery.note.endswith("Left out: 2 more pictures of times over size.")


def test_a_page_without_times_has_none():
    gallery = times_over_size.gallery_of(curves_of([a_series("registers", [20] * NIGHTS)]))
    assert not gallery.pictures and not gallery.note

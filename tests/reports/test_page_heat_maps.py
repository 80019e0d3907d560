"""Heat maps on the page: one for all architectures that have the same values."""

from page_samples import GPU, GPU_RUNS, a_series, build
from warpgauge.facts.records import Launch
from warpgauge.page.pictures import heat_maps

SHAPES = [(y, x) for y in (1, 2, 4, 8) for x in (8, 16, 32, 64)]


def sweep(metric, value, archs, **members):
    """Series of all block shapes on each architecture; value(y, x, arch)."""
    of = {"family": "blocks", "variant": "naive"} | members
    return [
        a_series(metric, [value(y, x, arch)], arch, size=f"{y}x{x}", **of)
        for arch in archs
        for y, x in SHAPES
    ]


def test_counts_that_are_the_same_everywhere_are_one_picture():
    archs = ("sm_100", "sm_75", "sm_90")
    rows = build(sweep("global.excess_sectors", lambda y, x, arch: y * x, archs)).rows
    found = heat_maps.gallery_of(rows)
    (picture,) = found.pictures
    svg = picture.files["svg"].decode()
    assert not found.note and "global.excess_sectors on sm_75, sm_90, sm_100" in svg
    assert "Measured on sm_75, sm_90, sm_100 by emulator" in svg
    assert picture.stem == "heatmap-blocks.naive.f32-global.excess_sectors-sm_75"


def test_an_architecture_that_differs_has_its_own():
    def sectors(y, x, arch):
        return y * x + (arch == "sm_90")

    rows = build(sweep("global.excess_sectors", sectors, ("sm_75", "sm_80", "sm_90"))).rows
    found = heat_maps.gallery_of(rows).pictures
    subtitles = [picture.files["svg"].decode() for picture in found]
    assert ["on sm_75, sm_80<" in svg for svg in subtitles] == [True, False]
    assert ["on sm_90<" in svg for svg in subtitles] == [False, True]


def test_times_of_a_gpu_come_before_counts():
    counts = sweep("global.excess_sectors", lambda y, x, arch: y, ("sm_90",))
    gpu = {"runs": GPU_RUNS, "source": "clock", "device_name": GPU}
    times = sweep("time.median_us", lambda y, x, arch: y / x + 9, ("sm_90",), **gpu)
    found = heat_maps.gallery_of(build([*counts, *times]).rows)
    (picture,) = found.pictures
    assert not found.note and f"time.median_us on {GPU}, sm_90" in picture.files["svg"].decode()


def test_no_more_than_a_few_are_drawn_and_the_others_are_counted():
    variants = [
        sweep("global.excess_sectors", lambda y, x, arch: y, ("sm_90",), variant=f"v{i}")
        for i in range(heat_maps.MOST + 2)
    ]
    found = heat_maps.gallery_of(build([s for v in variants for s in v]).rows)
    assert len(found.pictures) == heat_maps.MOST
    assert found.note.startswith("Left out: 2 more heat maps")


def test_axes_are_named_after_the_launch():
    def sectors(y, x, arch):
        return {"value": y * x, "launches": (Launch((1, 1, 1), (x, y, 1), 0, 1),)}

    rows = build(sweep("global.excess_sectors", sectors, ("sm_90",))).rows
    (picture,) = heat_maps.gallery_of(rows).pictures
    svg = picture.files["svg"].decode()
    assert "blockDim.y (first extent of the size)" in svg
    assert "blockDim.x (second extent of the size)" in svg

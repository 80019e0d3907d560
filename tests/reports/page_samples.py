"""Series for tests of the page: thirty nights of a few kernels, with changes planted in them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from warpgauge.facts.case_filter import EVERY_CASE
from warpgauge.history.model import Device, Point, Run, Series, SeriesKey
from warpgauge.page import digest, report, view
from warpgauge.page.contents import Contents
from warpgauge.page.links import Links
from warpgauge.page.pictures import roofline

NIGHTS = 30
HOSTILE = "<script>alert(1)</script>\"'&<!--"
GPU = "NVIDIA H100 80GB HBM3"
ARCHS = ("sm_80", "sm_90")
NO_LINKS = Links()


def a_run(night, gpu=False, **members):
    """The run of a night, from 0; with or without a GPU."""
    device = Device(GPU, "GH100", "9.0", "580.1", "ab") if gpu else None
    of = {"commit": f"c{night:02}" + "0" * 37, "dirty": False, "toolkit": "13.0", "flags": "-O2"}
    time = datetime(2026, 1, 1, 2, tzinfo=UTC) + timedelta(days=night)
    return Run(
        **{"id": f"run{night}", "time": time, "device": device, "emulated": not gpu} | of | members
    )


RUNS = [a_run(night, toolkit="13.1" if night == NIGHTS - 1 else "13.0") for night in range(NIGHTS)]
GPU_RUNS = [
    a_run(night, gpu=True, id=f"gpu{night}", time=RUNS[night].time + timedelta(hours=1))
    for night in range(NIGHTS)
]


def a_series(metric, values, arch="sm_90", runs=RUNS, code_hash=None, **members):
    """A series of `metric`, a value for each of the newest runs; a dict of a value is its point."""
    of = {"family": "transpose", "variant": "padded", "type": "f32", "size": "64x64"}
    found = {"source": "emulator", "device_name": None} | members
    key = SeriesKey(**{**of, "metric": metric, "arch": arch} | found)
    place = {"file": "kernels/transpose/family.cu", "line": 7, "sass_hash": "s", "source_hash": "q"}
    place |= {"code_hash": code_hash, "kernels": int(key.family != "copies")}
    points = [
        Point(run, **place | (value if isinstance(value, dict) else {"value": value}))
        for run, value in zip(runs[-len(values) :], values, strict=True)
    ]
    return Series(key, tuple(points))


def conflicts(variant="padded", after=31, arch="sm_90", **members):
    """Bank conflicts that came last night, and are over budget since."""
    ok = {"value": 0, "verdict": "pass", "budget": "= 0", "reason": "0 is within budget = 0"}
    bad = {"value": after, "verdict": "fail" if after else "pass", "budget": "= 0"}
    bad |= {"reason": f"{after} is over budget = 0", "sass_hash": "t", "source_hash": "r"}
    values = [ok] * (NIGHTS - 1) + [bad]
    return a_series("shared.bank_conflicts", values, arch, variant=variant, **members)


def samples():
    """One of each: over budget, worse, better, unmeasured, hostile, timed, and many that stay."""
    registers = {"source": "cubin"}
    gpu = {"runs": GPU_RUNS, "source": "clock", "device_name": GPU}
    error = {"value": None, "verdict": "error", "reason": f"crashed: {HOSTILE}"}
    unmeasured = {"value": None, "verdict": "unmeasured"}
    times = [{"value": 10 + night % 3 / 100, "interval": (9.9, 10.2)} for night in range(NIGHTS)]
    found = [conflicts(arch=arch) for arch in ARCHS]
    found += [conflicts(variant="swizzled", after=0, arch=arch) for arch in ARCHS]
    found += [a_series("registers", [20] * 29 + [18], "sm_90", **registers)]
    found += [a_series("registers", [24] * 30, "sm_80", **registers)]
    found += [a_series("result.correct", [1] * 29 + [error], family=HOSTILE)]
    found += [a_series("local.sectors", [unmeasured], source=None)]
    found += [a_series("time.median_us", times, **gpu)]
    for metric, value in (
        ("throughput.bytes_per_second", 2.0e12),
        ("throughput.percent_of_peak", 60.0),
        ("throughput.flops_per_second", 1.0e12),
    ):
        found.append(a_series(metric, [value] * NIGHTS, **gpu))
        if not metric.startswith("throughput.flops"):
            found.append(a_series(metric, [value] * NIGHTS, **gpu | {"family": "copies"}))
    names = ("result.max_error", "result.mean_absolute_error", "result.mean_relative_error")
    accuracy = {"family": "math_accuracy", "variant": "__sinf", "source": "harness"}
    found += [a_series(name, [1e-6] * NIGHTS, **accuracy) for name in names]
    for size, count in (("100", 50), ("1000", 500)):
        growing = {"family": "growing", "size": size}
        found += [a_series("instructions", [count] * NIGHTS, arch, **growing) for arch in ARCHS]
    for i in range(150):
        stays = {"variant": f"v{i}", "family": "steady"}
        found += [a_series("instructions", [1000 + i] * NIGHTS, **stays)]
    return found


def build(all_series=None, runs=None, cases=EVERY_CASE, **options):
    all_series = samples() if all_series is None else all_series
    return report.build(runs or [*RUNS, *GPU_RUNS], all_series, cases, **options)


def digest_of(found):
    return digest.digest(Contents(found), "t")


def render(found, title="nightly", links=NO_LINKS, repository=None):
    """The page of a report, drawn as the command draws it."""
    contents = Contents(found, repository)
    drawn = [(roofline.SECTION, roofline.gallery(contents))]
    return view.render(view.View(contents, drawn, title, links))

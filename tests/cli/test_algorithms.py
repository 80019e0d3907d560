"""CUB, Thrust, cooperative grids, streams: launches that a dry run knows little about."""

import json

import pytest
from programs import run
from warpgauge.facts.reader import read_facts

ARCHS = ["sm_75", "sm_90"]


def cases(program="warpgauge-algorithms", *arguments):
    listed = run(program, "list", "--json", *arguments)
    assert listed.returncode == 0, listed.stderr
    return json.loads(listed.stdout)["cases"]


@pytest.fixture(scope="module")
def gated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("algorithms")
    result = run(
        *("warpgauge-algorithms", "gate", "--device=emulated", "--no-bounded"),
        *("--arch", ",".join(ARCHS)),
        cwd=folder,
    )
    assert result.returncode == 0, result.stdout
    facts = read_facts(folder / "out" / "facts.jsonl")
    return {(f.id, f.arch, f.metric): f for f in facts if f.scope == "case"}


def test_all_run_and_have_their_compile_time_values(gated):
    ids = [case["id"] for case in cases()]
    assert len(ids) == 9
    for id in ids:
        for arch in ARCHS:
            assert gated[id, arch, "result.correct"].verdict == "pass"
            assert gated[id, arch, "registers"].value > 0
            assert gated[id, arch, "spill.store_bytes"].verdict == "pass"


def test_counts_that_the_order_of_threads_decides_are_estimates(gated):
    conflicts = "shared.bank_conflicts"
    for name in ("cub_sort", "thrust_sort", "cub_scan"):
        assert gated[f"algorithms.{name}.i32@5000", "sm_90", conflicts].confidence == "estimate"
    for name in ("two_streams", "two_streams_and_an_event", "launch_kernel_ex"):
        sectors = gated[f"algorithms.{name}.i32@4096", "sm_90", "global.load.sectors"]
        assert (sectors.value, sectors.confidence) == (512, "exact")


def test_launches_are_those_on_a_device_of_the_architecture(gated):
    """Without a GPU the emulated program has them, also for the program that needs one."""
    seen = {}
    for program in ("warpgauge-algorithms", "warpgauge-algorithms-emulated"):
        for arch in ARCHS:
            (case,) = cases(program, "--launches", arch, "--filter", "*.fits_the_device.*")
            (launch,) = case["launches"]
            seen.setdefault(arch, set()).add((launch["grid"][0], launch["block"][0]))
    (on_75,), (on_90,) = (seen[arch] for arch in ARCHS)
    assert on_75[1] == 128 and on_90[1] == 256 and on_75[0] != on_90[0]
    occupancies = [
        gated["algorithms.fits_the_device.i32@4096", arch, "occupancy.theoretical"].value
        for arch in ARCHS
    ]
    assert all(0 < value <= 1 for value in occupancies)


def test_the_tests_of_compile_time_values_need_no_gpu():
    result = run("warpgauge-algorithms-check", "--gtest_filter=sm_*")
    assert result.returncode == 0, result.stdout
    assert f"[  PASSED  ] {9 * len(ARCHS)} tests" in result.stdout


def test_launches_go_with_json():
    refused = run("warpgauge-algorithms", "list", "--launches", "sm_90")
    assert refused.returncode == 2 and "--json" in refused.stderr
    unknown = run("warpgauge-algorithms", "list", "--json", "--launches", "sm_1")
    assert unknown.returncode == 2 and "sm_1" in unknown.stderr

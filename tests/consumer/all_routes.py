"""examples/consumer, a project of its own: configured, built and gated in each way to take
warpgauge in. It takes minutes, so tests/consumer/all_routes runs it and not ci/test."""

import re
import shutil
from pathlib import Path

import pytest
from project import ROOT, configure, gate, run

EXAMPLE = ROOT / "examples/consumer"
TARGETS = ["imaging-gauge", "imaging-gauge-emulated"]
TARGETS += ["imaging-gauge-check", "imaging-gauge-check-emulated"]


def check_gate(build, programs=("imaging-gauge",)):
    """Checks the facts of the example's gate, and that its CTest tests pass."""
    facts = gate(build, "imaging-gauge")
    judged = {(f.id, f.metric): f for f in facts if f.scope == "case"}
    assert {f.verdict for f in judged.values()} <= {"pass", "unbudgeted", "unmeasured"}
    cases = {id for id, metric in judged if metric == "result.correct"}
    assert len(cases) == 12
    # Lines of a library that is only watched are named relative to the project.
    lines = {f.file for f in facts if f.scope == "line"}
    assert "imaging/filter.cu" in lines
    # Two launches of one case count together.
    assert judged["histogram.per_block.u8@65536", "global.store.sectors"].value == 544
    wanted = rf"\.({'|'.join(programs)})(\.|$)"
    tests = run("ctest", "-L", "perf", "-R", wanted, "--output-on-failure", cwd=build)
    for program in programs:
        assert re.search(rf"emulated\.{program} .* Passed", tests)


def check_separate_compilation(facts, archs):
    """Kernels that the device linker completes: facts describe the linked code."""
    known = {(f.id, f.metric, f.arch): f for f in facts if f.scope == "case"}
    for arch in archs:
        # ptxas does not see the called function and reports 24 registers.
        assert known["tones.mapped.f32@65536", "registers", arch].value > 24
        called = known["tones.mapped.f32@65536", "global.load.sectors", "sm_90"]
        assert (called.value, called.confidence) == (8192, "predicted")
        saved = known["tones.mapped.f32@65536", "local.sectors", "sm_90"]
        assert (saved.verdict, saved.confidence) == ("pass", "estimate")
        whole = known["tones.exposed.f32@65536", "global.load.sectors", "sm_90"]
        assert (whole.value, whole.confidence) == (8192, "exact")


def check_mutation(build, source):
    """A budget that is broken on purpose turns the gate red, in the folder BUDGETS names."""
    budgets = source / "gauge/budgets/filter.toml"
    text = budgets.read_text()
    budgets.write_text(text + '\n["rows.u8"]\n"shared.wavefronts" = 1\n')
    try:
        facts = gate(build, "imaging-gauge", "--filter", "filter.rows.u8@*", code=1)
        failed = [f for f in facts if f.verdict == "fail"]
        assert {f.metric for f in failed} == {"shared.wavefronts"}
    finally:
        budgets.write_text(text)


def check_missing_folder(build, source):
    """As git keeps no empty folder, that of BUDGETS need not be there, and the gate says so."""
    budgets = source / "gauge/budgets"
    away = budgets.rename(source / "away")
    try:
        run("cmake", build, cwd=build)
        words = ("--device=emulated", "--out=out", "--filter", "normalise.unchecked.*")
        said = run(build / "imaging-gauge", "gate", *words, cwd=build)
        assert "no budgets of families: there is no folder gauge/budgets\n" in said
    finally:
        away.rename(budgets)


@pytest.fixture
def example(tmp_path):
    return Path(shutil.copytree(EXAMPLE, tmp_path / "consumer"))


def test_a_package_that_is_installed(example, prefix):
    build = example / "build"
    configure(example, build, f"-DCMAKE_PREFIX_PATH={prefix}", archs="75;90")
    run("cmake", "--build", build, cwd=example)
    check_gate(build, ["imaging-gauge", "imaging-tests"])
    check_mutation(build, example)
    check_missing_folder(build, example)
    # emit and accept, from the package's Python.
    python = {"WARPGAUGE_PYTHON": str(ROOT / "build/venv/bin/python")}
    junit = run(
        *(build / "imaging-gauge", "emit", "out/results.json", "--format", "junit"),
        cwd=build,
        **python,
    )
    assert "filter.rows.u8@64x1024" in junit
    assert "/imaging-gauge gate --device=emulated" in junit  # and not ci/gate
    help = run(build / "imaging-gauge", "accept", "--help", cwd=build, **python)
    assert "--budgets" in help and help.startswith("usage: imaging-gauge accept ")
    facts = gate(build, "imaging-gauge", "--filter", "tones.*", "--arch", "sm_75,sm_90")
    check_separate_compilation(facts, ["sm_75", "sm_90"])


def test_a_checkout_that_is_taken_in(example):
    """By add_subdirectory and by FetchContent. Both compile the same files in the same folder, so
    the second has nothing to compile."""
    build = example / "build"
    for way in ("folder", "fetch"):
        configure(example, build, f"-DWARPGAUGE_BY={way}", f"-DWARPGAUGE_TREE={ROOT}")
        planned = run("ninja", "-t", "commands", *TARGETS, cwd=build)
        assert "-o imaging-gauge-emulated " in planned
        assert f"{ROOT}/tests/" not in planned and f"{ROOT}/kernels/" not in planned
        commands = run("ninja", "-t", "commands", "imaging", cwd=build)
        assert "-Wall" not in commands and "-Werror" not in commands  # our warnings are ours
        built = run("cmake", "--build", build, "--target", *TARGETS, cwd=example)
        assert way == "folder" or "Building CXX object warpgauge" not in built
        check_gate(build)

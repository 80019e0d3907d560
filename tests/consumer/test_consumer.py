"""examples/consumer, a project of its own: configured, built and gated in each way to take it in,
and the first kernel of docs/first-kernel.md, which is written, seen to fail, and mended, with the
family of CONTRIBUTING.md beside it."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ["WARPGAUGE_BINARY_DIR"])
EXAMPLE = ROOT / "examples/consumer"
DOCUMENT = (ROOT / "docs/first-kernel.md").read_text()
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
TARGETS = ["imaging-gauge", "imaging-gauge-emulated"]
TARGETS += ["imaging-gauge-check", "imaging-gauge-check-emulated"]


def run(*command, cwd, code=0, **env):
    """Runs it, shows what it printed if it does not end with `code`, and returns stdout."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == code, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """warpgauge as it is installed, then moved: nothing in it may say where it was."""
    if "WARPGAUGE_SANITIZE:BOOL=ON" in (BUILD / "CMakeCache.txt").read_text():
        pytest.skip("this build has sanitizers in it, which a project would have to link as well")
    first = tmp_path_factory.mktemp("install") / "here"
    run("cmake", "--install", BUILD, "--prefix", first, cwd=ROOT)
    return first.rename(first.parent / "moved")


def configure(source, build, *options, archs="90", **env):
    run(
        *("cmake", "-S", source, "-B", build, "-G", "Ninja", f"-DCMAKE_CUDA_ARCHITECTURES={archs}"),
        *("-DCMAKE_BUILD_TYPE=Debug", *options),
        cwd=source,
        **env,
    )


def gate(build, program, *options, code=0):
    run(build / program, "gate", "--device=emulated", "--out=out", *options, cwd=build, code=code)
    lines = (build / "out/facts.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def check_gate(build, programs=("imaging-gauge",)):
    """What the gate says of the example, and that it and its tests pass as tests do."""
    facts = gate(build, "imaging-gauge")
    judged = {(f["id"], f["metric"]): f for f in facts if f["scope"] == "case"}
    assert {f["verdict"] for f in judged.values()} <= {"pass", "unbudgeted", "unmeasured"}
    cases = {id for id, metric in judged if metric == "result.correct"}
    assert len(cases) == 12
    # The kernels' own file is blamed, of a library that was only watched, relative to the project.
    lines = {f["file"] for f in facts if f["scope"] == "line"}
    assert "imaging/filter.cu" in lines
    # Two launches of one case count together.
    assert judged["histogram.per_block.u8@65536", "global.store.sectors"]["value"] == 544
    wanted = rf"\.({'|'.join(programs)})(\.|$)"
    tests = run("ctest", "-L", "perf", "-R", wanted, "--output-on-failure", cwd=build)
    for program in programs:
        assert re.search(rf"emulated\.{program} .* Passed", tests)


def check_separate_compilation(facts, archs):
    """Of kernels that the device linker completes: what is said of them is what runs."""
    known = {(f["id"], f["metric"], f["arch"]): f for f in facts if f["scope"] == "case"}
    for arch in archs:
        # ptxas, which does not know the function that it calls, tells 24 registers.
        assert known["tones.mapped.f32@65536", "registers", arch]["value"] > 24
        called = known["tones.mapped.f32@65536", "global.load.sectors", "sm_90"]
        assert (called["value"], called["confidence"]) == (8192, "predicted")
        saved = known["tones.mapped.f32@65536", "local.sectors", "sm_90"]
        assert (saved["verdict"], saved["confidence"]) == ("pass", "estimate")
        whole = known["tones.exposed.f32@65536", "global.load.sectors", "sm_90"]
        assert (whole["value"], whole["confidence"]) == (8192, "exact")


def check_mutation(build, source):
    """A budget that is broken on purpose turns the gate red, in the folder BUDGETS names."""
    budgets = source / "gauge/budgets/filter.toml"
    text = budgets.read_text()
    budgets.write_text(text + '\n["rows.u8"]\n"shared.wavefronts" = 1\n')
    try:
        facts = gate(build, "imaging-gauge", "--filter", "filter.rows.u8@*", code=1)
        failed = [f for f in facts if f["verdict"] == "fail"]
        assert {f["metric"] for f in failed} == {"shared.wavefronts"}
    finally:
        budgets.write_text(text)


@pytest.fixture
def example(tmp_path):
    return Path(shutil.copytree(EXAMPLE, tmp_path / "consumer"))


def test_a_package_that_is_installed(example, prefix):
    build = example / "build"
    configure(example, build, f"-DCMAKE_PREFIX_PATH={prefix}", archs="75;90")
    run("cmake", "--build", build, cwd=example)
    check_gate(build, ["imaging-gauge", "imaging-tests"])
    check_mutation(build, example)
    # The gate's own formats, from the package's Python, and what accepts budgets.
    python = {"WARPGAUGE_PYTHON": str(ROOT / "build/venv/bin/python")}
    junit = run(
        *(build / "imaging-gauge", "emit", "out/facts.jsonl", "--format", "junit"),
        *("--source-root", example, "--device", "emulated"),
        cwd=build,
        **python,
    )
    assert "filter.rows.u8@64x1024" in junit
    assert "imaging-gauge gate --device=emulated" in junit  # and not ci/gate
    help = run(build / "imaging-gauge", "accept", "--help", cwd=build, **python)
    assert "--budgets" in help and help.startswith("NAME\n    imaging-gauge accept - ")
    facts = gate(build, "imaging-gauge", "--filter", "tones.*", "--arch", "sm_75,sm_90")
    check_separate_compilation(facts, ["sm_75", "sm_90"])


def test_the_tool_is_installed_without_kernels(prefix, tmp_path):
    tool = prefix / "bin/warpgauge"
    python = {"WARPGAUGE_PYTHON": str(ROOT / "build/venv/bin/python")}
    facts = ROOT / "tests/data/summary/h100.jsonl"
    assert "NOT WORSE" in run(tool, "diff", facts, facts, cwd=tmp_path, **python)
    assert "<testsuite" in run(tool, "emit", facts, "--format=junit", cwd=tmp_path, **python)
    assert "Emulated GPU" in run(tool, "devices", "--device=emulated", cwd=tmp_path)
    assert "ready: " in run(tool, "doctor", "--device=emulated", cwd=tmp_path, **python)
    assert '"registers"' in run(tool, "metrics", "--json", cwd=tmp_path)
    program = BUILD / "programs/histogram"
    assert "PASSED" in run(tool, "emulate", "--arch=sm_90", "--", program, cwd=tmp_path)
    for command in (["gate"], ["list"], ["explain", "a.b.f32@1"]):
        told = subprocess.run([tool, *command], capture_output=True, text=True, cwd=tmp_path)
        assert told.returncode == 2 and "this program has no kernels" in told.stderr
    for script in (
        "share/bash-completion/completions/warpgauge",
        "share/fish/vendor_completions.d",
    ):
        assert (prefix / script).exists()
    assert (
        "complete -F _warpgauge_words warpgauge"
        in (prefix / "share/bash-completion/completions/warpgauge").read_text()
    )


@pytest.mark.parametrize("way", ["folder", "fetch"])
def test_a_checkout_that_is_taken_in(example, way):
    """Warpgauge's part of the build is only planned here, for it takes minutes; the kernels, which
    need its headers and functions, are compiled."""
    build = example / "build"
    configure(example, build, f"-DWARPGAUGE_BY={way}", f"-DWARPGAUGE_TREE={ROOT}")
    planned = run("ninja", "-t", "commands", *TARGETS, cwd=build)
    assert "-o imaging-gauge-emulated " in planned
    assert f"{ROOT}/harness/emulator/" in planned
    assert f"{ROOT}/tests/" not in planned and f"{ROOT}/kernels/" not in planned
    run("cmake", "--build", build, "--target", "imaging-gauge_kernels", "imaging", cwd=example)
    assert list(build.glob("ptxas/imaging/imaging/*.ptxas.txt"))
    commands = run("ninja", "-t", "commands", "imaging", cwd=build)
    assert "-Wall" not in commands and "-Werror" not in commands  # our warnings are ours


@pytest.mark.skipif(
    not os.environ.get("WARPGAUGE_LONG_TESTS"),
    reason="compiles all of warpgauge again: minutes; WARPGAUGE_LONG_TESTS=1 runs it",
)
def test_a_checkout_that_is_taken_in_gates(example):
    """Both ways compile the same files in the same folder, so the second has nothing to compile."""
    build = example / "build"
    tree = f"-DWARPGAUGE_TREE={ROOT}"
    for way in ("folder", "fetch"):
        configure(example, build, f"-DWARPGAUGE_BY={way}", tree)
        told = run("cmake", "--build", build, "--target", *TARGETS, cwd=example)
        assert way == "folder" or "Building CXX object warpgauge" not in told
        check_gate(build)


def block(language, document=DOCUMENT):
    return re.search(rf"```{language}\n(.*?)```", document, re.DOTALL)[1]


def test_the_first_kernel_is_short():
    assert len(block("cpp").splitlines()) <= 30


def test_the_first_kernel_is_red_and_then_green(tmp_path, prefix):
    source = tmp_path / "transpose.cu"
    source.write_text(block("cpp"))
    family = tmp_path / "sum_example/family.cu"
    family.parent.mkdir()
    family.write_text(block("cpp", CONTRIBUTING))
    assert "SOURCES transpose.cu)" in block("cmake")
    both = block("cmake").replace("transpose.cu)", "transpose.cu sum_example/family.cu)")
    (tmp_path / "CMakeLists.txt").write_text(both)
    build = tmp_path / "build"
    configure(tmp_path, build, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", build, cwd=tmp_path)
    told = run("build/first", "gate", "--device=emulated", cwd=tmp_path, code=1)
    shown = re.findall(r"```\n(FAIL .*?)```", DOCUMENT, re.DOTALL)[0]
    for line in shown.splitlines():
        assert line in told
    assert "bank 00 01 02" in run(
        *("build/first", "explain", "transpose.tiled.f32@256", "--text", "--device=emulated"),
        cwd=tmp_path,
    )

    mended = re.search(r"Pad the tile, `(.*?)`", DOCUMENT)[1]
    text = source.read_text()
    source.write_text(text.replace("__shared__ float tile[32][32];", mended))
    assert source.read_text() != text
    (tmp_path / "budgets.toml").write_text(block("toml"))
    run("cmake", "--build", build, cwd=tmp_path)
    told = run("build/first", "gate", "--device=emulated", cwd=tmp_path)
    assert "PASS" in told and re.search(r"^sum_example +2 ", told, re.MULTILINE)
    tests = run("ctest", "--test-dir", "build", cwd=tmp_path)
    for name in ("perf.first", "emulated.first", "static.first.sm_90"):
        assert name in tests

"""A project that finds the installed package: the first kernel of docs/first-kernel.md fails, is
fixed and passes, with the family of CONTRIBUTING.md beside it. tests/consumer/all_routes tries the
other ways to use warpgauge."""

import re
import subprocess

from project import BUILD, ROOT, configure, run

DOCUMENT = (ROOT / "docs/first-kernel.md").read_text()
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()


def test_the_tool_is_installed_without_kernels(prefix, tmp_path):
    tool = prefix / "bin/warpgauge"
    python = {"WARPGAUGE_PYTHON": str(ROOT / "build/venv/bin/python")}
    facts = ROOT / "tests/data/outcome/h100.jsonl"
    assert "NOT WORSE" in run(tool, "diff", facts, facts, cwd=tmp_path, **python)
    judged = subprocess.run([tool, "outcome", facts, "--out", tmp_path / "results.json"])
    assert judged.returncode in (0, 1)
    junit = run(tool, "emit", "results.json", "--format=junit", cwd=tmp_path, **python)
    assert "<testsuite" in junit
    assert "Emulated GPU" in run(tool, "devices", "--device=emulated", cwd=tmp_path)
    assert "ready: " in run(tool, "doctor", "--device=emulated", cwd=tmp_path, **python)
    assert '"registers"' in run(tool, "metrics", "--json", cwd=tmp_path)
    program = BUILD / "programs/histogram"
    assert "PASSED" in run(tool, "emulate", "--arch=sm_90", "--", program, cwd=tmp_path)
    for command in (["gate"], ["list"], ["explain", "a.b.f32@1"]):
        done = subprocess.run([tool, *command], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 2 and "this program has no kernels" in done.stderr
    for script in (
        "share/bash-completion/completions/warpgauge",
        "share/fish/vendor_completions.d",
    ):
        assert (prefix / script).exists()
    assert (
        "complete -o default -F _warpgauge_words warpgauge"
        in (prefix / "share/bash-completion/completions/warpgauge").read_text()
    )


def block(language, document=DOCUMENT):
    return re.search(rf"```{language}\n(.*?)```", document, re.DOTALL)[1]


def test_the_first_kernel_is_short():
    assert len(block("cpp").splitlines()) <= 30


def test_the_first_kernel_is_red_and_then_green(tmp_path, prefix):
    tmp_path = tmp_path / "paths: have this"
    tmp_path.mkdir()
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
    output = run("build/first", "gate", "--device=emulated", cwd=tmp_path, code=1)
    shown = re.findall(r"```\n(FAIL .*?)```", DOCUMENT, re.DOTALL)[0]
    for line in shown.splitlines():
        assert line in output
    repeated = re.findall(r"^  repeat   (.*)$", output, re.MULTILINE)[0]
    assert "within budget" not in run("sh", "-c", repeated, cwd=tmp_path, code=1)
    assert "bank 00 01 02" in run(
        *("build/first", "explain", "transpose.tiled.f32@256", "--text", "--device=emulated"),
        cwd=tmp_path,
    )

    padded = re.search(r"Pad the tile, `(.*?)`", DOCUMENT)[1]
    text = source.read_text()
    source.write_text(text.replace("__shared__ float tile[32][32];", padded))
    assert source.read_text() != text
    (tmp_path / "budgets.toml").write_text(block("toml"))
    run("cmake", "--build", build, cwd=tmp_path)
    output = run("build/first", "gate", "--device=emulated", cwd=tmp_path)
    assert "PASS" in output and re.search(r"^sum_example +2 ", output, re.MULTILINE)
    project = tmp_path / "warpgauge.toml"
    project.write_text("[default]\nregisters = 1\n")
    output = run("build/first", "gate", "--device=emulated", cwd=tmp_path, code=1)
    assert "budgets of the project: warpgauge.toml\n" in output
    project.unlink()
    # The target of the program alone builds the emulated one, which is what runs.
    source.write_text(text)
    run("cmake", "--build", build, "--target", "first", cwd=tmp_path)
    run("build/first", "gate", "--device=emulated", cwd=tmp_path, code=1)

    source.write_text(text.replace("__shared__ float tile[32][32];", padded))
    run("cmake", "--build", build, cwd=tmp_path)
    tests = run("ctest", "--test-dir", "build", "-L", "perf", "--no-tests=error", cwd=tmp_path)
    for name in ("perf.first", "emulated.first", "static.first.sm_90"):
        assert name in tests

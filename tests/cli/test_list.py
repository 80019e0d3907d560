"""warpgauge list --json: what is registered of each case, and where."""

import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]).resolve() / "bin"


def run(*arguments):
    return subprocess.run(
        [BIN / "warpgauge", "list", *arguments], capture_output=True, text=True, check=False
    )


def cases(*arguments):
    return json.loads(run(*arguments, "--json").stdout)["cases"]


def test_it_has_the_cases_of_the_plain_list():
    for options in ([], ["--large"], ["--filter", "transpose.*"]):
        assert [case["id"] for case in cases(*options)] == run(*options).stdout.split()


def test_a_case_has_its_parts_and_the_place_of_its_registration():
    case, *_ = cases("--filter", "transpose.padded.f64@1000x700")
    assert (case["family"], case["variant"], case["type"]) == ("transpose", "padded", "f64")
    assert (case["size"], case["large"], case["counted"]) == ("1000x700", False, True)
    line = (ROOT / case["file"]).read_text().splitlines()[case["line"] - 1]
    assert '"padded"' in line


def test_large_cases_and_calls_of_the_runtime_say_so():
    assert [case["large"] for case in cases("--filter", "reduce.strided.*", "--large")].count(True)
    assert not any(case["counted"] for case in cases("--filter", "copies.to_*"))


def test_architectures_have_no_json():
    refused = run("--archs", "--json")
    assert refused.returncode == 2 and "--archs" in refused.stderr


def test_cublas_is_not_loaded_before_a_case_needs_it():
    """It takes ten times as long to load as the program."""
    needed = subprocess.run(["ldd", BIN / "warpgauge"], capture_output=True, text=True, check=True)
    assert "libc.so" in needed.stdout and "libcublas" not in needed.stdout

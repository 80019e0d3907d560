"""ci/release: what it publishes, and when it refuses."""

import hashlib
import os
import re
import subprocess
import tarfile
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ["WARPGAUGE_BINARY_DIR"]).resolve()
VERSION = re.search(r"project\(warpgauge VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[
    1
]


def release(*arguments):
    return subprocess.run(
        [ROOT / "ci/release", "--build", BUILD, *arguments],
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_a_release_is_a_wheel_a_tarball_a_bill_and_checksums(tmp_path):
    if "WARPGAUGE_SANITIZE:BOOL=ON" in (BUILD / "CMakeCache.txt").read_text():
        pytest.skip("auditwheel has no platform for a build with sanitizers")
    out = tmp_path / "dist"
    made = release("--out", out)
    assert made.returncode == 0, made.stderr
    name = f"warpgauge-{VERSION}"
    files = {path.name: path for path in out.iterdir()}
    (wheel,) = [file for file in files if file.endswith(".whl")]
    assert re.fullmatch(rf"{name}-py3-none-manylinux_2_\d+_x86_64\.whl", wheel)
    assert set(files) == {
        wheel,
        f"{name}-linux-x86_64.tar.gz",
        f"{name}.cdx.json",
        "SHA256SUMS",
    }
    bill = files[f"{name}.cdx.json"].read_text()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(bill) is None
    sums = dict(line.split()[::-1] for line in files["SHA256SUMS"].read_text().splitlines())
    assert sums == {
        file: hashlib.sha256(path.read_bytes()).hexdigest()
        for file, path in files.items()
        if file != "SHA256SUMS"
    }
    with tarfile.open(files[f"{name}-linux-x86_64.tar.gz"]) as archive:
        archive.extractall(tmp_path, filter="data")
    program = tmp_path / f"{name}-linux-x86_64/bin/warpgauge"
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert VERSION in said.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tag", "v99.0.0"], f"the tag is v99.0.0, and CMakeLists.txt has version {VERSION}"),
        (["--tag", VERSION], "or tag v"),
        (["--out", ROOT / "docs"], "is not empty"),
        (["--build", ROOT / "docs"], "is no build"),
        (["--fast"], "unknown option --fast"),
    ],
)
def test_a_release_is_refused(tmp_path, arguments, message):
    refused = release("--out", tmp_path / "dist", *arguments)
    assert refused.returncode == 2 and message in refused.stderr, refused.stderr
    assert not (tmp_path / "dist").exists()

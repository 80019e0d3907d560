"""What `cmake --install` leaves: documents whose links lead somewhere, messages that name nothing
that only a checkout has, licences, and a bill of materials that says what is in it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ["WARPGAUGE_BINARY_DIR"]).resolve()
VERSION = re.search(r"project\(warpgauge VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[
    1
]

sys.path.append(str(ROOT / "tests/docs"))
from blocks import follow_links  # noqa: E402


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix")
    subprocess.run(
        ["cmake", "--install", BUILD, "--prefix", folder], check=True, stdout=subprocess.DEVNULL
    )
    return folder


def test_links_in_the_documents_lead_to_what_is_installed(prefix):
    documents = sorted((prefix / "share/doc/warpgauge").rglob("*.md"))
    names = {path.name for path in documents}
    assert {path.name for path in (ROOT / "docs").glob("*.md")} <= names
    assert sum(follow_links(path, prefix) for path in documents) > 100


def test_messages_name_nothing_that_only_a_checkout_has(prefix):
    """errors.py names ci/bootstrap only where it finds that script."""
    share = prefix / "share/warpgauge"
    programs = [prefix / "bin", prefix / "lib", share]
    naming = [
        str(path.relative_to(prefix))
        for folder in programs
        for path in folder.rglob("*")
        if path.is_file() and b"ci/bootstrap" in path.read_bytes()
    ]
    assert naming == ["share/warpgauge/reports/warpgauge/errors.py"]
    lacks = "from warpgauge.errors import lacks; print(lacks('tomlkit'))"
    python = [sys.executable, "-P", "-c", lacks]
    done = subprocess.run(
        python, env={"PYTHONPATH": str(share / "reports")}, capture_output=True, text=True
    )
    assert "pip install tomlkit" in done.stdout and "bootstrap" not in done.stdout


def test_the_emulated_driver_lies_where_only_emulated_programs_find_it(prefix):
    """Beside our own libraries it would stand in the way of the machine's driver."""
    drivers = [str(path.relative_to(prefix)) for path in prefix.rglob("libcuda.so*")]
    assert sorted(drivers) == [f"lib/warpgauge/emulated/libcuda.so{end}" for end in ("", ".1")]
    for program in (BUILD / "programs/driver", BUILD / "programs/static/driver"):
        done = subprocess.run(
            [prefix / "bin/warpgauge", "emulate", "--arch=sm_90", "--", program],
            cwd=prefix,
            capture_output=True,
            text=True,
        )
        assert done.stdout == "PASSED\n", done.stdout + done.stderr


def test_the_bill_of_materials_names_what_is_linked_in(prefix):
    doc = prefix / "share/doc/warpgauge"
    text = (doc / "warpgauge.cdx.json").read_text()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    bill = json.loads(text)
    assert bill["metadata"]["component"]["version"] == VERSION
    versions = {component["name"]: component["version"] for component in bill["components"]}
    declared = re.findall(
        r"^warpgauge_depends\((\w+)", (ROOT / "cmake/Dependencies.cmake").read_text(), re.M
    )
    carried = {part.parent.name for part in ROOT.glob("reports/**/third_party/*/component.json")}
    assert carried == {"uplot"} and len(declared) == 10
    assert set(versions) == {*declared, *carried, "libiberty", "cuda-runtime"}
    for name in (*declared, *carried, "libiberty"):
        assert re.match(r"\d+(\.|\d{7})\d*", versions[name]), name  # libiberty's is a day
        assert (doc / f"licences/{name}.txt").stat().st_size > 500, name

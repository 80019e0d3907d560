"""What the page carries of others is what they released, with its licence."""

import hashlib
import json
from pathlib import Path

import pytest
from warpgauge import page

PARTS = sorted(Path(page.__file__).parent.glob("third_party/*/component.json"))


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.parent.name)
def test_the_files_are_unmodified(part):
    component = json.loads(part.read_text())
    folder = part.parent
    found = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if path != part
    }
    assert found == component["sha256"] and "LICENSE" in found


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.parent.name)
def test_the_version_is_that_of_the_files(part):
    component = json.loads(part.read_text())
    (script,) = part.parent.glob("*.js")
    first = script.read_text("utf-8").splitlines()[0]
    assert component["url"] in first and f"(v{component['version']})" in first


def test_there_are_such_parts():
    assert [part.parent.name for part in PARTS] == ["uplot"]

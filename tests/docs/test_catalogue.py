"""docs/catalogue.toml, the registry and docs/catalogue.md hold each other: each row is there, each
thing that a row asks for has what it names, and each case is in a row."""

import importlib.util
import os
import re
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from warpgauge.facts.catalog import catalog

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]).resolve() / "bin"


def program():
    spec = importlib.util.spec_from_file_location("make_catalogue", ROOT / "docs/make_catalogue.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its dataclasses look up their annotations
    spec.loader.exec_module(module)
    return module


catalogue = program()
FEATURES = [
    pytest.param(feature, id=f"{row.number}: {feature.text}")
    for row in catalogue.rows()
    for feature in row.features
]


@pytest.fixture(scope="module")
def cases():
    return catalogue.registered(BIN / "warpgauge")


@pytest.fixture(scope="module")
def has_library(cases):
    return any(catalogue.LIBRARIES.match(case["id"]) for case in cases)


def test_all_rows_and_tools_are_there():
    numbers = [str(row) for row in range(1, 60)] + [f"T{tool}" for tool in range(1, 11)]
    assert [row.number for row in catalogue.rows()] == numbers


@pytest.mark.parametrize("feature", FEATURES)
def test_each_glob_names_cases(feature, cases, has_library):
    for glob in feature.cases:
        if has_library or not catalogue.LIBRARIES.match(glob):
            assert catalogue.named([glob], cases), f"{glob}: no such case"


@pytest.mark.parametrize("feature", [feature for feature in FEATURES if feature.values[0].uses])
def test_what_a_feature_uses_stands_in_the_sources_of_its_cases(feature, cases):
    files = {case["file"] for case in catalogue.named(feature.cases, cases)}
    text = "".join((ROOT / file).read_text() for file in files)
    for word in feature.uses:
        assert word in text, f"{word}: not in {', '.join(sorted(files))}"


@pytest.mark.parametrize("feature", [feature for feature in FEATURES if feature.values[0].by])
def test_what_shows_a_feature_is_a_test_a_command_or_a_metric(feature):
    for name in feature.by:
        path, _, inside = name.partition("::")
        if name.startswith("warpgauge"):
            check_command(name)
        elif "/" in name:
            assert (ROOT / path).is_file(), f"{name}: no such file"
            assert re.search(rf"\b{re.escape(inside)}\b", (ROOT / path).read_text()), name
        else:
            assert any(fnmatchcase(id, name) for id in catalog()), f"{name}: no such metric"


def check_command(line):
    command, *words = line.split()
    names = [word for word in words if not word.startswith("-")]
    done = subprocess.run(
        [BIN / command, *names, "--help"], capture_output=True, text=True, check=True
    )
    for option in set(words) - set(names):
        assert re.search(rf"{option}[ \n,=]", done.stdout), f"{line}: no option {option}"


def test_each_case_is_in_a_row(cases):
    globs = [glob for row in catalogue.rows() for feature in row.features for glob in feature.cases]
    named = {case["id"] for case in catalogue.named(globs, cases)}
    assert not [case["id"] for case in cases if case["id"] not in named], "name them in the list"


def test_the_document_is_up_to_date(cases, has_library):
    if not has_library:
        pytest.skip("this build has no cuBLAS, whose cases the document names")
    written = catalogue.document(catalogue.rows(), cases)
    assert written == (ROOT / "docs/catalogue.md").read_text(), (
        "write it again: build/venv/bin/python docs/make_catalogue.py"
    )


def test_globs_expand_as_in_the_shell():
    assert catalogue.expanded("a.{b,c}{,_d}.f32@{1..3}")[:4] == [
        "a.b.f32@1",
        "a.b.f32@2",
        "a.b.f32@3",
        "a.b_d.f32@1",
    ]
    assert catalogue.expanded("a.b.f32@*") == ["a.b.f32@*"]


@pytest.mark.parametrize(
    ("feature", "complaint"),
    [
        ({"is": "a name alone"}, "or open"),
        ({"is": "x", "cases": ["reduce.*"]}, "name variants"),
        ({"is": "x", "cases": ["reduce.*.*@*"]}, "name variants"),
        ({"is": "x", "open": "y", "case": ["a.b.f32@1"]}, "unknown: case"),
    ],
)
def test_a_feature_that_says_nothing_is_refused(feature, complaint):
    with pytest.raises(ValueError, match=complaint):
        catalogue.feature_of(7, feature)


def test_an_open_feature_is_said_in_the_document(tmp_path):
    listed = tmp_path / "list.toml"
    listed.write_text(
        '[[row]]\nnumber = 7\nidea = "i"\n'
        'features = [{ is = "float**", open = "no case" }, { is = "y", by = ["registers"] }]\n'
    )
    written = catalogue.document(catalogue.rows(listed), [])
    assert "1 rows ask for 2 things, of which 1 are open:\n\n- row 7: float\\*\\*\n" in written
    assert "| | float\\*\\* | **open**: no case |" in written

"""Runs that `explain --json` writes: what they have, and what --against finds between two."""

import json
import re

import jsonschema_rs
import pytest
from explained_page import Page
from transposition import KERNEL, NAIVE, PADDED, ROOT, SOURCE, STORE, explain


@pytest.fixture(scope="module")
def naive(tmp_path_factory):
    """What --json writes, without nvdisasm."""
    path = tmp_path_factory.mktemp("explain") / "naive.json"
    explain(NAIVE, "--json", path, env={"PATH": "/usr/bin:/bin", "CUDA_HOME": "/none"}, code=0)
    data = json.loads(path.read_text())
    schema = json.loads((ROOT / "harness/explain/explain.schema.json").read_text())
    jsonschema_rs.validator_for(schema).validate(data)
    return data


def code_of(data, place):
    """The instructions of the line FILE:LINE."""
    (code,) = (
        line for line in data["machine_code"]["lines"] if f"{line['file']}:{line['line']}" == place
    )
    assert code["kernel"] == KERNEL
    return code["instructions"]


def test_the_ptx_of_each_machine_instruction_is_known(naive):
    stores = [
        instruction
        for instruction in code_of(naive, STORE)
        if instruction["ptx"].startswith("st.global.f32 ")
    ]
    assert len(stores) == 1 and stores[0]["address"] % 16 == 0
    assert {instruction["sass"] for instruction in code_of(naive, STORE)} == {""}
    note = naive["machine_code"]["note"]
    assert note.endswith("; no SASS, for neither PATH nor $CUDA_HOME/bin has nvdisasm.")
    assert not re.search(
        r"\t|[{}]", "".join(instruction["ptx"] for instruction in code_of(naive, STORE))
    )


def edited(data, tmp_path):
    """A run of other source: two lines fewer above, the store other text and other counts."""
    data = json.loads(json.dumps(data))
    for line in [*data["lines"], *data["machine_code"]["lines"]]:
        line["line"] -= 2
    (source,) = data["sources"]
    source["first"] -= 2
    at = int(STORE.split(":")[1]) - 2
    source["text"][at - source["first"]] = "  b[y * w + x] = value; // <&>"
    (store,) = (line for line in data["lines"] if line["line"] == at)
    store["values"]["global.store.sectors"] = 131072
    path = tmp_path / "before<b>.json"
    path.write_text(json.dumps(data))
    return path


def test_lines_of_two_runs_are_compared_by_their_text(naive, tmp_path):
    same = tmp_path / "same.json"
    same.write_text(json.dumps(naive))
    result = explain(NAIVE, "--against", same, code=0)
    assert result.stdout.endswith("\n\nNo line differs.\n")

    before = edited(naive, tmp_path)
    number = int(STORE.split(":")[1])
    result = explain(NAIVE, "--against", before, code=0)
    heads, changes = result.stdout.split("\n\n")
    assert heads == (
        f"A: {NAIVE}, before<b>.json; counted by the emulator, sm_90\n"
        f"B: {NAIVE}, now; counted by the emulator, sm_90"
    )
    line, metric = changes.splitlines()
    assert line == f"{SOURCE}:{number - 2} -> {number}: b[x * h + y] = value;"
    assert metric.split() == ["global.store.sectors", "131,072", "->", "1,048,576", "worse"]

    place = tmp_path / "page.html"
    explain(NAIVE, "--against", before, "--html", place, code=0)
    page = Page(place)
    assert [heading for heading in page.rows if heading.startswith(NAIVE)] == [
        f"{NAIVE}, before<b>.json",
        f"{NAIVE}, now",
    ]
    (row,) = page.rows["Lines that differ"][1:]
    assert row[1:] == ["global.store.sectors", "131,072", "1,048,576", "worse"]
    assert "<b>" not in place.read_text()


def test_lines_that_only_one_run_has_differ(naive, tmp_path):
    data = json.loads(json.dumps(naive))
    (source,) = data["sources"]
    at = int(STORE.split(":")[1])
    del source["text"][at - source["first"]]
    for part in (data, data["machine_code"]):
        part["lines"] = [line for line in part["lines"] if line["line"] != at]
        for line in part["lines"]:
            line["line"] -= line["line"] > at
    path = tmp_path / "before.json"
    path.write_text(json.dumps(data))
    changes = explain(NAIVE, "--against", path).stdout.split("\n\n")[1]
    assert changes.startswith(f"{SOURCE}:(none) -> {at}: b[x * h + y] = value;\n")
    assert re.search(r"global.store.sectors +0 -> 1,048,576 +worse", changes)


@pytest.mark.parametrize(
    "text, message",
    [
        (None, "cannot be read: No such file or directory"),
        ("{", "not a JSON object: "),
        ("[]", "not a JSON object; write it with `warpgauge explain ID --json FILE`"),
        ('{"schema": "warpgauge.diff/1"}', "schema is 'warpgauge.diff/1', and this version reads"),
        ('{"schema": "warpgauge.explain/1"}', "does not match warpgauge.explain/1: "),
        (PADDED, f"this is a run of {PADDED}, not of {NAIVE}; "),
    ],
)
def test_a_run_that_is_none_is_a_fault(text, message, naive, tmp_path):
    path = tmp_path / "run.json"
    if text == PADDED:
        text = json.dumps(naive | {"id": PADDED})
    if text is not None:
        path.write_text(text)
    result = explain(NAIVE, "--against", path, "--html", tmp_path / "x.html", code=2)
    assert result.stderr.startswith(f"{path}: {message}"), result.stderr
    assert len(result.stderr.splitlines()) == 1 and not (tmp_path / "x.html").exists()

"""Facts as the Python reader sees them, on the files that the C++ reader is tested with too."""

import dataclasses
import gzip
import json
import lzma
from pathlib import Path

import jsonschema_rs
import pytest
from warpgauge.errors import FactError
from warpgauge.facts.reader import Fact, Launch, MachineState, read_facts

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data" / "facts"
CASES = json.loads((DATA / "cases.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["file"])
def test_file(case):
    path = DATA / case["file"]
    if "facts" in case:
        assert len(read_facts(path)) == case["facts"]
    else:
        with pytest.raises(FactError) as caught:
            read_facts(path)
        assert f"{path}{case['error']}" in str(caught.value)


def test_every_file_is_in_the_table():
    assert {case["file"] for case in CASES} == {path.name for path in DATA.glob("*.jsonl")}


def test_reads_values_as_they_are_written():
    fact, ratio, of_line, word, unmeasured, error, *_ = read_facts(DATA / "good.jsonl")
    assert (fact.id, fact.metric, fact.value) == (
        "transpose.tiled.f32@1024x1024",
        "shared.bank_conflicts",
        31744,
    )
    assert fact.launch == Launch((32, 32, 1), (32, 8, 1), 0, 1)
    assert fact.device.chip == "GH100"
    assert ratio.value == 4.125
    assert (of_line.scope, of_line.verdict) == ("line", None)
    assert word.value == "registers+shared"
    assert unmeasured.value is None and unmeasured.device is None
    assert unmeasured.reason == 'no CUDA device: "größer" \\ tab\there'
    assert error.verdict == "error"


def test_times_have_an_interval_and_the_state_of_the_machine():
    (fact,) = read_facts(DATA / "good_time.jsonl")
    assert fact.interval == (12.125, 12.5)
    assert fact.verdict == "environment"
    assert fact.machine == MachineState(
        (1980, 1965), (2619, 2619), (41, None), ("power cap",), 0, "throttled: power cap"
    )


def test_missing_file_says_why(tmp_path):
    with pytest.raises(FactError, match="none.jsonl: cannot be read: No such file"):
        read_facts(tmp_path / "none.jsonl")
    with pytest.raises(FactError, match="cannot be read: Is a directory"):
        read_facts(tmp_path)


@pytest.mark.parametrize("line", ["[" * 100_000, "9" * 5000, '{"a":' * 50_000])
def test_hostile_lines_are_errors(tmp_path, line):
    path = tmp_path / "hostile.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(FactError, match="hostile.jsonl:1: not a JSON object"):
        read_facts(path)


def schema():
    return json.loads((ROOT / "metrics" / "fact.schema.json").read_text())


def test_schema_is_valid_and_closed():
    jsonschema_rs.meta.validate(schema())
    for part in (
        schema(),
        *(schema()["properties"][key] for key in ("device", "launch", "machine")),
    ):
        assert part["additionalProperties"] is False
        assert part["required"] == list(part["properties"])
        assert all("description" in member for member in part["properties"].values())


def test_fact_has_the_keys_of_the_schema():
    assert [field.name for field in dataclasses.fields(Fact)] == schema()["required"]


@pytest.mark.parametrize("library", [gzip, lzma])
def test_a_compressed_file_is_read_whatever_its_name(tmp_path, library):
    plain = (DATA / "good.jsonl").read_bytes()
    packed = tmp_path / "facts.jsonl"
    packed.write_bytes(library.compress(plain))
    assert read_facts(packed) == read_facts(DATA / "good.jsonl")
    for damage in (packed.read_bytes()[:-20], packed.read_bytes()[:8] + b"x" * 40):
        packed.write_bytes(damage)
        with pytest.raises(FactError, match="facts.jsonl: cannot be read: damaged: "):
            read_facts(packed)

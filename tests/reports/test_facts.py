"""Facts as the Python reader sees them, on the files that the C++ reader is tested with too."""

import gzip
import json
import lzma
from pathlib import Path

import jsonschema_rs
import pytest
from some_facts import a_fact, as_line, records, text_of, write
from warpgauge.errors import FactError
from warpgauge.facts import reader
from warpgauge.facts.reader import FactFile, read_facts
from warpgauge.facts.records import Call, Launch, MachineState
from warpgauge.facts.writer import records_of

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
    assert fact.launches == (Launch((32, 32, 1), (32, 8, 1), 0, 1),)
    assert fact.device.chip == "GH100"
    assert ratio.value == 4.125
    assert (of_line.scope, of_line.verdict) == ("line", None)
    assert word.value == "registers+shared"
    assert unmeasured.value is None and unmeasured.device is None
    assert unmeasured.reason == 'no CUDA device: "größer" \\ tab\there'
    assert error.verdict == "error"


def test_values_of_a_record_are_read_one_by_one(tmp_path):
    one_value = a_fact(1, 5, budget=None)
    *_, record = records([one_value])
    values = {"registers": 20, "occupancy.limiter": "warps", "shared.bank_conflicts": 5}
    text, path = text_of([one_value]), tmp_path / "facts.jsonl"
    for spelled in (as_line, lambda record: as_line(dict(reversed(record.items())))):
        path.write_text(text.replace(as_line(record), spelled(record | {"values": values})))
        facts = read_facts(path)
        assert [(fact.metric, fact.value) for fact in facts] == list(values.items())
        assert {fact.source for fact in facts} == {"cupti"}
    written = [record for record in records_of(facts + facts[:1]) if record["record"] == "values"]
    assert [record["values"] for record in written] == [values, {"registers": 20}]


def test_times_have_an_interval_and_the_state_of_the_machine():
    (fact,) = read_facts(DATA / "good_time.jsonl")
    assert fact.interval == (12.125, 12.5)
    assert (fact.verdict, fact.cause) == ("moved", "environment")
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
    return json.loads((ROOT / "metrics" / "facts" / "fact.schema.json").read_text())


def test_schema_is_valid_and_closed():
    jsonschema_rs.meta.validate(schema())
    for record in schema()["$defs"].values():
        assert record["additionalProperties"] is False
        parts = record["properties"].values()
        assert all("description" in part or "const" in part for part in parts)


def test_the_records_of_facts_are_those_that_were_read():
    facts = read_facts(DATA / "good.jsonl")
    lines = (DATA / "good.jsonl").read_text().splitlines()
    values = [json.loads(line) for line in lines if '"record":"values"' in line]
    assert whole_values(records_of(facts)) == values


def whole_values(records):
    """The records of values with what they share."""
    shared, values = {}, []
    for record in records:
        members = {key: value for key, value in record.items() if key != "shared"}
        if record["record"] == "shared":
            assert record["shared"] not in shared  # once
            shared[record["shared"]] = {k: v for k, v in members.items() if k != "record"}
        elif record["record"] == "values":
            values.append(members | shared.get(record.get("shared"), {}))
    return values


def test_what_values_share_is_written_once(tmp_path):
    """And is what each of them says."""
    facts = [a_fact(1, value, case=case) for value, case in [(5, "a"), (5, "b"), (5, "c")]]
    read = read_facts(write(tmp_path / "facts.jsonl", facts))
    written = list(records_of(read))
    assert [record["record"] for record in written].count("shared") == 1
    path = tmp_path / "again.jsonl"
    path.write_text("".join(map(as_line, written)))
    assert read_facts(path) == read
    shared = next(as_line(record) for record in written if record["record"] == "shared")
    path.write_text(path.read_text().replace(shared, shared.replace("it is 5", "it is 6")))
    assert {fact.reason for fact in read_facts(path)} == {"it is 6"}
    digests = [
        {value.digest for value in FactFile(file).values}
        for file in (path, tmp_path / "facts.jsonl")
    ]
    assert not digests[0] & digests[1]


FULL = a_fact(
    *(1, 5),
    kind="attached",
    code_hash="c0de",
    stable=True,
    would="fail",
    inlined=[{"file": "a.h", "line": 3}],
    limit={"max": 4, "of": "ideal", "gate_on": "predicted", "origin": "budgets.toml:3"},
    budget=None,
    branch="main",
    label="nightly",
)


def test_every_member_is_read(tmp_path):
    (fact,) = read_facts(write(tmp_path / "facts.jsonl", [FULL]))
    assert fact.inlined == (Call("a.h", 3),)
    assert fact.case.kind == "attached"
    assert (fact.run.branch, fact.run.label) == ("main", "nightly")
    assert (fact.limit.gate_on, fact.limit.text) == ("predicted", "<= 4 x ideal")
    again = tmp_path / "again.jsonl"
    again.write_text("".join(map(as_line, records_of([fact]))))
    assert read_facts(again) == [fact]


def test_the_last_record_of_a_run_counts_and_a_run_without_end_was_cut_off(tmp_path):
    run, *rest = records([a_fact(1)])
    first = {key: value for key, value in run.items() if key != "devices"}
    end = {"record": "end", "run": run["run"], "counts": {"pass": 1}, "exit_code": 3}
    path = tmp_path / "facts.jsonl"
    for lines, exit_code in (([first, *rest, run], None), ([first, *rest, run, end], 3)):
        path.write_text("".join(map(as_line, lines)))
        (fact,) = read_facts(path)
        assert fact.device.chip == "GH100"
        assert FactFile(path).runs[run["run"]].exit_code == exit_code
    path.write_text(path.read_text() + '{"rec')
    assert FactFile(path).runs[run["run"]].exit_code is None


def test_records_of_a_run_add_up_to_its_devices(tmp_path):
    """Each process of a gate writes the run with the devices that it knows."""
    run, *rest = records([a_fact(1)])
    other = run | {"devices": [{"name": "other"}]}
    last = {key: value for key, value in run.items() if key != "devices"}
    path = tmp_path / "facts.jsonl"
    path.write_text("".join(map(as_line, [other, run, *rest, last])))
    (fact,) = read_facts(path)
    assert fact.device.chip == "GH100"
    assert [device.name for device in fact.run.devices] == ["other", fact.device.name]


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ('":5', '":"five"', "3: key 'values.shared.bank_conflicts': shared.bank_conflicts is a"),
        ('shared.bank_conflicts"', 'speed"', "3: key 'values' has the unknown metric 'speed'"),
        ('"values":', '"scope":"line","values":', "3: key 'verdict': values of lines and nodes"),
        ('"interval":[1,2]', '"interval":[2,1]', "3: key 'interval' must be two numbers"),
        (
            '"record":"run"',
            '"record":"ran"',
            "1: key 'record' must be run, case, shared, values or end",
        ),
        ("fact/2", "fact/3", "1: schema is 'warpgauge.fact/3'"),
        ('"arch"', '"arc"', "2: unknown key 'arc'"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, old, new, error):
    text = text_of([a_fact(1, 5, interval=[1, 2])])
    path = tmp_path / "facts.jsonl"
    path.write_text(text.replace(old, new, 1) if "fact" not in old else text.replace(old, new))
    with pytest.raises(FactError, match=f"facts.jsonl:{error}"):
        read_facts(path)


def test_facts_of_an_older_schema_are_refused_by_its_name(tmp_path):
    path = tmp_path / "facts.jsonl"
    path.write_text('{"schema":"warpgauge.fact/1","run":"r"}\n')
    wanted = "1: schema is 'warpgauge.fact/1', and this version reads 'warpgauge.fact/2'"
    with pytest.raises(FactError, match=wanted):
        read_facts(path)


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


def test_a_compressed_file_that_never_ends_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "_MOST_BYTES", 3 << 20)
    monkeypatch.setattr(reader, "_PART_BYTES", 1 << 20)
    for name, library in (("gz", gzip), ("xz", lzma)):
        bomb = tmp_path / f"facts.{name}"
        bomb.write_bytes(library.compress(b"\n" * (64 << 20)))
        with pytest.raises(FactError, match="unpacks to more than 3 MiB"):
            reader.read_facts(bomb)


def test_a_torn_last_line_is_left_out_with_a_word(tmp_path, capsys):
    path = write(tmp_path / "facts.jsonl", [a_fact(1)])
    lines = path.read_text().count("\n")
    path.write_text(path.read_text() + '{"record":"va')
    assert len(reader.read_facts(path)) == 1
    assert capsys.readouterr().err == (
        f"{path}:{lines + 1}: the last line was cut off, and is left out\n"
    )

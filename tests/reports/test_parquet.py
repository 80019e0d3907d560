"""warpgauge report export --format parquet, read back."""

from datetime import UTC, date, datetime

import pytest
from some_facts import a_fact, a_time, registers, write
from warpgauge.program import main

pyarrow = pytest.importorskip("pyarrow", reason="needs the Python package pyarrow")

from pyarrow import parquet  # noqa: E402
from warpgauge.facts import parquet as writer  # noqa: E402


@pytest.fixture
def export(tmp_path):
    """Exports facts from a history into a Parquet file, whose path it returns. Further arguments
    are options of the command."""

    def run(facts, *options):
        db, out = tmp_path / "history.db", tmp_path / "out" / "values.parquet"
        assert main(["report", "ingest", str(write(tmp_path / "f", facts)), "--db", str(db)]) == 0
        command = ["report", "export", "--format", "parquet", "--db", str(db)]
        assert main([*command, "--out", str(out), *options]) == 0
        return out

    return run


def rows_of(file):
    return parquet.read_table(file).to_pylist()


def test_a_row_has_all_that_a_value_says(export):
    machine = a_time()["machine"] | {"disturbance": "throttled: power cap"}
    budget = "<= 13 ± 5% until 2027-01-31"
    fact = a_time(3, 10.5, branch="main", budget=budget, machine=machine, dirty=True)
    (row,) = rows_of(export([fact]))
    assert row == {
        "run_id": "run-3",
        "run_time": datetime(2026, 1, 3, 1, tzinfo=UTC),
        "run_commit": "commit-3",
        "run_dirty": True,
        "run_branch": "main",
        "run_label": None,
        "run_toolkit": "13.0",
        "run_flags": "-O3 -lineinfo",
        "device_name": "NVIDIA H100",
        "device_chip": "GH100",
        "device_compute_capability": "9.0",
        "device_driver": "580.65.06",
        "device_uuid_hash": "9c1185a5",
        "case_id": "transpose.naive.f32@1024x1024",
        "case_family": "transpose",
        "case_variant": "naive",
        "case_type": "f32",
        "case_size": "1024x1024",
        "case_kind": "catalogue",
        "case_arch": "sm_90",
        "case_code_hash": None,
        "metric": "time.median_us",
        "value": 10.5,
        "unit": "us",
        "low": 10.25,
        "high": 10.75,
        "source": "clock",
        "confidence": "estimate",
        "confidence_reason": "times differ from run to run: ± 1 % after 20 runs",
        "stable": True,
        "verdict": "pass",
        "would": None,
        "cause": None,
        "reason": "it is 10.5",
        "kernel": "_ZN9transpose5tiledEPKfPfi",
        "file": "kernels/transpose/transpose.cu",
        "line": 42,
        "sass_hash": "5feceb66",
        "source_hash": None,
        "limit_max": 13,
        "limit_min": None,
        "limit_equal": None,
        "limit_tolerance": 0.05,
        "limit_until": date(2027, 1, 31),
        "limit_code": None,
        "limit_of": None,
        "limit_reference": None,
        "limit_reference_confidence": "exact",
        "limit_reason": "a kernel has no bank conflicts",
        "limit_origin": "built-in",
        "limit_gate_on": "exact",
        "machine_temperature_c": [41, 43],
        "machine_throttling": [],
        "machine_other_processes": 0,
        "machine_disturbance": "throttled: power cap",
        "word": None,
        "limit_word": None,
    }


def test_words_have_a_column_of_their_own(export):
    limiter = {"metric": "occupancy.limiter", "budget": "= registers"}
    facts = [
        registers(1, 20, budget="= 20"),
        registers(1, "registers+shared", **limiter),
        a_fact(1, None, verdict="unmeasured", budget=None),
    ]
    number, word, nothing = rows_of(export(facts))
    names = ("value", "word", "limit_equal", "limit_word")
    assert [number[name] for name in names] == [20, None, 20, None]
    assert [word[name] for name in names] == [None, "registers+shared", None, "registers"]
    assert [nothing[name] for name in names] == [None] * 4


def test_many_values_come_in_parts_and_in_order(export, monkeypatch):
    monkeypatch.setattr(writer, "_ROWS_AT_ONCE", 4)
    facts = [a_fact(night, night, case=case) for night in (1, 2, 3) for case in ("one", "two", "x")]
    file = parquet.ParquetFile(export(facts))
    groups = range(file.metadata.num_row_groups)
    assert [file.metadata.row_group(group).num_rows for group in groups] == [4, 4, 1]
    found = file.read()
    assert found["value"].to_pylist() == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert found["case_variant"].to_pylist() == ["one", "two", "x"] * 3


def test_the_options_of_export_select(export):
    found = export([a_fact(1), registers(1), a_fact(2)], "--metric", "registers")
    assert [row["metric"] for row in rows_of(found)] == ["registers"]

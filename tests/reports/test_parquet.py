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
    """Facts through a history into a file; extra options of the command."""

    def run(facts, *options):
        db, out = tmp_path / "history.db", tmp_path / "out" / "values.parquet"
        assert main(["report", "ingest", str(write(tmp_path / "f", facts)), "--db", str(db)]) == 0
        command = ["report", "export", "--format", "parquet", "--db", str(db)]
        assert main([*command, "--out", str(out), *options]) == 0
        return parquet.read_table(out)

    return run


def test_a_row_has_all_that_a_value_says(export):
    machine = a_time()["machine"] | {"disturbance": "throttled: power cap"}
    (row,) = export(
        [
            a_time(
                3,
                10.5,
                branch="main",
                budget="<= 13 ± 5% until 2027-01-31",
                machine=machine,
                dirty=True,
            )
        ]
    ).to_pylist()
    assert row["run_id"] == "run-3" and row["run_time"] == datetime(2026, 1, 3, 1, tzinfo=UTC)
    assert (row["run_branch"], row["run_label"], row["run_dirty"]) == ("main", None, True)
    assert (row["case_id"], row["case_arch"]) == ("transpose.naive.f32@1024x1024", "sm_90")
    assert (row["metric"], row["value"], row["unit"]) == ("time.median_us", 10.5, "us")
    assert (row["low"], row["high"], row["stable"]) == (10.25, 10.75, True)
    assert (row["limit_max"], row["limit_tolerance"]) == (13, 0.05)
    assert row["limit_until"] == date(2027, 1, 31)
    assert row["machine_temperature_c"] == [41, 43] and row["machine_throttling"] == []
    assert row["machine_disturbance"] == "throttled: power cap"
    assert row["device_driver"] == "580.65.06"


def test_words_have_a_column_of_their_own(export):
    limiter = {"metric": "occupancy.limiter", "budget": "= registers"}
    number, word, nothing = export(
        [
            registers(1, 20, budget="= 20"),
            registers(1, "registers+shared", **limiter),
            a_fact(1, None, verdict="unmeasured", budget=None),
        ]
    ).to_pylist()
    names = ("value", "word", "limit_equal", "limit_word")
    assert [number[name] for name in names] == [20, None, 20, None]
    assert [word[name] for name in names] == [None, "registers+shared", None, "registers"]
    assert [nothing[name] for name in names] == [None] * 4


def test_many_values_come_in_parts_and_in_order(export, monkeypatch):
    monkeypatch.setattr(writer, "_ROWS_AT_ONCE", 4)
    taken, table_of = [], writer._table
    monkeypatch.setattr(writer, "_table", lambda rows: taken.append(len(rows)) or table_of(rows))
    facts = [a_fact(night, night, case=case) for night in (1, 2, 3) for case in ("one", "two", "x")]
    found = export(facts)
    assert taken == [4, 4, 1]
    assert found["value"].to_pylist() == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert found["case_variant"].to_pylist() == ["one", "two", "x"] * 3


def test_the_options_of_export_select(export):
    found = export([a_fact(1), registers(1), a_fact(2)], "--metric", "registers")
    assert found["metric"].to_pylist() == ["registers"]

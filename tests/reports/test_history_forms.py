"""A history of an older form comes over with all that it has, on both databases."""

import json
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from some_facts import a_fact, write
from warpgauge import history as history_package
from warpgauge.facts.reader import read_facts
from warpgauge.facts.records import Launch
from warpgauge.facts.writer import compact, records_of
from warpgauge.history import open_history

ROWS = Path(__file__).parents[1] / "data" / "history" / "form_0001.json"
BOOLEANS, BYTES = ("dirty", "emulated"), ("digest",)


def make_first_form(url):
    """A database as the version that had the first form left it."""
    if "://" not in url:
        Path(url).parent.mkdir(parents=True, exist_ok=True)
        url = f"sqlite:///{url}"
    engine = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    migrations = Config()
    folder = Path(history_package.__file__).parent / "migrations"
    migrations.set_main_option("script_location", str(folder))
    with engine.begin() as connection:
        migrations.attributes["connection"] = connection
        command.upgrade(migrations, "0001")
        for name, table in json.loads(ROWS.read_text("utf-8")).items():
            made = sa.Table(name, sa.MetaData(), autoload_with=connection)
            rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
            connection.execute(sa.insert(made), [of_database(row) for row in rows])
    engine.dispose()


def of_database(row):
    as_bytes = {name: bytes.fromhex(row[name]) for name in BYTES if name in row}
    return row | as_bytes | {name: bool(row[name]) for name in BOOLEANS if name in row}


@pytest.fixture
def history(url):
    make_first_form(url)
    with open_history(url) as history:
        yield history


def facts_of(history, run):
    return {
        (fact.case.variant, fact.metric, fact.source): fact
        for fact in history.export()
        if fact.run.id == run
    }


def test_runs_and_devices_come_over(history):
    first, second = history.runs()
    assert (first.id, f"{first.time:%Y-%m-%d %H:%M}") == ("run-1", "2026-01-01 01:00")
    assert (first.commit, first.flags, second.commit, second.flags) == (
        *("commit-1", "-O3 -lineinfo"),
        *(None, None),
    )
    assert first.device.name == "NVIDIA H100" and first.device.driver == "580.65.06"
    assert first.emulated and not first.dirty
    assert (first.exit_code, second.exit_code) == (2, 1)  # an error, and a failure


def test_all_values_come_over(history):
    first, second = facts_of(history, "run-1"), facts_of(history, "run-2")
    assert (len(first), len(second)) == (10, 9)
    assert {key: fact.value for key, fact in second.items() if fact.value is not None} == {
        ("naive", "registers", "ptxas"): 22,
        ("naive", "occupancy.limiter", "ptxas"): "registers+shared",
        ("naive", "shared.bank_conflicts", "cupti"): 8,
        ("naive", "shared.bank_conflicts", "emulator"): 4,
        ("naive", "time.median_us", "clock"): 10.25,
        ("naive", "dram.bytes", "cupti-range"): 2**53,
        ("naive", "l2.hit_percent", "cupti-range"): 1,
    }
    assert first["broken", "result.correct", "harness"].verdict == "error"
    for variant in ("other", "another"):  # which shared a context
        assert second[variant, "shared.bank_conflicts", None].reason == "no GPU"


def test_values_keep_what_is_said_of_them(history):
    facts = facts_of(history, "run-1")
    registers = facts["naive", "registers", "ptxas"]
    (kernel,) = registers.case.kernels
    assert (kernel.name, kernel.sass_hash) == ("_ZN9transpose5tiledEPKfPfi", "5feceb66")
    assert (kernel.source_hash, registers.case.code_hash) == ("50cc1", "c0de1")
    assert kernel.launches == (Launch((32, 32, 1), (32, 8, 1), 0, 1),)
    assert (registers.file, registers.line) == ("kernels/transpose/transpose.cu", 42)
    time = facts["naive", "time.median_us", "clock"]
    assert (time.interval, time.confidence) == ((9.875, 10.375), "estimate")
    assert time.limit.text == ">= 1 and <= 20 ± 5% until 2027-01-31"
    assert (time.limit.reason, time.limit.origin) == ("measured", "not known")
    assert time.machine.disturbance == "throttled: power cap"
    conflicts = facts["naive", "shared.bank_conflicts", "cupti"]
    assert (
        conflicts.limit.is_built_in and conflicts.limit.reason == "a kernel has no bank conflicts"
    )
    moved = facts["naive", "dram.bytes", "cupti-range"]
    assert (moved.verdict, moved.cause) == ("moved", "environment")
    assert facts["naive", "l2.hit_percent", "cupti-range"].would == "fail"


def test_what_came_over_is_facts(history, tmp_path):
    path = tmp_path / "facts.jsonl"
    path.write_text("".join(compact(record) + "\n" for record in records_of(history.export())))
    assert read_facts(path) == list(history.export())


def test_new_nights_continue_the_series(history, tmp_path):
    result = history.ingest(write(tmp_path / "facts.jsonl", [a_fact(3, 4)]))
    assert result.new == 1
    (series,) = (one for one in history.series() if one.key.source == "cupti")
    assert [point.value for point in series.points] == [4, 8, 4]

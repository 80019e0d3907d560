"""The database below the history: its form, other versions, several writers, secrets, faults."""

import hashlib
import multiprocessing
import os
import sqlite3
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa
from some_facts import a_fact, registers, write
from warpgauge.errors import CommandError
from warpgauge.history import Keep, open_history, reader, writer
from warpgauge.history import database as database_module
from warpgauge.history.database import Database
from warpgauge.history.tables import FORM, metadata
from warpgauge.program import main

SECRET = "s3cr3t"
FORK = multiprocessing.get_context("fork")  # other processes need not load the database's modules


@pytest.fixture
def database(url):
    database = Database(url, create=True)
    yield database
    database.close()


def test_rows_of_sqlite_lie_in_the_order_of_runs(tmp_path):
    with open_history(tmp_path / "history.db", create=True):
        pass
    ((text,),) = sqlite3.connect(tmp_path / "history.db").execute(
        "SELECT sql FROM sqlite_master WHERE name = 'observations'"
    )
    assert "WITHOUT ROWID" in text and "PRIMARY KEY (run_id, series_id)" in text


def test_sqlite_keeps_what_was_committed_and_readers_need_not_wait(tmp_path):
    database = Database(str(tmp_path / "history.db"), create=True)
    with database.writing() as connection:
        settings = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("synchronous", "journal_mode")
        ]
        assert settings == [2, "wal"]  # 2: FULL
        with database.reading() as reading:
            assert reading.scalar(sa.text("SELECT count(*) FROM runs")) == 0
    database.close()


@pytest.mark.parametrize(
    ("change", "has"),
    [
        ("UPDATE history_form SET number = 9999", "9999"),
        (f"INSERT INTO history_form VALUES ({FORM + 1})", f"{FORM}, {FORM + 1}"),
        ("DELETE FROM history_form", "no number"),
    ],
)
def test_a_database_of_another_form_is_refused_and_left_as_it_is(
    url, database, tmp_path, change, has
):
    with open_history(url) as history:
        history.ingest(write(tmp_path / "facts.jsonl", [a_fact(1, 7)]))
    with database.writing() as connection:
        connection.exec_driver_sql(change)
        found = connection.exec_driver_sql("SELECT number FROM history_form").all()
    for create in (False, True):
        with pytest.raises(CommandError, match=f"has form {has}, and .* reads form {FORM};"):
            open_history(url, create=create)
    with database.writing() as connection:
        assert connection.exec_driver_sql("SELECT number FROM history_form").all() == found
        connection.exec_driver_sql("DELETE FROM history_form")
        connection.exec_driver_sql(f"INSERT INTO history_form VALUES ({FORM})")
    with open_history(url) as history:
        assert [fact.value for fact in history.export()] == [7]


def test_tables_of_others_are_left_alone(url, database):
    with database.writing() as connection:
        connection.exec_driver_sql("DROP TABLE history_form")
    with pytest.raises(CommandError, match="tables of another program, or of an older warpgauge"):
        open_history(url, create=True)


def test_a_view_of_others_is_no_table_of_the_history(postgresql):
    url = postgresql.new_url()
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:", 1))
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE VIEW runs AS SELECT 1 AS id")
    with pytest.raises(CommandError, match='"runs" already exists'):
        open_history(url, create=True)
    with engine.connect() as connection:
        assert sa.inspect(connection).get_table_names() == []
    engine.dispose()


def test_other_tables_have_another_form():
    """Who changes the tables counts FORM up, and writes the new pair here."""
    columns = [
        (table.name, column.name, str(column.type), column.nullable, column.primary_key)
        for table in metadata.sorted_tables
        for column in table.c
    ]
    digest = hashlib.sha256(repr(sorted(columns)).encode()).hexdigest()[:16]
    assert (FORM, digest) == (1, "aaf616bc9ac5f596")


def test_a_database_without_history(postgresql, tmp_path):
    with pytest.raises(CommandError, match="there is no history in this database"):
        open_history(postgresql.new_url())
    path = tmp_path / "none.db"
    with pytest.raises(
        CommandError, match="none.db: there is no history; `warpgauge report ingest`"
    ):
        open_history(path)
    assert not path.exists()


def test_a_failure_takes_everything_back(database):
    with pytest.raises(RuntimeError), database.writing() as connection:
        connection.exec_driver_sql("INSERT INTO runs VALUES (1, 'r', 0, FALSE, NULL, '')")
        raise RuntimeError
    with database.reading() as connection:
        assert connection.scalar(sa.text("SELECT count(*) FROM runs")) == 0


def test_a_reader_sees_one_state(url, tmp_path, monkeypatch):
    """Series that are read after another program has added a value to a run that was read."""
    monkeypatch.setattr(reader, "_SERIES_AT_ONCE", 1)
    with open_history(url, create=True) as history:
        history.ingest(write(tmp_path / "1.jsonl", [a_fact(1), a_fact(2), registers(2)]))
        series = history.series()
        next(series)
        with open_history(url) as other:
            other.ingest(write(tmp_path / "2.jsonl", [registers(1), registers(3)]))
        (second,) = series
        assert [point.run.id for point in second.points] == ["run-2"]
        (_, second) = history.series()
        assert [point.run.id for point in second.points] == ["run-1", "run-2", "run-3"]


def test_a_writer_waits_for_another_only_so_long(url, database, monkeypatch):
    monkeypatch.setattr(database_module, "WAIT_SECONDS", 1)
    other = Database(url, create=True)
    with ThreadPoolExecutor() as pool, database.writing():
        second = pool.submit(lambda: other.writing().__enter__())
        error = second.exception(timeout=60)
    assert isinstance(error, CommandError) and "lock" in str(error)
    with other.writing():
        pass
    other.close()


def test_a_file_that_another_is_making_is_waited_for(tmp_path):
    """(There SQLite does not wait by itself.)"""
    path = tmp_path / "history.db"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor() as pool:
        opened = pool.submit(Database, str(path), create=True)
        with pytest.raises(TimeoutError):
            opened.result(timeout=1)
        other.close()
        opened.result(timeout=60).close()


def _ingest(url, paths, start, results):
    start.wait()
    try:
        with open_history(url, create=True) as history:
            results.put(sum(history.ingest(path).new for path in paths))
    except Exception as error:
        results.put(repr(error))


def together(url, works):
    """The results of writers, each in a process of its own, all starting at once."""
    start, results = FORK.Barrier(len(works)), FORK.Queue()
    writers = [FORK.Process(target=_ingest, args=(url, paths, start, results)) for paths in works]
    for each in writers:
        each.start()
    found = [results.get(timeout=120) for _ in writers]
    for each in writers:
        each.join()
    return found


def test_writers_take_turns_from_the_very_first_table(url, tmp_path):
    cases = [f"case_{number}" for number in range(40)]
    works = [
        [
            write(
                tmp_path / f"{writer}-{night}.jsonl",
                (a_fact(night, 0, case=case, run=f"{writer}-{night}") for case in cases),
            )
            for night in range(1, 4)
        ]
        for writer in range(4)
    ]
    assert together(url, works) == [120] * 4
    with open_history(url) as history:
        assert len(history.runs()) == 12
        assert [len(series.points) for series in history.series()] == [12] * len(cases)


def _ingest_by_command(url, path, start):
    start.wait()
    sys.exit(main(["report", "ingest", "--db", url, str(path)]))


def test_twenty_machines_bring_in_their_nights_at_once(postgresql, tmp_path):
    """By the command, into a database that is empty before."""
    url = postgresql.new_url()
    machines = [f"machine-{number}" for number in range(20)]
    start, programs = FORK.Barrier(len(machines)), []
    for machine in machines:
        facts = [
            a_fact(night, night, case=f"case_{number}", run=f"{machine}-{night}")
            for night in (1, 2)
            for number in range(10)
        ]
        path = write(tmp_path / f"{machine}.jsonl", facts)
        programs.append(FORK.Process(target=_ingest_by_command, args=(url, path, start)))
    for program in programs:
        program.start()
    for program in programs:
        program.join(300)
    assert [program.exitcode for program in programs] == [0] * 20
    with open_history(url) as history:
        names = {run.id for run in history.runs()}
        assert names == {f"{machine}-{night}" for machine in machines for night in (1, 2)}
        all_series = list(history.series())
    assert len(all_series) == 10
    for series in all_series:
        assert sorted(point.value for point in series.points) == [1] * 20 + [2] * 20


def test_the_same_file_from_several_writers_comes_in_once(url, tmp_path):
    facts = [a_fact(1, number, case=f"case_{number}") for number in range(200)]
    path = write(tmp_path / "facts.jsonl", facts)
    assert sorted(together(url, [[path]] * 4)) == [0, 0, 0, 200]
    with open_history(url) as history:
        assert sorted(fact.value for fact in history.export()) == list(range(200))


def _die_while_writing(url, path):
    def die(*_):
        os._exit(9)

    writer._Writer._mark_emulated = die  # the last thing before the transaction ends
    with open_history(url, create=True) as history:
        history.ingest(path)


def test_a_writer_that_dies_leaves_nothing_and_holds_up_nobody(url, tmp_path):
    path = write(tmp_path / "facts.jsonl", [a_fact(1), registers(1)])
    dying = FORK.Process(target=_die_while_writing, args=(url, path))
    dying.start()
    dying.join(60)
    assert dying.exitcode == 9
    with open_history(url) as history:
        assert history.runs() == [] and history.keys() == []
        assert history.ingest(path).new == 2


def test_deleting_leaves_nothing_behind_and_makes_the_file_smaller(url, database, tmp_path):
    with open_history(url, create=True) as history:
        for night in (1, 30):
            facts = [
                a_fact(
                    night, 1000 * night + n, case=f"case_{night}_{n}", kernel=f"kernel_{night}_{n}"
                )
                for n in range(300)
            ]
            history.ingest(write(tmp_path / f"{night}.jsonl", facts))
        before = sum(path.stat().st_size for path in tmp_path.glob("db/*"))
        history.prune(Keep(days=7))
        after = sum(path.stat().st_size for path in tmp_path.glob("db/*"))
        assert after < 0.7 * before or "postgresql" in url
    counts = {"runs": 1, "series": 300, "cases": 300, "contexts": 300, "states": 300}
    counts["observations"] = 300
    with database.reading() as connection:
        for table, count in counts.items():
            assert connection.scalar(sa.text(f"SELECT count(*) FROM {table}")) == count


@pytest.mark.parametrize(
    ("url", "error"),
    [
        (f"postgresql://u:{SECRET}@/d?host=/nowhere", "postgresql+psycopg://u:***@/d: connection"),
        (f"postgresql://u@/d?host=/nowhere&password={SECRET}", "postgresql+psycopg://u@/d: conn"),
        (f"postgresql://u:{SECRET}@h:port/d", "--db: not a URL"),
        (f"mysql://u:{SECRET}@h/d", "--db: mysql is not supported"),
        (f"postgresql+none://u:{SECRET}@h/d", "--db: postgresql+none is not supported"),
        (f"postgresql://u@/d?host=/nowhere&port={SECRET}", "--db: an option in the URL"),
        (f"postgresql://u:{SECRET}@/d?plugin={SECRET}", "--db: an option in the URL"),
        (f"sqlite://u:{SECRET}@h/d", "--db: an SQLite file is sqlite:///PATH"),
        (f"sqlite:///d?timeout={SECRET}", "--db: an SQLite file is sqlite:///PATH"),
        ("sqlite://", "--db: an SQLite file is sqlite:///PATH"),
        ("://", "--db: not a URL"),
    ],
)
def test_errors_do_not_show_passwords(url, error):
    with pytest.raises(CommandError) as caught:
        open_history(url, create=True)
    assert str(caught.value).startswith(error)
    assert SECRET not in str(caught.value)


def test_without_the_driver_of_postgresql(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(CommandError, match="lacks the Python module psycopg: run ci/bootstrap"):
        open_history(f"postgresql://u:{SECRET}@h/d")


def test_the_name_of_a_history_has_no_password(postgresql):
    url = postgresql.new_url().replace("warpgauge@", f"warpgauge:{SECRET}@")
    with open_history(url, create=True) as history:
        assert SECRET not in history.name and "***" in history.name


def test_files_that_are_no_database(tmp_path):
    (tmp_path / "text.db").write_text("text " * 1000)
    with pytest.raises(CommandError, match="text.db: file is not a database"):
        open_history(tmp_path / "text.db", create=True)
    for place in (tmp_path, Path("/dev/zero")):
        with pytest.raises(CommandError, match="is no file; name that of a history"):
            open_history(place, create=True)
    (tmp_path / "empty.db").touch()
    with pytest.raises(CommandError, match="empty.db: there is no history in this database"):
        open_history(tmp_path / "empty.db")


def test_a_damaged_database_is_a_fault(tmp_path):
    path = tmp_path / "history.db"
    with open_history(path, create=True) as history:
        facts = [a_fact(1, n, case=f"case_{n}") for n in range(500)]
        history.ingest(write(tmp_path / "facts.jsonl", facts))
    content = bytearray(path.read_bytes())
    content[8192:] = b"\xff" * (len(content) - 8192)
    path.write_bytes(content)
    with pytest.raises(CommandError, match="history.db: "), open_history(path) as history:
        list(history.series())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_database_that_may_only_be_read(tmp_path):
    path = tmp_path / "history.db"
    with open_history(path, create=True) as history:
        history.ingest(write(tmp_path / "facts.jsonl", [a_fact()]))
    path.chmod(stat.S_IREAD)
    with open_history(path) as history:
        assert len(history.runs()) == 1
    with pytest.raises(CommandError, match="readonly"), open_history(path, create=True) as history:
        history.ingest(write(tmp_path / "more.jsonl", [a_fact(2)]))

"""A damaged history is one message and exit code 2, unless the damage changes no result."""

import random
import sqlite3

import pytest
from some_facts import a_fact, a_time, registers, write
from warpgauge.history import open_history
from warpgauge.program import main

COMMANDS = {
    "html": ["html", "--out", "page"],
    "export": ["export", "--out", "facts.jsonl"],
    "runs": ["runs"],
    "ack": ["ack", "*", "--reason", "known", "--until", "2999-12-31"],
}


@pytest.fixture
def history(tmp_path, monkeypatch):
    """The path of a history of seven nights, in one file."""
    monkeypatch.chdir(tmp_path)
    with open_history("history.db", create=True) as kept:
        for night in range(1, 8):
            count = a_fact(night, 7 if night < 5 else 9)
            time = a_time(night, 10.5 + (night > 4) * 5)
            kept.ingest(write(tmp_path / "f.jsonl", [count, registers(night), time]))
    with sqlite3.connect("history.db") as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    return tmp_path / "history.db"


def run(command, capsys):
    code = main(["report", *COMMANDS[command], "--db", "history.db"])
    return code, capsys.readouterr().err


def one_message(err):
    return "Traceback" not in err and err.count("\n") == 1


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("command", ["html", "export"])
def test_random_bytes(history, capsys, command, seed):
    chosen, content = random.Random(seed), bytearray(history.read_bytes())
    for _ in range((30, 3)[seed % 2]):
        content[chosen.randrange(100, len(content))] = chosen.randrange(256)
    history.write_bytes(content)
    code, err = run(command, capsys)
    assert one_message(err) if code == 2 else code in (0, 1), err


JUNK = {
    "bytes": b"\xff\xfe\x80",
    "word": "nonsense",
    "list": "[1]",
    "number": 1e300,
}


@pytest.mark.parametrize("junk", JUNK)
@pytest.mark.parametrize(
    "place, command",
    [
        ("runs.record", "runs"),
        ("runs.exit_code", "export"),
        ("runs.time", "html"),
        ("series.metric", "html"),
        ("series.device", "ack"),
        ("cases.record", "html"),
        ("contexts.record", "export"),
        ("states.low", "html"),
        ("states.value", "export"),
        ("states.machine", "export"),
        ("states.verdict", "html"),
    ],
)
def test_a_column_with_something_else(history, capsys, place, command, junk):
    table, _, column = place.partition(".")
    with sqlite3.connect(history) as connection:
        connection.execute(f"UPDATE {table} SET {column} = ?", [JUNK[junk]])
    connection.close()
    code, err = run(command, capsys)
    assert one_message(err) if code == 2 else code in (0, 1), err
    if junk == "bytes":
        assert code == 2 and "is damaged: restore a copy" in err


def test_half_an_interval(history, capsys):
    with sqlite3.connect(history) as connection:
        connection.execute("UPDATE states SET low = 1 WHERE low IS NULL")
    connection.close()
    code, err = run("html", capsys)
    assert code == 2 and one_message(err) and "half an interval" in err


QUERIES = {
    "view": "CREATE VIEW {0} AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
    "SELECT o.*, n FROM other o, r",
    "trigger": "CREATE TRIGGER {0}_x AFTER INSERT ON other BEGIN DELETE FROM other; END",
}


@pytest.mark.parametrize("kind", QUERIES)
@pytest.mark.parametrize("command", COMMANDS)
def test_queries_in_the_file_are_not_run(history, capsys, command, kind):
    """A view in the place of a table may never end."""
    with sqlite3.connect(history) as connection:
        connection.execute("ALTER TABLE runs RENAME TO other")
        connection.execute(QUERIES[kind].format("runs"))
    connection.close()
    code, err = run(command, capsys)
    assert code == 2 and one_message(err)
    assert "has the view or trigger 'runs" in err and "has tables alone" in err

"""warpgauge report ingest, runs, export and prune as a user sees them: words, files, exit codes."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import warpgauge.facts
from some_facts import EMULATED, FACT, a_fact, a_time, as_line, registers, text_of, write
from warpgauge.facts.reader import read_facts
from warpgauge.history import nights_of, open_history
from warpgauge.program import main

END = {"record": "end", "counts": {}}
ROOT = Path(__file__).parents[2]


@pytest.fixture
def db(tmp_path):
    return str(tmp_path / "history.db")


@pytest.fixture
def report(capsys, db):
    """Runs a command on the database; its exit code, what it printed, and its complaints."""

    def run(command, *arguments):
        status = main(["report", command, *map(str, arguments), "--db", db])
        return (status, *capsys.readouterr())

    return run


def test_ingest_says_what_came_in(report, tmp_path):
    line = a_fact(1, scope="line", verdict=None)
    path = write(tmp_path / "facts.jsonl", [a_fact(), registers(), line])
    assert report("ingest", path) == (
        0,
        f"{path}: run run-1: 2 new values, 0 there already, 1 of source lines left out\n",
        "",
    )
    more = write(tmp_path / "more.jsonl", [a_fact(), a_fact(2)])
    assert report("ingest", path, more)[:2] == (
        0,
        f"{path}: run run-1: 0 new values, 2 there already, 1 of source lines left out\n"
        f"{more}: 2 runs: 1 new values, 1 there already\n",
    )


def test_of_the_findings_of_a_case_the_first_is_kept(report, tmp_path):
    found = {"metric": "result.correct", "source": "harness", "rule": "race", "budget": None}
    found |= {"budget_reason": None, "verdict": "error", "value": None}
    findings = [a_fact(**found | {"line": line, "other": f"a.cu:{line + 1}"}) for line in (7, 9)]
    path = write(tmp_path / "facts.jsonl", [*findings, registers()])
    for new, there in ((2, 1), (0, 3)):
        assert report("ingest", path) == (
            0,
            f"{path}: run run-1: {new} new values, {there} there already\n",
            "",
        )
    out = tmp_path / "back.jsonl"
    assert report("export", "--metric", "result.correct", "--out", out)[0] == 0
    ((line, other, rule),) = {(f.line, f.other, f.rule) for f in read_facts(out)}
    assert (line, other, rule) == (7, "a.cu:8", "race")


def test_ingest_does_not_load_what_draws(db, tmp_path):
    """matplotlib and ruptures take two seconds to load, and a night is ingested in as much."""
    path = write(tmp_path / "facts.jsonl", [a_fact()])
    with open_history(db, create=True):
        pass
    program = (
        "import sys; from warpgauge.program import main; code = main(sys.argv[1:]); "
        "slow = {'matplotlib', 'ruptures', 'jinja2'}; "
        "sys.exit(code or bool(slow & sys.modules.keys()))"
    )
    command = [sys.executable, "-c", program, "report", "ingest", path, "--db", db]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_bad_file_is_named_and_the_others_come_in(report, tmp_path, db):
    good = write(tmp_path / "good.jsonl", [a_fact()])
    bad = write(tmp_path / "bad.jsonl", [registers(2), a_fact(2, "text")])
    missing = tmp_path / "missing.jsonl"
    status, out, err = report("ingest", bad, missing, good)
    assert status == 2
    assert out == f"{good}: run run-1: 1 new values, 0 there already\n"
    assert err.splitlines() == [
        f"{bad}:5: key 'values.shared.bank_conflicts': shared.bank_conflicts is a number",
        f"{missing}: cannot be read: No such file or directory",
        f"{db}: 2 of 3 files not added, none of their values",
    ]
    assert [run["id"] for run in json.loads(report("runs", "--json")[1])] == ["run-1"]


@pytest.mark.parametrize("facts", [[], [a_fact(1, scope="line", verdict=None)]])
def test_nothing_brought_in_is_no_success(report, tmp_path, facts):
    path = write(tmp_path / "facts.jsonl", facts)
    status, _, err = report("ingest", path)
    assert (status, err) == (2, f"{path}: no value of a case\n")


def test_runs_as_a_table(report, tmp_path):
    facts = [a_fact(2, dirty=True, commit="0123456789abcdef"), registers(1, commit=None)]
    last = {"source": "emulator", "device": EMULATED, "run": "x\x1b[2J"}
    last |= {"branch": "main", "label": "by hand"}
    facts += [a_fact(3, **last, verdict="error"), a_fact(3, **last, case="tiled")]
    path = write(tmp_path / "facts.jsonl", facts)
    path.write_text(path.read_text() + as_line(END | {"run": "x\x1b[2J", "exit_code": 2}))
    report("ingest", path)
    status, out, err = report("runs")
    assert status == 0 and err.endswith("/history.db: 3 runs\n")
    assert [re.split("  +", line) for line in out.splitlines()] == [
        ["run", "time (UTC)", "commit", "branch", "label", "toolkit", "device", "driver", "exit"]
        + ["verdicts"],
        ["run-1", "2026-01-01 01:00:00", "-", "-", "-", "13.0", "-", "-", "cut off", "1 pass"],
        ["run-2", "2026-01-02 01:00:00", "0123456789ab+", "-", "-", "13.0", "NVIDIA H100"]
        + ["580.65.06", "cut off", "1 pass"],
        ["x?[2J", "2026-01-03 01:00:00", "commit-3", "main", "by hand", "13.0", "emulator"]
        + ["-", "2", "1 error, 1 pass"],
    ]
    assert len({re.search("toolkit|13.0", line).start() for line in out.splitlines()}) == 1


def test_runs_by_what_they_are_called(report, tmp_path):
    facts = [a_fact(1, branch="main"), a_fact(2, label="by hand"), a_fact(3)]
    report("ingest", write(tmp_path / "facts.jsonl", facts))

    def listed(*options):
        return [run["id"] for run in json.loads(report("runs", *options, "--json")[1])]

    assert listed("--branch", "main") == ["run-1"]
    assert listed("--label", "by hand") == ["run-2"]
    assert listed("--branch", "", "--label", "") == ["run-3"]
    assert listed("--branch", "none") == []


def test_runs_are_called_what_ingest_says_where_the_facts_do_not(report, tmp_path):
    facts = [a_fact(1), a_fact(2, branch="main", label="nightly"), a_fact(3, branch="main")]
    path = write(tmp_path / "facts.jsonl", facts)
    called = ("--branch", "fix", "--label", "by hand")
    assert report("ingest", path, *called)[0] == 0
    assert report("ingest", path, *called)[0] == report("ingest", path)[0] == 0
    runs = json.loads(report("runs", "--json")[1])
    assert [(run["branch"], run["label"]) for run in runs] == [
        ("fix", "by hand"),
        ("main", "nightly"),
        ("main", "by hand"),
    ]


def test_a_run_can_get_its_name_later_and_keeps_it(report, tmp_path):
    path = write(tmp_path / "facts.jsonl", [a_fact(1)])
    for options in ([], ["--label", "by hand"]):
        assert report("ingest", path, *options)[0] == 0
    status, _, err = report("ingest", path, "--label", "nightly")
    assert status == 2
    assert "run 'run-1' has label 'by hand' in the history, and 'nightly' here" in err
    (run,) = json.loads(report("runs", "--json")[1])
    assert (run["branch"], run["label"]) == (None, "by hand")


@pytest.mark.parametrize("option", ["--branch", "--label"])
def test_an_empty_name_is_refused(report, tmp_path, db, option):
    path = write(tmp_path / "facts.jsonl", [a_fact(1)])
    status, _, err = report("ingest", path, option, " ")
    assert (status, Path(db).exists()) == (2, False)
    assert err.startswith(f"{option}: is empty: name it, or leave the option out")


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-03-29T02:00:00Z", "2026-03-29 02:00:00"),
        ("2026-03-29T02:00:00+02:00", "2026-03-29 00:00:00"),
        ("2026-03-29T02:00", "2026-03-29 02:00:00"),
        ("2026-03-29", "2026-03-29 00:00:00"),
    ],
)
def test_runs_are_dated_as_ingest_says(report, tmp_path, text, time):
    path = write(tmp_path / "facts.jsonl", [a_fact()])
    assert report("ingest", path, "--time", text)[0] == 0
    assert time in report("runs")[1]
    again = report("ingest", path, "--time", text)
    assert again[0] == 0 and "0 new values, 1 there already" in again[1]
    code, _, error = report("ingest", path)  # with its own time
    assert code == 2 and "time" in error and time in report("runs")[1]


def test_runs_of_an_afternoon_can_be_nights(report, db, tmp_path):
    for day in range(1, 6):
        run = {"run": f"run-{day}", "time": f"2026-05-01T1{day}:00:00Z"}
        path = write(tmp_path / f"{day}.jsonl", [a_fact(**run)])
        assert report("ingest", path, "--time", f"2026-05-0{day}T02:00:00Z")[0] == 0
    with open_history(db, create=False) as history:
        assert [len(night) for night in nights_of(history.runs())] == [1] * 5


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("yesterday", "--time: 'yesterday' is not a time such as 2026-01-12T02:00:00Z"),
        ("2026-02-30", "--time: '2026-02-30' is not a time"),
        ("", "--time: '' is not a time"),
        ("0001-01-01T00:00+14:00", "is not a time"),
        ("1999-01-01", "--time: '1999-01-01' belongs to no night: name a time from 2020 to now"),
        ("9999-12-31", "--time: '9999-12-31' belongs to no night"),
    ],
)
def test_a_time_that_is_none_is_refused(report, tmp_path, db, text, error):
    path = write(tmp_path / "facts.jsonl", [a_fact()])
    code, output, errors = report("ingest", path, "--time", text)
    assert (code, output) == (2, "") and error in errors and errors.count("\n") == 1
    assert not Path(db).exists()


@pytest.mark.parametrize("where", ["docs/trends.md", "--help"])
def test_times_that_are_named_as_examples_are_taken(report, tmp_path, where):
    if where == "--help":
        text = subprocess.run(
            [sys.executable, "-m", "warpgauge", "report", "ingest", where],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    else:
        text = (ROOT / where).read_text()
    times = re.findall(r"--time (\d\S+)|such\s+as (\d{4}-\d\d-\d\dT\S+)\s+or\s+(\S+)", text)
    assert times
    for number, time in enumerate(filter(None, sum(times, ()))):
        path = write(tmp_path / f"{number}.jsonl", [a_fact(run=f"run-{number}")])
        assert report("ingest", path, "--time", time)[0] == 0


def test_runs_as_json(report, tmp_path):
    report("ingest", write(tmp_path / "facts.jsonl", [a_fact()]))
    (run,) = json.loads(report("runs", "--json")[1])
    device = {key: value for key, value in FACT["device"].items() if "clock" not in key}
    assert run == {
        "id": "run-1",
        "time": "2026-01-01T01:00:00Z",
        "commit": "commit-1",
        "dirty": False,
        "toolkit": "13.0",
        "flags": FACT["flags"],
        "device": device,
        "emulated": False,
        "branch": None,
        "label": None,
        "exit_code": None,
        "verdicts": {"pass": 1},
    }


@pytest.mark.parametrize(
    "where", ["", " ", ":memory:", "sqlite://", "sqlite:///", "sqlite:///:memory:"]
)
def test_a_history_that_keeps_nothing_is_refused(tmp_path, capsys, where):
    facts = write(tmp_path / "facts.jsonl", [a_fact(1)])
    assert main(["report", "ingest", str(facts), "--db", where]) == 2
    assert capsys.readouterr().err.startswith("--db")


@pytest.mark.parametrize("command", [["runs"], ["export"], ["prune", "--keep", "3"]])
def test_without_a_history(report, command, db):
    status, out, err = report(*command)
    assert (status, out) == (2, "")
    assert err == f"{db}: there is no history; `warpgauge report ingest` makes it\n"
    assert not Path(db).exists()


@pytest.fixture
def read(tmp_path):
    """Reads the facts that a text has."""

    def run(text):
        path = tmp_path / "exported.jsonl"
        path.write_text(text)
        return read_facts(path)

    return run


def test_export_as_facts(tmp_path, report, read):
    facts = [a_fact(1), registers(1), a_time(2)]
    report("ingest", write(tmp_path / "facts.jsonl", facts))
    out = tmp_path / "folder" / "out.jsonl"
    assert report("export", "--out", out) == (0, "", "")
    assert read(out.read_text()) == read(text_of(facts))
    assert read(report("export", "--run", "run-2")[1]) == read(text_of(facts[2:]))
    (exported,) = read(report("export", "--filter", "*.naive.*", "--metric", "registers")[1])
    assert exported == read(text_of(facts))[1]
    assert report("export", "--exclude", "*.tiled.*", "--metric", "registers") == report(
        "export", "--filter", "*.naive.*", "--metric", "registers"
    )


def test_export_of_runs_by_name_and_day(tmp_path, report, read):
    facts = [a_fact(1, branch="main"), a_fact(2, branch="main", label="by hand"), a_fact(3)]
    report("ingest", write(tmp_path / "facts.jsonl", facts))
    for options, expected in (
        (["--branch", "main", "--label", ""], facts[:1]),
        (["--label", "by hand"], facts[1:2]),
        (["--since", "2026-01-02"], facts[1:]),
        (["--since", "2026-01-02", "--until", "2026-01-02"], facts[1:2]),
    ):
        status, text, _ = report("export", *options)
        assert (status, read(text)) == (0, read(text_of(expected)))


def test_export_as_csv(tmp_path, report):
    fact = a_time(1, budget="= 3", reason='a,b\n"c"', file="-x.cu", launch=None)
    report("ingest", write(tmp_path / "facts.jsonl", [fact, registers(1)]))
    status, out, _ = report("export", "--format", "csv")
    assert status == 0
    time, static = csv.DictReader(io.StringIO(out))
    assert (time["value"], time["low"], time["high"]) == (
        "10.5",
        "10.25",
        "10.75",
    )
    assert (time["limit.equal"], time["file"], time["reason"]) == ("3", "'-x.cu", 'a,b\n"c"')
    assert (time["machine.temperature_c"], time["run.dirty"]) == ("[41, 43]", "false")
    assert (static["device.name"], time["device.name"]) == ("", FACT["device"]["name"])
    assert (static["value"], static["unit"]) == ("20", "registers/thread")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--metric", "speed"], "--metric: unknown metric 'speed'"),
        (["--filter", "none.*"], "nothing in the history matches"),
        (["--run", "none"], "nothing in the history matches"),
        (["--branch", "none"], "nothing in the history matches"),
        (["--since", "2026-01-02"], "nothing in the history matches"),
        (["--until", "soon"], "--until: 'soon' is not a date such as 2027-03-31"),
    ],
)
def test_export_of_nothing_writes_nothing(tmp_path, report, arguments, error):
    report("ingest", write(tmp_path / "facts.jsonl", [a_fact()]))
    out = tmp_path / "out.jsonl"
    out.write_text("before")
    status, _, err = report("export", *arguments, "--out", out)
    assert status == 2 and error in err
    assert out.read_text() == "before"


def test_export_to_a_reader_that_has_enough(tmp_path, report, db):
    facts = [a_fact(1, n, case=f"case_{n}") for n in range(3000)]
    report("ingest", write(tmp_path / "facts.jsonl", facts))
    command = [sys.executable, "-m", "warpgauge", "report", "export", "--db", db]
    paths = os.pathsep.join(map(str, (ROOT / "reports", ROOT / "ci")))
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": paths},
    ) as program:
        assert program.stdout.readline()
        program.stdout.close()
        assert program.stderr.read() == b""
    assert program.returncode == 0


def test_without_pyarrow_no_parquet_is_written(tmp_path, report, monkeypatch):
    report("ingest", write(tmp_path / "facts.jsonl", [a_fact()]))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "warpgauge.facts.parquet", raising=False)
    monkeypatch.delattr(warpgauge.facts, "parquet", raising=False)
    out = tmp_path / "values.parquet"
    status, _, err = report("export", "--format", "parquet", "--out", out)
    assert (status, out.exists()) == (2, False)
    said = f"lacks the Python module pyarrow: install it with `{sys.executable} -m pip install"
    assert said in err


def test_prune_says_what_is_gone(tmp_path, report):
    facts = [a_fact(night) for night in (1, 2, 3)] + [registers(1)]
    report("ingest", write(tmp_path / "facts.jsonl", facts))
    for options, would in ((["--dry-run"], "would delete"), ([], "deleted")):
        assert report("prune", "--keep", "1", *options) == (
            0,
            f"{would}: run run-2\n{would}: 2 values, 1 runs, 0 series\n",
            "",
        )
    status, _, err = report("prune", "--keep", "2w")
    assert (status, err) == (
        2,
        "--keep: '2w' is neither a number such as 30 nor days as in 365d\n",
    )


def test_prune_of_a_run(tmp_path, report, db):
    report("ingest", write(tmp_path / "facts.jsonl", [a_fact(1), a_fact(2)]))
    assert report("prune", "--run", "run-9")[::2] == (
        2,
        f"{db}: there is no run 'run-9'; `warpgauge report runs` lists them\n",
    )
    assert report("prune", "--run", "run-2")[:2] == (
        0,
        "deleted: run run-2\ndeleted: 1 values, 1 runs, 0 series\n",
    )
    assert report("prune", "--run", "run-2")[0] == 2


@pytest.mark.parametrize("options", [[], ["--keep", "3", "--run", "run-1"]])
def test_prune_takes_one_of_keep_and_run(tmp_path, report, options):
    report("ingest", write(tmp_path / "facts.jsonl", [a_fact(1)]))
    status, _, err = report("prune", *options)
    assert status == 2 and "--keep" in err and "--run" in err
    assert report("prune", "--run", "run-1", "--dry-run")[0] == 0  # it is still there

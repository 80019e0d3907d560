"""The history on both databases: what goes in comes out, once, in order, and can be deleted."""

import json
import re
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from some_facts import EMULATED, GPU, a_fact, a_time, as_line, records, registers, text_of, write
from warpgauge.errors import CommandError, FactError
from warpgauge.facts.case_filter import CaseFilter
from warpgauge.facts.reader import read_facts
from warpgauge.facts.records import Launch
from warpgauge.facts.writer import compact, records_of
from warpgauge.history import Keep, Point, RunFilter, open_history

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture
def history(url):
    with open_history(url, create=True) as history:
        yield history


@pytest.fixture
def ingest(history, tmp_path):
    """Brings facts in, in a file of their own."""
    files = iter(range(1000))

    def bring(*facts):
        return history.ingest(write(tmp_path / f"{next(files)}.jsonl", facts))

    return bring


def the_series(history, **options):
    """Values by night of each series, by case and metric."""
    return {
        (series.key.variant, series.key.metric): [(p.run.id, p.value) for p in series.points]
        for series in history.series(**options)
    }


def test_values_come_back_as_series_oldest_first(history, ingest):
    ingest(a_fact(2, 5), registers(2, 24))
    ingest(a_fact(1, 4), registers(1, 20), a_fact(1, 9, case="tiled"))
    assert the_series(history) == {
        ("naive", "shared.bank_conflicts"): [("run-1", 4), ("run-2", 5)],
        ("naive", "registers"): [("run-1", 20), ("run-2", 24)],
        ("tiled", "shared.bank_conflicts"): [("run-1", 9)],
    }


def test_runs_of_one_moment_come_by_name(history, ingest):
    for name in ("b", "c", "a"):
        ingest(a_fact(1, 0, run=name))
    assert [run.id for run in history.runs()] == ["a", "b", "c"]
    (series,) = history.series()
    assert [point.run.id for point in series.points] == ["a", "b", "c"]
    history.prune(Keep(values=1))
    assert [run.id for run in history.runs()] == ["c"]


def test_a_point_has_what_the_fact_says(history, ingest):
    fact = a_time(3, 12.5, budget="<= 13 ± 5%", verdict="waived", code_hash="c0de")
    fact |= {"registered": "gate.cu", "inlined": [{"file": "tile.cuh", "line": 3}]}
    fact["machine"] = fact["machine"] | {"disturbance": "throttled: power cap"}
    ingest(fact)
    (series,) = history.series()
    (point,) = series.points
    assert series.key.id == "transpose.naive.f32@1024x1024"
    assert (series.key.metric, series.key.unit) == ("time.median_us", "us")
    assert (series.key.arch, series.key.source) == ("sm_90", "clock")
    assert series.key.device_name == GPU["name"]
    (run,) = history.runs()
    assert point == Point(
        run=run,
        value=12.5,
        interval=(12.25, 12.75),
        verdict="waived",
        budget="<= 13 ± 5%",
        reason="it is 12.5",
        confidence="estimate",
        sass_hash=fact["sass_hash"],
        file=fact["file"],
        line=fact["line"],
        disturbance="throttled: power cap",
        code_hash="c0de",
        launches=(Launch((32, 32, 1), (32, 8, 1), 0, 1),),
        kernels=1,
        sources=(fact["file"], "tile.cuh"),
        registered="gate.cu",
    )
    assert run.time == datetime(2026, 1, 3, 1, tzinfo=UTC)
    assert (run.commit, run.dirty, run.toolkit) == ("commit-3", False, fact["toolkit"])
    assert (run.device.name, run.device.driver) == (GPU["name"], GPU["driver"])
    assert run.emulated is False


def test_words_and_what_was_not_measured(history, ingest):
    limiter = {"metric": "occupancy.limiter", "budget": None}
    ingest(
        registers(1, "registers+shared", **limiter),
        a_fact(1, None, arch=None, source=None, verdict="unmeasured"),
    )
    word, unmeasured = (series.points[0] for series in history.series())
    assert (word.text, word.value) == ("registers+shared", None)
    assert (unmeasured.text, unmeasured.value, unmeasured.verdict) == (None, None, "unmeasured")


def test_series_of_compiler_and_emulator_have_no_device(history, ingest):
    ingest(registers(device=GPU), registers(2), a_fact(1, 3, source="emulator", device=EMULATED))
    assert [series.key.device_name for series in history.series()] == [None, None, None]
    first, second = history.runs()
    assert first.device.name == GPU["name"] and second.device is None
    assert first.emulated and not second.emulated


def test_the_emulators_device_is_no_gpu(history, ingest):
    ingest(a_fact(1, 3, source="emulator", device=EMULATED), registers(1))
    (run,) = history.runs()
    assert run.device is None and run.emulated


def test_the_gpu_of_a_run_with_several_is_the_first_by_name(history, ingest):
    ingest(a_fact(1), a_fact(1, device=GPU | {"name": "NVIDIA A100"}))
    (run,) = history.runs()
    assert run.device.name == "NVIDIA A100"
    assert {series.key.device_name for series in history.series()} == {"NVIDIA A100", GPU["name"]}


def test_selections(history, ingest):
    ingest(*(f(night) for night in (1, 2, 3) for f in (a_fact, registers)))
    ingest(a_fact(3, 7, family="reduce"), a_fact(3, 8, arch="sm_80"))
    assert len(history.keys()) == len(list(history.series())) == 4
    assert [key.family for key in history.keys(family="reduce")] == ["reduce"]
    assert list(the_series(history, metric="registers")) == [("naive", "registers")]
    (old,) = history.series(arch="sm_80")
    assert [point.value for point in old.points] == [8]
    last = the_series(history, metric="registers", last_nights=2)
    assert last == {("naive", "registers"): [("run-2", 20), ("run-3", 20)]}
    assert list(history.series(family="none")) == []


def test_the_same_again_changes_nothing(history, ingest):
    facts = [a_fact(), registers(), a_time()]
    assert (ingest(*facts).new, ingest(*facts).new) == (3, 0)
    result = ingest(*facts, *facts)
    assert (result.new, result.known) == (0, 6)
    assert len(list(history.export())) == 3


def test_a_run_may_come_in_several_files(history, ingest):
    ingest(registers(1))
    result = ingest(registers(1), a_time(1))
    assert (result.new, result.known, result.runs) == (1, 1, ("run-1",))
    (run,) = history.runs()
    assert run.device.name == GPU["name"]


def test_other_spellings_of_a_fact_are_the_same(history, ingest, tmp_path):
    fact = a_time()
    ingest(fact)
    path = tmp_path / "spelled.jsonl"
    *above, value = records([fact])
    spaced = json.dumps(value)
    turned = json.dumps(dict(reversed(value.items())))
    path.write_text(f"{''.join(map(as_line, above))}{spaced}\n{turned}\n")
    result = history.ingest(path)
    assert (result.new, result.known) == (0, 2)


@pytest.mark.parametrize(
    ("facts", "error"),
    [
        ([a_fact(1, 5)], "3: shared.bank_conflicts of transpose.naive.f32@1024x1024 (sm_90, cupti) "
         "in run 'run-1' has value 4.0 in the history, and 5.0 here"),
        ([a_fact(2), a_fact(1, 4, sass_hash="0")], "6: shared.bank_conflicts of .* has kernel "
         ".*'5feceb66'.* in the history, and .*'0'.* here"),
        ([registers(1, commit="other")], "3: run 'run-1' has commit 'commit-1' in the history, "
         "and 'other' here"),
        ([a_time(1, device={**GPU, "driver": "1"})], "3: device 'NVIDIA H100' of run 'run-1' has "
         "driver '580.65.06' in the history, and '1' here"),
        ([a_time(7, time="2026-06-31T00:00:00Z")], "3: key 'time': '2026-06-31T00:00:00Z' "
         "is not a time"),
        ([registers(7), registers(7, 30)], "4: registers of .* has value 20.0 .* and 30.0 here"),
    ],
)  # fmt: skip
def test_contradictions_name_both_and_change_nothing(history, ingest, facts, error):
    ingest(a_fact(1, 4))
    before = list(history.export())
    with pytest.raises(FactError) as caught:
        ingest(*facts)
    pattern = error.replace("(", r"\(").replace(")", r"\)")
    assert re.search(rf"jsonl:{pattern}", str(caught.value)), caught.value
    assert list(history.export()) == before
    assert len(history.runs()) == 1


@pytest.mark.parametrize("bad", sorted((DATA / "facts").glob("bad_*.jsonl")), ids=lambda p: p.stem)
def test_bad_files_change_nothing(sqlite_history, tmp_path, bad):
    """The same error as the reader's; and as the last line of a file of which the rest is known."""
    with pytest.raises(FactError) as expected:
        read_facts(bad)
    with pytest.raises(FactError) as caught:
        sqlite_history.ingest(bad)
    assert str(caught.value) == str(expected.value)
    assert sqlite_history.runs() == []
    good = (DATA / "outcome" / "h100.jsonl").read_bytes()
    sqlite_history.ingest(DATA / "outcome" / "h100.jsonl")
    before = list(sqlite_history.export())
    path = tmp_path / bad.name
    path.write_bytes(good + bad.read_bytes())
    with pytest.raises(FactError, match=f"{bad.name}:[0-9]+: ") as caught:
        sqlite_history.ingest(path)
    line = int(str(caught.value).split(".jsonl:")[1].split(":")[0])
    assert line > len(good.splitlines())
    assert list(sqlite_history.export()) == before


@pytest.fixture
def sqlite_history(tmp_path):
    with open_history(tmp_path / "history.db", create=True) as history:
        yield history


@pytest.mark.parametrize("key", ["case", "c\\u0061se", "record"])
def test_a_value_cannot_name_two_cases(history, tmp_path, key):
    """JSON lets a key come twice, and the last one counts."""
    facts = [a_fact(1, case="tiled"), a_fact(1, 5)]
    _, first, _, second, _ = records(facts)
    other = "run" if key == "record" else second["case"]
    path = tmp_path / "twice.jsonl"
    twice = f'"case":"{first["case"]}","{key}":"{other}","source"'
    path.write_text(text_of(facts).replace(f'"case":"{first["case"]}","source"', twice))
    with pytest.raises(FactError, match="jsonl:3: .*key"):
        history.ingest(path)
    assert history.runs() == []


def test_facts_of_source_lines_are_checked_and_left_out(history, ingest, tmp_path):
    line = a_fact(1, 4, scope="line", verdict=None)
    result = ingest(a_fact(1, 4), line, line)
    assert (result.new, result.of_source_lines) == (1, 2)
    with pytest.raises(FactError, match="jsonl:[456]: .*verdict"):
        ingest(a_fact(2, 4), line | {"verdict": "pass"})
    assert len(history.runs()) == 1


def test_spaces_do_not_make_a_source_line_a_case(history, tmp_path):
    text = text_of([a_fact(1, 4), a_fact(1, 4, scope="line", verdict=None)])
    path = tmp_path / "spaced.jsonl"
    path.write_text(text.replace('"scope":', '"scope" : '))
    for new in (1, 0):
        result = history.ingest(path)
        assert (result.new, result.of_source_lines) == (new, 1)


@pytest.mark.parametrize("reason", ["\x1b[31merror", "a\tb", 'say "run"', "\u2028", "\\", "run"])
def test_texts_in_any_writing_repeat(history, ingest, tmp_path, reason):
    """(warpgauge writes control characters as \\u001b: such a line is known by its members.)"""
    for night in (1, 2):
        result = ingest(a_fact(night), a_fact(night, case="tiled", reason=reason))
        assert (result.new, result.known) == (2, 0)
        ingest(a_fact(night + 10))  # the last run is another one
    (tiled,) = (series for series in history.series() if series.key.variant == "tiled")
    assert [point.reason for point in tiled.points] == [reason, reason]


def test_a_torn_last_line_is_left_out(history, tmp_path):
    path = tmp_path / "torn.jsonl"
    path.write_text(text_of([a_fact(1), registers(1)])[:-1])
    assert history.ingest(path).new == 1


@pytest.mark.parametrize(
    "name", ["facts/good_time.jsonl", "outcome/h100.jsonl", "facts/good.jsonl"]
)
def test_export_gives_back_what_came_in(history, name):
    history.ingest(DATA / name)
    wanted = [fact for fact in read_facts(DATA / name) if fact.scope == "case"]
    assert sorted(map(records_text, history.export())) == sorted(map(records_text, wanted))


def records_text(fact):
    """The records of a fact as text."""
    return "".join(map(compact, records_of([fact])))


def test_files_complete_each_other_on_a_device(history, ingest):
    ingest(a_time(1, device=GPU | {"chip": None, "sm_clock_mhz": None}))
    ingest(a_fact(1))
    ingest(a_time(2, device=GPU | {"chip": None}))
    first, second = (run.device.chip for run in history.runs())
    assert (first, second) == (GPU["chip"], None)
    assert {fact.device.sm_clock_mhz for fact in history.export(runs=RunFilter(id="run-1"))} == {
        1980
    }


def test_exports_have_the_members_of_a_fact(history, ingest, tmp_path):
    large = 2**63 + 2**12
    time = a_time(3, large, interval=[large, large + 2**12])
    ingest(a_time(1), registers(2), a_fact(2, 2**53), time)
    path = tmp_path / "out.jsonl"
    path.write_text("".join(map(as_line, records_of(history.export()))))
    assert [fact.value for fact in read_facts(path)] == [10.5, 20, 2**53, large]
    assert read_facts(path)[-1].interval == (large, large + 2**12)
    (fact, *_) = history.export()
    assert fact.run.commit == "commit-1" and fact.device.chip == GPU["chip"]


def test_exports_are_selected(history, ingest):
    ingest(a_fact(1), registers(1), a_fact(2), a_fact(2, case="tiled"))
    assert len(list(history.export(CaseFilter(("*tiled*",))))) == 1
    assert len(list(history.export(metric="registers", arch="sm_90"))) == 1
    assert {fact.run.id for fact in history.export(runs=RunFilter(id="run-2"))} == {"run-2"}


def test_prune_keeps_the_newest_values_of_each_series(history, ingest):
    for night in range(1, 6):
        ingest(a_fact(night, night), *([registers(night)] if night < 3 else []))
    result = history.prune(Keep(values=2))
    assert (result.values, result.runs, result.series) == (3, ("run-3",), 0)
    assert the_series(history) == {
        ("naive", "shared.bank_conflicts"): [("run-4", 4), ("run-5", 5)],
        ("naive", "registers"): [("run-1", 20), ("run-2", 20)],
    }
    assert ingest(a_fact(3, 3)).new == 1  # what was deleted can come again


def test_prune_by_age_counts_from_the_newest_run(history, ingest):
    for night in (1, 2, 11):
        ingest(a_fact(night, night))
    ingest(a_fact(1, 1, case="gone"))
    result = history.prune(Keep.parse("9d"))
    assert (result.values, result.runs, result.series) == (2, ("run-1",), 1)
    assert [run.id for run in history.runs()] == ["run-2", "run-11"]
    assert [key.variant for key in history.keys(arch="sm_90")] == ["naive"]
    assert len(list(history.export())) == 2
    assert history.prune(Keep.parse("9d")).values == 0


def test_a_run_is_deleted_with_all_that_it_alone_has(history, ingest):
    ingest(a_fact(1, 4), a_fact(2, 5), a_fact(2, 6, case="tiled"))
    before = list(history.export())
    with pytest.raises(CommandError, match="there is no run 'run-3'; `warpgauge report runs`"):
        history.delete_run("run-3")
    assert list(history.export()) == before
    result = history.delete_run("run-2")
    assert (result.values, result.runs, result.series) == (2, ("run-2",), 1)
    assert list(history.export()) == before[:1]
    assert ingest(a_fact(2, 7)).new == 1  # another run of that name can come


@pytest.mark.parametrize(
    "delete",
    [
        lambda history, **how: history.prune(Keep(values=1), **how),
        lambda history, **how: history.delete_run("run-1", **how),
    ],
)
def test_what_would_go_is_said_and_stays(history, ingest, delete):
    ingest(a_fact(1, 4), registers(1), a_fact(2, 5))
    before = list(history.export())
    would = delete(history, dry=True)
    assert list(history.export()) == before
    assert would.values > 0 and delete(history) == would
    assert len(list(history.export())) == len(before) - would.values


@pytest.mark.parametrize("text", ["", "0", "-1", "3x", "1.5", "d", "٣", "3 d", "9999999"])
def test_what_to_keep_is_a_number_or_days(text):
    with pytest.raises(CommandError, match="--keep: .* neither a number"):
        Keep.parse(text)


def test_hostile_names_are_data(history, ingest):
    name = "x'); DROP TABLE runs; -- %s :run ? \\ \" <script>\u202e"
    fact = a_fact(1, 1, case=name, run=name, reason=name)
    ingest(fact)
    assert [run.id for run in history.runs()] == [name]
    (found,) = history.export(runs=RunFilter(id=name))
    assert (found.case.variant, found.run.id, found.reason) == (name, name, name)


def test_runs_are_selected_by_what_they_are_called(history, ingest):
    for night, branch, label in ((1, "main", None), (2, "main", "by hand"), (3, "fix", None)):
        ingest(a_fact(night, branch=branch, label=label))
    ingest(a_fact(4))
    for chosen, nights in (
        (RunFilter(), [1, 2, 3, 4]),
        (RunFilter(branch="main"), [1, 2]),
        (RunFilter(branch=""), [4]),
        (RunFilter(label="by hand"), [2]),
        (RunFilter(branch="main", label=""), [1]),
        (RunFilter(id="run-3"), [3]),
        (RunFilter(branch="fix", id="run-1"), []),
        (RunFilter(since=date(2026, 1, 3)), [3, 4]),
        (RunFilter(since=date(2026, 1, 2), until=date(2026, 1, 3)), [2, 3]),
    ):
        names = [f"run-{night}" for night in nights]
        assert [run.id for run in history.runs(chosen)] == names
        assert [fact.run.id for fact in history.export(runs=chosen)] == names
        points = [point for series in history.series(runs=chosen) for point in series.points]
        assert [point.run.id for point in points] == names


def test_the_last_nights_are_those_of_the_chosen_runs(history, ingest):
    for night in (1, 2, 3):
        ingest(a_fact(night, branch="fix" if night == 3 else "main"))
    (series,) = history.series(last_nights=1, runs=RunFilter(branch="main"))
    assert [point.run.id for point in series.points] == ["run-2"]

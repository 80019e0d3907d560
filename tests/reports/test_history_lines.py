"""Which values of a file are read, and which are known by the digest of their line and case."""

import pytest
from some_facts import GPU, a_fact, as_line, records, registers
from warpgauge.facts import contract
from warpgauge.facts.reader import FactFile
from warpgauge.history import open_history


@pytest.fixture
def read(monkeypatch):
    """The number of values that were read since the last look."""
    numbers, fact = [], FactFile.fact

    def noting(file, value):
        numbers.append(value.number)
        return fact(file, value)

    monkeypatch.setattr(FactFile, "fact", noting)

    def look():
        seen = len(numbers)
        numbers.clear()
        return seen

    return look


@pytest.fixture
def ingest(tmp_path):
    with open_history(tmp_path / "history.db", create=True) as history:

        def bring(*facts, spell=as_line):
            path = tmp_path / "facts.jsonl"
            path.write_text("".join(map(spell, records(facts))))
            return history.ingest(path)

        yield bring


def a_night(night, **members):
    cases = (f"case_{number}" for number in range(4))
    return [a_fact(night, case=case, **members) for case in cases]


def test_what_repeats_is_not_read_again(ingest, read):
    ingest(*a_night(1))
    assert read() == 4
    assert ingest(*a_night(2)).new == 4
    assert read() == 0
    assert ingest(*a_night(3), a_fact(3, 7)).new == 5
    assert read() == 1


def test_what_any_run_had_is_known(ingest, read):
    ingest(*a_night(1))
    ingest(a_fact(2, 9))
    read()
    assert ingest(*a_night(3)).new == 4
    assert read() == 0


def test_each_device_has_states_of_its_own(ingest, read):
    ingest(*a_night(1))
    read()
    assert ingest(*a_night(2), *a_night(2, device=GPU | {"name": "another"})).new == 8
    assert read() == 4


def test_source_lines_are_always_read(ingest, read):
    facts = [a_fact(), *(a_fact(1, n, scope="line", verdict=None) for n in range(2))]
    for wanted in (3, 2):
        assert ingest(*facts).of_source_lines == 2
        assert read() == wanted


def test_with_another_schema_all_is_read_again(ingest, read, monkeypatch):
    ingest(*a_night(1))
    read()
    monkeypatch.setattr(contract, "digest", lambda: b"another")
    assert ingest(*a_night(2)).new == 4
    assert read() == 4


@pytest.mark.parametrize(
    "spell",
    [
        lambda record: as_line(record).replace(',"source":', ', "source":'),
        lambda record: as_line(record).replace(',"values":', ', "values":'),
        lambda record: as_line(record).replace('"reason":"', '"reason":"\\u0041'),
        lambda record: as_line(dict(reversed(record.items()))),
        lambda record: as_line({"values": record["values"]} | record),
    ],
)
def test_lines_in_other_forms_are_facts_too(ingest, spell):
    for night in (1, 2):
        assert ingest(*a_night(night), spell=lambda record: spelled(record, spell)).new == 4


def spelled(record, spell):
    return spell(record) if record["record"] == "values" else as_line(record)


def test_a_run_that_lacks_members_is_an_error(ingest):
    ingest(a_fact(1), registers(1))
    with pytest.raises(ValueError, match="jsonl:1: missing key 'dirty'"):
        ingest(a_fact(2), spell=lambda record: as_line(record).replace(',"dirty":false', ""))


def test_a_value_needs_its_run_and_its_case_above(tmp_path):
    run, case, value = records([a_fact(1)])
    path = tmp_path / "facts.jsonl"
    for lines, error in (
        ([value], "jsonl:1: key 'record' must be 'run' before any other"),
        ([run, value, case], "jsonl:2: there is no case '.*' above this line"),
        ([run, case, case | {"arch": "sm_80"}, value], "jsonl:3: the case '.*' occurs above"),
    ):
        path.write_text("".join(map(as_line, lines)))
        with pytest.raises(ValueError, match=error):
            FactFile(path)

"""Which lines of a file are read, and which are known by their head and tail."""

import pytest
from some_facts import GPU, a_fact, as_line, registers
from warpgauge.history import lines, open_history


@pytest.fixture
def read(monkeypatch):
    """The numbers of the lines that were read since the last look."""
    numbers, read_line = [], lines.read_line

    def noting(path, number, line):
        numbers.append(number)
        return read_line(path, number, line)

    monkeypatch.setattr(lines, "read_line", noting)

    def look():
        seen = list(numbers)
        numbers.clear()
        return seen

    return look


@pytest.fixture
def ingest(tmp_path):
    with open_history(tmp_path / "history.db", create=True) as history:

        def bring(*facts, spell=as_line):
            path = tmp_path / "facts.jsonl"
            path.write_text("".join(map(spell, facts)))
            return history.ingest(path)

        yield bring


def a_night(night, **members):
    cases = (f"case_{number}" for number in range(4))
    return [a_fact(night, case=case, **members) for case in cases]


def test_what_repeats_is_read_for_its_head_only(ingest, read):
    ingest(*a_night(1))
    assert read() == [1, 2, 3, 4]
    assert ingest(*a_night(2)).new == 4
    assert read() == [1]
    assert ingest(*a_night(3), a_fact(3, 7)).new == 5
    assert read() == [1, 5]


def test_what_any_run_had_is_known(ingest, read):
    ingest(*a_night(1))
    ingest(a_fact(2, 9))
    read()
    assert ingest(*a_night(3)).new == 4
    assert read() == [1]


def test_each_device_has_a_head_and_states_of_its_own(ingest, read):
    ingest(*a_night(1))
    read()
    assert ingest(*a_night(2), *a_night(2, device=GPU | {"name": "another"})).new == 8
    assert read() == [1, 5, 6, 7, 8]


def test_source_lines_are_always_read(ingest, read):
    facts = [a_fact(), *(a_fact(1, n, scope="line", verdict=None) for n in range(2))]
    for _ in range(2):
        assert ingest(*facts).of_source_lines == 2
        assert read() == [1, 2, 3]


def test_with_another_schema_all_is_read_again(ingest, read, monkeypatch):
    ingest(*a_night(1))
    read()
    monkeypatch.setattr(lines, "schema_text", lambda: "another")
    assert ingest(*a_night(2)).new == 4
    assert read() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "spell",
    [
        lambda fact: as_line(fact).replace(',"id":', ', "id":'),
        lambda fact: as_line(fact).replace('"reason":"', '"reason":"\\u0041'),
        lambda fact: as_line(dict(reversed(fact.items()))),
        lambda fact: as_line({"id": fact["id"]} | fact),
    ],
)
def test_lines_in_other_forms_are_always_read(ingest, read, spell):
    for night in (1, 2):
        assert ingest(*a_night(night), spell=spell).new == 4
        assert sorted(set(read())) == [1, 2, 3, 4]


def test_a_known_tail_with_a_head_that_lacks_members_is_an_error(ingest):
    ingest(a_fact(1), registers(1))
    with pytest.raises(ValueError, match="jsonl:1: missing key 'dirty'"):
        ingest(a_fact(2), spell=lambda fact: as_line(fact).replace('"dirty":false,', ""))


def test_a_tail_that_needs_its_head_is_not_known_by_itself(ingest):
    def verdict_first(fact):
        return as_line({key: fact[key] for key in (*list(fact)[:8], "verdict")} | fact)

    def without_verdict(fact):
        return as_line({key: value for key, value in fact.items() if key != "verdict"})

    ingest(a_fact(1), spell=verdict_first)
    with pytest.raises(ValueError, match="jsonl:2: missing key 'verdict'"):
        spell = iter((as_line, without_verdict))
        ingest(a_fact(2, case="tiled"), a_fact(2), spell=lambda fact: next(spell)(fact))

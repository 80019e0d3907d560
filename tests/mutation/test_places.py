"""The places that mutants are drawn from, and the list of survivors."""

import re

import places
import pytest

SOURCE = """\
#include <vector>
#define TWICE(x) (2 * (x))
// a < b
static_assert(sizeof(int) == 4, "1 < 2");
template <int N>
std::vector<int> f(const int& a, int&& b) {
  const char c = '<', *text = "a < b && 3", *raw = R"x(1 == 1)x";
  if (a < b && !done(0x1Fu)) return {};
  return sum(a,
             1.5f);
}
bool operator==(const A& a, const A& b) = default;
"""


def found():
    return {
        (place.line, place.before, after)
        for place in places.places_of(SOURCE, "a.cpp")
        for after in place.replacements
    }


def test_places_are_comparisons_constants_operators_and_returns():
    assert found() == {
        (8, "<", "<="),
        (8, "<", ">="),
        (8, "&&", "||"),
        (8, "!", ""),
        (8, "0x1Fu", "0x20u"),
        (9, " sum(a,\n             1.5f)", " {}"),
        (10, "1.5f", "2.5f"),
    }


@pytest.mark.parametrize(
    "number, following",
    [("0", "1"), ("9u", "10u"), ("0xffULL", "0x100ULL"), ("0b1", "0b10"), ("1'000", "1001")]
    + [("017", "16"), ("0.5", "1.5"), ("1e3f", "1001.0f"), ("2.", "3.0"), ("1_km", None)],
)
def test_the_next_number_is_written_as_the_number_is(number, following):
    assert places.next_number(number) == following


def test_a_mutant_changes_its_place_alone_and_keeps_the_lines():
    for mutant in places.mutants_at(places.places_of(SOURCE, "a.cpp")):
        mutated = mutant.apply(SOURCE)
        assert mutated != SOURCE
        assert mutated.count("\n") == SOURCE.count("\n")
        before, after = mutant.lines(SOURCE)
        assert before != after
        assert " ".join(SOURCE.split()).replace(before, after) == " ".join(mutated.split())


def checkout(folder, survivor):
    (folder / "metrics/cupti").mkdir(parents=True)
    (folder / "metrics/a.cpp").write_text("int f(int a) {\n  return a + 1;\n}\n")
    (folder / "metrics/cupti/nvml.cpp").write_text("int g() { return 2; }\n")
    (folder / "survivors.toml").write_text(survivor)
    return folder / "survivors.toml", folder


ENTRY = """[[survivor]]
file = "metrics/a.cpp"
before = "return a + 1;"
after = "return a - 1;"
reason = "a example"
"""


def test_a_survivor_is_found_by_its_text(tmp_path):
    survivors = places.accepted_survivors(*checkout(tmp_path, ENTRY))
    assert survivors == {"metrics/a.cpp:2:12:+->-": "a example"}


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("a + 1", "a + 2", "0 mutants fit"),
        ("a - 1", "a * 1", "0 mutants fit"),
        ("a example", " ", "the reason is blank"),
        ("a.cpp", "cupti/nvml.cpp", "no mutants are drawn from this file"),
    ],
)
def test_an_entry_that_fits_nothing_is_an_error(tmp_path, old, new, message):
    with pytest.raises(ValueError, match=message):
        places.accepted_survivors(*checkout(tmp_path, ENTRY.replace(old, new)))


def test_the_survivors_of_this_tree_fit():
    places.accepted_survivors(places.HERE / "survivors.toml", places.ROOT)


def test_excluded_files_exist_and_the_others_have_places():
    files = {place.file for place in places.all_places(places.ROOT)}
    for pattern in places.EXCLUDED:
        assert list(places.ROOT.glob(pattern)), pattern
    assert not [file for file in files if re.search("cupti_(sass|range|none)|nvml", file)]
    assert {
        "metrics/budgets/judge.cpp",
        "metrics/facts/limit.h",
        "harness/outcome/outcome.cpp",
    } <= files

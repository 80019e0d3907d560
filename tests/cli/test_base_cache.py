"""What the build of a base takes over from the cache of the build that it is compared with."""

import pytest
from warpgauge.base_run import Entry, initial_cache, read_cache


def test_entries_are_read_with_all_that_is_in_their_values(tmp_path):
    cache = tmp_path / "CMakeCache.txt"
    cache.write_text('# a comment\n//help\nFLAGS:STRING=-DA="b";x\nNEW:UNINITIALIZED=a:b=c\n')
    assert read_cache(cache) == [
        Entry("FLAGS", "STRING", '-DA="b";x'),
        Entry("NEW", "UNINITIALIZED", "a:b=c"),
    ]


@pytest.fixture
def taken_over(tmp_path):
    """The value and the type that an entry has there, None if it is left out. Paths begin with ROOT
    and BUILD, there with SOURCE and BUILT; SOURCE has the folder `include` alone."""
    root, source, built = (tmp_path / name for name in ("root", "there", "built"))
    (source / "include").mkdir(parents=True)
    build = root / "build"
    folders = {"BUILD": build, "ROOT": root, "SOURCE": source, "BUILT": built}

    def take(kind, value):
        for name, folder in folders.items():
            value = value.replace(name, str(folder))
        text = initial_cache([Entry("NAME", kind, value)], (root, source), (build, built))
        if not text.strip():
            return None
        for name, folder in folders.items():
            text = text.replace(str(folder), name)
        begin, value, end = text.partition("[==[")[0], *text.split("[==[")[1].split("]==]")
        assert begin == "set(NAME " and end.endswith(' "")\n')
        return value, end.split()[1]

    return take


@pytest.mark.parametrize(
    "value, there",
    [
        ("ROOT/include", "SOURCE/include"),
        ('-IROOT/include -DA="ROOT/include";x', '-ISOURCE/include -DA="SOURCE/include";x'),
        ("BUILD/_deps", "BUILT/_deps"),
    ],
)
def test_paths_of_the_tree_and_of_the_build_move(taken_over, value, there):
    assert taken_over("STRING", value) == (there, "STRING")


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("ROOT/ignored", id="not there, as git ignores it"),
        pytest.param("/xROOT/include", id="below another folder"),
        pytest.param("ROOT-2/include", id="of a longer name"),
        pytest.param("a:b=c", id="no path"),
    ],
)
def test_other_values_stay_as_they_are(taken_over, value):
    assert taken_over("PATH", value) == (value, "PATH")


def test_an_entry_of_no_type_is_a_text(taken_over):
    assert taken_over("UNINITIALIZED", "x") == ("x", "STRING")


@pytest.mark.parametrize(
    "kind, value", [("FILEPATH", "LOST-NOTFOUND"), ("INTERNAL", "ROOT"), ("STATIC", "1")]
)
def test_what_was_not_found_or_is_of_cmake_itself_is_left_out(taken_over, kind, value):
    assert taken_over(kind, value) is None

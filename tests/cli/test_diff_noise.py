"""`warpgauge diff` of noisy values: when they count as changed, on which GPU, and why."""

import json

import pytest
from diff_runs import a_fact, a_time, differ, rows
from some_facts import GPU


@pytest.fixture
def diff(tmp_path):
    return differ(tmp_path)


OTHER_CODE = {"code_hash": "d", "sass_hash": "b", "source_hash": "6"}


def test_a_noisy_value_changed_if_the_intervals_do_not_overlap(diff):
    def after(*time):
        return diff([a_time(10, 9, 11)], [a_time(*time, **OTHER_CODE)])

    assert after(11.5, 10.5, 12)[0] == 0
    code, out, _ = after(12, 11.5, 12.5)
    assert code == 1
    assert "10 -> 12 us (+20.0%)" in out
    assert after(8, 7.5, 8.5)[0] == 0


@pytest.mark.parametrize(
    "value, options, code",
    [
        (10.29, [], 0),
        (10.31, [], 1),
        (10.31, ["--noise", "4%"], 0),
        (10.31, ["--noise", "0.04"], 0),
        (10.1, ["--noise", "0%"], 1),
    ],
)
def test_processes_differ_by_more_than_the_interval_of_one(diff, value, options, code):
    after = a_time(value, value - 0.01, value + 0.01, **OTHER_CODE)
    assert diff([a_time(10, 9.99, 10.01)], [after], *options)[0] == code


@pytest.mark.parametrize("share", ["3", "-1%", "nan", "much", "%"])
def test_a_noise_that_is_no_share_is_a_fault(diff, share):
    code, _, err = diff([a_fact()], [a_fact()], f"--noise={share}")
    assert code == 2
    assert f"'{share}' is not a share" in err


def test_what_the_environment_moved_is_shown_and_counted_and_not_worse(diff, tmp_path):
    json_ = str(tmp_path / "diff.json")
    code, out, _ = diff([a_time(10, 9, 11)], [a_time(20, 19, 21)], "--all", "--json", json_)
    assert code == 0
    assert rows(out) == ["moved   time.median_us  10 -> 20 us (+100.0%); environment"]
    assert out.endswith("NOT WORSE: 1 kernel moved with the same machine code and launches\n")
    document = json.loads((tmp_path / "diff.json").read_text())
    assert document["exit_code"] == 0 and document["marks"]["moved"] == 1
    code, out, _ = diff([a_time(10, 9, 11)], [a_time(5, 4, 6)], "--all")
    assert code == 0 and rows(out)[0].startswith("moved   time.median_us  10 -> 5 us")


def test_an_exact_count_is_never_the_environments(diff):
    assert diff([a_fact(value=1, code_hash="c")], [a_fact(value=2, code_hash="c")])[0] == 1


def on_gpu(name, hash_="9c1185a5"):
    return {"device": {**GPU, "name": name, "uuid_hash": hash_}}


def test_noisy_values_of_two_gpus_of_one_architecture_are_kept_apart(diff):
    a = [a_time(10, 9, 11, **on_gpu("L4", "1")), a_time(5, 4, 6, **on_gpu("RTX 4090", "2"))]
    b = [a_time(20, 19, 21, **on_gpu("L4", "1"), **OTHER_CODE), a[1]]
    code, out, _ = diff(a, b, "--all")
    assert code == 1
    worse = "worse   time.median_us  10 -> 20 us (+100.0%) on L4 1; code"
    assert rows(out) == [worse]
    same = "same    time.median_us  5 -> 5 us on RTX 4090 2"
    assert f"  {same}\n" in out
    assert "10 -> 20 us (+100.0%) on L4 1; code\n" in diff(a, b)[1]


def test_other_gpus_of_the_same_name_are_compared_and_of_another_are_not(diff):
    before = [a_fact(), a_time(10, 9, 11, **on_gpu("L4", "1"))]
    after = a_time(20, 19, 21, **on_gpu("L4", "2"), **OTHER_CODE)
    code, out, _ = diff(before, [a_fact(), after], "--all")
    assert code == 1
    assert rows(out)[0].endswith("10 -> 20 us (+100.0%); code, GPU 1 -> 2")
    after = a_time(20, 19, 21, **on_gpu("RTX 4090", "2"))
    code, out, _ = diff(before, [a_fact(), after], "--all")
    assert code == 3
    assert [row.split()[0] for row in rows(out)] == ["lost", "new"]


@pytest.mark.parametrize(
    "after, cause",
    [
        ({}, "environment"),
        ({"source_hash": "6"}, "environment"),  # a comment, perhaps
        ({"device": {**GPU, "driver": "1"}}, "driver, driver 580.65.06 -> 1"),
        ({"code_hash": "d"}, "launch"),
        ({"code_hash": "d", "sass_hash": "b"}, "compiler"),
        ({"code_hash": "d", "source_hash": "6", "sass_hash": "b"}, "code"),
        ({"code_hash": None}, "unknown"),
        ({"code_hash": None, "sass_hash": None, "source_hash": None}, "unknown"),
    ],
)
def test_causes_of_times(diff, after, cause):
    """Only what is known to be the same code is the machine's."""
    code, out, _ = diff([a_time(10, 9, 11)], [a_time(20, 19, 21, **after)], "--all")
    assert rows(out)[0].endswith(f"; {cause}")
    assert code == (0 if cause.startswith(("environment", "driver")) else 1)

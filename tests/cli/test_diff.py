"""`warpgauge diff` as a user or a CI job sees it: marks, causes, order, exit codes, JSON."""

import json
import os
import pty
import re
import resource
import subprocess

import pytest
from diff_runs import BIN, a_fact, a_line, a_time, differ, rows
from some_facts import FACT, GPU, write


@pytest.fixture
def diff(tmp_path):
    return differ(tmp_path)


def test_nothing_changed(diff):
    code, out, _ = diff([a_fact()], [a_fact()])
    assert code == 0
    assert out.split("\n\n")[1:] == ["NOT WORSE: 1 kernel the same\n"]


@pytest.mark.parametrize(
    "metric, before, after, mark, code",
    [
        ("shared.bank_conflicts", 100, 101, "worse", 1),
        ("shared.bank_conflicts", 100, 99, "better", 0),
        ("shared.bank_conflicts", 0, 1, "worse", 1),
        ("occupancy.theoretical", 0.5, 0.25, "worse", 1),
        ("occupancy.theoretical", 0.5, 1, "better", 0),
        ("occupancy.limiter", "warps", "registers", "changed", 0),
        ("global.sectors_ideal", 10, 20, "changed", 0),
        ("shared.bank_conflicts", 100, None, "lost", 3),
        ("shared.bank_conflicts", None, 100, "new", 0),
    ],
)
def test_marks_and_exit_codes(diff, metric, before, after, mark, code):
    same = a_fact("registers", 20)
    before, after = [same, a_fact(metric, before)], [same, a_fact(metric, after)]
    result, out, err = diff(before, after, "--all")
    assert result == code, err
    (row,) = rows(out)
    assert row.startswith(f"{mark:<7} {metric}  ")


def test_other_code_is_said_beside_values_that_one_side_lacks(diff):
    """As the cubins of CUDA 12 lack some: only of common values it is known."""
    kernel = {"kind": "inspected", "kernel": "_Z1fv"}
    a = [a_fact("registers", 20, **kernel)]
    for sass, text in [("a", "code the same"), ("b", "code in another order, equal work")]:
        members = {**kernel, "sass_hash": sass}
        b = [a_fact("registers", 20, **members), a_fact("barriers", 1, **members)]
        _, out, err = diff(a, b)
        assert text in out, out + err


def test_an_error_of_a_newer_run_outweighs_what_was_measured_before(diff):
    error = {"verdict": "error", "reason": "illegal memory access", "run": "2"}
    for time, expected in (("2026-06-01", 1), ("2026-04-01", 0)):
        failed = a_fact(value=None, time=f"{time}T00:00:00Z", **error)
        for b in ([a_fact(), failed], [failed, a_fact()]):
            code, out, _ = diff([a_fact()], b)
            assert code == expected
            assert ("illegal memory access" in out) == bool(expected)


@pytest.mark.parametrize("run", ["2", FACT["run"]])
def test_two_values_of_one_time_that_differ_are_a_fault(diff, run):
    """Neither is newer, wherever they stand in the file."""
    twice = [a_fact(value=3), a_fact(value=5, run=run)]
    for sides in ((twice, [a_fact()]), ([a_fact()], twice[::-1])):
        code, out, err = diff(*sides)
        assert (code, out) == (2, "")
        assert "shared.bank_conflicts of transpose.tiled.f32@8x8 on sm_90 is " in err
        assert f"3 in run {FACT['run']}" in err and f"5 in run {run}" in err
    code, _, _ = diff([a_fact(value=3), a_fact(value=3, run=run)], [a_fact(value=3)])
    assert code == 0, "the same twice is no contradiction"


def test_a_noisy_value_without_an_interval_is_counted_and_not_called_the_same(diff):
    code, out, _ = diff([a_time(10, 9, 11)], [a_time(99, 0, 0, interval=None)])
    assert code == 0
    assert "1 noisy value without an interval, or estimate, not compared" in out
    assert "the same" not in out


def test_an_estimate_is_compared_only_where_something_else_changed(diff):
    unsure = {"confidence": "estimate", "confidence_reason": "CUPTI loses some"}
    code, out, _ = diff([a_fact(value=10, **unsure)], [a_fact(value=12, **unsure)])
    assert code == 0 and "1 noisy value without an interval, or estimate, not compared" in out
    code, out, _ = diff([a_fact(value=10)], [a_fact(value=12, sass_hash="b", **unsure)], "--all")
    assert code == 0 and rows(out)[0].startswith("changed shared.bank_conflicts")


@pytest.mark.parametrize(
    ("occupancy", "code"), [((1, 1), 0), ((0.5, 1), 0), ((1, 0.5), 1), ((None, None), 0)]
)
def test_more_shared_memory_is_no_loss_where_occupancy_did_not_fall(diff, occupancy, code):
    """A tile of [32][33] for [32][32] has 128 bytes more, and no conflicts."""
    sides = [
        [
            a_fact("shared.bank_conflicts", conflicts, sass_hash=sass),
            a_fact("shared.static_bytes", bytes, sass_hash=sass),
            *([] if fraction is None else [a_fact("occupancy.theoretical", fraction)]),
        ]
        for conflicts, bytes, sass, fraction in zip(
            (992, 0), (4096, 4224), "ab", occupancy, strict=True
        )
    ]
    result, out, err = diff(*sides, "--all")
    assert result == code, err
    marks = {row.split()[1]: row.split()[0] for row in rows(out)}
    assert marks["shared.static_bytes"] == "changed"
    assert marks["shared.bank_conflicts"] == "better"


@pytest.mark.parametrize(
    ("occupancy", "mark"),
    [
        *[((0.5, 1), "changed"), ((1, 1), "changed"), ((1, 0.5), "worse")],
        ((None, None), "worse"),  # not known
    ],
)
def test_more_registers_are_worse_only_where_occupancy_fell(diff, occupancy, mark):
    sides = [
        [
            a_fact("registers", registers),
            *([] if fraction is None else [a_fact("occupancy.theoretical", fraction)]),
        ]
        for registers, fraction in zip((32, 40), occupancy, strict=True)
    ]
    code, out, _ = diff(*sides, "--all")
    assert code == (1 if mark == "worse" else 0)
    assert {row.split()[1]: row.split()[0] for row in rows(out)}["registers"] == mark


PADDED = [
    ("shared.bank_conflicts", 4177920, 0),
    ("shared.wavefronts", 4472832, 688128),
    ("shared.requests", 294912, 688128),
    ("shared.static_bytes", 8192, 8320),
    ("occupancy.theoretical", 0.5, 1),
]


def test_a_padded_tile_is_better_though_it_needs_more_requests(diff):
    code, out, _ = diff(*([a_fact(m, side[i]) for m, *side in PADDED] for i in (0, 1)))
    assert code == 0
    assert out.split("\n\n")[2:] == [
        "better  transpose.tiled.f32@8x8 on sm_90\n"
        "        shared.bank_conflicts 4177920 -> 0 wavefronts (-100.0%); input or counter"
        " (and 1 more of shared)\n"
        "        occupancy.theoretical 0.5 -> 1 fraction (+100.0%); input or counter",
        "NOT WORSE: 1 kernel better\n",
    ]


def test_what_explains_is_worse_under_a_budget_of_its_own(diff):
    budget = {"budget": "= 294912", "budget_reason": "one a row", "verdict": "pass"}
    budget["origin"] = "budgets.toml:12"
    before = [a_fact(m, a, **(budget if m == "shared.requests" else {})) for m, a, _ in PADDED]
    code, out, _ = diff(before, [a_fact(m, b) for m, _, b in PADDED])
    assert code == 1
    assert "worse   transpose" in out and "WORSE: 1 kernel worse" in out
    assert "        shared.requests 294912 -> 688128 requests (+133.3%)" in out
    assert "        better: shared.bank_conflicts 4177920 -> 0 wavefronts" in out


def test_a_loss_and_a_gain_of_one_kernel_are_both_shown(diff):
    before = [a_fact(value=100), a_fact("spill.store_bytes", 0), a_fact("global.excess_sectors", 9)]
    after = [a_fact(value=0), a_fact("spill.store_bytes", 64), a_fact("global.excess_sectors", 9)]
    code, out, _ = diff(before, after)
    assert code == 1
    assert out.split("\n\n")[2:] == [
        "worse   transpose.tiled.f32@8x8 on sm_90\n"
        "        spill.store_bytes 0 -> 64 bytes/thread; input or counter\n"
        "        better: shared.bank_conflicts 100 -> 0 wavefronts (-100.0%); input or counter",
        "WORSE: 1 kernel worse\n",
    ]


@pytest.mark.parametrize("confidence, code", [(None, 1), ("estimate", 0)])
def test_an_estimate_of_equal_code_is_never_worse_whichever_kernel_is_blamed(
    diff, confidence, code
):
    """Of a case with two kernels that both spin, now the one has most and now the other."""
    reason = confidence and "what an atomic returns decides a branch"
    members = {"confidence": confidence, "confidence_reason": reason, "code_hash": "c"}
    a = a_fact(value=10, kernel="first", sass_hash="a", **members)
    b = a_fact(value=12, kernel="second", sass_hash="b", **members)
    assert diff([a], [b])[0] == code


@pytest.mark.parametrize(
    "before, after, cause",
    [
        ({}, {"source_hash": "6", "sass_hash": "b"}, "code"),
        ({}, {"sass_hash": "b"}, "compiler"),
        ({}, {"sass_hash": "b", "toolkit": "13.1"}, "compiler, toolkit 13.0 -> 13.1"),
        ({"source_hash": None}, {"sass_hash": "b"}, "code or compiler"),
        ({}, {}, "input or counter"),
        ({}, {"source_hash": "6"}, "code"),
        ({}, {"launch": {**FACT["launch"], "grid": [1, 1, 1]}}, "launch"),
        ({"sass_hash": None, "source_hash": None}, {}, "unknown"),
        ({"sass_hash": None}, {}, "input or counter"),
        ({"sass_hash": None}, {"flags": "-G"}, "compiler, flags -O3 -lineinfo -> -G"),
        (
            {},
            {"device": {**GPU, "driver": "1"}},
            "input or counter, driver 580.65.06 -> 1",
        ),
    ],
)
def test_causes(diff, before, after, cause):
    _, out, _ = diff([a_fact(value=1, **before)], [a_fact(value=2, **after)], "--all")
    (row,) = rows(out)
    assert row.endswith(f"(+100.0%); {cause}")


def test_the_worst_case_comes_first_and_its_lines_stand_below_it(diff):
    def run_of(conflicts, other, best):
        return [
            a_fact(value=best, case=("a", "better")),
            a_fact(value=other, case=("b", "little")),
            a_fact(value=conflicts, case=("c", "much")),
            a_line(40, conflicts - 10, case=("c", "much")),
            a_line(41, 10, case=("c", "much")),
        ]

    before, after = run_of(100, 100, 100), run_of(300, 110, 50)
    code, out, _ = diff(before, after)
    assert code == 1
    assert out.split("\n\n")[1:] == [
        "kernels by cause     worse   moved changed  better\n"
        "input or counter         2       0       0       1",
        "worse   c.much.f32@8x8 on sm_90\n"
        "        shared.bank_conflicts 100 -> 300 wavefronts (+200.0%), "
        "kernels/transpose/transpose.cu:40; input or counter\n"
        "worse   b.little.f32@8x8 on sm_90\n"
        "        shared.bank_conflicts 100 -> 110 wavefronts (+10.0%); input or counter\n"
        "better  a.better.f32@8x8 on sm_90\n"
        "        shared.bank_conflicts 100 -> 50 wavefronts (-50.0%); input or counter",
        "WORSE: 2 kernels worse, 1 better\n",
    ]
    assert diff(before, after, "--all")[1].split("\n\n")[1:] == [
        "c.much.f32@8x8 on sm_90\n"
        "  worse   shared.bank_conflicts  100 -> 300 wavefronts (+200.0%); input or counter\n"
        "          worse   kernels/transpose/transpose.cu:40: 90 -> 290\n"
        "          same    kernels/transpose/transpose.cu:41: 10 -> 10",
        "b.little.f32@8x8 on sm_90\n"
        "  worse   shared.bank_conflicts  100 -> 110 wavefronts (+10.0%); input or counter",
        "a.better.f32@8x8 on sm_90\n"
        "  better  shared.bank_conflicts  100 -> 50 wavefronts (-50.0%); input or counter",
        "WORSE: 2 kernels worse, 1 better\n",
    ]


def test_lines_that_only_moved_down_are_the_same(diff):
    before = [a_fact(), a_line(40, 60), a_line(41, 40)]
    after = [a_fact(value=130), a_line(45, 60), a_line(46, 70)]
    _, out, _ = diff(before, after, "--all")
    assert rows(out)[1:] == [
        "new     kernels/transpose/transpose.cu:46: 0 -> 70",
        "gone    kernels/transpose/transpose.cu:41: 40 -> 0",
    ]


def test_lines_of_other_kernels_are_others(diff):
    before = [a_fact(), a_line(40, 100, kernel="one")]
    after = [a_fact(value=200), a_line(40, 200, kernel="two")]
    _, out, _ = diff(before, after, "--all")
    assert [row.split()[0] for row in rows(out)[1:]] == ["new", "gone"]


def test_one_screen_has_ten_cases_and_five_lost_ones(diff):
    def run_of(count, value):
        return [a_fact(value=value, case=(f"f{n:02}", "v")) for n in range(count)]

    before = [*run_of(30, 100), *(a_fact(case=("lost", f"v{n}")) for n in range(8))]
    after = [*run_of(30, 200), *(a_fact(case=("new", f"v{n}")) for n in range(8))]
    code, out, _ = diff(before, after)
    assert code == 1
    _, _, cases, lost, headline = out.split("\n\n")
    assert cases.count("\nworse ") == 9 and cases.startswith("worse   f00.v.f32@8x8 on sm_90\n")
    assert cases.endswith("\nand 20 more kernels (--all shows them)")
    assert lost.splitlines()[0] == "lost    lost.v0.f32@8x8 on sm_90: the whole case, 1 value"
    assert lost.endswith("\nand 11 more lost or new kernels (--all shows them)")
    assert len(lost.splitlines()) == 6
    assert headline == "WORSE: 30 kernels worse, 8 lost, 8 new\n"
    assert len(out.splitlines()) <= 40
    everything = diff(before, after, "--all")[1]
    assert len(rows(everything)) == 46 and "more" not in everything


def test_a_variant_has_one_row_over_architectures_and_sizes(diff):
    def run_of(value):
        return [
            a_fact(value=value + wide, arch=arch, size=size)
            for arch in ("sm_80", "sm_90")
            for wide, size in enumerate(("8x8", "9x9"))
        ]

    _, out, _ = diff(run_of(100), [*run_of(200), a_fact("registers", 9, arch="sm_90")])
    row = "worse   transpose.tiled.f32@8x8 on sm_80 and 3 more\n"
    assert (
        f"\n{row}        shared.bank_conflicts 100 -> 200" in out
        and "(and 3 more of shared)\n" in out
    )
    assert out.endswith("\nWORSE: 1 kernel worse\n")


def test_many_lines_are_shown_with_all_only(diff):
    before = [a_fact(), *(a_line(n, 1) for n in range(1, 21))]
    after = [a_fact(value=200), *(a_line(n, 2 + n) for n in range(1, 21))]
    assert diff(before, after)[1].count("transpose.cu:") == 1
    assert "transpose.cu:20; " in diff(before, after)[1]
    assert len(rows(diff(before, after, "--all")[1])) == 21


def test_what_is_never_judged_is_shown_with_all_only(diff):
    before, after = [a_fact("result.max_error", 1e-6)], [a_fact("result.max_error", 1e-3)]
    code, out, _ = diff(before, after)
    assert code == 0 and "result.max_error" not in out
    assert rows(diff(before, after, "--all")[1])[0].startswith("changed result.max_error")


def test_a_case_that_fails_in_b_is_worse_and_in_both_is_the_same(diff):
    wrong = {"verdict": "error", "reason": "wrong result: element 0 is 1, expected 2"}
    good, bad = a_fact("result.correct", 1), a_fact("result.correct", None, **wrong)
    other = a_fact()
    code, out, _ = diff([good, other], [bad, other])
    assert code == 1
    assert "a case that fails        1       0       0       0\n" in out
    assert "1 -> - bool: wrong result: element 0 is 1, expected 2" in out
    assert diff([bad, other], [bad, other])[0] == 0
    code, out, _ = diff([bad, other], [good, other], "--all")
    assert code == 0 and rows(out)[0].startswith("better  result.correct")


def test_a_case_that_is_not_in_b_is_lost_as_a_whole(diff):
    gone = [a_fact(case=("a", "gone")), a_fact("registers", 9, case=("a", "gone"))]
    code, out, _ = diff([a_fact(), *gone], [a_fact()])
    assert code == 3
    assert "\nlost    a.gone.f32@8x8 on sm_90: the whole case, 2 values\n" in out
    code, out, _ = diff([a_fact()], [a_fact(), *gone])
    assert code == 0
    assert "\nnew     a.gone.f32@8x8 on sm_90: the whole case, 2 values\n" in out
    assert diff([a_fact()], [a_fact(), *gone], "--require-all")[0] == 3
    assert diff([a_fact()], [a_fact()], "--require-all")[0] == 0
    assert diff([a_fact(), *gone], [a_fact()], "--filter", "transpose.*")[0] == 0


def test_worse_outweighs_lost(diff):
    before = [a_fact(), a_fact("registers", 9)]
    assert diff(before, [a_fact(value=101)])[0] == 1


def test_the_newest_run_of_a_file_counts(diff):
    old = a_fact(value=500, time="2026-01-01T00:00:00Z", run="old")
    old_line = a_line(40, 500, time="2026-01-01T00:00:00Z", run="old")
    new = a_fact(value=100, time="2026-02-01T00:00:00Z", run="new")
    assert diff([a_fact()], [new, old, old_line])[0] == 0


@pytest.mark.parametrize(
    "before, after, options, message",
    [
        ([], [a_fact()], [], "a.jsonl: no facts"),
        ([a_fact()], [a_fact(case=("a", "b"))], [], "measured nothing in common"),
        ([a_fact()], [a_fact(arch="sm_80")], [], "measured nothing in common"),
        ([a_fact()], [a_fact(value=None)], [], "measured nothing in common"),
        ([a_time(1, 1, 1)], [a_time(2, 2, 2, device=None)], [], "measured nothing in common"),
        ([a_fact()], [a_fact()], ["--filter", "x*"], "--filter 'x*' matches no case"),
        ([a_fact()], [{**a_fact(), "line": 0}], [], "b.jsonl:3: key 'line'"),
        ([a_fact()], [a_fact()], ["--json", "/dev/null/x"], "/dev/null/x: cannot be written"),
    ],
)
def test_faults(diff, before, after, options, message):
    code, out, err = diff(before, after, *options)
    assert code == 2
    assert message in err
    assert out == ""


def test_json_says_what_the_text_says(diff, tmp_path):
    before = [a_fact(), a_line(40, 100), a_fact("registers", 20)]
    after = [a_fact(value=150, sass_hash="b"), a_line(40, 150), a_fact("registers", 20)]
    code, out, _ = diff(before, after, "--json", tmp_path / "diff.json")
    document = json.loads((tmp_path / "diff.json").read_text())
    side = {
        "runs": [FACT["run"]],
        "commits": [FACT["commit"]],
        "origin": out.splitlines()[0].split("(")[1].rstrip(")"),
    }
    none = dict.fromkeys(["lost", "moved", "changed", "better", "new", "gone", "unsure"], 0)
    assert code == 1
    assert document == {
        **{"schema": "warpgauge.diff/1", "kind": "values", "exit_code": 1},
        "headline": out.splitlines()[-1],
        "a": {"file": str(tmp_path / "a.jsonl"), **side},
        "b": {"file": str(tmp_path / "b.jsonl"), **side},
        "marks": {"worse": 1, **none, "same": 0},
        "values": {"worse": 1, **none, "same": 1},
        "kernels": [
            {
                **{"name": "transpose.tiled.f32", "mark": "worse", "cases": 1},
                "facts": [
                    {
                        **{"topic": "shared", "values": 1, "told": True},
                        **{"id": "transpose.tiled.f32@8x8", "arch": "sm_90", "class": "exact"},
                        **{"metric": "shared.bank_conflicts", "unit": "wavefronts"},
                        **{"mark": "worse", "a": 100, "b": 150, "relative": 0.5},
                        **{"cause": "compiler", "line": 40},
                        "file": "kernels/transpose/transpose.cu",
                    }
                ],
            }
        ],
        "causes": [{"cause": "compiler", "worse": 1, "moved": 0, "changed": 0, "better": 0}],
        "changes": [
            {
                **{"id": "transpose.tiled.f32@8x8", "arch": "sm_90", "class": "exact"},
                **{"metric": "shared.bank_conflicts", "unit": "wavefronts", "mark": "worse"},
                **{"a": 100, "b": 150, "relative": 0.5, "cause": "compiler"},
                "lines": [
                    {
                        **{"file": "kernels/transpose/transpose.cu", "line": 40, "mark": "worse"},
                        **{"kernel": FACT["kernel"], "a": 100, "b": 150},
                    }
                ],
            }
        ],
    }


def test_names_are_data(diff, tmp_path):
    case = ("[31mred\u2028", "<script>\u202e")  # others are refused
    file = {"file": "a\nb\x07.cu"}
    before = [a_fact(case=case), a_line(1, 1, case=case, **file)]
    after = [a_fact(value=200, case=case), a_line(1, 2, case=case, **file)]
    code, out, _ = diff(before, after, "--all", "--json", tmp_path / "diff.json")
    assert code == 1
    assert not [c for c in out if c != "\n" and not c.isprintable()]
    assert "[31mred\\u2028.<script>\\u202e.f32@8x8 on sm_90\n" in out
    assert "a b\\x07.cu:1: 1 -> 2\n" in out
    document = json.loads((tmp_path / "diff.json").read_text())
    assert document["changes"][0]["id"] == "[31mred\u2028.<script>\u202e.f32@8x8"


def in_a_terminal(command, **environment):
    """The output of a program in a terminal."""
    ours, theirs = pty.openpty()
    env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | environment
    with subprocess.Popen(command, stdout=theirs, env=env) as process:
        os.close(theirs)
        text = b""
        try:
            while part := os.read(ours, 65536):
                text += part
        except OSError:  # the end of a terminal
            pass
    os.close(ours)
    return process.returncode, text.decode()


def test_colours_on_a_terminal_only(tmp_path):
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path, value in zip(paths, (1, 2), strict=True):
        write(path, [a_fact(value=value)])
    command = [BIN / "warpgauge", "diff", *paths]
    code, text = in_a_terminal(command)
    assert code == 1 and "\x1b[31mworse  \x1b[0m" in text
    code, text = in_a_terminal(command, NO_COLOR="1")
    assert code == 1 and "\x1b" not in text
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 1 and "\x1b" not in result.stdout


def test_a_torn_last_line_is_told(tmp_path):
    whole = write(tmp_path / "whole.jsonl", [a_fact()])
    torn = tmp_path / "torn.jsonl"
    torn.write_text(whole.read_text() + '{"record":"va')
    result = subprocess.run(
        [BIN / "warpgauge", "diff", whole, torn], capture_output=True, text=True, timeout=60
    )
    _, after = re.findall(r"^[AB]: .*", result.stdout, re.MULTILINE)
    assert after.endswith("its last line was cut off)")
    assert result.stdout.count("cut off") == 1


@pytest.mark.skipif("ASAN_OPTIONS" in os.environ, reason="the sanitizer reserves terabytes")
def test_values_of_cases_that_are_not_compared_take_no_memory(tmp_path):
    """A hundred thousand of them need more than 256 MiB."""
    small, large = ("transpose", "naive"), ("transpose", "tiled")
    path = write(tmp_path / "facts.jsonl", [a_fact(case=small), a_fact(case=large)])
    lines = path.read_text().splitlines(keepends=True)
    last = max(n for n, line in enumerate(lines) if line.startswith('{"record":"values"'))
    lines[last] *= 100_000
    path.write_text("".join(lines))

    def limited(case):
        return subprocess.run(
            [BIN / "warpgauge", "diff", path, path, "--filter", ".".join((*case, "*"))],
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (64 << 20, 64 << 20)),
            capture_output=True,
            text=True,
            timeout=60,
        )

    assert limited(large).returncode == 2
    done = limited(small)
    assert done.returncode == 0, done.stderr
    assert "NOT WORSE: 1 kernel the same" in done.stdout

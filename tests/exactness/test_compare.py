"""What `compare` says of facts with planted differences."""

import gzip
import json
import subprocess
from pathlib import Path

import pytest
from some_facts import EMULATED, text_of, write
from some_facts import a_fact as one_fact

COMPARE = Path(__file__).resolve().parent / "compare"
COUNTS = {"shared.requests": 4, "global.load.requests": 8, "instructions": 100}


def run(*arguments):
    command = [COMPARE, *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return result.returncode, result.stdout + result.stderr


def a_kernel(counts=None, lines=None, unsure=(), name="_Z3onePi", **members):
    """The facts of a kernel: `counts` in all, `lines` by line, `unsure` are estimates."""
    facts = []
    for line, of_line in {None: COUNTS | (counts or {}), **(lines or {})}.items():
        scope = {"scope": "line", "line": line, "verdict": None} if line else {}
        for metric, value in of_line.items():
            trust = {"confidence": "estimate", "confidence_reason": "ptxas spills at k.cu:7"}
            about = {**(trust if metric in unsure else {}), **scope, **members}
            facts.append(one_fact(metric=metric, value=value, kernel=name, **about))
    return facts


def emulated(*arguments, **members):
    return a_kernel(*arguments, **members, device=EMULATED, source="emulator")


def differ(tmp_path, a, b, *options):
    return run(write(tmp_path / "a.jsonl", a), write(tmp_path / "b.jsonl", b), *options)


def test_equal_counts(tmp_path):
    lines = {42: {"instructions": 60}, 43: {"instructions": 40}}
    code, out = differ(tmp_path, emulated(lines=lines), a_kernel(lines=lines))
    assert code == 0, out
    assert "kernels compared: 1\nkernels that differ: 0 of 1" in out
    assert "totals: 3 of 3 (100.00 %) are exact on both sides" in out
    assert "lines: 2 of 2 (100.00 %)" in out


def test_a_total_and_a_line_that_differ(tmp_path):
    a = emulated({"instructions": 101}, {42: {"instructions": 61}})
    b = a_kernel({}, {42: {"instructions": 60}})
    code, out = differ(tmp_path, a, b, "--json", tmp_path / "result.json")
    assert code == 1, out
    assert "  in all: instructions is 101 emulated and 100 attached\n" in out
    assert "transpose.cu:42: instructions is 61 emulated and 60 attached\n" in out
    assert "totals that differ: 1 of 3 (33.33 %)" in out
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["totals"] == {"all": 3, "exact": 3, "differing": 1}
    [kernel] = result["differing"]
    assert [d["line"] for d in kernel["differences"]] == [0, 42]


def test_what_one_side_does_not_name_is_zero(tmp_path):
    code, out = differ(
        tmp_path,
        emulated(lines={42: {"instructions": 100}}),
        a_kernel(lines={42: {"instructions": 90}, 43: {"instructions": 10}}),
    )
    assert code == 1
    assert ":43: instructions is 0 emulated and 10 attached" in out


def test_it_is_as_sure_as_the_total(tmp_path):
    a = emulated(lines={42: {"global.load.requests": 8}}, unsure=["instructions"])
    b = a_kernel(lines={42: {"global.load.requests": 8}, 43: {"instructions": 10}})
    code, out = differ(tmp_path, a, b)
    assert code == 0, out
    assert "lines: 1 of 2 (50.00 %)" in out
    assert "not exact emulated, 1 totals: ptxas spills at ...\n" in out


def test_estimates_are_not_compared(tmp_path):
    a = emulated({"instructions": 7}, unsure=["instructions"])
    code, out = differ(tmp_path, a, a_kernel())
    assert code == 0 and "totals: 2 of 3 (66.67 %)" in out
    code, out = differ(tmp_path, a_kernel(), a)
    assert code == 0 and "totals: 2 of 3 (66.67 %)" in out


def test_parts_of_a_line_are_added(tmp_path):
    chain = [{"file": "k.cu", "line": 42}, {"file": "k.cu", "line": 50}]
    whole = emulated(lines={42: {"instructions": 100}})
    half = {"scope": "line", "line": 42, "verdict": None, "metric": "instructions"}
    parts = [one_fact(value=30, kernel="_Z3onePi", **half)]
    parts.append(one_fact(value=70, kernel="_Z3onePi", inlined=chain, **half))
    code, out = differ(tmp_path, whole, a_kernel() + parts)
    assert code == 0 and "lines: 1 of 1" in out


def test_what_is_zero_on_both_sides_is_not_counted(tmp_path):
    zero = {"local.sectors": 0}
    code, out = differ(tmp_path, emulated(zero), a_kernel(zero))
    assert code == 0 and "totals: 3 of 3" in out
    code, out = differ(tmp_path, emulated(zero), a_kernel({"local.sectors": 1}))
    assert code == 1 and "totals that differ: 1 of 4" in out
    assert "in all: local.sectors is 0 emulated and 1 attached" in out


def test_derived_and_static_values_are_left_out(tmp_path):
    a = emulated({"shared.bank_conflicts": 1}) + a_kernel({"registers": 3}, source="cubin")
    b = a_kernel({"shared.bank_conflicts": 2})
    code, out = differ(tmp_path, a, b)
    assert code == 0 and "totals: 3 of 3" in out


def test_other_code_is_not_compared(tmp_path):
    code, out = differ(tmp_path, emulated(sass_hash="a"), a_kernel(sass_hash="b"))
    assert code == 2
    assert "of other machine code, not compared: 1 (transpose.naive.f32@1024x1024)" in out
    assert "error: there is no count that both sides call exact" in out


def test_other_launches_are_told(tmp_path):
    launch = {"launch": {"grid": [1, 1, 1], "block": [32, 1, 1]}}
    code, out = differ(tmp_path, emulated(**launch), a_kernel({"instructions": 5}))
    assert code == 1
    assert "transpose.naive.f32@1024x1024, launched differently\n" in out


def test_the_last_run_counts(tmp_path):
    b = a_kernel({"instructions": 99}) + a_kernel(run="20260601T230000Z-1f2e3d4c")
    code, out = differ(tmp_path, emulated(), b)
    assert code == 0, out


@pytest.mark.parametrize(
    "a, b",
    [
        (emulated(name="_Z3twoPi"), a_kernel()),
        (emulated(unsure=COUNTS), a_kernel()),
        ([], a_kernel()),
    ],
    ids=["other_kernel", "estimates", "nothing"],
)
def test_nothing_to_compare_is_no_success(tmp_path, a, b):
    code, out = differ(tmp_path, a, b)
    assert code == 2, out
    assert out.endswith("error: there is no count that both sides call exact\n")


def test_folders(tmp_path):
    for side, facts in (("a", emulated), ("b", a_kernel)):
        for number in (1, 2):
            folder = tmp_path / side / str(number)
            folder.mkdir(parents=True)
            counts = {"instructions": 100 + number} if (side, number) == ("a", 2) else {}
            write(folder / "facts.jsonl", facts(counts))
    code, out = run(tmp_path / "a", tmp_path / "b")
    assert code == 1 and "kernels that differ: 1 of 2 (50.00 %)" in out
    code, out = run(tmp_path / "a", tmp_path / "b" / "1" / "facts.jsonl")
    assert code == 2 and "two files of the folder have this kernel" in out
    (tmp_path / "a" / "2" / "facts.jsonl").unlink()
    packed = tmp_path / "b.jsonl.gz"
    packed.write_bytes(gzip.compress(text_of(a_kernel()).encode()))
    code, out = run(tmp_path / "a", packed)
    assert code == 0 and "kernels compared: 1" in out


@pytest.mark.parametrize(
    "text, says",
    [
        ("{}\n", "a.jsonl:1: not a record of facts"),
        ('{"record":"run","schema":"warpgauge.fact/1","run":"r"}\n', "is not warpgauge.fact/2"),
        (text_of(a_kernel()[:2]), "has no count of instructions"),
        (None, "a.jsonl: cannot be read"),
    ],
)
def test_bad_input(tmp_path, text, says):
    if text is not None:
        (tmp_path / "a.jsonl").write_text(text)
    code, out = run(tmp_path / "a.jsonl", write(tmp_path / "b.jsonl", a_kernel()))
    assert code == 2 and says in out
    (tmp_path / "none").mkdir()
    code, out = run(tmp_path / "none", tmp_path / "b.jsonl")
    assert code == 2 and "no facts.jsonl in this folder" in out

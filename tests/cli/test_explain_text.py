"""`explain` as text: the counts of lines and how sure they are, names, near cases, help."""

import re

import pytest
from programs import run
from transposition import explain


def explain_emulated(case):
    return explain(case, "--device=emulated")


def test_counts_that_are_not_sure_are_marked_and_the_reason_is_reported():
    saves = explain_emulated("stack.recursive.u32@1024").stdout
    assert re.search(r"^\d+ .* \?  return sum;", saves, re.MULTILINE), saves
    assert "\n         estimate: ptxas spills registers" in saves
    assert "\n~ not exact, ? not known; else exact\n" in saves
    repeated = explain_emulated("shared_atomics.add.f32@4096").stdout
    assert re.search(r"~\d+ +~\d+/\d+ +-  ", repeated), repeated
    assert "\n         estimate: the machine code repeats a compare and swap" in repeated


def test_lines_that_few_lanes_came_to_are_named():
    result = explain_emulated("transpose.naive.f32@1000x700")
    assert "lines that not all lanes came to" in result.stdout, result.stdout + result.stderr
    assert "lanes 31.8 of 32  kernels/transpose/family.cu:" in result.stdout


def test_the_calls_that_a_line_was_inlined_through_follow_it():
    own = explain_emulated("fragments.vectors.f32@1000").stdout
    call = r"\n {76}inlined at kernels/fragments/family\.cu:\d+\n"
    assert re.search(rf"^\d+ .*  \*to = \*from;{call}", own, re.MULTILINE), own
    outside = explain_emulated("fragments.async_words.f32@3072").stdout
    assert "cuda_pipeline_" not in re.sub(r" {76}inlined from .*", "", outside), outside
    header = r"\n {76}inlined from \S+/cuda_pipeline_\w+\.h:\d+ and \d+ more; inlined at kern"
    assert re.search(header, outside), outside


def test_exact_counts_have_no_marks():
    exact = explain_emulated("transpose.tiled.f32@1024x1024").stdout
    assert "counted by the emulator, sm_90\n" in exact
    assert "~" not in exact and "?" not in exact
    assert exact.endswith("\nEvery count is exact.\n")


def test_kernels_are_named_as_people_write_them():
    launches = explain_emulated("transpose.padded.f32@1024x1024").stdout.splitlines()[1]
    assert re.match(r"launches .*<float, .*>\(.*\) as <<<\(", launches), launches
    assert "_Z" not in launches


@pytest.mark.parametrize("command", [["explain"], ["gate", "--filter"]])
@pytest.mark.parametrize("name", ["transpose.naive", "transpose.naive.f32@1024x102"])
def test_for_an_unknown_case_a_near_one_is_named(command, name):
    result = run("warpgauge", *command, name, code=2)
    assert ", did you mean 'transpose.naive.f32@1024x1024'?" in result.stderr


def test_help_has_examples():
    result = run("warpgauge", "explain", "--help")
    assert re.search(r"explain transpose\S+ --line \d+ --picture \S+\.svg", result.stdout)

"""Compiled files under `warpgauge diff`: kernels found again by their names, and what became of
their code."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from warpgauge.changes.diff_markdown import markdown

DATA = Path(__file__).resolve().parents[1] / "data"
GAUGE = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin" / "warpgauge"

CROWDED = """
__global__ void crowded(float* out, const float* in) {
  float value[32];
  for (int i = 0; i < 32; ++i) value[i] = in[i * 32 + threadIdx.x];
  __syncthreads();
  for (int i = 0; i < 32; ++i) out[i * 32 + threadIdx.x] = value[31 - i];
}
"""
LOOP = """
__global__ void loop(float* out, const float* in) {
  float sum = 0;
  #pragma unroll %s
  for (int i = 0; i < 64; ++i) sum += in[i * 32];
  *out = sum;
}
"""
TEMPLATE = """
namespace {
template <%s> __global__ void of(float* out) { *out = threadIdx.x; }
}
void launch() { %s }
"""


@pytest.fixture
def build(tmp_path):
    """A function that compiles a text to NAME.cubin."""
    nvcc = shutil.which("nvcc") or f"{os.environ.get('CUDA_HOME', '/usr/local/cuda')}/bin/nvcc"

    def compiled(name, text, *options):
        (tmp_path / f"{name}.cu").write_text(text)
        cubin = tmp_path / f"{name}.cubin"
        command = [nvcc, "-cubin", "-arch=sm_90", "-lineinfo", *options, "-o", cubin]
        subprocess.run([*command, tmp_path / f"{name}.cu"], check=True)
        return cubin

    return compiled


def diff(*arguments):
    return subprocess.run([GAUGE, "diff", *map(str, arguments)], capture_output=True, text=True)


def test_new_spills_are_worse_and_have_a_line(build, tmp_path):
    build("kernels", CROWDED)
    before = (tmp_path / "kernels.cubin").rename(tmp_path / "before.cubin")
    result = diff(before, build("kernels", CROWDED, "-maxrregcount=24"))
    assert result.returncode == 1, result.stderr
    spill = r"spill\.\w+_bytes 0 -> \d+ bytes/thread, kernels\.cu:[4-6]; code or compiler"
    assert re.search(spill, result.stdout)
    assert "kernel crowded(float*, float const*)" in result.stdout
    assert f"A: {before} (cubin" in result.stdout


def test_an_unrolled_loop_has_more_instructions_of_a_kind(build):
    result = diff(build("a", LOOP % 1), build("b", LOOP % 4))
    assert "mix.ldg_32 1 -> 4" in result.stdout


def test_the_name_and_the_occupancy_of_both_are_there(build, tmp_path):
    few, many = ("#pragma unroll 1", "#pragma unroll")
    a, b = (CROWDED.replace("  for", f"  {how}\n  for") for how in (few, many))
    json_file = tmp_path / "diff.json"
    result = diff("--block", 1024, "--json", json_file, build("a", a), build("b", b))
    assert re.search(r"code .*; occupancy \S+ -> \S+$", result.stdout, re.M), result.stdout
    changes = json.loads(json_file.read_text())["changes"]
    assert {change["kernel"] for change in changes} == {"crowded(float*, float const*)"}
    assert r"<code>crowded(float\*, float const\*)</code>" in markdown(
        json.loads(json_file.read_text())
    )


def test_code_that_differs_without_other_counts_is_equal_work(build):
    a, b = (
        (LOOP % 1).replace("sum += ", "sum += 2 * "),
        (LOOP % 1).replace("sum += ", "sum += 3 * "),
    )
    result = diff(build("a", a), build("b", b))
    assert result.returncode == 0, result.stdout
    assert "1 kernel has other code for equal work: no value changed" in result.stdout
    assert re.search("^NOT WORSE: 1 kernel the same$", result.stdout, re.M)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (("int N", "of<1><<<1, 1>>>(nullptr);"), ("int N", "of<1><<<1, 1>>>(nullptr);")),
        (("int N", "of<1><<<1, 1>>>(nullptr);"), ("int N", "of<2><<<1, 1>>>(nullptr);")),
        (("int N", "of<7><<<1, 1>>>(nullptr);"), ("int N, bool B", "of<7, 1><<<1, 1>>>(nullptr);")),
    ],
)
def test_a_kernel_is_found_where_a_hash_or_an_argument_of_its_name_moved(build, a, b):
    """The names of anonymous namespaces have a hash of their file."""
    result = diff(build("a", TEMPLATE % a), build("b", TEMPLATE % b), "--all")
    assert result.returncode == 0, result.stdout
    assert "lost" not in result.stdout and "new" not in result.stdout
    assert "code the same" in result.stdout


def test_of_several_the_most_alike_is_the_same(build):
    two = "of<%s><<<1, 1>>>(nullptr); of<%s><<<1, 1>>>(nullptr);"
    a = TEMPLATE % ("class T, int N", two % ("float, 1", "double, 2"))
    b = TEMPLATE % ("class T, int N", two % ("float, 3", "double, 4"))
    result = diff(build("a", a), build("b", b), "--all")
    names = re.findall(r"kernel .*of<(.*?)>.*\n +before .*of<(.*?)>", result.stdout)
    assert sorted(names) == [("double, 4", "double, 2"), ("float, 3", "float, 1")]


def test_arch_filters_facts_as_compiled_files(tmp_path):
    """A fat binary of two architectures and the facts of it: the same rows of one of them."""
    fat = DATA / "fat_binary" / "none.fatbin"
    subprocess.run([GAUGE, "inspect", "--out", tmp_path, fat], capture_output=True)
    facts = tmp_path / "facts.jsonl"

    def archs(*arguments):
        return set(re.findall(r" on (sm_\w+)$", diff("--all", *arguments).stdout, re.M))

    both = archs(facts, facts)
    assert len(both) > 1 and archs(fat, fat) == both
    oldest = min(both)
    for sides in ((fat, fat), (facts, facts), (facts, fat)):
        assert archs("--arch", oldest, *sides) == {oldest}
        assert archs("--arch", f"{oldest[:-1]}[{oldest[-1]}]", *sides) == {oldest}
    result = diff("--arch", "sm_20,sm_21", facts, facts)
    assert result.returncode == 2
    assert f"--arch sm_20,sm_21 matches no case of {facts}" in result.stderr


def test_block_is_for_compiled_files(tmp_path):
    (tmp_path / "a.jsonl").write_text("")
    result = diff("--block", "64", tmp_path / "a.jsonl", tmp_path / "a.jsonl")
    assert result.returncode == 2
    assert "--block is for compiled files, and A and B are facts" in result.stderr


@pytest.mark.parametrize("threads, code", [("0", 2), ("1", 0), ("1024", 0), ("1025", 2)])
def test_a_block_has_1_to_1024_threads(threads, code):
    cubin = DATA / "oracle" / "wmma.sm_90.cubin"
    result = diff("--block", threads, cubin, cubin)
    assert result.returncode == code
    assert ("--block" in result.stderr) == (code == 2)


def test_a_file_without_kernels_is_a_fault(build, tmp_path):
    (tmp_path / "nothing").mkdir()
    result = diff(build("a", CROWDED), tmp_path / "nothing")
    assert result.returncode == 2
    assert f"{tmp_path}/nothing: no file has machine code" in result.stderr

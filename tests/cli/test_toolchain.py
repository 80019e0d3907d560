"""`warpgauge toolchain`: the same sources under several compilers.

The other compiler is a script, which calls the installed one with an argument more and reports
another version.
"""

import json
import os
import re
import resource
import shutil
import subprocess
import time
from pathlib import Path

import jsonschema_rs
import pytest
from warpgauge.facts.reader import read_facts

ROOT = Path(__file__).resolve().parents[2]
GAUGE = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin" / "warpgauge"
INSTALLED = Path(
    shutil.which("nvcc") or f"{os.environ.get('CUDA_HOME', '/usr/local/cuda')}/bin/nvcc"
).parents[1]

# Line 5 has 32 values alive, more than 24 registers hold.
KERNELS = """
__global__ void crowded(float* out, const float* in) {
  float value[32];
  for (int i = 0; i < 32; ++i) value[i] = in[i * 32 + threadIdx.x];
  __syncthreads();
  for (int i = 0; i < 32; ++i) out[i * 32 + threadIdx.x] = value[31 - i];
}
#ifdef MORE
__global__ void more(float* out) { *out = MORE; }
#endif
"""
NVCC_PTX = [INSTALLED / "bin" / "nvcc", "-ptx", "-lineinfo", "-arch=compute_90"]
SCRIPT = """#!/bin/sh
case $1 in
  --version) echo "Cuda compilation tools, release {release}, V{version}" ;;
  --help) exec {program} --help ;;
  *) {program} "$@" {added} ;;
esac
"""


def toolchain(*arguments, cwd=None, **environment):
    return subprocess.run(
        [GAUGE, "toolchain", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **environment},
    )


def toolkit(folder, version="99.1.2", added="", programs=("ptxas", "nvcc"), place="."):
    """A folder with the installed compilers as another version, which gets `added` as well."""
    bin = folder / place / "bin"
    bin.mkdir(parents=True)
    for program in programs:
        path = bin / program
        release = version.rpartition(".")[0]
        real = INSTALLED / "bin" / program
        path.write_text(SCRIPT.format(release=release, version=version, program=real, added=added))
        path.chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The folder with the kernels and their PTX."""
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "kernels.cu").write_text(KERNELS)
    subprocess.run([*NVCC_PTX, "kernels.cu", "-o", "kernels.ptx"], check=True, cwd=folder)
    return folder


@pytest.fixture
def ptx(compiled, tmp_path):
    shutil.copytree(compiled, tmp_path, dirs_exist_ok=True)
    return tmp_path / "kernels.ptx"


@pytest.fixture
def other(tmp_path):
    """The toolkit under which the kernel spills."""
    return toolkit(tmp_path / "other", added="-maxrregcount=24")


def test_spills_of_another_compiler_are_red_with_their_line(ptx, other):
    result = toolchain("--with", INSTALLED, "--with", other, ptx)
    assert result.returncode == 1, result.stderr
    line = r"spill\.\w+_bytes 0 -> \d+ bytes/thread, \S*kernels\.cu:[4-6]; compiler"
    assert re.search(line, result.stdout), result.stdout
    assert "kernel crowded(float*, float const*)" in result.stdout
    assert re.search(rf"^A: {INSTALLED} \(CUDA \d+\.\d+\.\d+, ", result.stdout, re.M)
    assert f"B: {other} (CUDA 99.1.2, " in result.stdout


def test_equal_code_is_the_same(ptx, tmp_path):
    result = toolchain("--with", INSTALLED, "--with", toolkit(tmp_path / "same"), ptx)
    assert result.returncode == 0, result.stderr
    assert re.search(r"^NOT WORSE: \d+ kernels? the same$", result.stdout, re.M), result.stdout


# Makes cubins as CUDA 12 does, which does not mark spills: EI_ABIVERSION 7, and sm_90 in e_flags.
OLDER = r"""|| exit
     while [ "$1" != -o ]; do shift; done
     printf '\007' | dd of="$2" bs=1 seek=8 conv=notrunc status=none
     printf '\132' | dd of="$2" bs=1 seek=48 conv=notrunc status=none"""
# Local memory for an array, and none for spills.
INDEXED = """
__global__ void indexed(float* out, const int* at) {
  float table[32];
  for (int i = 0; i < 32; ++i) table[i] = out[i];
  for (int i = 0; i < 32; ++i) table[at[i]] += 1;
  out[32] = table[at[32]];
}
"""


def test_local_arrays_are_no_spills_of_an_older_compiler(ptx, tmp_path):
    """`ptxas -v` tells them apart where the machine code does not."""
    # Without the barrier, of which that of CUDA 13 says nothing where CUDA 12 would.
    kernels = KERNELS.replace("  __syncthreads();\n", "") + INDEXED
    (tmp_path / "kernels.cu").write_text(kernels)
    subprocess.run([*NVCC_PTX, "kernels.cu", "-o", "kernels.ptx"], check=True, cwd=tmp_path)
    older = toolkit(tmp_path / "older", version="12.0.1", added=OLDER)
    words = ["--with", older, "--with", INSTALLED, "--out", tmp_path / "kept"]
    result = toolchain(*words, ptx, "--", "-maxrregcount=24")
    assert result.returncode == 0, result.stdout + result.stderr
    assert re.search(r"^NOT WORSE: \d+ kernels? the same$", result.stdout, re.M), result.stdout
    facts = read_facts(tmp_path / "kept" / "1-12.0.1" / "facts.jsonl")
    whole = [f for f in facts if f.metric == "spill.load_bytes" and f.scope == "case"]
    assert {f.case.variant: (f.value > 0, f.confidence) for f in whole} == {
        "crowded": (True, "exact"),
        "indexed": (False, "exact"),
    }


def test_cuda_is_compiled_by_nvcc_with_the_arguments_behind_the_mark(ptx, other, tmp_path):
    words = ["--with", INSTALLED, "--with", other, "--arch", "sm_80,sm_90", "--out", "kept"]
    result = toolchain(*words, "kernels.cu", "--", "-DMORE=2", "-O3", cwd=tmp_path)
    assert result.returncode == 1, result.stderr
    facts = read_facts(tmp_path / "kept" / "2-99.1.2" / "facts.jsonl")
    assert {(fact.case.variant, fact.arch) for fact in facts} == {
        (kernel, arch) for kernel in ["crowded", "more"] for arch in ["sm_80", "sm_90"]
    }


@pytest.mark.parametrize(
    ("options", "archs"), [([], {"sm_90"}), (["--arch", "sm_90,sm_100"], {"sm_90", "sm_100"})]
)
def test_ptx_is_compiled_for_its_target_or_what_is_asked_for(options, archs, ptx, other, tmp_path):
    words = ["--with", INSTALLED, "--with", other, "--out", tmp_path / "kept"]
    assert toolchain(*words, *options, ptx).returncode == 1
    facts = read_facts(tmp_path / "kept" / "2-99.1.2" / "facts.jsonl")
    assert {fact.arch for fact in facts} == archs


def test_each_further_toolkit_is_compared_with_the_first(ptx, other, tmp_path):
    same = toolkit(tmp_path / "same", version="99.0.1")
    words = [word for folder in [INSTALLED, other, same] for word in ["--with", folder]]
    result = toolchain(*words, ptx)
    assert result.returncode == 1, "the worst of the comparisons"
    assert result.stdout.count(f"A: {INSTALLED} ") == 2
    assert result.stdout.index(f"B: {other} ") < result.stdout.index(f"B: {same} ")
    assert result.stdout.index("\nWORSE: ") < result.stdout.index("\nNOT WORSE: ")


def test_out_keeps_what_was_made(ptx, other, tmp_path):
    kept = tmp_path / "kept"
    words = ["--with", INSTALLED, "--with", other, "--out", kept, ptx]
    first = toolchain(*words)
    assert toolchain(*words).stdout.count("worse") == first.stdout.count("worse"), "made anew"
    a, b = sorted(kept.iterdir())
    assert b.name == "2-99.1.2" and a.name.startswith("1-")
    assert (a / "sm_90" / "kernels.ptx.cubin").read_bytes()[:4] == b"\x7fELF"
    document = json.loads((b / "diff.json").read_text())
    schema = json.loads((ROOT / "harness" / "diff" / "diff.schema.json").read_text())
    jsonschema_rs.validate(schema, document)
    assert document["exit_code"] == 1
    assert {change.get("cause") for change in document["changes"]} == {"compiler"}
    again = subprocess.run(
        [GAUGE, "diff", a / "facts.jsonl", b / "facts.jsonl"], capture_output=True, text=True
    )
    assert again.returncode == 1 and again.stdout.splitlines()[-1] in first.stdout
    toolchain(*words, "--json", tmp_path / "elsewhere.json")
    assert not (b / "diff.json").exists(), "it would be of an earlier run"


def test_nothing_is_left_without_out(ptx, other, tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    words = ["--with", INSTALLED, "--with", other, "--json", tmp_path / "diff.json", ptx]
    assert toolchain(*words, TMPDIR=str(folder)).returncode == 1
    assert list(folder.iterdir()) == []
    assert json.loads((tmp_path / "diff.json").read_text())["b"]["file"] == str(other)


@pytest.mark.parametrize("place", ["nvidia/cu13", "nvidia/cuda_nvcc"])
def test_the_folders_of_wheels_are_toolkits(place, ptx, tmp_path):
    wheel = toolkit(tmp_path / "wheel", programs=["ptxas"], place=place)
    assert toolchain("--with", INSTALLED, "--with", wheel, ptx).returncode == 0


def test_of_several_toolkits_in_a_folder_one_is_to_be_named(ptx, tmp_path):
    for place in ["nvidia/cu13", "nvidia/cuda_nvcc"]:
        toolkit(tmp_path / "wheels", programs=["ptxas"], place=place)
    result = toolchain("--with", INSTALLED, "--with", tmp_path / "wheels", ptx)
    assert result.returncode == 2
    found = f"{tmp_path}/wheels/nvidia/cu13, {tmp_path}/wheels/nvidia/cuda_nvcc"
    assert result.stderr == (f"{tmp_path}/wheels: there are several toolkits; name one: {found}\n")


def refused(*arguments, cwd):
    """The message, which is all that is said."""
    result = toolchain(*arguments, cwd=cwd)
    assert (result.returncode, result.stdout) == (2, "")
    return result.stderr


def test_a_folder_without_a_toolkit(ptx, tmp_path):
    (tmp_path / "none").mkdir()
    assert refused("--with", INSTALLED, "--with", "none", ptx, cwd=tmp_path) == (
        "none: there is no toolkit: neither bin/ptxas nor nvidia/*/bin/ptxas; name a folder that "
        "has one\n"
    )


def test_a_toolkit_that_does_not_run(ptx, other, tmp_path):
    ptxas = other / "bin" / "ptxas"
    ptxas.chmod(0o644)
    assert refused("--with", INSTALLED, "--with", "other", ptx, cwd=tmp_path) == (
        "other/bin/ptxas: does not run; `other/bin/ptxas --version` shows why\n"
    )
    ptxas.write_text("#!/bin/sh\n")
    ptxas.chmod(0o755)
    message = refused("--with", INSTALLED, "--with", "other", ptx, cwd=tmp_path)
    assert message == "other/bin/ptxas: --version prints no version; is it NVIDIA's?\n"


def test_an_architecture_that_a_toolkit_does_not_know(ptx, other, tmp_path):
    words = ["--with", INSTALLED, "--with", "other", "--arch", "sm_90,sm_52"]
    message = refused(*words, ptx, cwd=tmp_path)
    assert re.match(
        rf"CUDA \d+\.\d+\.\d+ in {INSTALLED} does not know sm_52; it knows .*sm_90, sm_90a, ",
        message,
    )


def test_a_source_that_does_not_compile(ptx, other, tmp_path):
    (tmp_path / "bad.ptx").write_text(ptx.read_text().replace("ld.global", "ld.nowhere"))
    message = refused("--with", "other", "--with", INSTALLED, "bad.ptx", cwd=tmp_path)
    error = "CUDA 99.1.2 in other cannot compile bad.ptx for sm_90: ptxas exited with 255\n"
    assert error in message and re.search(r"ptxas bad\.ptx, line \d+; error *: ", message)
    (tmp_path / "bad.cu").write_text("__global__ void bad() { nothing(); }")
    words = ["--with", "other", "--with", INSTALLED, "--arch", "sm_90", "bad.cu"]
    message = refused(*words, cwd=tmp_path)
    assert "CUDA 99.1.2 in other cannot compile bad.cu for sm_90: nvcc exited with " in message
    assert 'bad.cu(1): error: identifier "nothing" is undefined' in message


def test_cuda_asks_for_nvcc_and_architectures(ptx, tmp_path):
    toolkit(tmp_path / "wheel", programs=["ptxas"])
    words = ["--with", INSTALLED, "--with", "wheel"]
    assert refused(*words, "--arch", "sm_90", "kernels.cu", cwd=tmp_path) == (
        "CUDA 99.1.2 in wheel has no nvcc, which compiles kernels.cu; make PTX of it (nvcc -ptx), "
        "and name that\n"
    )
    assert refused(*words, "kernels.cu", cwd=tmp_path) == (
        "kernels.cu: name the architectures that it is compiled for: --arch sm_90\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--with", "a", "k.ptx"], "name two toolkits or more, each by --with\n"),
        (
            [*["--with", "a"] * 3, "--json", "x", "k.ptx"],
            "--json is for two toolkits; of more --out keeps a diff.json for each comparison\n",
        ),
        (
            ["--with", "a", "--with", "b", "k.ptx"],
            "k.ptx: cannot be read: No such file or directory\n",
        ),
        (
            ["--with", "a", "--with", "b", "k.cpp"],
            "k.cpp: neither PTX (.ptx) nor CUDA (.cu); arguments of the compiler stand behind --\n",
        ),
        (["--with", "a", "--with", "b", "--", "-O3"], "name the sources in front of --\n"),
    ],
)
def test_command_lines_that_make_no_sense(arguments, message, tmp_path):
    assert refused(*arguments, cwd=tmp_path) == message


# A loop that is rolled here, and unrolled by the compiler that defines TURNS. Each block of 32
# threads loads 32 rows of 128 bytes, however the loop is compiled.
LOOP = """
#include <unistd.h>

#include <cstdio>
#ifndef TURNS
#define TURNS 1
#endif
#ifndef STRIDE
#define STRIDE 1
#endif
constexpr int kTurns = TURNS;
__global__ void column(float* out, const float* in) {
  float sum = 0;
#pragma unroll kTurns
  for (int i = 0; i < 32; ++i) sum += in[(i * 32 + threadIdx.x) * STRIDE];
#ifdef SPINS
  for (unsigned x = threadIdx.x; x != 1; x *= 2) sum += x;
#endif
  out[threadIdx.x] = sum;
}
int main(int count, char** words) {
#ifdef FLOODS
  for (;;) FLOODS ? puts("flood") : pause();
#endif
  for (int i = 1; i < count; ++i) printf("word %s\\n", words[i]);
#ifdef LEFT
  fprintf(stderr, "left early\\n");
  return LEFT;
#endif
  float *in, *out;
  cudaMalloc(&in, 2 * 32 * 32 * sizeof(float));
  cudaMalloc(&out, 32 * sizeof(float));
  cudaMemset(in, 0, 2 * 32 * 32 * sizeof(float));
  column<<<1, 32>>>(out, in);
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""
LINE = LOOP[: LOOP.index("sum +=")].count("\n") + 1


@pytest.fixture
def loop(tmp_path):
    (tmp_path / "loop.cu").write_text(LOOP)
    return tmp_path / "loop.cu"


def newer(tmp_path, added):
    """A toolkit whose programs the emulator runs."""
    said = subprocess.run([INSTALLED / "bin/nvcc", "--version"], capture_output=True, text=True)
    (major,) = re.findall(r"V(\d+)\.", said.stdout)
    return toolkit(tmp_path / "newer", version=f"{major}.99.1", added=added)


def compare(tmp_path, added, *words):
    """Of the loop, under a compiler that gets `added`: the output, and by the kind of case and the
    metric what changed, before and after."""
    document = tmp_path / "diff.json"
    options = ["--arch", "sm_90", "--json", document, *words]
    result = toolchain("--with", INSTALLED, "--with", newer(tmp_path, added), *options)
    assert result.returncode == 1, result.stdout + result.stderr
    changes = json.loads(document.read_text())["changes"]
    return result.stdout, {
        (change["id"].rpartition("@")[2], change["metric"]): (
            change["a"],
            change["b"],
            change["mark"],
        )
        for change in changes
    }


def test_a_loop_that_a_newer_compiler_unrolls_is_red_from_its_code(loop, tmp_path):
    """One load becomes 32, which need registers for their values."""
    text, changes = compare(tmp_path, "-DTURNS=32", loop)
    assert changes["code", "mix.ldg_32"] == (1, 32, "changed")
    assert changes["code", "registers"][2] == changes["code", "code.bytes"][2] == "worse"
    assert re.search(r"^worse .*\.column\.\w+@code on sm_90$", text, re.M), text
    assert re.search(r"^ +code .*mix\.ldg_32 1 -> 32", text, re.M), text
    assert not [key for key in changes if key[0] == "run"], "nothing ran"


def test_emulate_shows_what_an_unrolled_loop_does(loop, tmp_path):
    """The same 32 loads of a warp, by fewer instructions."""
    kept = tmp_path / "kept"
    _, changes = compare(tmp_path, "-DTURNS=32", "--emulate", "--out", kept, loop)
    assert changes["code", "mix.ldg_32"] == (1, 32, "changed")
    assert changes["code", "registers"][2] == "worse"
    assert changes["run", "instructions"][2] == "better"
    for folder in kept.iterdir():
        facts = read_facts(folder / "facts.jsonl")
        loads = {f.value for f in facts if f.metric == "global.load.requests"}
        assert loads == {32}, folder


def test_emulate_compares_counts_by_line(loop, tmp_path):
    """With a stride of two words a row of 128 bytes becomes 8 sectors, of which 4 are wanted."""
    text, changes = compare(tmp_path, "-DSTRIDE=2", "--emulate", "--all", loop)
    assert changes["run", "global.load.sectors"] == (32 * 4, 32 * 8, "worse")
    line = rf"^ +worse +\S*loop\.cu:{LINE}: 128 -> 256$"
    assert re.search(line, text, re.M), text


def test_emulate_runs_one_program_of_all_sources_with_its_arguments(loop, tmp_path):
    (tmp_path / "more.cu").write_text("__global__ void unused(float* out) { *out = VALUE; }")
    words = ["--with", INSTALLED, "--with", newer(tmp_path, ""), "--arch", "sm_75,sm_90"]
    words += ["--emulate", "--out", "kept", loop, "more.cu"]
    words += ["--", "-DVALUE=2", "--", "a b", "-c"]
    result = toolchain(*words, cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert re.search(r"^NOT WORSE: \d+ kernels? the same$", result.stdout, re.M), result.stdout
    for kept in (tmp_path / "kept").iterdir():
        facts = read_facts(kept / "facts.jsonl")
        assert {(fact.case.variant, fact.case.size, fact.arch) for fact in facts} == {
            (*case, arch)
            for case in [("column", "run"), ("column", "code"), ("unused", "code")]
            for arch in ["sm_75", "sm_90"]
        }
        output = kept / "sm_90" / "output.txt"
        assert output.read_text() == "word a b\nword -c\n", "it is not part of the table"


def test_emulate_links_code_that_is_compiled_separately(loop, tmp_path):
    """The device linker is asked for by the runtime that a program is linked with."""
    (tmp_path / "more.cu").write_text("__device__ float two() { return 2; }")
    _, changes = compare(
        tmp_path, "-DSTRIDE=2", "--emulate", loop, tmp_path / "more.cu", "--", "-rdc=true"
    )
    assert changes["run", "global.load.sectors"] == (128, 256, "worse")


def fails(tmp_path, added, source="loop.cu", *options):
    """What is said where the program of the newer toolkit fails, behind its name."""
    other = newer(tmp_path, added)
    words = ["--with", "newer", "--with", INSTALLED, "--arch", "sm_90", "--emulate"]
    message = refused(*words, *options, source, cwd=tmp_path)
    progress, name, text = message.partition(f" in {other.name}")
    assert name and re.search(r"^CUDA \d+\.99\.1$", progress, re.M), message
    return text


def cpu_seconds():
    """What the programs that have ended took, with those that they started."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def test_a_program_that_fails_names_its_toolkit(loop, tmp_path):
    assert fails(tmp_path, "-DLEFT=7") == (
        ": its program fails on sm_90: it exited with 7\n  left early\n"
    )


def test_a_program_without_kernels_names_its_toolkit(loop, tmp_path):
    text = fails(tmp_path, "-DLEFT=0")
    assert text.startswith(": its program fails on sm_90: ")
    assert text.endswith(
        "/program: no kernel ran on the emulator: it ended before it called CUDA; its own output "
        "may say why\n  left early\n"
    )


def test_a_kernel_that_fails_names_its_toolkit_and_line(loop, tmp_path):
    text = fails(tmp_path, "-DSTRIDE=3")
    assert re.match(
        rf": its program fails on sm_90: kernel column, .*loop\.cu:{LINE}: invalid global read",
        text,
    ), text


@pytest.mark.parametrize(
    ("added", "limit", "says"),
    [
        (
            "-DFLOODS=0",
            "12",
            ": its program fails on sm_90: it took longer than 12 s, and was ended",
        ),
        ("-DFLOODS=1", "12", ": its program fails on sm_90: it "),
        ("-DSPINS", "14", "the launch has taken longer than its limit of 7000 ms of CPU time"),
    ],
)
def test_a_program_that_does_not_end_is_ended(added, limit, says, loop, tmp_path):
    before = cpu_seconds()
    text = fails(tmp_path, added, "loop.cu", "--timeout", limit)
    if added == "-DSPINS" and says not in text:
        assert "it took longer than 14 s" in text, text
        spent = cpu_seconds() - before  # and what compilers take
        assert spent < 14, "only on a busy machine the program does not get 7 s of CPU time"
    else:
        assert says in text, text
    if added != "-DSPINS":
        assert "and was ended" in text and len(text) < 20000


@pytest.mark.parametrize("asked", ["--version", "--help", "-arch=sm_90"])
@pytest.mark.parametrize("fault", ["sleep 1000", "yes"])
def test_a_compiler_that_does_not_end_is_ended(fault, asked, ptx, tmp_path):
    other = toolkit(tmp_path / "other")
    compiler = other / "bin" / "ptxas"
    text = compiler.read_text()
    compiler.write_text(text.replace("case $1", f'[ "$1" != {asked} ] || {fault}\ncase $1'))
    begin = time.monotonic()
    result = toolchain("--with", INSTALLED, "--with", other, "--timeout", 5, ptx)
    assert result.returncode == 2, result.stderr
    assert "and was ended" in result.stderr
    assert time.monotonic() - begin < 60
    assert len(result.stderr) < 20000


def test_a_program_that_cannot_be_linked_names_its_toolkit(loop, tmp_path):
    text = fails(tmp_path, "-Dmain=other")
    assert text.startswith(" cannot build a program of loop.cu for sm_90: nvcc exited with ")
    assert "undefined reference to `main'" in text


def test_what_emulate_cannot_run(ptx, tmp_path):
    (tmp_path / "loop.cu").write_text(LOOP)
    toolkit(tmp_path / "older", version="12.0.1")
    toolkit(tmp_path / "wheel", programs=["ptxas"], version="13.0.1")
    words = ["--with", INSTALLED, "--with", "older", "--arch", "sm_90"]
    assert refused(*words, "--emulate", "loop.cu", "kernels.ptx", cwd=tmp_path) == (
        "kernels.ptx: PTX has no host code that --emulate could run; name CUDA sources (.cu) with "
        "a main()\n"
    )
    assert re.fullmatch(
        r"CUDA 12\.0\.1 in older: --emulate runs programs of CUDA \d+ only; compare without it\n",
        refused(*words, "--emulate", "loop.cu", cwd=tmp_path),
    )
    assert refused(*words, "loop.cu", "--", "-O3", "--", "64", cwd=tmp_path) == (
        "behind a second -- stand a program's arguments: add --emulate\n"
    )

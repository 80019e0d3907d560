"""Compiled files under `warpgauge inspect`: what is said of their kernels, and the verdicts."""

import collections
import functools
import json
import os
import re
import shutil
import string
import struct
import subprocess
import zipfile
from pathlib import Path

import jsonschema_rs
import pytest
from static_archive import archive
from warpgauge.facts.reader import read_facts

GAUGE = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin" / "warpgauge"
ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
CUBINS = sorted(DATA.glob("*/*.cubin"))
LOGS = DATA / "ptxas"
SPILLS = DATA / "cubin" / "spills.sm_90.cubin"
LEAN = DATA / "oracle" / "wmma.sm_90.cubin"  # its kernels have no local memory

RESERVED = 1024  # bytes of shared memory that each block has for the system from 9.0 on
KERNELS = """
__global__ void calm(float* out) { out[threadIdx.x] = 1; }
__global__ void crowded(float* out, const float* in) {
  float value[32];
  for (int i = 0; i < 32; ++i) value[i] = in[i * 32 + threadIdx.x];
  __syncthreads();
  for (int i = 0; i < 32; ++i) out[i * 32 + threadIdx.x] = value[31 - i];
}
__global__ void indexed(float* out, const float* in, int n) {
  float table[64];
  for (int i = 0; i < 64; ++i) table[i] = in[i];
  for (int i = 0; i < n; ++i) table[int(in[i]) & 63] += 1;
  out[threadIdx.x] = table[n & 63];
}
"""


KINDS = """
__global__ void kinds(float* out, const double* d, const float4* quad, const unsigned char* byte) {
  __shared__ float shared[32];
  shared[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = __expf(shared[31 - threadIdx.x]);
  reinterpret_cast<double*>(out)[threadIdx.x] = d[threadIdx.x] * 3;
  const float4 four = quad[threadIdx.x];
  out[99] = four.x + four.y + four.z + four.w;
  out[98] = byte[threadIdx.x];
}
"""


def tool(name):
    found = shutil.which(name)
    return found or Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "bin" / name


def inspect(*arguments, cwd=None):
    return subprocess.run(
        [GAUGE, "inspect", *map(str, arguments)], capture_output=True, text=True, cwd=cwd
    )


def values(out):
    """Those of whole kernels, by mangled name and metric."""
    return {
        (fact.case.kernels[0].name, fact.metric): fact
        for fact in read_facts(out / "facts.jsonl")
        if fact.scope == "case" and fact.case.kernels
    }


def inspected(tmp_path, *arguments):
    result = inspect("--out", tmp_path / "out", *arguments)
    assert (tmp_path / "out" / "facts.jsonl").exists(), result.stderr
    return result, values(tmp_path / "out")


@pytest.fixture(scope="module")
def facts_of(tmp_path_factory):
    """The values of a cubin, which is inspected once."""
    return functools.cache(lambda cubin: inspected(tmp_path_factory.mktemp("cubin"), cubin)[1])


def compiled(tmp_path, *options):
    """A cubin of the kernels above, and what ptxas says of it."""
    (tmp_path / "kernels.cu").write_text(KERNELS)
    cubin = tmp_path / "kernels.cubin"
    command = [tool("nvcc"), "-cubin", "-lineinfo", "-Xptxas", "-v", *options, "-o", cubin]
    command.append(tmp_path / "kernels.cu")
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return cubin, done.stderr


@pytest.mark.parametrize("cubin", CUBINS, ids=lambda path: path.name)
def test_resources_are_those_of_cuobjdump(cubin, facts_of):
    if not Path(tool("cuobjdump")).exists():
        pytest.skip("cuobjdump is missing")
    text = subprocess.run(
        [tool("cuobjdump"), "-res-usage", cubin], capture_output=True, text=True, check=True
    ).stdout
    row = r"Function (\S+):\s+REG:(\d+) STACK:(\S+) SHARED:(\d+)"
    usage = {name: (int(r), s, int(m)) for name, r, s, m in re.findall(row, text)}
    facts = facts_of(cubin)
    kernels = {kernel for kernel, _ in facts}
    assert kernels and kernels <= set(usage)
    for kernel in kernels:
        registers, stack, shared = usage[kernel]
        assert facts[kernel, "registers"].value == registers
        # The tables of a cubin leave out functions that call themselves.
        calls_itself = cubin.name.startswith("recursion") or kernel == "saved_around_a_call"
        is_known = stack.isdigit() and not calls_itself
        if is_known and (kernel, "stack.bytes") in facts:
            assert facts[kernel, "stack.bytes"].value == int(stack)
        own = facts[kernel, "shared.static_bytes"].value
        newer = int(re.search(r"sm_(\d+)", facts[kernel, "registers"].arch)[1]) >= 90
        assert shared == (own + RESERVED if newer and own else own) or (own == 0 and newer)


TENSOR = ("HMMA", "IMMA", "BMMA", "DMMA", "QMMA", "OMMA", "HGMMA", "IGMMA", "BGMMA", "QGMMA")
NOT_UNIFORM = ("UTMA", "UBLK", "UTC", "UCGABAR", "USET", "UGET", "UVIRTCOUNT", "ULEPC")


def kind_of(instruction):
    """The metric of an instruction as nvdisasm writes it."""
    name = instruction.partition(".")[0]
    if name in TENSOR or re.fullmatch("UTC[A-Z]*MMA", name):
        return "mix.tensor"
    if name in ["VOTEU", "LDCU"] or (name[0] == "U" and not name.startswith(NOT_UNIFORM)):
        return "mix.uniform"
    if name == "MUFU" or name in ["DADD", "DMUL", "DFMA", "DSETP"]:
        return "mix.mufu" if name == "MUFU" else "mix.f64"
    if name not in ["LDS", "LDG"]:
        return None
    widths = [int(part) for part in re.findall(r"\b[US]?(8|16|64|128|256)\b", instruction)]
    bits = max(widths, default=32)
    return f"mix.{name.lower()}_{bits}"


def mix_of(cubin):
    """Counts by kernel and metric in the text of nvdisasm."""
    text = subprocess.run(["nvdisasm", "-c", cubin], capture_output=True, text=True).stdout
    counts = collections.Counter()
    for kernel, code in re.findall(r"^\.text\.(\S+):\n(.*?)(?=^\.text\.|\Z)", text, re.S | re.M):
        for word in re.findall(r"/\*[0-9a-f]{4,}\*/ +\{? *(?:@!?U?P\w+ +)?([A-Z][\w.]*)", code):
            counts[kernel, kind_of(word)] += 1
    return counts


@pytest.mark.parametrize("cubin", CUBINS, ids=lambda path: path.name)
def test_the_instruction_mix_is_that_of_nvdisasm(cubin, facts_of):
    if not shutil.which("nvdisasm"):
        pytest.skip("nvdisasm is missing")
    facts = facts_of(cubin)
    mix = {key: fact.value for key, fact in facts.items() if key[1].startswith("mix.")}
    expected = mix_of(cubin)
    assert mix and {key: expected[key] for key in mix} == mix


def test_kinds_of_instructions_are_told_apart(tmp_path):
    """A double, an approximate function, and loads of four widths: one of each in the source."""
    (tmp_path / "kinds.cu").write_text(KINDS)
    cubin = tmp_path / "kinds.cubin"
    command = [tool("nvcc"), "-cubin", "-arch=sm_90", "-o", cubin, tmp_path / "kinds.cu"]
    subprocess.run(command, check=True)
    _, facts = inspected(tmp_path, cubin)
    of = {metric: fact.value for (_, metric), fact in facts.items()}
    assert of["mix.f64"] == 1 and of["mix.mufu"] == 1 and of["mix.tensor"] == 0
    assert [of[f"mix.ldg_{bits}"] for bits in (8, 16, 32, 64, 128, 256)] == [1, 0, 1, 1, 1, 0]
    assert of["mix.lds_32"] == 1 and of["mix.uniform"] > 0  # the address of the shared memory


def test_spills_are_those_of_ptxas_and_red_with_their_line(tmp_path):
    cubin, text = compiled(tmp_path, "-arch=sm_90", "-maxrregcount=24")
    result, facts = inspected(tmp_path, cubin)
    row = r"properties for (\S+)\n\s+(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes"
    said = {name: list(map(int, rest)) for name, *rest in re.findall(row, text)}
    assert len(said) >= 2
    for kernel, (frame, stores, loads) in said.items():
        assert facts[kernel, "stack.bytes"].value == frame
        assert facts[kernel, "spill.store_bytes"].value == stores
        assert facts[kernel, "spill.load_bytes"].value == loads
        assert facts[kernel, "spill.load_bytes"].confidence == "exact"
    crowded = next(kernel for kernel in said if "crowded" in kernel)
    indexed = next(kernel for kernel in said if "indexed" in kernel)
    assert said[crowded][1] > 0
    # A local array is no spill: it is said, and not red.
    assert said[indexed][1] == 0 and facts[indexed, "local.store_instructions"].value > 0
    assert result.returncode == 1, result.stdout
    # What is spilled is stored and loaded: one finding.
    assert result.stdout.count("\nFAIL kernels_cubin.crowded.") == 1
    assert "kernels.cu:5" in result.stdout or "kernels.cu:7" in result.stdout
    assert "FAIL: 2 values over budget" in result.stdout


def test_kernels_without_spills_are_green(tmp_path):
    cubin, _ = compiled(tmp_path, "-arch=sm_90")
    result, facts = inspected(tmp_path, cubin)
    assert result.returncode == 0, result.stdout
    calm = next(kernel for kernel, _ in facts if "calm" in kernel)
    assert facts[calm, "local.load_instructions"].value == 0
    assert facts[calm, "code.bytes"].value > 0
    assert result.stdout.index("indexed(") < result.stdout.index("calm(")  # the worst first


def test_lines_have_their_share(tmp_path):
    inspected(tmp_path, SPILLS)
    facts = read_facts(tmp_path / "out" / "facts.jsonl")
    for metric in ["spill.store_bytes", "local.load_instructions"]:
        whole = [f.value for f in facts if f.metric == metric and f.scope == "case" and f.value]
        lines = [f for f in facts if f.metric == metric and f.scope == "line"]
        assert lines and sum(f.value for f in lines) == sum(whole)
        assert all(f.file.endswith("spills.cu") for f in lines)


def test_results_fit_their_schema(tmp_path):
    inspected(tmp_path, SPILLS)
    schema = json.loads((ROOT / "harness" / "outcome" / "results.schema.json").read_text())
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    jsonschema_rs.validate(schema, results)


def test_budgets_by_globs_of_names(tmp_path):
    budgets = tmp_path / "budgets.toml"
    budgets.write_text('["spills*"]\nregisters = 23\n')
    result, _ = inspected(tmp_path, "--budgets", budgets, SPILLS)
    assert result.returncode == 1
    assert "registers is 24" in result.stdout or "value    24 registers/thread" in result.stdout
    assert f"--budgets {budgets}" in result.stdout
    budgets.write_text('["other"]\nregisters = 23\n')
    result, _ = inspected(tmp_path, "--budgets", budgets, LEAN)
    assert result.returncode == 3
    assert "no kernel matches section 'other'" in result.stdout


def test_a_budget_for_what_needs_a_run_is_not_measured(tmp_path):
    budgets = tmp_path / "budgets.toml"
    budgets.write_text('[default]\n"global.excess_sectors" = 0\n')
    result, _ = inspected(tmp_path, "--budgets", budgets, LEAN)
    assert "warpgauge inspect does not measure it" in result.stdout


def older(cubin):
    """As CUDA 12 writes it: of another ABI, which says less."""
    image = bytearray(cubin.read_bytes())
    image[8] = 7  # EI_ABIVERSION
    image[48] = 90  # e_flags: the architecture
    return image


@pytest.mark.parametrize("is_older", [False, True])
def test_an_accepted_baseline_is_green(is_older, tmp_path):
    """Outside of a source tree, whose changes would have to be committed first."""
    thing = tmp_path / "spills.cubin"
    thing.write_bytes(older(SPILLS) if is_older else SPILLS.read_bytes())
    (tmp_path / "budgets.toml").write_text('gate_on = "estimate"\n' if is_older else "")
    assert inspect("--budgets", "budgets.toml", thing, cwd=tmp_path).returncode == 1
    accept = [GAUGE, "accept", "out/facts.jsonl", "--baseline", "--any-commit"]
    accept += ["--budgets", "budgets.toml"]
    accepted = subprocess.run(
        accept,
        **{"capture_output": True, "text": True, "cwd": tmp_path},
        env={**os.environ, "CI": ""},  # CI accepts no budgets
    )
    assert accepted.returncode == 0, accepted.stderr
    assert '["spills.a40de03f"]' in (tmp_path / "budgets.toml").read_text()
    result = inspect("--budgets", "budgets.toml", thing, cwd=tmp_path)
    assert result.returncode == 0, result.stdout


def test_barriers_of_cuda_12_are_in_the_flags_of_the_code(tmp_path):
    """Bits 20 to 26, as `ptxas -v` of CUDA 12.8 says the same numbers."""
    image = older(SPILLS)
    (headers,) = struct.unpack_from("<Q", image, 40)
    (count,) = struct.unpack_from("<H", image, 60)
    for flags in range(headers + 8, headers + 64 * count, 64):
        if struct.unpack_from("<Q", image, flags) == (6,):  # allocated, and executed
            struct.pack_into("<Q", image, flags, 5 << 20 | 6)
    (tmp_path / "older.cubin").write_bytes(image)
    _, facts = inspected(tmp_path, tmp_path / "older.cubin")
    assert [f.value for (_, metric), f in facts.items() if metric == "barriers"] == [5, 5]


def test_spills_that_are_not_marked_are_an_estimate(tmp_path):
    """The cubins of CUDA 12 say less."""
    (tmp_path / "older.cubin").write_bytes(older(SPILLS))
    result, facts = inspected(tmp_path, tmp_path / "older.cubin")
    assert result.returncode == 3, result.stdout
    assert "up to CUDA 12 the compiler does not mark spills" in result.stdout
    lean = next(kernel for kernel, _ in facts if "lean" in kernel)
    assert facts[lean, "spill.load_bytes"].confidence == "exact"
    budgets = tmp_path / "budgets.toml"
    budgets.write_text('gate_on = "estimate"\n')
    result, _ = inspected(tmp_path, "--budgets", budgets, tmp_path / "older.cubin")
    assert result.returncode == 1


def test_the_cure_of_an_array_is_not_that_of_spills(tmp_path):
    """Where spills are not marked, a place that is known only at run time is of an array."""
    cubin, _ = compiled(tmp_path, "-arch=sm_90")
    (tmp_path / "older.cubin").write_bytes(older(cubin))
    result, facts = inspected(tmp_path, "--kernels", "indexed", tmp_path / "older.cubin")
    indexed = next(kernel for kernel, _ in facts)
    stack = facts[indexed, "stack.bytes"].value
    marked = inspected(tmp_path, "--kernels", "indexed", cubin)[1]
    assert facts[indexed, "spill.store_bytes"].value > marked[indexed, "spill.store_bytes"].value
    accesses = facts[indexed, "local.load_instructions"].value
    assert facts[indexed, "spill.load_bytes"].value < 4 * accesses
    assert "Index local arrays with compile-time constants" in result.stdout
    assert f"fits into {stack} bytes of stack" in result.stdout
    assert "Shorten live ranges" not in result.stdout


@pytest.mark.parametrize("threads", ["0", "1", "1024", "1025", "-1", "many"])
def test_a_block_has_1_to_1024_threads(threads):
    result = inspect("--block", threads, LEAN)
    if threads in ("1", "1024"):
        assert result.returncode == 0, result.stderr
    else:
        assert (result.returncode, result.stdout) == (2, "")
        assert "--block" in result.stderr and "inspect --help" in result.stderr


def test_occupancy_is_that_of_the_block_or_of_launch_bounds(tmp_path):
    _, facts = inspected(tmp_path, "--block", 256, SPILLS)
    (spills,) = {kernel for kernel, _ in facts if "spills" in kernel}
    words = ["occupancy", "--threads", "256", "--registers", "24", "--arch", "sm_90", "--json"]
    said = subprocess.run([GAUGE, *words], capture_output=True, text=True, check=True).stdout
    expected = json.loads(said)["architectures"][0]["occupancy"]
    fact = facts[spills, "occupancy.theoretical"]
    assert fact.value == pytest.approx(expected)
    assert "256 threads without dynamic shared memory" in fact.confidence_reason
    _, facts = inspected(tmp_path, SPILLS)
    assert (spills, "occupancy.theoretical") not in facts


def test_only_the_architectures_and_kernels_that_are_asked_for(tmp_path):
    things = [SPILLS, DATA / "cubin" / "spills.sm_75.cubin"]
    _, facts = inspected(tmp_path, "--arch", "sm_7*", "--kernels", "^lean", *things)
    assert {fact.arch for fact in facts.values()} == {"sm_75"}
    assert {kernel for kernel, _ in facts} == {"_Z4leanPf"}
    result = inspect("--arch", "sm_12", "--out", tmp_path, *things)
    assert result.returncode == 3
    assert "--arch sm_12: there is no such code, but for sm_75, sm_90" in result.stderr
    result = inspect("--kernels", "none", "--out", tmp_path, *things)
    assert result.returncode == 3
    assert "--kernels 'none': matches none of 4 kernels" in result.stderr


def test_long_names_are_demangled_and_hostile_ones_kept(tmp_path):
    """Of two hostile names one stands for 2^24 types, and one is longer than any compiler's."""
    digits = string.digits + string.ascii_uppercase
    pairs = "".join(f"S_IS{digit}_S{digit}_E" for digit in digits[:24])
    names = [
        f"_Z7longestI{'NSt3__14pairE' * 100}EvT_",
        f"_Z7doubledSt4pairIiiE{pairs}",
        f"_Z20000{'a' * 20_000}v",
    ]
    entries = "".join(f".visible .entry {name}() {{ ret; }}\n" for name in names)
    ptx = tmp_path / "names.ptx"
    ptx.write_text(f".version 9.0\n.target sm_90\n.address_size 64\n{entries}")
    result, facts = inspected(tmp_path, ptx)
    assert {kernel for kernel, _ in facts} == set(names)
    assert result.returncode == 0
    assert re.search("  void longest<std::__1::pair, std::__1::pair, ", result.stdout)
    assert re.search("  _Z7doubledSt4pair", result.stdout)
    assert re.search("  _Z20000aaaa", result.stdout)
    _, facts = inspected(tmp_path, "--kernels", ".*longest.*pair>", ptx)
    assert {kernel for kernel, _ in facts} == {names[0]}
    result = inspect("--kernels", "a+b", "--out", tmp_path, ptx)
    assert "matches none of 3 kernels" in result.stderr


def test_a_folder_is_read_without_its_other_files(tmp_path):
    folder = tmp_path / "cache" / "inner"
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text("no code")
    shutil.copy(LEAN, folder / "a.cubin")
    (folder.parent / "link.cubin").symlink_to(folder / "a.cubin")
    result, _ = inspected(tmp_path, tmp_path / "cache")
    assert result.returncode == 0, result.stdout
    families = {fact.case.family for fact in read_facts(tmp_path / "out" / "facts.jsonl")}
    assert families == {"inner_a_cubin"}


def test_a_folder_with_the_results_of_an_earlier_run_is_read_again(tmp_path):
    shutil.copy(LEAN, tmp_path / "a.cubin")
    first, again = (inspect(".", cwd=tmp_path) for _ in range(2))
    assert first.returncode == 0 == again.returncode, again.stdout + again.stderr
    assert first.stdout == again.stdout
    assert inspect("--out", "out", "out", cwd=tmp_path).returncode == 3, "nothing else is there"


def test_a_source_is_to_be_compiled(tmp_path):
    (tmp_path / "kernels.cu").write_text(KERNELS)
    result = inspect("--out", tmp_path / "out", tmp_path / "kernels.cu")
    assert result.returncode == 2
    assert "kernels.cu: this is source code. Compile it, and name what nvcc has" in result.stdout


def wheel(path, *members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members:
            file.writestr(name, content)
    return path


def test_a_wheel_is_read_as_a_folder_is(tmp_path):
    cut = SPILLS.read_bytes()[:5000]
    parts = [("my/libs/a.so", LEAN.read_bytes()), ("my/cut.so", cut), ("my/a.py", "pass")]
    result, facts = inspected(tmp_path, wheel(tmp_path / "my-1.0-py3-none-any.whl", *parts))
    assert result.returncode == 2 and facts
    families = {fact.case.family for fact in read_facts(tmp_path / "out" / "facts.jsonl")}
    assert families == {"my_libs_a_so", "my_cut_so"}
    assert "my-1.0-py3-none-any.whl, my/cut.so: not a usable cubin" in result.stdout


def test_a_kernel_that_several_files_have_is_one_finding_in_texts(tmp_path):
    parts = [(f"lib{version}.so", SPILLS.read_bytes()) for version in (118, 121, 124)]
    result, _ = inspected(tmp_path, wheel(tmp_path / "my-1.0-py3-none-any.whl", *parts))
    assert result.stdout.count("spill.load_bytes\n") == 1
    assert "@code on sm_90, in 3 files: spill.load_bytes\n" in result.stdout
    also = "also     spill.store_bytes (64), lib121_so on sm_90 (64), lib124_so on sm_90 (64)\n"
    assert also in result.stdout
    summary = (tmp_path / "out" / "summary.md").read_text()
    assert summary.count("`spill.load_bytes`") == 1
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    loads = [finding for finding in results["findings"] if finding["metric"] == "spill.load_bytes"]
    assert [finding["case"].split(".")[0] for finding in loads] == [
        "lib118_so",
        "lib121_so",
        "lib124_so",
    ]
    assert len({finding["group"] for finding in loads}) == 1
    assert "FAIL: 6 values over budget" in result.stdout


def test_instances_of_a_template_are_one_finding(tmp_path):
    for letter in "fi":
        named = SPILLS.read_bytes().replace(b"_Z6spillsPfPKf", f"_Z2spI{letter}EvPfPKf".encode())
        (tmp_path / f"{letter}.cubin").write_bytes(named)
    result, _ = inspected(tmp_path, tmp_path / "f.cubin", tmp_path / "i.cubin")
    assert result.stdout.count("\nFAIL ") == 1, result.stdout
    assert "@code on sm_90, 2 instances, in 2 files: spill.load_bytes\n" in result.stdout
    assert "also     spill.store_bytes (64), i_cubin sp<int> on sm_90 (64)\n" in result.stdout
    assert "FAIL: 4 values over budget" in result.stdout
    findings = json.loads((tmp_path / "out" / "results.json").read_text())["findings"]
    assert len(findings) == 4 and len({finding["group"] for finding in findings}) == 1


def test_a_kernel_has_one_row_for_all_files(tmp_path):
    for name in ("one.cubin", "two.cubin"):
        shutil.copy(SPILLS, tmp_path / name)
    result, _ = inspected(tmp_path, tmp_path / "one.cubin", tmp_path / "two.cubin")
    rows = [line.split() for line in result.stdout.splitlines() if line.startswith("sm_90 ")]
    assert [row[:5] for row in rows] == [
        ["sm_90", "2", "24", "64", "128"],
        ["sm_90", "2", "10", "0", "0"],
    ]
    assert "judged: 2 kernels, 4 times compiled\n" in result.stdout


def test_code_before_the_known_architectures_is_counted(tmp_path):
    """As older wheels have it beside newer code."""
    old = older(LEAN)
    old[48] = 50
    newer = inspected(tmp_path, LEAN)[1]
    both = tmp_path / "both.a"
    both.write_bytes(archive(("new.cubin", LEAN.read_bytes()), ("old.cubin", bytes(old))))
    result, facts = inspected(tmp_path, both)
    assert result.returncode == 0, result.stdout
    kernels = len({kernel for kernel, _ in newer})
    assert f"{kernels} kernels for sm_50 not judged: machine code before sm_75" in result.stdout
    assert {fact.arch for fact in facts.values()} == {"sm_90"}


@pytest.mark.parametrize("arguments", [[], ["--arch", "sm_50"]])
def test_a_file_of_older_code_alone_is_not_measured(arguments, tmp_path):
    old = older(LEAN)
    old[48] = 50
    (tmp_path / "old.cubin").write_bytes(old)
    things = [tmp_path / "old.cubin", LEAN]
    result = inspect("--out", tmp_path / "out", *arguments, *things)
    assert result.returncode == 3, result.stdout
    said = result.stdout + result.stderr
    assert f"{things[0]}: all its code is for architectures before sm_75" in said


def test_files_of_one_name_in_two_wheels_are_two(tmp_path):
    part = ("a.so", LEAN.read_bytes())
    wheels = [wheel(tmp_path / f"my-{version}.whl", part) for version in "12"]
    inspected(tmp_path, *wheels)
    families = {fact.case.family for fact in read_facts(tmp_path / "out" / "facts.jsonl")}
    assert families == {"a_so", "my-2_whl_a_so"}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            b"PK\x03\x04 and no more",
            "not a usable zip: at offset 16, the table of its files is cut",
        ),
        (b"no zip", "its first bytes are none of what it is named as"),
        (None, "it has no code for GPUs; name what nvcc has compiled"),
    ],
)
def test_a_wheel_without_machine_code_is_a_fault(content, problem, tmp_path):
    thing = tmp_path / "my.whl"
    thing.write_bytes(content) if content else wheel(thing, ("my/a.py", "pass"))
    result = inspect("--out", tmp_path / "out", thing)
    assert result.returncode == 2
    assert f"{thing}: {problem}" in result.stdout


def compiled_ptx(tmp_path):
    (tmp_path / "kernels.cu").write_text(KERNELS)
    ptx = tmp_path / "kernels.ptx"
    command = [tool("nvcc"), "-ptx", "-lineinfo", "-arch=compute_80", "-o", ptx]
    subprocess.run([*command, tmp_path / "kernels.cu"], check=True)
    return ptx


def test_ptx_is_compiled_for_its_target_or_what_is_asked_for(tmp_path):
    ptx = compiled_ptx(tmp_path)
    for options, archs in [
        ([], {"sm_80"}),
        (["--arch", "sm_8*"], {"sm_80"}),
        (["--arch", "sm_86,sm_90a"], {"sm_86", "sm_90a"}),
    ]:
        result = inspect("--out", tmp_path / "out", *options, ptx)
        assert result.returncode == 0, result.stdout
        facts = read_facts(tmp_path / "out" / "facts.jsonl")
        assert {fact.arch for fact in facts} == archs
        assert {fact.file.rpartition("/")[2] for fact in facts if fact.file} == {"kernels.cu"}


def test_ptx_has_the_values_of_its_machine_code(tmp_path):
    _, of_cubin = inspected(tmp_path, compiled(tmp_path, "-arch=sm_80")[0])
    _, of_ptx = inspected(tmp_path, compiled_ptx(tmp_path))
    assert {key: fact.value for key, fact in of_ptx.items()} == {
        key: fact.value for key, fact in of_cubin.items()
    }


def test_ptx_that_cannot_be_compiled_is_a_fault(tmp_path):
    result = inspect("--out", tmp_path / "out", "--arch", "sm_75", compiled_ptx(tmp_path))
    assert result.returncode == 2
    assert "ptxas -arch sm_75 exited with 255; see its messages" in result.stdout
    (tmp_path / "no.ptx").write_text("no PTX")
    result = inspect("--out", tmp_path / "out", tmp_path / "no.ptx")
    assert f"{tmp_path}/no.ptx: it is no PTX: it has no .target" in result.stdout


def test_what_is_damaged_does_not_stop_the_others(tmp_path):
    library = tmp_path / "lib.a"
    library.write_bytes(
        archive(("cut.o", SPILLS.read_bytes()[:5000]), ("whole.o", LEAN.read_bytes()))
    )
    result, facts = inspected(tmp_path, library)
    assert result.returncode == 2
    assert facts
    assert re.search(
        rf"reason +{re.escape(str(library))}: cut\.o: not a usable cubin", result.stdout
    )


def test_a_kernel_with_several_codes_counts_by_the_worst(tmp_path):
    _, few = inspected(tmp_path, compiled(tmp_path, "-arch=sm_90", "-maxrregcount=24")[0])
    first = (tmp_path / "kernels.cubin").read_bytes()
    _, many = inspected(tmp_path, compiled(tmp_path, "-arch=sm_90")[0])
    second = (tmp_path / "kernels.cubin").read_bytes()
    library = tmp_path / "lib.a"
    library.write_bytes(archive(("a.o", first), ("b.o", second)))
    result, both = inspected(tmp_path, library)
    assert result.returncode == 1
    for key in [key for key in both if "crowded" in key[0] and key[1] != "registers.least"]:
        assert both[key].value == max(few[key].value, many[key].value), key


@pytest.mark.parametrize(
    ("thing", "problem"),
    [
        ("/bin/true", "it has no code for GPUs; name what nvcc has compiled"),
        (ROOT / "README.md", "no line of ptxas -v. A build that is up to date compiles nothing"),
    ],
)
def test_a_named_file_without_machine_code_is_a_fault(thing, problem, tmp_path):
    result = inspect("--out", tmp_path, thing)
    assert result.returncode == 2
    assert f"{thing}: {problem}" in result.stdout


@pytest.mark.parametrize("content", [b"", b"not a\0text"])
def test_a_named_file_that_is_no_text_is_not_the_log_of_a_build(content, tmp_path):
    thing = tmp_path / "thing"
    thing.write_bytes(content)
    result = inspect("--out", tmp_path / "out", thing)
    assert result.returncode == 2
    assert f"{thing}: it is none of what inspect reads: " in result.stdout


def said_by_kernel(out):
    """The values of a log, by kernel, architecture and metric."""
    return {
        (fact.case.kernels[0].name, fact.arch, fact.metric): fact
        for fact in read_facts(out / "facts.jsonl")
        if fact.case and fact.case.kernels
    }


@pytest.mark.parametrize(
    "log, compiled", [("make-j4", 22), ("make-colours", 4), ("threads", 6), ("ninja", 14)]
)
def test_the_log_of_a_build_is_judged_whatever_stands_between(log, compiled, tmp_path):
    """Colours, Windows line ends, several compilers and the words of build tools."""
    result = inspect("--out", tmp_path, LOGS / f"log-{log}.txt")
    facts = said_by_kernel(tmp_path)
    assert len({key[:2] for key in facts}) == compiled
    kernels = len({kernel for kernel, _, _ in facts})
    assert f"judged: {kernels} kernels, {compiled} times compiled\n" in result.stdout
    assert {fact.source for fact in facts.values()} == {"ptxas"}
    spilling = any("spilling" in name for name, _, _ in facts)
    assert result.returncode == (1 if spilling else 0), result.stdout
    assert facts["swap_neighbours", "sm_75", "registers"].value == 10
    assert facts["swap_neighbours", "sm_75", "barriers"].value == 4
    assert facts["swap_neighbours", "sm_75", "shared.static_bytes"].value == 256


def test_a_log_has_verdicts_budgets_and_options_as_compiled_files_have(tmp_path):
    (tmp_path / "b.toml").write_text('["swap_*"]\nregisters = { max = 9 }\n')
    log = LOGS / "log-ninja.txt"
    result = inspect("--out", tmp_path / "out", "--arch", "sm_9*", log)
    assert result.returncode == 1
    assert "\nFAIL log-ninja_txt.spilling." in result.stdout
    options = ["--arch", "sm_90", "--kernels", "^swap", "--budgets", tmp_path / "b.toml"]
    result = inspect("--out", tmp_path / "out", *options, "--block", 128, log)
    assert result.returncode == 1 and "judged: 1 kernel\n" in result.stdout
    assert "value    10 registers/thread\n  budget   <= 9" in result.stdout
    occupancy = said_by_kernel(tmp_path / "out")[
        "swap_neighbours", "sm_90", "occupancy.theoretical"
    ]
    assert (occupancy.value, occupancy.confidence) == (1, "predicted")


def test_what_a_log_does_not_say_is_not_measured(tmp_path):
    (tmp_path / "b.toml").write_text('["swap_*"]\n"code.bytes" = { max = 9 }\n')
    log = LOGS / "log-threads.txt"
    result = inspect("--out", tmp_path / "out", "--budgets", tmp_path / "b.toml", log)
    assert result.returncode == 3
    assert "ptxas -v does not say it; inspect the file that was compiled" in result.stdout


def test_of_a_kernel_that_a_log_has_twice_the_worse_counts(tmp_path):
    text = (LOGS / "log-threads.txt").read_text()
    log = tmp_path / "build"  # known by what is in it, not by its name
    log.write_text(text + text.replace("Used 10 registers", "Used 12 registers"))
    inspect("--out", tmp_path / "out", log)
    facts = said_by_kernel(tmp_path / "out")
    assert facts["swap_neighbours", "sm_75", "registers"].value == 12
    assert len({key[:2] for key in facts}) == 6


@pytest.mark.parametrize("text", ["ninja: no work to do.\n", "[1/1] nvcc -c a.cu\n"])
def test_a_log_of_a_build_that_was_up_to_date_is_a_fault(text, tmp_path):
    (tmp_path / "build.log").write_text(text)
    result = inspect("--out", tmp_path / "out", tmp_path / "build.log")
    assert result.returncode == 2
    assert "build.log: no line of ptxas -v. A build that is up to date compiles" in result.stdout
    assert "with -Xptxas -v among nvcc's options" in result.stdout


def test_a_line_of_a_log_that_may_be_of_two_kernels_is_a_fault(tmp_path):
    log = LOGS / "log-mixed.txt"
    result = inspect("--out", tmp_path / "out", log)
    assert result.returncode == 2
    assert (
        f'{log}:13: "ptxas info    : Used 10 registers, used 0 barriers": it may be of _Z5k0_90Pf '
        "for sm_90 (line 6) or of _Z6k1_149Pf for sm_90 (line 10). Compilers that ran at once "
    ) in result.stdout


def test_a_thing_that_is_not_there_is_a_fault(tmp_path):
    result = inspect("--out", tmp_path, tmp_path / "missing.so")
    assert result.returncode == 2
    assert f"{tmp_path}/missing.so: not there; name a file with machine code" in result.stderr


def test_a_folder_without_machine_code_is_not_measured(tmp_path):
    result = inspect("--out", tmp_path / "out", tmp_path)
    assert result.returncode == 3
    assert "no file has machine code; name what nvcc has compiled" in result.stderr

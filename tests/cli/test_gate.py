"""The command line tools as a user or a CI job sees them: exit codes, messages, files."""

import json
import os
import re
import resource
import signal
import subprocess
from pathlib import Path

import pytest
from stored_facts import of_cases
from warpgauge.errors import FactError
from warpgauge.facts.reader import read_facts

BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"
ROOT = Path(__file__).resolve().parents[2]
HAS_GPU = Path("/dev/nvidia0").exists()
needs_no_gpu = pytest.mark.skipif(HAS_GPU, reason="shows what happens without a GPU")
HAS_CUPTI = (
    subprocess.run(
        [BIN / "warpgauge", "metrics", "--chip", "GH100"], capture_output=True
    ).returncode
    != 3
)
needs_cupti = pytest.mark.skipif(not HAS_CUPTI, reason="this build has no CUPTI")
needs_gpu = pytest.mark.skipif(not HAS_GPU, reason="no GPU on this machine")
# For tests that hold on a GPU and on the emulator.
on_any_device = pytest.mark.parametrize(
    "device", [pytest.param("gpu", marks=needs_gpu), "emulated"]
)
CASE = "transpose.padded.f32@1024x1024"


def run(program, *arguments, env=None, preexec_fn=None):
    return subprocess.run(
        [BIN / program, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **(env or {})},
        preexec_fn=preexec_fn,
    )


def gate(out, *arguments, program="warpgauge"):
    return run(program, "gate", "--out", out, *arguments)


def verdicts_of_emulator(out, pattern):
    assert gate(out, "--device=emulated", "--filter", pattern).returncode == 0
    return of_cases(out)


def test_list_shows_ids_and_filters_them():
    everything = run("warpgauge", "list").stdout.splitlines()
    assert "transpose.padded.f32@1024x1024" in everything
    doubles = run("warpgauge", "list", "--filter", "transpose.*.f64@*").stdout.splitlines()
    assert doubles and set(doubles) == {
        i for i in everything if re.match(r"transpose\..*\.f64@", i)
    }


def test_large_cases_are_listed_when_asked_for():
    usual = run("warpgauge", "list").stdout.splitlines()
    everything = run("warpgauge", "list", "--large").stdout.splitlines()
    assert set(usual) < set(everything)
    assert "transpose.padded.f32@16384x16384" in set(everything) - set(usual)
    refused = run("warpgauge", "gate", "--filter", "transpose.padded.f32@16384x16384")
    assert refused.returncode == 2 and "1 large ones with --large" in refused.stderr


def test_generations_and_old_settings_are_shown_without_a_gpu():
    limits = run("warpgauge", "devices", "--limits").stdout
    assert re.search(r"sm_90 +Hopper +2048 +32 +65536 +228 KiB +48 KiB +227 KiB", limits)
    assert "?" not in limits
    settings = run("warpgauge", "devices", "--shared-config", "--device=emulated").stdout
    assert re.search(r"banks of 8 bytes\) +cudaSuccess +then: banks of 4 bytes", settings)
    assert re.search(
        r"cudaFuncSetCacheConfig\(kernel, more L1 cache\) +cudaSuccess +then", settings
    )
    assert re.search(r"cudaFuncSetSharedMemConfig\(kernel, banks of 8 bytes\) +cuda\w+ ", settings)


def test_the_history_has_each_generation_and_its_toolkits():
    history = run("warpgauge", "devices", "--history").stdout
    assert re.search(r"^1\.1 +Tesla +1\.0 to 6\.5 .* 16 +256 +none  atomics", history, re.MULTILINE)
    assert re.search(
        r"^2\.0 +Fermi +3\.0 to 8\.0 +1536 +8 +32768 +63 +48 KiB +32 +4096 ", history, re.M
    )
    assert re.search(r"^3\.5 .* 255 .*dynamic parallelism, funnel shift", history, re.MULTILINE)
    assert re.search(
        r"^9\.0 +Hopper +11\.8 on .* 255 +228 KiB +32 +32764 +51200 KiB ", history, re.M
    )
    assert run("warpgauge", "devices", "--history", "--limits").returncode == 2


def test_devices_shows_what_overlaps_and_how_fast_the_memory_is():
    shown = run("warpgauge", "devices", "--device=emulated").stdout
    assert re.search(r"^  concurrent kernels +yes$", shown, re.MULTILINE)
    assert re.search(r"^  maps host memory +yes$", shown, re.MULTILINE)
    # The clock of the emulated memory is a nominal one.
    assert re.search(r"^  memory bandwidth, peak +unknown$", shown, re.MULTILINE)


# What the emulated device is like, without what depends on the machine and the toolkit.
PROPERTIES = """
device 0: Emulated GPU (sm_90)
  compute capability               9.0
  multiprocessors                  132
  clock                            1000 MHz
  arithmetic of float, peak        unknown
  arithmetic of double, peak       unknown
  memory clock                     1000 MHz
  memory bus                       5120 bits
  memory bandwidth, peak           unknown
  L2 cache                         50.0 MiB
  constant memory                  64 KiB
  shared memory per block          48 KiB
  shared memory per block, opt-in  227 KiB
  shared memory per multiprocessor 228 KiB
  registers per block              65536
  registers per multiprocessor     65536
  warp size                        32
  threads per block                1024
  threads per multiprocessor       2048
  blocks per multiprocessor        32
  block extents                    1024 x 1024 x 64
  grid extents                     2147483647 x 65535 x 65535
  memory pitch                     2.0 GiB
  texture alignment                512 bytes
  copy engines                     3
  concurrent kernels               yes
  maps host memory                 yes
  kernel time limit                no
  ECC                              no
  integrated                       no
"""


def test_devices_shows_their_properties():
    shown = run("warpgauge", "devices", "--device=emulated").stdout
    first, *rest = shown.splitlines()
    assert re.fullmatch(r"CUDA runtime \d+\.\d+, driver emulator, 1 device", first)
    (memory,) = (line for line in rest if re.match("  memory  ", line))
    assert re.fullmatch(r"  memory {27}\d+\.\d GiB", memory)
    assert [line for line in rest if line != memory] == PROPERTIES.strip().splitlines()


def test_scripts_learn_the_models_of_gpus():
    models = run("warpgauge", "devices", "--models", "--device=emulated").stdout
    assert re.fullmatch(r"GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\tEmulated GPU.*\n", models)
    both = run("warpgauge", "devices", "--models", "--limits")
    assert both.returncode == 2


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["gate", "--filter", "no.such"], "selects no case"),
        (["list", "--filter", "no.such"], "selects no case"),
        (["gate", "--arch", "sm_91"], "did you mean 'sm_90'"),
        (["gate", "--requires=cupti"], "--requires"),
        (["gate", "--require=gpu"], "gpu"),
        (["gate", "--timeout", "0"], "--timeout"),
        (
            ["explain", "transpose.paded.f32@1024x1024"],
            "did you mean 'transpose.padded.f32@1024x1024'",
        ),
        pytest.param(["metrics", "--chip", "GH1000"], "GH100", marks=needs_cupti),
        (["no-such-command"], "no-such-command"),
        ([], "name a command"),
    ],
)
def test_bad_input_is_a_fault_with_a_clear_message(tmp_path, arguments, message):
    if arguments[:1] == ["gate"]:
        arguments = [*arguments, "--out", tmp_path / "out"]
    result = run("warpgauge", *arguments)
    assert result.returncode == 2, result.stderr
    assert message in result.stderr + result.stdout
    assert not (tmp_path / "out" / "facts.jsonl").exists()


@pytest.mark.parametrize(
    "command", ["gate", "list", "metrics", "explain", "diff", "emulate", "devices"]
)
def test_every_command_has_help(command):
    result = run("warpgauge", command, "--help")
    assert result.returncode == 0
    assert command in result.stdout


def test_static_budgets_of_all_architectures_are_judged(tmp_path):
    result = gate(tmp_path, "--filter", "transpose.padded.*")
    assert result.returncode == 0, result.stdout + result.stderr
    facts = of_cases(tmp_path)
    archs = {arch for (_, metric, arch) in facts if metric == "spill.store_bytes"}
    assert len(archs) >= 1
    for (_, metric, _), fact in facts.items():
        if metric == "spill.store_bytes":
            assert (fact.value, fact.verdict) == (0, "pass")
    assert (tmp_path / "summary.md").read_text().startswith("# PASS")


@needs_no_gpu
def test_without_a_gpu_kernels_run_on_the_emulator(tmp_path):
    result = gate(tmp_path, "--filter", "transpose.padded.f32@1024x1024")
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.splitlines()[0] == "kernels run on the emulator, as sm_90"
    facts = of_cases(tmp_path)
    conflicts = facts["transpose.padded.f32@1024x1024", "shared.bank_conflicts", "sm_90"]
    assert (conflicts.value, conflicts.verdict) == (0, "pass")
    assert (conflicts.source, conflicts.confidence) == ("emulator", "exact")


def test_the_emulator_runs_kernels_as_any_architecture_of_the_build(tmp_path):
    archs = run("warpgauge", "list", "--archs").stdout.split()
    assert archs
    result = gate(tmp_path, "--filter", CASE, "--device=emulated", "--arch", ",".join(archs))
    assert result.returncode == 0, result.stdout + result.stderr
    facts = of_cases(tmp_path)
    for arch in archs:
        assert facts[CASE, "result.correct", arch].verdict == "pass"
        assert facts[CASE, "shared.bank_conflicts", arch].source == "emulator"


def test_who_asks_for_cupti_gets_no_emulator(tmp_path):
    result = gate(tmp_path, "--device=emulated", "--require=cupti")
    assert result.returncode == 2
    assert "exclude each other" in result.stderr


@needs_no_gpu
def test_without_any_device_run_time_facts_are_unmeasured_and_counted(tmp_path):
    result = gate(tmp_path, "--filter", "transpose.padded.f32@1024x1024", "--device=gpu")
    assert result.returncode == 3
    assert result.stdout.startswith("kernels do not run: no GPU answers here\n")
    unmeasured = [f for f in of_cases(tmp_path).values() if f.verdict == "unmeasured"]
    assert {f.metric for f in unmeasured} >= {"result.correct", "shared.bank_conflicts"}
    assert f"{len(unmeasured)} unmeasured: no CUDA device" in result.stdout
    assert "NOT MEASURED: result.correct of transpose.padded.f32@1024x1024" in result.stdout
    assert gate(tmp_path, "--filter", "transpose.padded.*", "--require=cupti").returncode == 3


@needs_no_gpu
def test_without_a_gpu_run_tests_are_skipped_with_the_reason():
    result = run("warpgauge-check", "--gtest_filter=transpose.padded.*")
    assert result.returncode == 0
    assert "[  SKIPPED ]" in result.stdout and "no CUDA device" in result.stdout
    required = run("warpgauge-check", "--gtest_filter=transpose.padded.*", "--require-cupti")
    assert required.returncode == 1


def test_a_gpu_that_ctest_names_wrongly_is_an_error():
    named = {"CTEST_RESOURCE_GROUP_0_GPUS": "first"}
    result = run("warpgauge-check", "--gtest_filter=hello.add.*", env=named)
    assert result.returncode == 1
    assert "is 'first', expected id:NUMBER,slots:1; check the resource file" in result.stdout


def test_a_filter_that_selects_no_test_is_a_fault():
    result = run("warpgauge-check", "--gtest_filter=no.such")
    assert result.returncode == 2
    assert "no test was selected" in result.stderr


def test_tests_are_listed_without_a_gpu():
    listed = run("warpgauge-check", "--gtest_list_tests").stdout
    assert "transpose.\n" in listed and "  padded.f32@1024x1024\n" in listed


def test_what_kills_a_process_costs_one_case(tmp_path):
    """Crash, abort, hang and exception of host code: needs no GPU, dry runs go through it."""
    result = gate(tmp_path, "--filter", "faulty.*", "--timeout", 2, program="warpgauge-faulty")
    assert result.returncode == 2
    facts = of_cases(tmp_path)
    reasons = {i.split(".")[1]: f.reason for (i, _, _), f in facts.items() if f.verdict == "error"}
    assert "SIGABRT" in reasons["host_abort"]
    assert "SIGSEGV" in reasons["host_segfault"]
    assert "time limit of 2 s exceeded" in reasons["host_hang"]
    assert "no such table" in reasons["host_exception"]
    assert "launches no kernel" in reasons["no_launch"]
    # Those before, between and after were judged all the same.
    for variant in ("good", "good_after_all"):
        judged = [
            f
            for (i, m, _), f in facts.items()
            if i.startswith(f"faulty.{variant}.") and m == "spill.store_bytes"
        ]
        assert judged and all(f.verdict == "pass" for f in judged)


def test_an_out_that_is_a_file_is_a_fault(tmp_path):
    (tmp_path / "out").write_text("kept")
    result = gate(tmp_path / "out", "--filter", "transpose.padded.*")
    assert result.returncode == 2
    assert str(tmp_path / "out") in result.stderr
    assert (tmp_path / "out").read_text() == "kept"


@pytest.mark.parametrize("name", ["facts.jsonl", "summary.md"])
def test_a_result_that_cannot_be_written_is_a_fault(tmp_path, name):
    (tmp_path / name / "in the way").mkdir(parents=True)
    result = gate(tmp_path, "--filter", "transpose.padded.*")
    assert result.returncode == 2
    assert str(tmp_path / name) in result.stderr
    assert "PASS" not in result.stdout


def test_a_disk_that_fills_up_is_a_fault(tmp_path):
    """Files may not grow beyond a few kilobytes, as on a disk with no room left."""

    def limit_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    arguments = ["gate", "--out", tmp_path, "--filter", "transpose.padded.*"]
    result = run("warpgauge", *arguments, preexec_fn=limit_files)
    assert result.returncode == 2
    assert str(tmp_path / "facts.jsonl") in result.stderr
    assert "PASS" not in result.stdout
    assert not (tmp_path / "summary.md").exists()


def test_a_run_that_gets_nowhere_leaves_no_earlier_success(tmp_path):
    assert gate(tmp_path, "--filter", "transpose.padded.*").returncode == 0

    def limit_files():  # enough for the facts' file to be made, and for nothing to be written
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    arguments = ["gate", "--out", tmp_path, "--filter", "transpose.padded.*"]
    assert run("warpgauge", *arguments, preexec_fn=limit_files).returncode == 2
    assert not (tmp_path / "summary.md").exists()
    assert (tmp_path / "facts.jsonl").read_bytes() == b""


def test_a_fact_that_was_tampered_with_is_reported_with_its_line(tmp_path):
    gate(tmp_path, "--filter", "transpose.padded.f32@1024x1024")
    path = tmp_path / "facts.jsonl"
    lines = path.read_text().splitlines()
    lines[2] = lines[2][: len(lines[2]) // 2]
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(FactError, match=f"{path}:3: "):
        read_facts(path)


@on_any_device
def test_what_breaks_the_device_costs_one_case(tmp_path, device):
    arguments = ["--filter", "faulty.*", "--timeout", 10, "--device", device]
    result = gate(tmp_path, *arguments, program="warpgauge-faulty")
    facts = of_cases(tmp_path)
    results = {i.split(".")[1]: f for (i, m, _), f in facts.items() if m == "result.correct"}
    assert "cudaErrorIllegalAddress" in results["illegal_address"].reason
    assert "cudaErrorInvalid" in results["too_many_threads"].reason
    assert "cudaErrorLaunchFailure" in results["trap"].reason
    # The gate stops the process; the emulator sees earlier that the kernel waits in vain.
    ended = "time limit of 10 s|deadlock, all threads wait in loops for what nothing changes"
    assert re.search(ended, results["endless"].reason)
    assert "wrong result: element 0" in results["wrong_result"].reason
    assert "never written?" in results["half_written"].reason
    look = "  cure     If nothing else explains it, look for races: --check races,uninitialised\n"
    assert result.stdout.count(look) == (2 if device == "emulated" else 0)
    for variant in ("good", "good_after_all", "spilling"):
        assert results[variant].verdict == "pass", results[variant]


@on_any_device
def test_a_fault_names_what_went_wrong(tmp_path, device):
    gate(
        tmp_path,
        *("--filter", "faulty.illegal_address.*", "--device", device),
        program="warpgauge-faulty",
    )
    (fact,) = [f for (_, m, _), f in of_cases(tmp_path).items() if m == "result.correct"]
    assert fact.verdict == "error"
    assert "cudaErrorIllegalAddress" in fact.reason
    if device == "emulated":
        assert "illegal_address" in fact.reason and "tests/faulty/family.cu:" in fact.reason


def test_spills_fail_the_gate_on_any_machine(tmp_path):
    result = gate(tmp_path, "--filter", "faulty.spilling.*", program="warpgauge-faulty")
    assert result.returncode == 1
    assert "spill.store_bytes" in result.stdout
    assert "tests/faulty/family.cu:" in result.stdout
    assert "built-in default" in result.stdout


@pytest.mark.parametrize("variant", ["wrong_result", "illegal_address"])
def test_what_was_emulated_is_repeated_so(tmp_path, variant):
    arch = run("warpgauge", "list", "--archs").stdout.split()[0]
    options = ["--device=emulated", "--arch", arch]
    result = gate(tmp_path, *options, "--filter", f"faulty.{variant}.*", program="warpgauge-faulty")
    assert result.returncode == 2
    repeat = rf"  repeat   ci/gate {' '.join(options)} --filter 'faulty\.{variant}\.\S+'\n"
    assert re.search(repeat, result.stdout), result.stdout
    assert "compute-sanitizer" not in result.stdout  # the emulator has already located the fault


def test_what_kernels_print_is_not_in_the_results(tmp_path):
    result = gate(tmp_path, "--filter", "hello.print*.*", "--device=emulated")
    assert result.returncode == 0
    assert "hello from" not in result.stdout
    heard = re.findall(r"^hello from thread (\d) of block (\d)$", result.stderr, re.MULTILINE)
    of_one, of_ten = [("0", "0")], [(thread, block) for block in "01" for thread in "01234"]
    assert {line: heard.count(line) for line in heard} == {
        line: (of_one + of_ten).count(line) for line in of_ten
    }


def test_cases_that_need_a_gpu_are_reported_on_the_emulator(tmp_path):
    library = run("warpgauge", "list", "--filter", "matmul.cublas*.*").stdout.splitlines()
    if not library:
        pytest.skip("this build has no cuBLAS")
    matmul = ["--device=emulated", "--filter", "matmul.*.f64@*"]
    doubles = [case for case in library if ".f64@" in case]
    announced = gate(tmp_path, *matmul).stdout.splitlines()[1]
    assert announced == f"cases left out because they need a GPU: {len(doubles)}"
    refused = gate(tmp_path, "--device=emulated", "--filter", "matmul.cublas.*")
    assert refused.returncode == 2
    assert re.search(r"selects only cases that need a GPU \(\d+\)", refused.stderr)
    explained = run("warpgauge", "explain", library[0], "--device=emulated")
    assert explained.returncode == 2
    assert f"{library[0]} calls a library, which needs a GPU" in explained.stderr


def test_facts_follow_the_schema_and_carry_provenance(tmp_path):
    gate(tmp_path, "--filter", "transpose.padded.f32@1024x1024")
    records = [json.loads(line) for line in (tmp_path / "facts.jsonl").read_text().splitlines()]
    assert (records[0]["record"], records[-1]["record"]) == ("run", "end")
    of_runs = [record for record in records if record["record"] in ("run", "end")]
    assert len({record["run"] for record in of_runs}) == 1  # written by several processes
    for fact in read_facts(tmp_path / "facts.jsonl"):
        assert fact.run.toolkit and fact.id == "transpose.padded.f32@1024x1024"


def test_ctest_passes_where_the_gate_does_and_lists_the_estimates(tmp_path):
    """Where the emulator can only estimate a value, CTest said Skipped of a green family."""
    case = "stack.recursive.u32@*"
    estimates = {
        metric
        for (_, metric, _), fact in verdicts_of_emulator(tmp_path, case).items()
        if fact.verdict == "unmeasured" and fact.confidence == "estimate"
    }
    assert estimates
    check = run("warpgauge-check-emulated", f"--gtest_filter={case}", "--skip-code", "77")
    assert check.returncode == 0, check.stdout + check.stderr
    listed = re.findall(r"^not judged: \S+: (\S+): ", check.stdout, re.MULTILINE)
    assert set(listed) == estimates


def test_an_architecture_that_is_asked_for_twice_counts_once(tmp_path):
    facts = []
    for archs in ("sm_90", "sm_90,sm_90"):
        gate(tmp_path, "--device=emulated", f"--arch={archs}", "--filter", CASE)
        facts.append(len(read_facts(tmp_path / "facts.jsonl")))
    assert facts[0] == facts[1]


def test_a_second_run_replaces_the_first(tmp_path):
    gate(tmp_path, "--filter", "transpose.padded.*")
    gate(tmp_path, "--filter", "transpose.tiled.*")
    assert {f.id.split(".")[1] for f in of_cases(tmp_path).values()} == {"tiled"}


@needs_cupti
@pytest.mark.parametrize("chip", ["TU102", "GH100", "GB202"])
def test_chips_are_shown_without_a_gpu(chip):
    result = run("warpgauge", "metrics", "--chip", chip)
    assert result.returncode == 0
    assert "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared" in result.stdout
    assert re.search(rf"{chip}: .* [1-9]\d* passes", result.stdout)


def test_cases_of_which_nothing_is_counted_are_judged_by_their_results(tmp_path):
    result = gate(tmp_path, "--filter", "copies.to_device_pinned.u8@4096")
    assert result.returncode == 0, result.stdout + result.stderr
    assert {metric for _, metric, _ in of_cases(tmp_path)} == {"result.correct"}
    assert "PASS: 1 value within budget" in result.stdout

"""Programs built without warpgauge, under `warpgauge emulate`."""

import functools
import json
import os
import platform
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema_rs
import pytest
from warpgauge.facts.reader import read_facts

BUILD = Path(os.environ["WARPGAUGE_BINARY_DIR"])
GAUGE = BUILD / "bin" / "warpgauge"
ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "tests" / "emulator" / "programs"
# `loaded` has no kernel in its source.
PROGRAMS = sorted({path.stem for path in SOURCES.glob("*.cu")} - {"loaded"})


def emulate(*arguments):
    return subprocess.run(
        [GAUGE, "emulate", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
    )


@functools.cache
def archs():
    """Those that the programs were compiled for, and this gauge like them."""
    listed = subprocess.run(
        [BUILD / "bin" / "warpgauge-algorithms", "list", "--archs"],
        capture_output=True,
        text=True,
        check=True,
    )
    return listed.stdout.split()


def lines(out, metric):
    """What source lines were counted: (file, line) -> fact."""
    return {
        (fact.file, fact.line): fact
        for fact in read_facts(out / "facts.jsonl")
        if fact.metric == metric and fact.scope == "line"
    }


def values(out):
    """Those of whole cases, by kernel and metric."""
    return {
        (fact.case.variant, fact.metric): fact
        for fact in read_facts(out / "facts.jsonl")
        if fact.scope == "case"
    }


def results(out):
    return json.loads((out / "results.json").read_text())


LOCAL = '"local.sectors" = { max = 4, reason = "the arguments of printf" }'


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_runs_unmodified_and_is_counted_line_by_line(name, tmp_path):
    arch = archs()[-1]
    budgets = tmp_path / "budgets.toml"
    budgets.write_text(f'gate_on = "estimate"\n[default]\n{LOCAL}\n')
    options = ["--arch", arch, "--out", tmp_path, "--budgets", budgets]
    result = emulate(*options, "--", BUILD / "programs" / name)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "PASSED\n" in result.stdout
    source = (SOURCES / f"{name}.cu").read_text().splitlines()
    counted = lines(tmp_path, "global.load.requests")
    own = [line for file, line in counted if file.endswith(f"{name}.cu")]
    assert own
    for line in own:
        assert re.search(r"\w", source[line - 1]), line
    assert "PASS: " in result.stderr


@pytest.mark.parametrize("name", PROGRAMS)
def test_checks_find_nothing_in_programs_that_are_right(name, tmp_path):
    program = BUILD / "programs" / name
    plain = emulate("--arch", archs()[-1], "--out", tmp_path / "plain", "--", program)
    checks = ["--check", "races,uninitialised,stores,shuffles"]
    if name != "conversation":  # the host answers once
        checks += ["--schedules", 1]
    checked = emulate("--arch", archs()[-1], *checks, "--out", tmp_path, "--", program)
    assert checked.returncode == plain.returncode, checked.stderr
    assert "race: " not in checked.stderr and "uninitialised: " not in checked.stderr


@pytest.mark.parametrize("way", ["nothing", "late_event", "dependent"])
def test_launches_that_nothing_orders_race(way, tmp_path):
    program = BUILD / "programs" / "unordered"
    options = ["--arch", "sm_90", "--check", "races", "--out", tmp_path]
    done = emulate(*options, "--", program, way)
    assert done.returncode == 2, done.stderr
    assert "ERROR: 1 race found" in done.stderr
    (reason,) = {line for line in done.stderr.split("\n") if line.startswith("  reason ")}
    assert re.search(
        r"unordered\.cu:21: race: global read of 4 bytes at byte \d+ of cudaMalloc #1 "
        r"\(1024 bytes\), which thread \(\d+,0,0\) \(warp \d, lane \d+\) of block \(\d,0,0\) of "
        r"kernel fill, launched before, has written at \S*unordered\.cu:10; ",
        reason,
    )
    edge = "griddepcontrol.wait" if way == "dependent" else "no event and no wait of the program"
    assert edge in reason


def test_a_known_race_of_a_program_is_waived_for_its_kernel(tmp_path):
    program = BUILD / "programs" / "unordered"
    waiver = '{ rule = "race", lines = ["unordered.cu:10", "unordered.cu:21"], reason = "either" }'
    codes = {}
    for kernel in ("twice*", "fill*"):
        budgets = tmp_path / "kernels.toml"
        budgets.write_text(f'["{kernel}"]\nwaive = [{waiver}]\n')
        options = ["--arch", "sm_90", "--check", "races", "--budgets", budgets, "--out", tmp_path]
        done = emulate(*options, "--", program, "nothing")
        codes[kernel] = done.returncode
        assert ("1 race found" in done.stderr) == (kernel == "fill*"), done.stderr
        assert ("race: " in done.stderr) == (kernel == "fill*"), done.stderr
        remark = f"{budgets}:2: no finding needed the waiver of 'race' at unordered.cu:10, "
        assert (remark in done.stderr) == (kernel == "fill*"), done.stderr
    assert codes == {"twice*": 0, "fill*": 2}
    budgets.write_text(f'["twice*"]\nwaive = [{waiver}]\n')
    nothing = emulate(*options, "--kernels", "other", "--", program, "nothing")
    assert nothing.returncode == 3, "a waived finding is no kernel"
    assert "--kernels 'other': matches none of 2 kernels" in nothing.stderr


@pytest.mark.parametrize(("check", "code"), [("races", 0), ("all", 0), ("async", 0), ("none", 0)])
def test_a_waiver_that_nothing_needed_is_told_where_its_check_is_made(check, code, tmp_path):
    budgets = tmp_path / "budgets.toml"
    budgets.write_text(
        '[default]\nwaive = [{ rule = "race", lines = ["a.cu:1"], reason = "any" }]\n'
    )
    options = ["--arch", "sm_90", "--check", check, "--budgets", budgets, "--out", tmp_path]
    done = emulate(*options, "--", BUILD / "programs" / "allocations")
    assert done.returncode == code, done.stderr
    remark = "no finding needed the waiver of 'race' at a.cu:1: remove it, if the code is mended"
    is_made = check in ("races", "all")
    assert (f"\n{budgets}:2: {remark}\n" in done.stderr) == is_made, done.stderr
    assert (remark in (tmp_path / "summary.md").read_text()) == is_made


@pytest.mark.parametrize("choice", [["--kernels", "fill"], ["--skip", "twice*"]])
def test_findings_in_kernels_that_are_left_out_decide_nothing(choice, tmp_path):
    options = ["--arch", "sm_90", "--check", "races", "--out", tmp_path]
    done = emulate(*options, *choice, "--", BUILD / "programs" / "unordered", "nothing")
    assert done.returncode == 0, done.stderr
    told = "1 finding in kernels that --kernels or --skip leaves out: it decides nothing"
    assert told in done.stderr and "race: " not in done.stderr
    asked = emulate(
        *options, "--kernels", "twice", "--", BUILD / "programs" / "unordered", "nothing"
    )
    assert asked.returncode == 2 and "1 race found" in asked.stderr


@pytest.mark.parametrize(
    "way",
    [
        *("event", "events", "program", "query", "one_stream", "legacy"),
        *("dependent_waits", "dependent_waits_by_one", "dependent_behind_a_copy"),
    ],
)
def test_launches_that_something_orders_do_not_race(way, tmp_path):
    program = BUILD / "programs" / "unordered"
    options = ["--arch", "sm_90", "--check", "races", "--out", tmp_path]
    done = emulate(*options, "--", program, way)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("way", "code"), [("set", 0), ("filled", 0), ("neither", 2)])
def test_a_copy_of_memory_that_nothing_wrote_is_no_write(way, code, tmp_path):
    program = BUILD / "programs" / "copied"
    done = emulate("--check", "uninitialised", "--out", tmp_path, "--", program, way)
    assert done.returncode == code, done.stderr
    place = r"copied\.cu:7: uninitialised: global read of 4 bytes at byte 0 of cudaMalloc #2"
    assert bool(re.search(place, done.stderr)) == (code == 2)


def found_in_allocations(way, tmp_path, check="allocations"):
    program = BUILD / "programs" / "allocations"
    done = emulate("--arch", "sm_90", "--check", check, "--out", tmp_path, "--", program, way)
    reasons = re.findall(r"^  reason   (.*)$", done.stderr, re.M)
    assert done.returncode == (2 if reasons else 0), done.stderr
    assert "PASSED" in done.stdout
    return [re.sub(r"kernel .*/", "", reason) for reason in reasons], done.stderr


@pytest.mark.parametrize("way", ["ordered", "waits", "reset"])
def test_memory_that_is_used_in_order_and_freed_is_no_finding(way, tmp_path):
    assert found_in_allocations(way, tmp_path)[0] == []


def test_memory_that_is_not_freed_is_a_leak(tmp_path):
    found, text = found_in_allocations("leaks", tmp_path)
    assert sorted(found) == [
        "leak: CUDA array #5 (256 bytes) was never freed",
        "leak: cudaMalloc #1, #3 (256 bytes each, 512 in all) were never freed",
        "leak: cudaMallocManaged #4 (512 bytes) was never freed",
    ]
    assert "ERROR: 3 leaks of device memory found" in text
    assert found_in_allocations("leaks", tmp_path, "races")[0] == []
    facts = [fact for fact in read_facts(tmp_path / "facts.jsonl") if fact.rule]
    assert facts == []


@pytest.mark.parametrize(
    ("way", "found"),
    [
        (
            "twice",
            "double free: cudaFree of what is byte 0 of cudaMalloc #6 (256 bytes), which was freed",
        ),
        ("inside", "invalid free: cudaFree of what is byte 4 of cudaMalloc #6 (256 bytes)"),
    ],
)
def test_a_wrong_free_is_a_finding_beside_its_error(way, found, tmp_path):
    assert found_in_allocations(way, tmp_path)[0] == [found]


@pytest.mark.parametrize(
    ("way", "found"),
    [
        (
            "early",
            [
                f"{line}: use before allocation: global {access} of 4 bytes at byte 0 of "
                "cudaMallocAsync #6 (256 bytes), which is allocated in another stream: no event "
                "and no wait of the program stands between"
                for line, access in (("filled", "write"), ("added", "read"))
            ],
        ),
        (
            "early_fill",
            [
                "a fill: use before allocation: write to byte 0 of cudaMallocAsync #6 "
                "(256 bytes), which is allocated in another stream: no event and no wait of the "
                "program stands between"
            ],
        ),
        (
            "late",
            [
                "added: use after free: global read of 4 bytes at byte 0 of cudaMallocAsync #6 "
                "(256 bytes), which another stream frees: no event and no wait of the program "
                "stands between"
            ],
        ),
    ],
)
def test_stream_ordered_memory_is_used_between_its_allocation_and_its_free(way, found, tmp_path):
    known = {
        f"allocations.cu:{line_of('allocations.cu', f'{n} here')}": n for n in ("filled", "added")
    }
    reasons = []
    for reason in found_in_allocations(way, tmp_path)[0]:
        for place, name in known.items():
            reason = reason.replace(place, name)
        reasons.append(reason)
    assert sorted(reasons) == sorted(found)


def test_launches_with_equal_arguments_that_did_unequal_work_are_told(tmp_path):
    program = BUILD / "programs" / "first_call_only"
    done = emulate("--arch", "sm_90", "--out", tmp_path, "--", program)
    assert done.returncode == 0, done.stderr
    # Each warp loads a word of `known`, and the first time 4 sectors, and stores 4.
    warps, once = 32, 8 * 32
    told = re.findall(r"^unequal: launches of (.*) with equal arguments (.*)$", done.stderr, re.M)
    moved = f"moved {warps} to {warps + once} sectors of global memory"
    assert told == [("scale(float*, float const*, unsigned int)", moved)]
    facts = read_facts(tmp_path / "facts.jsonl")
    kernels = {fact.kernel: fact.case.kernels[0] for fact in facts if fact.kernel}
    assert kernels["_Z5scalePfPKfj"].launches[0].unequal_sectors == (warps, warps + once)
    assert kernels["_Z8rememberj"].launches[0].unequal_sectors is None


def test_unequal_work_is_a_finding_of_its_check(tmp_path):
    options = ["--arch", "sm_90", "--check", "unequal", "--out", tmp_path]
    found = emulate(*options, "--", BUILD / "programs" / "first_call_only")
    assert found.returncode == 2, found.stderr
    assert "ERROR: 1 kernel with unequal work found" in found.stderr
    assert (
        "  reason   kernel scale(float*, float const*, unsigned int): unequal work: launches with "
        "equal arguments moved 32 to 288 sectors of global memory\n" in found.stderr
    )
    budgets = tmp_path / "budgets.toml"
    budgets.write_text('["scale*"]\nwaive = [{ rule = "unequal work", reason = "a cache" }]\n')
    waived = emulate(*options, "--budgets", budgets, "--", BUILD / "programs" / "first_call_only")
    assert waived.returncode == 0, waived.stderr
    equal = emulate(*options, "--", BUILD / "programs" / "unordered")
    assert equal.returncode == 0, equal.stderr


@pytest.mark.parametrize("command", [["gate"], ["emulate", "--", "true"]])
def test_a_check_that_is_none_is_an_error_with_the_nearest_one(command):
    words = [BUILD / "bin" / "warpgauge", command[0], "--check", "race", *command[1:]]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "'race' is not one of async, barriers, proxies, races," in done.stderr
    assert "did you mean 'races'?" in done.stderr


def test_no_check_stands_beside_another():
    words = [BUILD / "bin" / "warpgauge", "emulate", "--check", "all,none", "--", "true"]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "--check: 'none' stands alone" in done.stderr


def test_all_checks_are_made(tmp_path):
    done = emulate("--check", "all", "--out", tmp_path, "--", BUILD / "programs" / "allocations")
    assert "PASS: " in done.stderr, done.stderr


def test_a_barrier_of_the_grid_goes_on_in_other_orders(tmp_path):
    options = ["--arch", archs()[-1], "--schedules", 5, "--out", tmp_path]
    checked = emulate(*options, "--", BUILD / "programs" / "image")
    assert "a fault" not in checked.stderr and "the result is another" not in checked.stderr


def test_every_order_finds_the_heap_of_kernels_as_it_was(tmp_path):
    options = ["--arch", "sm_90", "--schedules", 4, "--out", tmp_path]
    checked = emulate(*options, "--", BUILD / "programs" / "heap")
    assert "order: " not in checked.stderr and "PASS: " in checked.stderr, checked.stderr
    racing = emulate(*options, "--", BUILD / "programs" / "heap", "racing")
    assert racing.returncode == 2
    assert re.search(
        r"kernel overwrite: order: the result is another one .* at byte 0 of malloc in a kernel",
        racing.stderr,
    ), racing.stderr


def test_a_kernel_that_launches_counts_as_an_estimate_and_what_it_launches_exactly(tmp_path):
    emulate("--arch", "sm_90", "--out", tmp_path, "--", BUILD / "programs" / "launches")
    requests = {
        variant.split(".")[0]: fact
        for (variant, metric), fact in values(tmp_path).items()
        if metric == "global.store.requests"
    }
    assert requests["finish"].confidence == "exact"
    assert requests["finish"].value == 6
    assert requests["launch"].confidence == "estimate"
    assert "the device runtime" in requests["launch"].confidence_reason


@pytest.mark.parametrize(("order", "confidence"), [([], "exact"), (["atomics"], "estimate")])
def test_counts_by_what_an_earlier_kernel_left_in_an_order_of_its_own(order, confidence, tmp_path):
    program = [BUILD / "programs" / "handed_on", *order]
    emulate("--arch", "sm_90", "--out", tmp_path, "--", *program)
    sectors = {
        variant.split(".")[0]: fact
        for (variant, metric), fact in values(tmp_path).items()
        if metric == "global.load.sectors"
    }
    assert sectors["look_up"].confidence == confidence
    if order:
        line = line_of("handed_on.cu", "sectors by what memory holds")
        assert f"what memory holds at handed_on.cu:{line} decides what this accesses" in (
            sectors["look_up"].confidence_reason
        )
    assert sectors["copy"].confidence == "exact"


def test_a_program_may_end_while_its_kernel_waits(tmp_path):
    result = emulate("--out", tmp_path, "--", BUILD / "programs" / "conversation", "leave")
    assert result.returncode == 3, result.stderr
    assert "not counted: 1 of 1 launches of answer(" in result.stderr


def line_of(name, remark):
    lines = (SOURCES / name).read_text().splitlines()
    (number,) = (n for n, line in enumerate(lines, 1) if line.endswith(f"// {remark}"))
    return number


def test_accesses_of_a_toolkit_header_are_counted_on_the_line_that_calls_it(tmp_path):
    emulate("--arch", archs()[-1], "--out", tmp_path, "--", BUILD / "programs" / "lookup")
    counted = lines(tmp_path, "global.load.requests")
    (read,) = (
        fact
        for (_, line), fact in counted.items()
        if line == line_of("lookup.cu", "reads the table")
    )
    assert read.value == 32  # warps of 1,000 threads
    # Not all instructions of the line come through the header: this part they have in common.
    function, kernel = read.inlined
    assert (function.file, function.line) == (read.file, read.line)
    assert (kernel.file, kernel.line) == (read.file, line_of("lookup.cu", "looks up"))


JOINS = "lanes that part several times may wait for each other at one place"


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        ("bounded", ""),
        ("parted", ""),
        ("rounds", JOINS),
        ("unrolled", "ptxas "),
        ("left_twice", JOINS),
        ("quotients", "the machine code calls functions that the PTX does not have"),
    ],
)
def test_instructions_are_exact_where_the_machine_code_branches_as_the_ptx(
    kernel, reason, tmp_path
):
    if "sm_90" not in archs():
        pytest.skip("this build has no sm_90")
    emulate("--out", tmp_path, "--", BUILD / "programs" / "ways")
    for metric in ("instructions", "branches.divergent"):
        fact = values(tmp_path)[kernel, metric]
        if fact.confidence == "exact":
            assert reason == "" or (reason == JOINS and metric == "branches.divergent")
        else:
            assert reason and reason in fact.confidence_reason
    counted = [fact.value for fact in lines(tmp_path, "instructions").values()]
    assert all(count > 0 for count in counted)


def test_a_fault_is_a_fault_with_its_line(tmp_path):
    command = [BUILD / "programs" / "lookup", "wrong"]
    result = emulate("--arch", archs()[-1], "--out", tmp_path, "--", *command)
    assert result.returncode == 2, result.stdout + result.stderr
    read, call = (line_of("lookup.cu", remark) for remark in ("reads the table", "looks up"))
    where = rf"  at       \S*/lookup\.cu:{read}: return __ldg.*\n"
    chain = rf"           inlined from \S+:\d+; inlined at \S*/lookup\.cu:{call}\n"
    assert re.search(where + chain, result.stderr), result.stderr
    assert "ERROR lookup.look_up.fault@run on " in result.stderr
    assert "kernel   look_up(" in result.stderr
    fault = values(tmp_path)["look_up", "result.correct"]
    assert fault.verdict == "error"
    assert "thread (44,0,0)" in fault.reason, "number 300, in the second block"
    assert fault.line == read and fault.kernel.startswith("_Z7look_up")


def test_a_launch_that_failed_is_a_fault_though_its_error_was_swallowed(tmp_path):
    program = [BUILD / "programs" / "ends", "failed_launch"]
    result = emulate("--arch", archs()[-1], "--out", tmp_path, "--", *program)
    assert result.returncode == 2, result.stdout + result.stderr
    assert "ERROR ends.copy.fault@run on " in result.stderr
    assert "a launch of 1 x 1 x 1 blocks of 2000 x 1 x 1 threads failed" in result.stderr
    assert "cudaErrorInvalidConfiguration" in result.stderr
    assert "PASSED" in result.stdout, "the program itself saw nothing"


def test_a_refused_call_is_a_fault_unless_the_program_took_its_error(tmp_path):
    program = BUILD / "programs" / "ends"
    result = emulate("--arch", archs()[-1], "--out", tmp_path, "--", program, "refused")
    assert result.returncode == 2, result.stdout + result.stderr
    assert "ERROR ends.program.end@run" in result.stderr
    assert "reason   cudaIpcGetMemHandle is not emulated" in result.stderr
    assert "PASSED" in result.stdout, "the program itself saw nothing"
    result = emulate("--arch", archs()[-1], "--out", tmp_path, "--", program, "refused_and_taken")
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_launch_with_an_empty_grid_is_a_fault_unless_the_program_took_its_error(tmp_path):
    program = BUILD / "programs" / "ends"
    result = emulate("--arch", archs()[-1], "--out", tmp_path, "--", program, "empty")
    assert result.returncode == 2, result.stdout + result.stderr
    assert "ERROR ends.copy.fault@run on " in result.stderr
    assert "a launch of 0 x 1 x 1 blocks of 256 x 1 x 1 threads failed" in result.stderr
    assert "empty grid" not in result.stderr
    result = emulate("--arch", archs()[-1], "--out", tmp_path, "--", program, "empty_and_taken")
    assert result.returncode == 0, result.stdout + result.stderr
    said = (
        "2 launches with an empty grid or block, whose error the program took: "
        "kernel copy at ends.cu:"
    )
    begin = (SOURCES / "ends.cu").read_text().split("__global__ void copy(")[0]
    assert f"{said}{begin.count(chr(10)) + 1}\n" in result.stderr, result.stderr
    assert said in (tmp_path / "summary.md").read_text()


@pytest.mark.parametrize(
    ("way", "both_sizes"),
    [
        ("copy", "the destination has 4000 bytes left in "),
        ("read", "the source has 4000 bytes left in "),
        ("fill", "the destination has 4000 bytes left in "),
        ("start", "the destination is not device memory: "),
    ],
)
def test_a_copy_or_fill_beyond_its_memory_is_a_fault(way, both_sizes, tmp_path):
    """The program looked at the error, which is that of a GPU."""
    program = [BUILD / "programs" / "ends", f"beyond_{way}"]
    result = emulate("--arch", archs()[-1], "--out", tmp_path, "--", *program)
    assert result.stdout == "PASSED\n", result.stderr
    assert result.returncode == 2, result.stderr
    said = " ".join(result.stderr.split())
    assert "reason " + ("cudaMemset: " if way in ("fill", "start") else "cudaMemcpy: ") in said
    assert both_sizes in said and (way == "start" or "not 4004" in said)


@pytest.mark.parametrize("synchronises", [True, False])
@pytest.mark.parametrize("way", ["computes", "polls", "leaves"])
def test_a_kernel_that_never_ends_is_ended_with_its_line(way, synchronises, tmp_path):
    program = [BUILD / "programs" / "endless", way, *([] if synchronises else ["left"])]
    options = ["--arch", archs()[-1], "--timeout", 2, "--out", tmp_path]
    result = emulate(*options, "--", *program)
    said = " ".join(result.stderr.split())
    is_ended = synchronises or way == "computes"
    assert result.returncode == (2 if is_ended else 3), result.stderr
    if is_ended:
        waits_in_vain = "deadlock, all threads wait in loops for what nothing changes; "
        limit = "longer than its limit of 2000 ms of CPU time"
        assert (limit if way == "computes" else waits_in_vain) in said
        assert re.search(r"at \S*endless.cu:\d+", said)
        assert "--timeout 2" in said
    else:
        assert f"not counted: 1 of 1 launches of {way}(" in said


def test_a_kernel_may_wait_for_another_thread_of_its_program(tmp_path):
    """Nothing is known of what that thread will do: only the limit ends the launch."""
    program = [BUILD / "programs" / "endless", "polls", "beside"]
    options = ["--arch", archs()[-1], "--timeout", 2, "--out", tmp_path]
    result = emulate(*options, "--", *program)
    assert result.returncode == 2, result.stderr
    assert "longer than its limit of 2000 ms" in " ".join(result.stderr.split())


def test_kernels_that_launch_each_other_without_end_are_ended(tmp_path):
    program = [BUILD / "programs" / "launches", "again"]
    options = ["--arch", archs()[-1], "--timeout", 2, "--out", tmp_path]
    result = emulate(*options, "--", *program)
    assert result.returncode == 2, result.stderr
    assert "longer than its limit of 2000 ms of CPU time: they launch each other without end" in (
        " ".join(result.stderr.split())
    )


def test_recursion_without_end_is_a_fault_with_its_line(tmp_path):
    program = [BUILD / "programs" / "endless", "recurses"]
    result = emulate("--arch", archs()[-1], "--out", tmp_path, "--", *program)
    assert result.returncode == 2, result.stderr
    assert re.search(r"at \S*endless.cu:\d+", " ".join(result.stderr.split()))


def test_programs_were_found():
    assert len(PROGRAMS) >= 2


def test_a_program_without_a_runtime_is_refused(tmp_path):
    result = emulate("--out", tmp_path, "--", "true")
    assert result.returncode == 3
    assert "true: no kernel ran on the emulator: neither it nor a program that it" in result.stderr
    assert "programs that nvcc links with the CUDA runtime of that version" in result.stderr


def test_a_program_that_ends_early_is_told_by_its_last_call(tmp_path):
    result = emulate("--out", tmp_path, "--", BUILD / "programs" / "ends", "early")
    assert result.returncode == 3, result.stdout + result.stderr
    last = "it ended before it launched one. Its last call of CUDA was cudaFree, its last failure "
    assert last + "cudaFree: cudaErrorInvalidValue" in result.stderr


def test_a_program_with_a_audit_that_ends_early_is_told_from_its_file(tmp_path):
    result = emulate("--out", tmp_path, "--", BUILD / "bin" / "warpgauge", "--version")
    assert result.returncode == 3, result.stdout + result.stderr
    assert "it ended before it called CUDA" in result.stderr


LOOK_FOR_RACES = "look for races: --check races,uninitialised\n"


def test_a_program_that_fails_is_told_of_the_checks_that_were_not_made(tmp_path):
    program = BUILD / "programs" / "ends"
    command = ["--out", tmp_path, "--", program]
    assert LOOK_FOR_RACES in emulate(*command, "_exit").stderr
    assert LOOK_FOR_RACES not in emulate("--check", "races", *command, "_exit").stderr
    assert LOOK_FOR_RACES not in emulate(*command, "SIGINT").stderr


def test_a_program_that_is_not_there_is_a_fault(tmp_path):
    result = emulate("--out", tmp_path, "--", "./no-such-program")
    assert result.returncode == 2
    assert "./no-such-program: cannot be run" in result.stderr


@pytest.mark.parametrize(
    ("way", "ending"),
    [
        ("_exit", "exited with 7"),
        ("_Exit", "exited with 7"),
        ("quick_exit", "exited with 7"),
        ("abort", "was ended by SIGABRT"),
        ("SIGINT", "was ended by SIGINT"),
    ],
)
def test_counts_survive_however_the_program_ends(way, ending, tmp_path):
    program = BUILD / "programs" / "ends"
    result = emulate("--arch", archs()[-1], "--out", tmp_path, "--", program, way)
    assert result.returncode == 2, result.stderr
    assert f"the program itself failed: {program} {ending}" in result.stderr
    counted = values(tmp_path)
    assert counted["copy", "global.load.requests"].value == 32
    assert counted["program", "result.correct"].verdict == "error"
    assert results(tmp_path)["exit_code"] == 2


def test_a_program_that_ended_before_a_kernel_did_says_how(tmp_path):
    result = emulate("--out", tmp_path, "--", "sh", "-c", "kill -TERM $$")
    assert result.returncode == 2
    assert "the program itself failed: sh was ended by SIGTERM (Terminated)" in result.stderr


def test_what_was_counted_before_ctrl_c_is_kept(tmp_path):
    """In the middle of a kernel that runs for long, with its progress shown on a terminal."""
    master, terminal = pty.openpty()
    covered = tmp_path / "ends.info"
    options = ["--arch", archs()[-1], "--out", tmp_path, "--coverage", covered]
    command = [GAUGE, "emulate", *options, "--"]
    process = subprocess.Popen(
        [*command, BUILD / "programs" / "ends", "spin"], stderr=terminal, start_new_session=True
    )
    os.close(terminal)
    seen = b""
    while b"[2] emulating spin, 1 blocks" not in seen:
        seen += os.read(master, 4096)
    assert b"[1] emulating copy, 4 blocks\r\x1b[K" in seen
    os.killpg(process.pid, signal.SIGINT)
    with open(master, "rb", buffering=0) as said:
        try:
            while more := said.read(4096):
                seen += more
        except OSError:  # the end of a terminal
            pass
    assert process.wait(timeout=60) == 2, seen.decode()
    assert b"was ended by SIGINT" in seen
    assert b"not counted: 1 of 1 launches of spin(" in seen
    entered = re.findall(r"^FNDA:(\d+),(\w+)", covered.read_text(), re.M)
    assert ("32", "copy") in entered  # warps
    assert values(tmp_path)["copy", "global.load.requests"].value == 32
    assert results(tmp_path)["exit_code"] == 2


def forked(*steps, folder):
    """Emulates a program that takes these steps (tests/emulator/programs/forks.cu): its result, and
    how often its kernel was counted."""
    command = [BUILD / "programs" / "forks", *steps]
    result = emulate("--arch", archs()[-1], "--out", folder, "--", *command)
    requests = values(folder)["copy", "global.load.requests"]
    (kernel,) = requests.case.kernels
    assert sum(launch.count for launch in kernel.launches) * 32 == requests.value
    return result, requests.value // 32


@pytest.mark.parametrize(
    ("steps", "launches"),
    [
        (["idle", "launch"], 1),
        (["launch", "idle", "launch"], 2),
        (["launch", "idle", "idle"], 1),
        (["launches", "launch"], 2),
        (["launches", "launches_twice", "launch", "launch"], 5),
        (["launches"], 1),
        (["_exit", "SIGTERM", "launch"], 3),
        (["starts", "launch"], 2),
        (["launch", "starts", "launch", "starts"], 4),
        (["starts_bare", "launch"], 2),
        (["starts_cleared", "launch"], 2),
        (["starts_shell", "launch"], 2),
        (["outlives"], 1),
        (["outlives", "launch"], 2),
        (["becomes_daemon", "launch"], 2),
        (["ends_first_thread", "launch"], 2),
    ],
)
def test_each_launch_of_each_process_is_counted_once(steps, launches, tmp_path):
    result, counted = forked(*steps, folder=tmp_path)
    assert result.returncode == 0, result.stderr
    assert counted == launches


def test_launches_after_the_end_of_the_first_thread_are_counted(tmp_path):
    """By pthread_exit() in main(): the process ends with its last thread."""
    program = BUILD / "programs" / "ends"
    result = emulate("--arch", archs()[-1], "--out", tmp_path, "--", program, "first_thread")
    assert (result.returncode, result.stdout) == (0, "PASSED\n"), result.stderr
    assert values(tmp_path)["copy", "global.load.requests"].value == 64


@pytest.mark.parametrize("way", ["SIGKILL", "exec"])
def test_counts_of_a_process_that_are_lost_are_no_success(way, tmp_path):
    result, counted = forked(way, "launch", folder=tmp_path)
    assert result.returncode == 3, result.stderr
    assert counted == 1
    assert re.search(r"the counts of \S*/forks \(process \d+\) are missing: ", result.stderr)


def bare(way, program):
    """A command that starts a program without the environment that it has itself."""
    script = (
        f"import subprocess; subprocess.run([{str(program)!r}, 'launch'], env={{}}, check=True)"
    )
    return {
        "env": ["sh", "-c", f"env -i {program} launch"],
        "unset": ["bash", "-c", f"unset LD_PRELOAD; {program} launch"],
        "emptied": ["bash", "-c", f"LD_PRELOAD= {program} launch; true"],
        "exec": ["bash", "-c", f"exec -c {program} launch"],
        "python": [sys.executable, "-c", script],
        "execveat": in_python(program, "libc.execveat(-100, path, words, none, 0)"),
        "system call": in_python(program, "libc.syscall(59, path, words, none)"),
        "another system call": in_python(program, "libc.syscall(322, -100, path, words, none, 0)"),
        "words": in_python(
            program, "libc.clearenv(), libc.wordexp(b'$(%s launch)' % path, bytes(99), 0)"
        ),
        "own variables": in_python(program, "libc.execve(path, words, others)"),
    }[way]


def in_python(program, call):
    """Calls the C library in a child."""
    return [
        sys.executable,
        "-c",
        f"import ctypes, os\nlibc, path = ctypes.CDLL(None), {os.fsencode(program)!r}\n"
        "words, none = (ctypes.c_char_p * 3)(path, b'launch'), (ctypes.c_char_p * 1)()\n"
        "folder, child = os.path.dirname(path), ctypes.byref(ctypes.c_int())\n"
        "file, folder_file = os.open(path, os.O_RDONLY), os.open(folder, os.O_RDONLY)\n"
        "names = [b'WARPGAUGE_KEPT_LIBRARIES', b'WARPGAUGE_EMULATED_REPORT']\n"
        "others = (ctypes.c_char_p * 3)(*(name + b'=/dev/null' for name in names))\n"
        f"if os.fork() == 0:\n  {call}\n  os._exit(7)\nos.wait()\n",
    ]


WAYS = ["env", "unset", "emptied", "exec", "python", "execveat", "words", "own variables"]
if platform.machine() == "x86_64":  # the numbers of system calls
    WAYS += ["system call", "another system call"]


@pytest.mark.parametrize("way", WAYS)
def test_programs_that_are_started_without_the_environment_are_counted(way, tmp_path):
    command = bare(way, BUILD / "programs" / "forks")
    result = emulate("--arch", archs()[-1], "--out", tmp_path, "--", *command)
    assert result.returncode == 0, result.stderr
    assert values(tmp_path)["copy", "global.load.requests"].value == 32


def test_counts_that_a_limit_of_files_forbids_are_no_success(tmp_path):
    program = BUILD / "programs" / "forks"
    script = f"{program} launch; (ulimit -f 0; {program} launch); true"
    result = emulate("--arch", archs()[-1], "--out", tmp_path, "--", "sh", "-c", script)
    assert result.returncode == 3, result.stderr
    assert "a process could not write its counts" in " ".join(result.stderr.split())
    assert values(tmp_path)["copy", "global.load.requests"].value == 32


# Its library is the C library alone, in it, so that nothing can be preloaded.
STATIC = r"""
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char** words) {
  char* const none[] = {0};
  if (fork() == 0) return execve(words[1], words + 1, none);
  int status = 0;
  wait(&status);
  return 0;
}
"""


def static_program(folder, source=STATIC):
    program = folder / "static"
    command = [shutil.which("cc") or "gcc", "-x", "c", "-static", "-o", program, "-"]
    subprocess.run(command, input=source, text=True, check=True)
    return program


def test_a_program_without_the_library_is_named(tmp_path):
    """It is started by one that loads no libraries, and gives it no environment."""
    program = BUILD / "programs" / "forks"
    hidden = [static_program(tmp_path), program, "outlives"]
    script = shlex.join([str(program), "launch"]) + "; " + shlex.join(map(str, hidden))
    result = emulate("--arch", archs()[-1], "--out", tmp_path, "--", "sh", "-c", script)
    assert result.returncode == 3, result.stderr
    said = " ".join(result.stderr.split())
    assert re.search(r"/forks outlives \(process \d+\) ran without the library that counts", said)
    assert values(tmp_path)["copy", "global.load.requests"].value == 32


# Calls that start the program at `path`, whose folder and file are open as well.
STARTS = {
    "execve": "libc.execve(path, words, none)",
    "execvpe": "os.putenv('PATH', folder), libc.execvpe(b'static', words, none)",
    "fexecve": "libc.fexecve(file, words, none)",
    "execveat, whole path": "libc.execveat(folder_file, path, words, none, 0)",
    "execveat, in this folder": "os.chdir(folder), libc.execveat(-100, b'static', words, none, 0)",
    "execveat, in a folder": "libc.execveat(folder_file, b'static', words, none, 0)",
    "execveat, a file": "libc.execveat(file, b'', words, none, 0x1000)",
    "posix_spawn": "libc.posix_spawn(child, path, None, None, words, none)",
    "posix_spawnp": "libc.posix_spawnp(child, path, None, None, words, none)",
    "system": "libc.system(path)",
}


@pytest.mark.parametrize("way", STARTS)
def test_a_static_program_with_device_code_is_named(way, tmp_path):
    section = (
        '__asm__(".section .nv_fatbin,\\"a\\"\\n.long 1\\n.text");\nint main(void) { return 0; }\n'
    )
    start = in_python(static_program(tmp_path, section), STARTS[way])
    script = f"{BUILD / 'programs' / 'forks'} launch; {shlex.join(start)}"
    result = emulate("--arch", archs()[-1], "--out", tmp_path, "--", "sh", "-c", script)
    assert result.returncode == 3, result.stderr
    assert f"{tmp_path}/static is linked with CUDA, and no library can be preloaded" in (
        " ".join(result.stderr.split())
    )


def test_what_a_program_leaves_behind_is_ended_and_named(tmp_path):
    """At once when a signal says so, else after a while."""
    program = BUILD / "programs" / "forks"
    script = f"{program} launch; sleep 300 & echo gone"
    command = [GAUGE, "emulate", "--arch", archs()[-1], "--out", tmp_path, "--", "sh", "-c", script]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout.readline() == "PASSED\n"
    assert process.stdout.readline() == "gone\n"
    time.sleep(1)
    process.terminate()
    _, said = process.communicate(timeout=60)
    assert process.returncode == 3, said
    assert re.search(r"sleep 300 \(process \d+\) still ran", said), said
    assert not list(tmp_path.glob(".counts-*"))


def test_facts_and_outcome_are_as_those_of_attach(tmp_path):
    """A kernel of 1 block, built with line tables."""
    program = BUILD / "programs" / "ends"
    budgets = tmp_path / "budgets.toml"
    budgets.write_text('["cop?"]\n"global.load.requests" = { max = 31, reason = "less" }\n')
    out = tmp_path / "out"
    options = ["--budgets", budgets, "--strict"]
    result = emulate("--arch", archs()[-1], "--out", out, *options, "--", program)
    assert result.returncode == 1, result.stderr
    assert result.stdout == "PASSED\n"
    for schema, text in [
        ("metrics/facts/fact.schema.json", (out / "facts.jsonl").read_text().splitlines()),
        ("harness/outcome/results.schema.json", [(out / "results.json").read_text()]),
    ]:
        validator = jsonschema_rs.Draft202012Validator(json.loads((ROOT / schema).read_text()))
        for record in text:
            validator.validate(json.loads(record))
    fact = values(out)["copy", "global.load.requests"]
    assert (fact.value, fact.verdict, fact.confidence) == (32, "fail", "exact")
    assert (fact.source, fact.case.kind) == ("emulator", "emulated")
    assert re.fullmatch(r"ends\.copy\.[0-9a-f]{8}@run", fact.case.id)
    assert fact.case.device == f"Emulated GPU ({archs()[-1]})"
    assert values(out)["copy", "instructions"].confidence == "exact"
    registers = values(out)["copy", "registers"]
    assert registers.value > 0 and registers.source == "cubin"
    assert values(out)["copy", "occupancy.theoretical"].value == 1
    assert results(out)["exit_code"] == 1
    assert "ends.copy" in (out / "summary.md").read_text()
    pasted = re.search(r"  repeat   warpgauge (.*)", result.stderr)[1]
    assert shlex.split(pasted) == [
        *["emulate", "--arch", archs()[-1], "--kernels", "copy", "--budgets", str(budgets)],
        *["--strict", "--", str(program)],
    ]
    assert not list(out.glob(".counts-*"))


def test_budgets_by_the_name_of_the_kernel_are_kept_or_not(tmp_path):
    program = ["--out", tmp_path / "out", "--", BUILD / "programs" / "ends"]
    budgets = tmp_path / "budgets.toml"
    limit = '"global.load.requests" = { equal = 32, reason = "warps of 1,000 threads" }\n'
    budgets.write_text(f'["copy"]\n{limit}')
    result = emulate("--arch", archs()[-1], "--budgets", budgets, *program)
    assert result.returncode == 0, result.stderr
    budgets.write_text(f'["copy"]\n{limit}["copies"]\nregisters = 1\n')
    result = emulate("--arch", archs()[-1], "--budgets", budgets, *program)
    assert result.returncode == 3, result.stderr
    assert f"{budgets}: no kernel matches section 'copies'" in result.stderr
    budgets.write_text('["copy"]\n"time.median_us" = { max = 1, tolerance = "5%" }\n')
    result = emulate("--arch", archs()[-1], "--budgets", budgets, *program)
    assert result.returncode == 3, result.stderr
    assert "warpgauge emulate does not measure it" in result.stderr
    budgets.write_text('["copy"]\nregsters = 1\n')
    result = emulate("--arch", archs()[-1], "--budgets", budgets, *program)
    assert result.returncode == 2 and "PASSED" not in result.stdout
    assert f"{budgets}:2:1: unknown metric 'regsters'" in result.stderr


@pytest.mark.parametrize(
    ("options", "code", "launches", "message"),
    [
        (["--kernels", "^cop"], 0, {"copy": 1, "add_one": None}, ""),
        (["--kernels", "^nothing"], 3, {}, "--kernels '^nothing': matches none of 2 kernels"),
        (["--kernels", "("], 2, {}, "--kernels '(': not a regular expression"),
        (["--skip", "cop*"], 0, {"copy": None, "add_one": 3}, "skipped: 1 launches of 1 kernel"),
        (["--skip", "*"], 3, {}, "--skip leaves none of 2 kernels"),
        (["--sample", "2"], 0, {"copy": 1, "add_one": 2}, "2 of 3"),
        (["--sample", "0"], 2, {}, "--sample"),
        (["--limit-launches", "2"], 0, {"copy": 1, "add_one": 1}, "1 of 3"),
        (
            ["--limit-launches", "1"],
            0,
            {"copy": 1, "add_one": None},
            "not counted: 3 launches of 1 kernel (--limit-launches 1)",
        ),
    ],
)
def test_the_launches_that_are_counted_are_chosen(options, code, launches, message, tmp_path):
    program = [BUILD / "programs" / "ends", "more"]
    result = emulate("--arch", archs()[-1], "--out", tmp_path, *options, "--", *program)
    assert result.returncode == code, result.stderr
    assert message in result.stderr
    assert ("PASSED" in result.stdout) == (code != 2), "all launches run, counted or not"
    for kernel, expected in launches.items():
        fact = values(tmp_path).get((kernel, "global.load.requests"))
        assert (fact and fact.value) == (expected and 32 * expected)


def test_a_child_forked_after_the_first_cuda_call_cannot_launch(tmp_path):
    """As on a GPU."""
    result, counted = forked("launch", "launches", "launch", folder=tmp_path)
    assert result.returncode == 2, result.stderr
    assert counted == 2
    assert "failed: cudaErrorInitializationError" in result.stderr
    assert "fork before the first CUDA call, or start a program in the child" in result.stderr
    assert "PASSED" in result.stdout, "the program did not look"


EXTENSION = r"""
#include <cuda_runtime.h>

__global__ void turn(float* out, const float* in) {
  __shared__ float tile[32][32];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

extern "C" int turn_on_device(float* out, const float* in) {
  float *from = nullptr, *to = nullptr;
  cudaMalloc(&from, 4096);
  cudaMalloc(&to, 4096);
  cudaMemcpy(from, in, 4096, cudaMemcpyHostToDevice);
  turn<<<1, dim3(32, 32)>>>(to, from);
  return cudaMemcpy(out, to, 4096, cudaMemcpyDeviceToHost);
}
"""

SCRIPT = """
import ctypes, sys

extension = ctypes.CDLL(sys.argv[1])
numbers = (ctypes.c_float * 1024)(*range(1024))
turned = (ctypes.c_float * 1024)()
assert extension.turn_on_device(turned, numbers) == 0
assert turned[1] == 32, turned[1]
print("PASSED")
"""


def nvcc():
    return shutil.which("nvcc") or Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "bin/nvcc"


@pytest.mark.parametrize("runtime", ["shared", "static"])
def test_an_extension_of_python_runs_on_the_emulator(runtime, tmp_path):
    """As torch.utils.cpp_extension builds one: a library with kernels, which Python loads."""
    (tmp_path / "turn.cu").write_text(EXTENSION)
    (tmp_path / "turn.py").write_text(SCRIPT)
    options = ["-cudart", runtime, "-lineinfo", "-arch", archs()[-1], "-Xcompiler", "-fPIC"]
    subprocess.run(
        [nvcc(), "-shared", *options, "-o", "turn.so", "turn.cu"], cwd=tmp_path, check=True
    )
    program = ["--", sys.executable, tmp_path / "turn.py", tmp_path / "turn.so"]
    result = emulate("--arch", archs()[-1], "--out", tmp_path, *program)
    assert (result.returncode, result.stdout) == (1, "PASSED\n"), result.stderr
    (conflicts,) = lines(tmp_path, "shared.bank_conflicts").items()
    assert conflicts[0][0].endswith("turn.cu") and conflicts[0][1] == 8
    assert (conflicts[1].value, conflicts[1].confidence) == (992, "exact")


def exported(library):
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
    )
    return {line.split()[-1].split("@")[0] for line in listed.stdout.splitlines()}


@pytest.mark.skipif(shutil.which("nm") is None, reason="no nm on this machine")
def test_the_emulated_library_has_the_functions_of_the_toolkits_libraries():
    """Each is emulated or refused by its name; the tables are those of CUDA 13.0.

    Not every stub of libcuda.so has the functions of other graphics libraries.
    """
    folder = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "lib64"
    libraries = [folder / "libcudart.so.13", folder / "stubs/libcuda.so"]
    release = subprocess.run([nvcc(), "--version"], capture_output=True, text=True).stdout
    if "release 13.0" not in release or not all(library.exists() for library in libraries):
        pytest.skip("this toolkit is not CUDA 13.0 with all of its libraries")
    functions = set.union(*map(exported, libraries)) - {libraries[0].name}
    functions = {name for name in functions if not name.startswith("cudbg")}
    others = {"_exit", "_Exit", "sigaction", "signal", "warpgauge_refuse"}
    own = exported(BUILD / "lib" / "libcudart.so.13") - {libraries[0].name} - others
    of_graphics = {name for name in own if re.search("GL|VDPAU|EglFrame", name)}
    assert functions <= own
    assert own - functions <= of_graphics


def test_ptx_that_a_program_loads_is_compiled_and_counts_exactly(tmp_path):
    done = emulate("--arch", "sm_90", "--out", tmp_path, "--", BUILD / "programs" / "loaded")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "PASSED" in done.stdout
    conflicts = values(tmp_path)["strided", "shared.bank_conflicts"]
    assert conflicts.value == 2, "two lanes meet in each bank, once stored and once loaded"
    assert conflicts.confidence == "exact"
    assert values(tmp_path)["strided", "registers"].value > 0


DEVICE = """
import ctypes
driver = ctypes.CDLL("libcuda.so.1")
version, total, pointer = ctypes.c_int(), ctypes.c_size_t(), ctypes.c_uint64()
context = ctypes.c_void_p()
assert driver.cuInit(0) == 0
assert driver.cuDriverGetVersion(ctypes.byref(version)) == 0
assert driver.cuDeviceTotalMem_v2(ctypes.byref(total), 0) == 0
assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert driver.cuCtxSetCurrent(context) == 0
allocate = driver.cuMemAlloc_v2
fits = [allocate(ctypes.byref(pointer), ctypes.c_size_t(mib << 20)) for mib in (60, 5)]
print(version.value, total.value >> 20, fits)
"""


def test_the_device_is_as_large_and_its_driver_as_new_as_asked_for(tmp_path):
    script = tmp_path / "device.py"
    script.write_text(DEVICE)
    options = ["--memory", "64MiB", "--driver", "13.5", "--out", tmp_path / "out"]
    done = emulate(*options, "--", sys.executable, script)
    assert done.stdout == "13050 64 [0, 2]\n"
    wrong = emulate("--driver", "9", "--out", tmp_path / "out", "--", "true")
    assert wrong.returncode == 2
    assert "--driver 9: expected the version of a CUDA from 12.0 on: 13.0" in wrong.stderr


WORKERS = """
import multiprocessing, os, signal, subprocess, sys
def work(program):
    return subprocess.run([program], stdout=subprocess.DEVNULL).returncode
if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        print(pool.map(work, [sys.argv[2]] * 3))
    try:
        os.kill(os.getpid(), signal.SIGINT)
        signal.pause()
    except KeyboardInterrupt:
        print("interrupted")
"""


@pytest.mark.parametrize("start", ["fork", "spawn", "forkserver"])
def test_workers_of_python_are_counted_and_its_signals_are_its_own(start, tmp_path):
    script = tmp_path / "workers.py"
    script.write_text(WORKERS)
    program = [sys.executable, script, start, BUILD / "programs" / "loaded"]
    done = emulate("--out", tmp_path / "out", "--", *program)
    assert done.stdout == "[0, 0, 0]\ninterrupted\n", done.stderr
    assert values(tmp_path / "out")["strided", "shared.bank_conflicts"].value == 3 * 2


def test_ptx_without_a_compiler_is_predicted(tmp_path):
    hidden = {"PATH": "/usr/bin:/bin", "CUDA_HOME": str(tmp_path)}
    command = [GAUGE, "emulate", "--out", tmp_path, "--", BUILD / "programs" / "loaded"]
    subprocess.run(command, env=os.environ | hidden, capture_output=True, timeout=300)
    conflicts = values(tmp_path)["strided", "shared.bank_conflicts"]
    assert (conflicts.value, conflicts.confidence) == (2, "predicted")


def test_a_cubin_without_ptx_is_a_refusal_that_a_program_cannot_swallow(tmp_path):
    (tmp_path / "k.cu").write_text("__global__ void k(float* p) { p[threadIdx.x] = 1; }\n")
    cubin = tmp_path / "k.cubin"
    command = [nvcc(), "-cubin", "-arch", "sm_90", "-o", cubin, tmp_path / "k.cu"]
    subprocess.run(command, check=True)
    program = BUILD / "programs" / "loaded"
    done = emulate("--arch", "sm_90", "--out", tmp_path / "out", "--", program, cubin)
    assert "PASSED" in done.stdout
    assert done.returncode == 2
    assert "cuModuleLoad: this cubin keeps no PTX" in " ".join(done.stderr.split())
    missing = emulate("--out", tmp_path / "out", "--", program, tmp_path / "missing.ptx")
    assert missing.returncode == 1, "a file that is not there is the program's affair"


@pytest.mark.parametrize("name", ["calls", "calls_apart"])
def test_functions_that_are_not_inlined_are_of_their_kernel(name, tmp_path):
    program = [BUILD / "programs" / name, "once", "twice", "recurses"]
    assert emulate("--arch", archs()[-1], "--out", tmp_path, "--", *program).returncode == 1
    found = {key: fact.value for key, fact in values(tmp_path).items()}
    assert {kernel for kernel, _ in found} == {"once", "twice", "recurses"}
    assert found["once", "shared.bank_conflicts"] == 31
    assert found["twice", "shared.bank_conflicts"] == 2 * 31
    assert found["recurses", "shared.requests"] == 32 + 25
    fact = values(tmp_path)["once", "shared.bank_conflicts"]
    assert (fact.confidence, fact.verdict) == ("exact", "fail")
    source = (ROOT / "tests" / "attach" / "calls.cu").read_text().splitlines()
    assert source[fact.line - 1].endswith("// 31 conflicts")

"""warpgauge-bench as a user sees it: tables, facts, exit codes.

Without a GPU the times are those of the emulation.
"""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from private_mounts import needs_mounts, with_file
from warpgauge.facts.reader import read_facts

BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"
HAS_GPU = Path("/dev/nvidia0").exists()
PROGRAMS = ["warpgauge-bench-emulated", *(["warpgauge-bench"] if HAS_GPU else [])]


def bench(program, *arguments, before=()):
    command = [*before, BIN / program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_case_and_its_yardstick_are_timed(program, tmp_path):
    result = bench(
        *(program, "--filter", "copies.by_kernel.*@4096", "--samples", 6),
        *("--tables", tmp_path, "--facts", tmp_path / "facts.jsonl"),
        "--benchmark_format=json",
    )
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout[: result.stdout.rindex("}") + 1])
    by_kernel = {b["name"].split("/")[0]: b for b in report["benchmarks"]}
    assert list(by_kernel) == ["copies.on_device.u8@4096", "copies.by_kernel.u8@4096"]
    timed = by_kernel["copies.by_kernel.u8@4096"]
    assert timed["samples"] == 6 and timed["real_time"] == pytest.approx(timed["median_us"])
    assert 0 < timed["median_low_us"] <= timed["median_us"] <= timed["median_high_us"]
    # Counted in a pass of its own: 4096 bytes are 128 sectors.
    assert timed["global.load.sectors"] == timed["global.store.sectors"] == 128
    assert timed["shared.bank_conflicts"] == 0
    assert "gpu_waited_for_host" not in timed and "waited" not in timed["label"]
    ratio = by_kernel["copies.on_device.u8@4096"]["median_us"] / timed["median_us"]
    assert timed["label"].endswith(f"{ratio:.3g} times the speed of on_device")
    facts = read_facts(tmp_path / "facts.jsonl")
    values = {(f.id, f.metric): f.value for f in facts}
    assert values["copies.by_kernel.u8@4096", "time.relative_to"] == pytest.approx(ratio)
    # 4096 bytes read and as many written.
    assert values["copies.by_kernel.u8@4096", "throughput.bytes_per_second"] == pytest.approx(
        8192e6 / timed["median_us"]
    )
    for fact in facts:
        if fact.id == "copies.by_kernel.u8@4096" and fact.metric == "time.median_us":
            assert fact.interval[0] <= fact.value <= fact.interval[1]
            assert fact.sass_hash and fact.source_hash and fact.case.code_hash
            assert (fact.machine is None) == (program == "warpgauge-bench-emulated")
            break
    else:
        pytest.fail("no time among the facts")
    assert "| by_kernel.u8 |" in (tmp_path / "times.md").read_text()
    assert "| copies.by_kernel.u8@4096 |" in (tmp_path / "speeds.md").read_text()
    assert not (tmp_path / "accuracy.md").exists()


def test_shares_are_of_the_peaks_of_the_device(tmp_path):
    """That of `warpgauge devices`; of arithmetic it has 128 multiply-adds a clock and
    multiprocessor in f32, and half as many in f64. A copy by the runtime has no share."""
    devices = subprocess.run(
        [BIN / "warpgauge-emulated", "devices"], capture_output=True, text=True, check=True
    ).stdout

    def of_device(name):
        return int(re.search(rf"^  {name} +(\d+)", devices, re.MULTILINE)[1])

    # Two transfers a clock, of the bus's bits.
    bytes_per_second = 2 * of_device("memory clock") * 1e6 * of_device("memory bus") / 8
    f32 = of_device("multiprocessors") * 128 * 2 * of_device("clock") * 1e6
    result = bench(
        *("warpgauge-bench-emulated", "--filter", "copies.by_kernel.*@4096,matmul.naive.f*@99x*"),
        *("--samples", 6, "--no-counters", "--facts", tmp_path / "facts.jsonl"),
    )
    assert result.returncode == 0, result.stderr
    facts = list(read_facts(tmp_path / "facts.jsonl"))
    (device,) = facts[0].run.devices
    assert device.sm_clock_mhz == of_device("clock")
    assert device.memory_clock_mhz == of_device("memory clock")
    cases = {}
    for fact in facts:
        cases.setdefault(fact.id, {})[fact.metric.removeprefix("throughput.")] = fact.value
    copied = cases.pop("copies.on_device.u8@4096")
    assert copied["bytes_per_second"] > 0 and "percent_of_peak" not in copied
    assert {id: "flops_per_second" in values for id, values in cases.items()} == {
        "copies.by_kernel.u8@4096": False,
        "matmul.naive.f32@99x168x68": True,
        "matmul.naive.f64@99x168x68": True,
    }
    for id, values in cases.items():
        share = 100 * values["bytes_per_second"] / bytes_per_second
        assert values["percent_of_peak"] == pytest.approx(share), id
        assert ("percent_of_arithmetic_peak" in values) == ("flops_per_second" in values)
        if "flops_per_second" in values:
            peak = f32 / 2 if ".f64@" in id else f32
            share = 100 * values["flops_per_second"] / peak
            assert values["percent_of_arithmetic_peak"] == pytest.approx(share), id
        assert f"{values['percent_of_peak']:.3g} % of peak" in result.stdout


def test_the_speed_up_is_over_one_thread_of_the_cpu(tmp_path):
    """Where a problem has such a solution; the copy of the transpositions has none."""
    for filter_ in ("transpose.[cp]*.f32@1000x700", "vector_add.grid.f32@1048576"):
        result = bench(
            *("warpgauge-bench-emulated", "--filter", filter_, "--samples", 6),
            *("--no-counters", "--tables", tmp_path / filter_[:6]),
        )
        assert result.returncode == 0, result.stderr
    lines = [
        line
        for folder in ("transp", "vector")
        for line in (tmp_path / folder / "speeds.md").read_text().splitlines()
    ]
    rows = {cells[1]: cells for cells in (re.split(r" *\| *", line) for line in lines)}
    assert rows["case"][-3:-1] == ["one CPU thread, µs", "speed-up"]
    assert rows["transpose.copy.f32@1000x700"][-3:-1] == ["-", "-"]
    for id in ("transpose.padded.f32@1000x700", "vector_add.grid.f32@1048576"):
        kernel_us, cpu_us, speed_up = (float(rows[id][i]) for i in (2, -3, -2))
        assert cpu_us > 0 and speed_up == pytest.approx(cpu_us / kernel_us, rel=0.02)


def test_counters_can_be_left_out():
    result = bench(
        *("warpgauge-bench-emulated", "--filter", "copies.by_kernel.*@4096", "--samples", 6),
        *("--no-counters", "--benchmark_format=json"),
    )
    assert result.returncode == 0, result.stderr
    assert "global.load.sectors" not in result.stdout and "counts:" not in result.stderr


def test_what_does_not_settle_says_so():
    result = bench(
        *("warpgauge-bench-emulated", "--filter", "copies.by_kernel.*@4096"),
        *("--precision", 0.0001, "--no-counters"),
    )
    assert result.returncode == 0, result.stderr
    assert "not stable: ±" in result.stdout


def test_what_is_compared_within_a_tolerance_has_a_table_of_errors(tmp_path):
    result = bench(
        *("warpgauge-bench-emulated", "--filter", "math_accuracy.*sin*", "--samples", 6),
        *("--tables", tmp_path),
    )
    assert result.returncode == 0, result.stderr
    rows = (tmp_path / "accuracy.md").read_text().splitlines()[2:]
    assert len(rows) > 20 and all(row.startswith("| math_accuracy.") for row in rows)


def test_help_shows_our_options_and_examples():
    result = bench("warpgauge-bench-emulated", "--help")
    assert result.returncode == 0
    for word in ("--samples", "--precision", "--tables", "--hot", "Examples:"):
        assert word in result.stdout


@pytest.mark.skipif(HAS_GPU, reason="shows what happens without a GPU")
def test_without_a_gpu_there_are_no_times():
    result = bench("warpgauge-bench", "--filter", "copies.*")
    assert result.returncode == 3
    assert "times need a GPU" in result.stderr
    assert "warpgauge-bench-emulated runs the cases without one" in result.stderr


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--filter", "no.such"], "selects no case"),
        (["--samples", "5"], "--samples"),
        (["--precision", "0"], "--precision"),
        (["--nonsense"], "--nonsense"),
        (["--benchmark_filter=no.such", "--filter", "copies.*@4096"], "selects no case"),
    ],
)
def test_bad_options_are_faults(arguments, message):
    result = bench("warpgauge-bench-emulated", *arguments)
    assert result.returncode == 2
    assert message in result.stderr


def test_times_of_the_emulation_are_marked_as_such():
    result = bench("warpgauge-bench-emulated", "--filter", "no.such")
    assert "these are times of the emulation: they say nothing about a GPU" in result.stderr


def test_tables_that_cannot_be_written_are_a_fault(tmp_path):
    (tmp_path / "file").write_text("kept")
    result = bench(
        *("warpgauge-bench-emulated", "--filter", "copies.by_kernel.*@4096", "--samples", 6),
        *("--tables", tmp_path / "file"),
    )
    assert result.returncode == 2
    assert (
        "times.md: cannot be written" in result.stderr and (tmp_path / "file").read_text() == "kept"
    )


@needs_mounts
@pytest.mark.parametrize("same_code", [True, False], ids=["same_code", "other_code"])
def test_a_time_over_its_budget_fails_unless_the_machine_code_is_the_same(tmp_path, same_code):
    case = "copies.by_kernel.u8@4096"
    quick = ["warpgauge-bench-emulated", "--filter", case, "--samples", 6, "--no-counters"]
    assert bench(*quick, "--facts", tmp_path / "first.jsonl").returncode == 0
    code = next(f.case.code_hash for f in read_facts(tmp_path / "first.jsonl") if f.id == case)
    line = {"max": 0.001, "tolerance": "1%", "code": code if same_code else "0123456789abcdef"}
    real = Path(__file__).resolve().parents[2] / "kernels" / "copies" / "budgets.toml"
    budgets = tmp_path / "budgets.toml"
    inline = ", ".join(f"{key} = {json.dumps(value)}" for key, value in line.items())
    budgets.write_text(
        f'{real.read_text()}\n["by_kernel.u8@4096"]\n"time.median_us" = {{ {inline} }}\n'
    )
    result = bench(*quick, "--facts", tmp_path / "facts.jsonl", before=with_file(budgets, real))
    verdict = {(f.id, f.metric): f.verdict for f in read_facts(tmp_path / "facts.jsonl")}
    if same_code:
        assert result.returncode == 0, result.stderr
        assert verdict[case, "time.median_us"] == "moved"
        assert f"MOVED {case} on sm_90: time.median_us" in result.stderr
    else:
        assert result.returncode == 1
        assert verdict[case, "time.median_us"] == "fail"
        assert (
            f"machine code or launches are not those of the budget (0123456789abcdef, now {code})"
            in result.stderr
        )


def test_benchmark_json_is_what_its_readers_expect(tmp_path):
    """compare.py, github-action-benchmark and Bencher read these members of each benchmark."""
    out = tmp_path / "bench.json"
    result = bench(
        *("warpgauge-bench-emulated", "--filter", "copies.*@4096", "--samples", 6),
        *(f"--benchmark_out={out}", "--benchmark_out_format=json"),
    )
    assert result.returncode == 0, result.stderr

    def refuse(constant):
        pytest.fail(f"{constant} is no number of JSON")

    report = json.loads(out.read_text(), parse_constant=refuse)
    assert len(report["benchmarks"]) == 8
    for run in report["benchmarks"]:
        assert run["name"] and run["run_name"] and run["run_type"] == "iteration"
        assert run["time_unit"] == "us" and run["iterations"] == 1
        for member in ("real_time", "cpu_time", "median_us", "bytes_per_second"):
            assert run[member] > 0


def test_what_kernels_print_is_not_in_the_report():
    result = bench(
        *("warpgauge-bench-emulated", "--filter", "hello.print*", "--samples", 6),
        *("--no-counters", "--benchmark_format=json"),
    )
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["benchmarks"]
    assert "hello" in result.stderr.splitlines()[1]


@needs_mounts
def test_what_is_unknown_of_a_budgeted_case_is_reported(tmp_path):
    """The yardstick is left out by Google Benchmark's own filter."""
    case = "copies.by_kernel.u8@4096"
    real = Path(__file__).resolve().parents[2] / "kernels" / "copies" / "budgets.toml"
    budgets = tmp_path / "budgets.toml"
    budgets.write_text(
        f'{real.read_text()}\n["by_kernel.u8@4096"]\n'
        '"time.relative_to" = { min = 0.5, tolerance = "5%" }\n'
    )
    result = bench(
        *("warpgauge-bench-emulated", "--filter", case, "--samples", 6, "--no-counters"),
        *(f"--benchmark_filter={case}", "--facts", tmp_path / "facts.jsonl"),
        before=with_file(budgets, real),
    )
    facts = {(f.id, f.metric): f for f in read_facts(tmp_path / "facts.jsonl")}
    ratio = facts[case, "time.relative_to"]
    assert ratio.verdict == "unmeasured" and "its yardstick was not timed" in ratio.reason
    assert "1 unmeasured: not known in this run: its yardstick" in result.stderr

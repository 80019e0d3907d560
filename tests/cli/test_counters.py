"""Hardware counters by their names, without a GPU, and on one as Nsight Compute has them."""

import csv
import json
import os
import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"
CASES = "transpose.*.f32@1024x1024"
NAMES = {  # with the share by which two runs may differ
    "smsp__inst_executed.sum": 0,
    "smsp__thread_inst_executed.sum": 0,
    "sm__inst_executed_pipe_tensor.sum": 0,
    "sm__warps_launched.sum": 0,
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 0,
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 0,
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": 0,
    "sm__inst_executed_pipe_lsu.sum": 0,
    "lts__t_sectors_op_write.sum": 0.25,
    "sm__warps_active.avg.pct_of_peak_sustained_active": 0.5,
}
LISTED = subprocess.run(
    [BIN / "warpgauge", "metrics", "--chip", "gh100", "--search", "sm__inst_executed"],
    capture_output=True,
    text=True,
)
knows_counters = pytest.mark.skipif(LISTED.returncode == 3, reason=LISTED.stderr.strip())
on_gpu = pytest.mark.skipif(not Path("/dev/nvidia0").exists(), reason="no GPU on this machine")


def gate(folder, *words):
    command = [BIN / "warpgauge", "gate", "--out", folder / "out", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def values_of(folder):
    """(case, name) -> value as results.json has it, of counters."""
    results = json.loads((folder / "out" / "results.json").read_text())
    return {
        (case["case"], value["metric"].removeprefix("counter.")): value
        for case in results["cases"]
        for value in case["values"]
        if value["metric"].startswith("counter.")
    }


def project(folder, text):
    (folder / "warpgauge.toml").write_text(f"[default]\n{text}\n")
    return f"--project={folder / 'warpgauge.toml'}"


def test_without_a_gpu_counters_are_unmeasured_and_say_why(tmp_path):
    budget = project(tmp_path, '"counter.lts__t_sectors.sum" = { max = 1, tolerance = "5%" }')
    words = ["--device=emulated", "--arch=sm_90", "--filter=transpose.padded.f32@1000x700", budget]
    done = gate(tmp_path, *words, "--counters=sm__inst_executed.sum,sm__warps_launched.sum")
    assert done.returncode == 0, done.stdout + done.stderr
    values = values_of(tmp_path)
    names = {name for _, name in values}
    assert names == {"lts__t_sectors.sum", "sm__inst_executed.sum", "sm__warps_launched.sum"}
    for value in values.values():
        assert (value["verdict"], "value" in value) == ("unmeasured", False)
        assert value["reason"] == "times and hardware counters need a GPU"
    units = json.loads((tmp_path / "out" / "results.json").read_text())["units"]
    assert {units[f"counter.{name}"] for name in names} == {"counts"}
    assert "3 unmeasured: times and hardware counters need a GPU" in done.stdout


@pytest.mark.parametrize(
    ("names", "why"),
    [
        ("sm__inst_executed", "'sm__inst_executed' is not the name of a counter with its rollup"),
        ("sm__\x1b[1m.sum", "is not the name of a counter with its rollup"),
        pytest.param(
            "sm__inst_executd.sum", "did you mean 'sm__inst_executed.sum'?", marks=knows_counters
        ),
        pytest.param(
            "sm__inst_executed.sim", "no rollup 'sim', did you mean 'sum'?", marks=knows_counters
        ),
    ],
)
def test_an_unknown_name_is_refused_before_anything_is_run(tmp_path, names, why):
    done = gate(tmp_path, "--counters", names)
    assert (done.returncode, done.stdout) == (2, "")
    assert why in done.stderr
    assert "\x1b" not in done.stderr


@knows_counters
def test_an_unknown_name_in_a_budget_says_where(tmp_path):
    done = gate(tmp_path, project(tmp_path, '"counter.sm__inst_executd.sum" = { max = 1 }'))
    assert done.returncode == 2
    assert "warpgauge.toml:2:1: no chip has a counter 'sm__inst_executd'" in done.stderr
    assert "did you mean 'sm__inst_executed.sum'?" in done.stderr


@on_gpu
def test_ten_counters_are_measured_judged_and_equal_to_nsight_computes(tmp_path):
    ncu = shutil.which("ncu")
    budget = project(
        tmp_path,
        '"counter.smsp__inst_executed.sum" = { max = 1, tolerance = "5%" }\n'
        '"counter.sm__warps_launched.sum" = { min = 1, tolerance = "5%" }\n',
    )
    words = ["--device=gpu", "--filter", CASES, budget, "--counters", ",".join(NAMES)]
    done = gate(tmp_path, *words)
    print(done.stdout)
    if "no times and hardware counters" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 1, done.stdout + done.stderr  # one instruction is not enough
    ours = values_of(tmp_path)
    assert {name for _, name in ours} == NAMES.keys()
    for (_, name), value in ours.items():
        judged = {"smsp__inst_executed.sum": "fail", "sm__warps_launched.sum": "pass"}
        assert value["verdict"] == judged.get(name, "unbudgeted"), (name, value)
        assert value["value"] > 0 or "tensor" in name, (name, value)  # few use tensor cores
    if ncu is None:
        pytest.skip("ncu is not there: measured and judged, and not compared")
    theirs = nsight_values(ncu, tmp_path)
    assert {case for case, _ in ours} <= theirs.keys()
    for (case, name), value in sorted(ours.items()):
        print(f"{case} {name}: {value['value']:.12g}, Nsight Compute {theirs[case][name]:.12g}")
    differing = [
        (case, name)
        for (case, name), value in ours.items()
        if value["value"] != pytest.approx(theirs[case][name], rel=NAMES[name] or 1e-12)
    ]
    print(f"{len(ours)} values compared, {len(differing)} differ")
    assert differing == []


def nsight_values(ncu, folder):
    """case -> name -> value. The cases launch one kernel each."""
    log = folder / "ncu.csv"
    program = [BIN / "warpgauge-check", f"--gtest_filter={CASES}", "--no-cupti"]
    command = [ncu, "--nvtx", "--csv", "--page", "raw", "--print-units", "base"]
    command += ["--metrics", ",".join(NAMES), "--log-file", log, *program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if "ERR_NVGPUCTRPERM" in done.stdout + done.stderr:
        pytest.skip("Nsight Compute may not read the counters")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    with log.open(newline="") as stream:
        rows = list(csv.DictReader(line for line in stream if not line.startswith("==")))
    values = defaultdict(dict)
    for row in rows[1:]:  # the first row holds the units
        ranges = next(value for key, value in row.items() if "Push/Pop_Range" in key)
        if found := re.search(r'warpgauge:([^:"]+)', ranges):
            values[found[1]] = {name: float(row[name].replace(",", "")) for name in NAMES}
    return dict(values)

"""`warpgauge diff FACTS FILE.csv`: counts against those of Nsight Compute."""

import csv
import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from warpgauge.changes.nsight import Comparison, plain_name, read_launches
from warpgauge.facts.catalog import catalog
from warpgauge.facts.reader import read_facts

BUILD = Path(os.environ["WARPGAUGE_BINARY_DIR"])
GAUGE = BUILD / "bin" / "warpgauge"
on_gpu = pytest.mark.skipif(not Path("/dev/nvidia0").exists(), reason="there is no GPU")
HEAD = ["ID", "Process ID", "Process Name", "Kernel Name", "Block Size", "Grid Size", "CC"]
INSTRUCTIONS = "smsp__inst_executed.sum"
SPECIAL = {"launch__shared_mem_per_block_static": "byte/block"}


def diff(*words):
    command = [GAUGE, "diff", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    """Of a program with one launch of a kernel, on the emulator."""
    folder = tmp_path_factory.mktemp("facts")
    command = [GAUGE, "emulate", "--arch", "sm_90", "--out", folder]
    done = subprocess.run([*command, "--", BUILD / "programs" / "lookup"], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return folder / "facts.jsonl"


def launch_of(facts):
    """What Nsight Compute would print of the launch, by its names."""
    ours = {fact.metric: fact.value for fact in read_facts(facts) if fact.scope == "case"}
    row = {"ID": "0", "Process ID": "7", "Process Name": "lookup", "CC": "9.0"}
    row |= {"Kernel Name": "look_up(float *, const float *, const long long *)"}
    row |= {"Block Size": "(256, 1, 1)", "Grid Size": "(4, 1, 1)"}
    row |= {"device__attribute_confidential_computing_mode": "No-CC"}
    for metric in catalog().values():
        if metric.id in ours and len(metric.nsight_names) == 1:
            row[metric.nsight_names[0]] = f"{ours[metric.id]:,}"
    return row


def write_by_kernel(path, *rows, units=None):
    names = list(rows[0])
    with path.open("w", newline="") as stream:
        stream.write("==PROF== Connected to process 7 (/x/lookup)\n")
        writer = csv.DictWriter(stream, names, quoting=csv.QUOTE_ALL)
        writer.writeheader()
        writer.writerow({name: (units or {}).get(name, SPECIAL.get(name, "")) for name in names})
        writer.writerows(rows)


def write_by_metric(path, *rows):
    with path.open("w", newline="") as stream:
        names = [*HEAD, "Metric Name", "Metric Unit", "Metric Value"]
        writer = csv.DictWriter(stream, names, quoting=csv.QUOTE_ALL)
        writer.writeheader()
        for row in rows:
            head = {name: row[name] for name in HEAD}
            for name in row.keys() - set(HEAD):
                values = {"Metric Name": name, "Metric Unit": "", "Metric Value": row[name]}
                writer.writerow(head | values)


@pytest.mark.parametrize("write", [write_by_kernel, write_by_metric])
def test_equal_counts_are_said_to_be(facts, tmp_path, write):
    write(tmp_path / "ncu.csv", launch_of(facts))
    for words in ([facts, tmp_path / "ncu.csv"], [tmp_path / "ncu.csv", facts]):
        done = diff(*words)
        assert done.returncode == 0, done.stdout + done.stderr
        lines = done.stdout.splitlines()
        assert lines[0] == f"A: {facts}" and lines[1].endswith("ncu.csv (Nsight Compute)")
        assert lines[-1].startswith("EQUAL: ")
        rows = {line.split()[0]: line.split()[1:] for line in lines if "." in line.split(" ")[0]}
        assert rows["global.load.sectors"] == ["1", "0", "0"]
        assert rows["shared.bank_conflicts"] == ["1", "0", "0"]  # of two of Nsight Compute's
        assert "global.excess_sectors" not in rows  # one of its two was not asked for


def test_an_exact_count_that_differs_is_wrong_and_an_estimate_is_not(facts, tmp_path):
    row = launch_of(facts)
    ours = int(row["memory_l2_theoretical_sectors_global_ideal"].replace(",", ""))
    row["memory_l2_theoretical_sectors_global_ideal"] = str(ours + 1)
    row[INSTRUCTIONS] = "1"
    write_by_kernel(tmp_path / "ncu.csv", row)
    estimated = tmp_path / "estimated.jsonl"
    with estimated.open("w") as file:
        for line in facts.read_text().splitlines():
            record = json.loads(line)
            if "instructions" in record.get("values", {}):
                count = record["values"].pop("instructions")
                of = {"confidence": "estimate", "confidence_reason": "other branches"}
                print(json.dumps(record | of | {"values": {"instructions": count}}), file=file)
            if record.get("values", True):
                print(json.dumps(record), file=file)
    done = diff(estimated, tmp_path / "ncu.csv")
    assert done.returncode == 1
    assert f"global.sectors_ideal {ours}, Nsight Compute {ours + 1}" in done.stdout
    assert "estimate lookup.look_up." in done.stdout
    assert done.stdout.splitlines()[-1].startswith("DIFFERENT: 1 of ")


@pytest.mark.parametrize(
    ("ours", "printed", "equal"),
    [
        (0.046875, "4.69", True),
        (0.046875, "4.68", False),
        (0.046875, "4.6875", True),
        (0.0468, "4.6875", False),
        (1, "100", True),
        (0.999, "100", False),
    ],
)
def test_a_value_is_compared_as_far_as_it_is_printed(facts, tmp_path, ours, printed, equal):
    name = "sm__maximum_warps_per_active_cycle_pct"
    write_by_kernel(tmp_path / "ncu.csv", launch_of(facts) | {name: printed}, units={name: "%"})
    comparison = Comparison(read_launches(tmp_path / "ncu.csv"))
    ((case, [fact]),) = (
        (fact.case, [fact]) for fact in read_facts(facts) if fact.metric == "occupancy.theoretical"
    )
    comparison.add(case, [replace(fact, value=ours)])
    assert comparison.compared["occupancy.theoretical"] == 1
    assert (not comparison.different) == equal


def test_launches_that_the_facts_do_not_have_are_left_out(facts, tmp_path):
    row = launch_of(facts)
    write_by_kernel(tmp_path / "ncu.csv", row, row | {"ID": "1"})
    done = diff(facts, tmp_path / "ncu.csv")
    assert done.returncode == 2
    assert "have nothing in common" in done.stderr
    assert "1 launches in the facts, 2 under Nsight Compute" in done.stderr


def test_a_range_names_the_case(facts, tmp_path):
    name = "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg"
    case = next(fact.id for fact in read_facts(facts))
    row = launch_of(facts) | {"Kernel Name": "other", name: f'"<default domain>:warpgauge:{case}"'}
    write_by_kernel(tmp_path / "ncu.csv", row)
    assert diff(facts, tmp_path / "ncu.csv").returncode == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'no line begins with "ID"'),
        ('"ID","Kernel Name"\n"","unit"\n', "saw no launch"),
        ('"ID","Kernel Name"\n"","u"\n"0","k"\n', "is no whole output of ncu --csv"),
        ('"ID","Kernel Name","CC","launch__waves"\n"","","",""\n"0","k"\n', "no whole output"),
        (f'"ID","Kernel Name","CC","{INSTRUCTIONS}"\n"","","",""\n"0","k","9.0","x"\n', "no whole"),
    ],
)
def test_what_is_no_output_of_ncu_is_refused(facts, tmp_path, text, message):
    (tmp_path / "x.csv").write_text(text)
    done = diff(facts, tmp_path / "x.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{tmp_path / 'x.csv'}: " in done.stderr and message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_options_of_other_comparisons_are_refused(facts, tmp_path):
    done = diff(facts, tmp_path / "x.csv", "--require-all")
    assert done.returncode == 2
    assert "--require-all is not for a file of Nsight Compute" in done.stderr


def test_units_other_than_bytes_are_refused(facts, tmp_path):
    name = "launch__shared_mem_per_block_static"
    write_by_kernel(tmp_path / "x.csv", launch_of(facts) | {name: "4.1"}, units={name: "Kbyte"})
    done = diff(facts, tmp_path / "x.csv")
    assert done.returncode == 2
    assert f"{name} is in Kbyte: run ncu with --print-units base" in done.stderr


@pytest.mark.parametrize(
    ("kernel", "plain"),
    [
        ("transpose(float *, const float *)", "transpose"),
        ("void a::b<int, (c)2>::reduce<float, 256>(T1 *)", "reduce"),
        ("reduce", "reduce"),
        ("void (anonymous namespace)::scan<int>(int *)", "scan"),
    ],
)
def test_plain_names(kernel, plain):
    assert plain_name(kernel) == plain


def test_the_names_are_printed_as_ncu_takes_them():
    done = subprocess.run([GAUGE, "metrics", "--nsight"], capture_output=True, text=True)
    names = {name for metric in catalog().values() for name in metric.nsight_names}
    assert (done.returncode, done.stdout) == (0, ",".join(sorted(names)) + "\n")


@on_gpu
def test_on_a_gpu_all_counts_are_those_of_nsight_compute(tmp_path):
    """Of a program that registers cases, and of any other."""
    ncu = shutil.which("ncu")
    if ncu is None:
        pytest.skip("ncu is not there")
    names = subprocess.run([GAUGE, "metrics", "--nsight"], capture_output=True, text=True).stdout
    base = [ncu, "--csv", "--page", "raw", "--print-units", "base", "--metrics", names.strip()]
    cases = "transpose.*.f32@1024x1024"
    command = [GAUGE, "gate", "--device=gpu", "--no-bounded", "--filter", cases, "--out", tmp_path]
    assert subprocess.run(command, capture_output=True, timeout=300).returncode == 0
    log = ["--log-file", tmp_path / "gate.csv"]
    check = [BUILD / "bin" / "warpgauge-check", f"--gtest_filter={cases}", "--no-cupti"]
    done = subprocess.run([*base, "--nvtx", *log, *check], capture_output=True, text=True)
    if "ERR_NVGPUCTRPERM" in done.stdout + done.stderr:
        pytest.skip("Nsight Compute may not read the counters")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    done = diff(tmp_path / "facts.jsonl", tmp_path / "gate.csv")
    print(done.stdout, done.stderr)
    assert done.returncode == 0

    for name in ("lookup", "histogram"):
        program = BUILD / "programs" / name
        out = tmp_path / name
        subprocess.run([GAUGE, "attach", "--out", out, "--", program], capture_output=True)
        log = ["--log-file", out / "ncu.csv"]
        done = subprocess.run([*base, *log, program], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        done = diff(out / "facts.jsonl", out / "ncu.csv")
        print(done.stdout, done.stderr)
        assert done.returncode == 0

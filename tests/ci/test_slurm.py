"""A night on Slurm, on a cluster of one node that the test starts, and what submit refuses."""

import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest
from scratch_checkout import (
    BIN,
    ONE_FAILS,
    ONE_PASSES,
    REPORT,
    ROOT,
    pretend_gpus,
    scratch_checkout,
    stand_in,
)
from slurm_cluster import MISSING, Cluster

HAS_GPU = Path("/dev/nvidia0").exists()
PASSES = ["--device=emulated", f"--filter={ONE_PASSES['filter']}"]
FAILS = ["--device=emulated", f"--filter={ONE_FAILS['filter']}"]
TWO = "A100 big\nL4 small"


@pytest.fixture(scope="module")
def cluster():
    if MISSING:
        pytest.skip(
            f"Slurm is not installed here: no {', '.join(MISSING)}"
            " (Debian: slurmctld slurmd slurm-client munge)"
        )
    started = Cluster()
    try:
        if not started.start():
            pytest.skip(f"Slurm does not start here: {started.why()}")
        yield started
    finally:
        started.stop()


def gpus(checkout, text):
    file = checkout / "gpus.txt"
    file.write_text(text)
    return {"WARPGAUGE_GPUS": str(file)}


def submit(cluster, checkout, text, *options, **env):
    env |= {"CALLS": str(checkout / "calls"), **gpus(checkout, text)}
    return cluster.run(checkout / "ci/slurm/submit", *options, **env)


def submitted(cluster, checkout, text, *options, **env):
    """The ids of the array and of the job that gathers."""
    done = submit(cluster, checkout, text, *options, **env)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), re.search(r"job (\d+) gathers", done.stderr).group(1)


@pytest.fixture
def checkout(tmp_path):
    """One whose history and page are stand-ins: they take seconds."""
    made = scratch_checkout(tmp_path / "checkout")
    stand_in(made, "warpgauge-python", REPORT)
    return made


def test_a_night_measures_on_each_gpu_and_gathers_all_of_it(cluster, tmp_path):
    checkout = scratch_checkout(tmp_path / "with spaces")
    pretend_gpus(checkout)
    options = [f"--filter={ONE_PASSES['filter']}", "--db=nights.db", "--require=cupti"]
    job, gather = submitted(
        cluster,
        checkout,
        "# two\n\nA100 big\nL4 small fast",
        *options,
        MODELS="GPU-1\tNVIDIA H100\n",
    )
    assert cluster.exit_codes(job, 2) == [0, 0]
    for task, (name, partition) in enumerate([("A100", "big"), ("L4", "small")]):
        out = checkout / "out" / job / name
        assert f"{job}/{name}: exit code 0" in (out / "log").read_text()
        for file in ("facts.jsonl", "times.jsonl"):
            lines = (out / "nvidia-h100" / file).read_text().splitlines()
            assert [json.loads(line) for line in lines]
        assert not (out / "report").exists() and not (out / "emulated").exists()
        shown = cluster.run("scontrol", "show", "job", f"{job}_{task}").stdout
        assert f"Partition={partition} " in shown and re.search(r"TresPerNode=\S*gpu:1", shown)
        assert ("Features=fast" in shown) == (name == "L4")
    assert cluster.exit_code(gather) == 0, (checkout / f"out/{job}/gather.log").read_text()
    assert "TresPerNode" not in cluster.run("scontrol", "show", "job", gather).stdout
    out = checkout / "out" / job
    assert (out / "emulated/facts.jsonl").stat().st_size
    assert "<html" in (out / "report/index.html").read_text()
    listed = [BIN / "warpgauge-python", "report", "runs", "--json", "--db", checkout / "nights.db"]
    runs = json.loads(cluster.run(*listed).stdout)
    assert len(runs) == 5  # counts and times of each GPU, and the emulator


def test_each_job_ends_with_the_exit_code_of_its_part_of_the_night(cluster, tmp_path):
    checkout = scratch_checkout(tmp_path / "checkout", "warpgauge-faulty")
    stand_in(checkout, "warpgauge-python", REPORT)
    job, gather = submitted(cluster, checkout, TWO, *FAILS)
    assert cluster.exit_codes(job, 2) == [1, 1]
    summary = checkout / "out" / job / "L4/emulated/summary.md"
    assert "tests/canaries/family.cu" in summary.read_text()
    assert cluster.exit_code(gather) == 1


@pytest.mark.skipif(HAS_GPU, reason="shows what happens without a GPU")
def test_a_node_without_its_gpu_is_named_and_never_replaced_by_the_emulator(cluster, checkout):
    job, gather = submitted(cluster, checkout, "A100 big", PASSES[1])
    assert cluster.exit_codes(job, 1) == [3]
    assert cluster.exit_code(gather) == 2
    log = (checkout / f"out/{job}/gather.log").read_text()
    assert f"lost: out/{job}/A100: no facts" in log
    assert (checkout / f"out/{job}/report/digest.md").read_text().startswith(f"**out/{job}/A100 ")
    assert f"-- out/{job}/emulated/facts.jsonl\n" in (checkout / "calls").read_text()


def test_an_array_that_was_cancelled_is_gathered_all_the_same(cluster, checkout):
    (checkout / "ci/gate").write_text("#!/bin/sh\nexit 0\n")
    sleeps = '[ $1 != devices ] || { touch "$CALLS.$SLURM_ARRAY_TASK_ID"; exec sleep 600; }'
    stand_in(checkout, "warpgauge", f"#!/bin/sh\n{sleeps}\n")
    job, gather = submitted(cluster, checkout, TWO)
    end = time.monotonic() + 60
    while len(list(checkout.glob("calls.?"))) < 2:  # both measure
        assert time.monotonic() < end, cluster.queue()
        time.sleep(0.1)
    cluster.run("scancel", f"{job}_0")
    time.sleep(1)
    waits = cluster.run("squeue", "-h", "-j", gather, "-o", "%T %r").stdout
    assert waits.strip() == "PENDING Dependency"
    cluster.run("scancel", job)
    assert cluster.exit_code(gather) == 2
    log = (checkout / f"out/{job}/gather.log").read_text()
    assert f"{job}/A100: no facts" in log and f"{job}/L4: no facts" in log


def test_what_slurm_refuses_is_a_fault_and_leaves_nothing_queued(cluster, checkout):
    for second in ("L4 no_such_partition", "L4 small no_such_feature"):
        done = submit(cluster, checkout, f"A100 big\n{second}", *PASSES)
        assert done.returncode == 2 and "Slurm refuses L4" in done.stderr, done.stderr
        assert cluster.queue() == "" and done.stdout == ""


def test_the_jobs_themselves_cannot_be_submitted_past_the_list(cluster, checkout):
    for file, array in (("nightly", ["--array=0-0"]), ("gather", [])):
        job = cluster.run("sbatch", "--parsable", *array, f"ci/slurm/{file}.sbatch", cwd=checkout)
        assert cluster.exit_code(job.stdout.strip()) == 2
    assert not (checkout / "calls").exists()


@pytest.mark.parametrize("partition", [{"SLURM_JOB_PARTITION": "small"}, {}])
def test_a_task_on_another_partition_than_its_own_is_a_fault(checkout, partition):
    (checkout / "out/7").mkdir(parents=True)
    (checkout / "out/7/0.task").write_text("big out/7/A100\n")
    array = {"SLURM_ARRAY_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": "0", **partition}
    done = subprocess.run(
        [checkout / "ci/slurm/nightly.sbatch"],
        cwd=checkout,
        env={**os.environ, **array},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and "belongs on partition big" in done.stderr


SBATCH = """case $* in
  *gather.sbatch*) [ ! -e no-gather ] && echo "8;cluster" ;;
  *) echo "7;cluster" ;;
esac"""


def submit_to_nothing(checkout, *options, text="A100 big\n"):
    """Submits to stand-ins of Slurm's programs; each leaves its arguments, a line a call."""
    programs = checkout / "programs"
    programs.mkdir()
    for name, script in (
        ("sbatch", SBATCH),
        ("scancel", ""),
        ("scontrol", '[ "$1" != release ] || [ ! -e no-release ]'),
    ):
        record = f"for word; do printf '%s|' \"$word\"; done >>{checkout}/{name}.calls\n"
        record += f"echo >>{checkout}/{name}.calls\n"
        (programs / name).write_text(f"#!/bin/sh\n{record}{script}\n")
        (programs / name).chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    return subprocess.run(
        [checkout / "ci/slurm/submit", *options],
        env={**os.environ, **gpus(checkout, text), "PATH": path},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("blocked", ["out", "out/7/A100/log", "out/7/0.task"])
def test_results_that_cannot_be_prepared_are_a_fault_and_cancel_the_job(checkout, blocked):
    place = checkout / blocked
    place.parent.mkdir(parents=True, exist_ok=True)
    if blocked == "out":
        place.touch()
    else:
        (place / "log" if place.name == "log" else place).mkdir(parents=True)
        (place / "7.log").touch()  # what a link of this name would be made beside
        (place / "0.log").touch()
    done = submit_to_nothing(checkout)
    assert done.returncode == 2, done.stderr
    assert "cannot be made and written to. Cancelled" in done.stderr
    assert (checkout / "scancel.calls").read_text() == "7|\n"


@pytest.mark.parametrize("refused, cancelled", [("no-gather", "7|\n"), ("no-release", "8|7|\n")])
def test_nothing_is_left_where_the_end_of_the_night_cannot_be_submitted(
    checkout, refused, cancelled
):
    (checkout / refused).touch()
    done = submit_to_nothing(checkout)
    assert done.returncode == 2 and "Cancelled" in done.stderr and done.stdout == ""
    assert (checkout / "scancel.calls").read_text() == cancelled


def test_options_are_those_of_all_jobs_but_the_device(checkout):
    options = ["--filter", "a b", "--device", "auto", "--db=x.db", "--large"]
    done = submit_to_nothing(checkout, *options, text="A100 big\nL4 small fast\n")
    assert (done.returncode, done.stdout) == (0, "7\n"), done.stderr
    assert f"job 8 gathers them: its page will be {checkout}/out/7/report" in done.stderr
    array, gather = (checkout / "sbatch.calls").read_text().splitlines()
    given = "--filter|a b|--db=x.db|--large|"
    assert "--hold|--array=0-1|" in array
    assert array.endswith(f"|ci/slurm/nightly.sbatch|--device=auto|{given}")
    assert "|--dependency=afterany:7,singleton|" in gather
    folders = "--out=out/7|--gather=out/7/A100|--gather=out/7/L4"
    assert gather.endswith(f"|ci/slurm/gather.sbatch|--device=emulated|{folders}|{given}")
    updates = (checkout / "scontrol.calls").read_text().splitlines()
    assert updates[1:] == ["update|JobId=7_1|Partition=small|Features=fast|", "release|7|"]
    assert not (checkout / "scancel.calls").exists()


def test_a_value_that_is_missing_does_not_take_that_of_another_option(checkout):
    submit_to_nothing(checkout, "--filter")
    for line in (checkout / "sbatch.calls").read_text().splitlines():
        options = line.rstrip("|").split("sbatch|")[-1].split("|")
        night = [checkout / "ci/nightly", *options]
        done = subprocess.run(night, capture_output=True, text=True, cwd=checkout)
        assert done.returncode == 2 and "--filter needs a value" in done.stderr


@pytest.mark.parametrize(
    "text, options, says",
    [
        ("", [], "names no GPU"),
        ("# none yet\n", [], "names no GPU"),
        ("A100\n", [], "gpus.txt:1: a line is NAME PARTITION"),
        ("\nA100 big fast more\n", [], "gpus.txt:2: a line is NAME PARTITION"),
        ("../A100 big\n", [], "gpus.txt:1: the name may have"),
        ("A100 big\nA100 small\n", [], "gpus.txt:2: there are two GPUs called A100"),
        ("report big\n", [], "gpus.txt:1: report is already the name"),
        ("A100 big\n0.log big\n", [], "gpus.txt:2: 0.log is already the name"),
        ("A100 big\n", ["--out=here"], "a folder of their own"),
        ("A100 big\n", ["--facts", "x"], "--facts: only the results of the GPUs"),
        ("A100 big\n", ["--gather=x"], "--gather=x: only the results"),
        ("A100 big\n", ["--large", "--no-report"], "--no-report: only the results"),
        ("A100 big\n", ["--device"], "--device needs a value"),
    ],
)
def test_bad_lists_and_options_are_faults_before_anything_is_submitted(
    checkout, text, options, says
):
    done = subprocess.run(
        [checkout / "ci/slurm/submit", *options],
        env={**os.environ, **gpus(checkout, text)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and says in done.stderr
    assert not (checkout / "out").exists()


def test_a_missing_list_is_a_fault():
    done = subprocess.run(
        [ROOT / "ci/slurm/submit"],
        env={**os.environ, "WARPGAUGE_GPUS": "/no/such/list"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and "/no/such/list: cannot be read" in done.stderr

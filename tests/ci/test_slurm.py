"""The job array for Slurm, on a cluster of one node that the test starts, and what it refuses."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from scratch_checkout import ONE_FAILS, ONE_PASSES, ROOT, scratch_checkout
from slurm_cluster import MISSING, Cluster

HAS_GPU = Path("/dev/nvidia0").exists()
PASSES = [f"--{name}={value}" for name, value in ONE_PASSES.items()]
FAILS = [f"--{name}={value}" for name, value in ONE_FAILS.items()]


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


def submit(cluster, checkout, text, *options):
    return cluster.run(checkout / "ci/slurm/submit", *options, **gpus(checkout, text))


def test_each_gpu_has_a_task_on_its_partition_with_its_own_results(cluster, tmp_path):
    checkout = scratch_checkout(tmp_path / "with spaces")
    done = submit(cluster, checkout, "# two\n\nA100 big\nL4 small fast", *PASSES)
    assert done.returncode == 0, done.stderr
    job = done.stdout.strip()
    assert cluster.exit_codes(job, 2) == [0, 0]
    for task, (name, partition) in enumerate([("A100", "big"), ("L4", "small")]):
        out = checkout / "out" / job / name
        assert f"{job}/{name}: exit code 0" in (out / "log").read_text()
        facts = [json.loads(line) for line in (out / "facts.jsonl").read_text().splitlines()]
        assert facts and (out / "summary.md").stat().st_size
        shown = cluster.run("scontrol", "show", "job", f"{job}_{task}").stdout
        assert f"Partition={partition} " in shown
        assert ("Features=fast" in shown) == (name == "L4")


def test_a_task_ends_with_the_exit_code_of_its_gate(cluster, tmp_path):
    checkout = scratch_checkout(tmp_path / "checkout", "warpgauge-faulty")
    job = submit(cluster, checkout, "A100 big\nL4 small", *FAILS).stdout.strip()
    assert cluster.exit_codes(job, 2) == [1, 1]
    assert "tests/canaries/family.cu" in (checkout / "out" / job / "L4/summary.md").read_text()


@pytest.mark.skipif(HAS_GPU, reason="shows what happens without a GPU")
def test_a_node_without_its_gpu_is_never_replaced_by_the_emulator(cluster, tmp_path):
    checkout = scratch_checkout(tmp_path / "checkout")
    job = submit(cluster, checkout, "A100 big", f"--filter={ONE_PASSES['filter']}").stdout.strip()
    assert cluster.exit_codes(job, 1) == [3]


def test_what_slurm_refuses_is_a_fault_and_leaves_nothing_queued(cluster, tmp_path):
    checkout = scratch_checkout(tmp_path / "checkout")
    for second in ("L4 no_such_partition", "L4 small no_such_feature"):
        done = submit(cluster, checkout, f"A100 big\n{second}", *PASSES)
        assert done.returncode == 2 and "Slurm refuses L4" in done.stderr, done.stderr
        assert cluster.queue() == "" and done.stdout == ""


def test_the_job_itself_cannot_be_submitted_past_the_list(cluster, tmp_path):
    checkout = scratch_checkout(tmp_path / "checkout")
    done = cluster.run(
        "sbatch", "--parsable", "--array=0-0", "ci/slurm/nightly.sbatch", cwd=checkout
    )
    assert cluster.exit_codes(done.stdout.strip(), 1) == [2]


@pytest.mark.parametrize("partition", [{"SLURM_JOB_PARTITION": "small"}, {}])
def test_a_task_on_another_partition_than_its_own_is_a_fault(tmp_path, partition):
    checkout = scratch_checkout(tmp_path / "checkout")
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


@pytest.mark.parametrize("blocked", ["out", "out/7/A100/log", "out/7/0.task"])
def test_results_that_cannot_be_prepared_are_a_fault_and_cancel_the_job(tmp_path, blocked):
    checkout = scratch_checkout(tmp_path / "checkout")
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, script in (("sbatch", "echo 7"), ("scancel", f"echo $1 >{tmp_path}/cancelled")):
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)
    place = checkout / blocked
    place.parent.mkdir(parents=True, exist_ok=True)
    if blocked == "out":
        place.touch()
    else:
        (place / "log" if place.name == "log" else place).mkdir(parents=True)
        (place / "7.log").touch()  # what a link of this name would be made beside
        (place / "0.log").touch()
    done = subprocess.run(
        [checkout / "ci/slurm/submit"],
        env={
            **os.environ,
            **gpus(checkout, "A100 big\n"),
            "PATH": f"{programs}:{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2, done.stderr
    assert "cannot be made and written to. Cancelled" in done.stderr
    assert (tmp_path / "cancelled").read_text() == "7\n"


@pytest.mark.parametrize(
    "text, options, says",
    [
        ("", [], "names no GPU"),
        ("# none yet\n", [], "names no GPU"),
        ("A100\n", [], "gpus.txt:1: a line is NAME PARTITION"),
        ("\nA100 big fast more\n", [], "gpus.txt:2: a line is NAME PARTITION"),
        ("../A100 big\n", [], "gpus.txt:1: the name must be"),
        ("A100 big\nA100 small\n", [], "gpus.txt:2: there are two GPUs called A100"),
        ("A100 big\n", ["--out=here"], "a folder of their own"),
    ],
)
def test_bad_lists_and_options_are_faults_before_anything_is_submitted(
    tmp_path, text, options, says
):
    checkout = scratch_checkout(tmp_path / "checkout")
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

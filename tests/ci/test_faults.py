"""Harm to the gate from outside: killed, out of disk, without rights, two gates at once.

After each of them the folder of the results holds whole facts or none, no summary of half a run,
and nothing that stops the next run.
"""

import fcntl
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from private_mounts import OWN_MOUNTS, needs_mounts
from warpgauge.facts.reader import read_facts

BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"
HAS_GPU = Path("/dev/nvidia0").exists()
needs_gpu = pytest.mark.skipif(not HAS_GPU, reason="no GPU on this machine")
FEW = "canaries.[hp]*"  # healthy and padding_removed: within and over budget
MANY = "canaries.[dhlp]*"
OVER, FAULT = 1, 2  # exit codes


def command(out, pattern, *arguments, device="emulated"):
    program = BIN / "warpgauge-faulty"
    options = ["--out", out, "--filter", pattern, "--device", device]
    return [program, "gate", *options, *map(str, arguments)]


def start(*arguments, **options):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command(*arguments, **options), **pipes)


def gate(*arguments, **options):
    return subprocess.run(
        command(*arguments, **options), capture_output=True, text=True, timeout=300
    )


def wait_for(condition, what, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        time.sleep(0.002)


def is_free(out):
    """Whether no process of a run is left, each of which holds the folder's lock."""
    with open(out / ".lock", "a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def contents(facts):
    return sorted((f.id, f.metric, f.arch, f.scope, f.line or 0, str(f.value)) for f in facts)


def test_a_gate_that_is_killed_leaves_nothing_that_could_pass_for_a_result(tmp_path):
    started = time.monotonic()
    assert gate(tmp_path, MANY).returncode == OVER
    duration = time.monotonic() - started
    whole = contents(read_facts(tmp_path / "facts.jsonl"))
    seed = random.randrange(1 << 32)
    print(f"seed {seed}, {duration:.3f} s for a whole run")
    moment = random.Random(seed)
    cut_short = 0
    for _ in range(20):
        run = start(tmp_path, MANY)
        time.sleep(moment.uniform(0, duration))
        run.kill()
        run.communicate()
        wait_for(lambda: is_free(tmp_path), "the end of the processes of a killed gate")
        path = tmp_path / "facts.jsonl"
        facts = contents(read_facts(path)) if path.exists() else []  # throws for half a line
        cut_short += facts != whole
        # The summary comes last and in one step: it always belongs to a whole run.
        if (tmp_path / "summary.md").exists():
            assert facts == whole
            assert (tmp_path / "summary.md").read_text().startswith("# FAIL")
    assert cut_short > 0
    assert gate(tmp_path, MANY).returncode == OVER
    assert contents(read_facts(tmp_path / "facts.jsonl")) == whole


@pytest.mark.parametrize("device", [pytest.param("gpu", marks=needs_gpu), "emulated"])
def test_a_measuring_process_that_is_killed_costs_one_case(tmp_path, device):
    """As by the kernel when memory runs out. The process before it ends with the fault of its case,
    which on a GPU is measured again behind the others: a process of another program may be the
    cause."""
    run = start(tmp_path, "canaries.[eho]*", "--timeout", 60, "--jobs", 1, device=device)

    def results():
        path = tmp_path / "facts.jsonl"
        facts = read_facts(path) if path.exists() else []
        return {f.case.variant: f for f in facts if f.metric == "result.correct"}

    wait_for(lambda: "healthy" in results(), "the first case")
    time.sleep(3)  # out_of_bounds has ended its process; the next is past its start, and in endless
    # On a GPU there is another, which is ready for what is measured last.
    *_, newest = Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()
    os.kill(int(newest), signal.SIGKILL)
    stdout, stderr = run.communicate(timeout=60)
    assert run.returncode == FAULT, stdout + stderr
    assert "killed by SIGKILL" in results()["endless"].reason
    assert results()["healthy"].verdict == "pass"
    assert "wrong result" in results()["off_by_one"].reason  # the one after it
    assert results()["out_of_bounds"].verdict == "error"


def test_a_second_gate_in_one_folder_ends_and_leaves_the_first_alone(tmp_path):
    first = start(tmp_path, "canaries.[eh]*", "--timeout", 3)
    facts = tmp_path / "facts.jsonl"
    wait_for(lambda: facts.exists() and facts.stat().st_size > 0, "facts of the first gate")
    second = gate(tmp_path, FEW)
    assert second.returncode == FAULT
    assert second.stderr == (
        f"{tmp_path}: another run is writing to it; wait, or choose another --out\n"
    )
    assert "PASS" not in second.stdout
    first.communicate(timeout=60)
    assert first.returncode == FAULT  # its endless case
    assert {fact.case.variant for fact in read_facts(facts)} == {"healthy", "endless"}
    assert len({fact.run.id for fact in read_facts(facts)}) == 1
    assert (tmp_path / "summary.md").exists()


# Disks that the gate alone sees: one that is full before long, and one that cannot be written to.

DISK = """
mount -t tmpfs -o "$1" tmpfs "$2" || exit 9
out=$2
shift 2
"$@"
status=$?
ls "$out"
exit $status
"""


def gate_on_disk(folder, options):
    run = [*OWN_MOUNTS, "sh", "-c", DISK, "sh", options, folder, *command(folder, FEW)]
    return subprocess.run(run, capture_output=True, text=True, timeout=300)


def pages(count):
    return f"size={count * os.sysconf('SC_PAGESIZE')}"


@needs_mounts
def test_a_disk_with_room_for_some_facts_is_a_fault(tmp_path):
    assert gate(tmp_path, FEW).returncode == OVER
    size = (tmp_path / "facts.jsonl").stat().st_size
    result = gate_on_disk(tmp_path, pages(size // 2 // os.sysconf("SC_PAGESIZE")))
    assert result.returncode == FAULT
    assert f"{tmp_path}/facts.jsonl: " in result.stderr
    assert "No space left on device" in result.stderr
    assert result.stdout.splitlines()[-1] == "facts.jsonl"  # and no summary.md
    assert "FAIL" not in result.stdout and "PASS" not in result.stdout


@needs_mounts
def test_a_disk_with_room_for_the_facts_alone_is_a_fault(tmp_path):
    assert gate(tmp_path, FEW).returncode == OVER
    size = (tmp_path / "facts.jsonl").stat().st_size
    result = gate_on_disk(tmp_path, pages(-(-size // os.sysconf("SC_PAGESIZE"))))
    assert result.returncode == FAULT
    assert f"{tmp_path}/results.json: cannot be written: No space left on device" in result.stderr
    assert result.stdout.splitlines()[-1] == "facts.jsonl"


@needs_mounts
def test_a_disk_that_cannot_be_written_to_is_a_fault(tmp_path):
    result = gate_on_disk(tmp_path, "ro")
    assert result.returncode == FAULT
    assert result.stderr == f"{tmp_path}: cannot be written; see --out\n"
    assert result.stdout == ""


def test_a_pipe_for_a_lock_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / ".lock")
    result = gate(tmp_path, FEW)
    assert result.returncode == FAULT
    assert f"{tmp_path}/.lock: is not a file" in result.stderr


def test_no_verdict_is_printed_before_its_results_are_written(tmp_path):
    run = start(tmp_path, "canaries.healthy.*")
    wait_for((tmp_path / "facts.jsonl").exists, "the first fact")
    (tmp_path / "results.json").mkdir()  # no file can take its place
    out, error = run.communicate()
    assert run.returncode == FAULT, error
    assert "results.json: cannot be written" in error
    assert "PASS" not in out

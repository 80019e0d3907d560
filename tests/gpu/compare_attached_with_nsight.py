"""Compares the counts of `warpgauge attach` with Nsight Compute's, kernel by kernel.

    build/venv/bin/python tests/gpu/compare_attached_with_nsight.py \\
        build/dev/bin/warpgauge -- python3 tests/gpu/attached/training.py

Runs the program plain, attached, and under `ncu` with the totals that are compared, each twice: the
first run watches the memory of the GPU, the second one is timed. Counts that differ between two
runs of the same tool (kernels that wait for each other read as often as they have to) are
listed apart: they are no error of either tool.
Prints what each took, wall time and the most memory beyond what was used before, and differences.
Exit codes: 0 all counts that repeat are equal, 1 some differ, 2 something could not be run or
compared.
"""

import argparse
import csv
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path

from compare_with_nsight import SAME
from warpgauge.facts.reader import read_facts


def used_mib():
    query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits", "-i", "0"]
    return int(subprocess.run(query, capture_output=True, text=True, check=True).stdout)


class Memory:
    """The most memory that is used while this is open, in MiB beyond that of the beginning."""

    def __enter__(self):
        self.before, self.most, self.open = used_mib(), 0, True
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def watch(self):
        while self.open:
            self.most = max(self.most, used_mib() - self.before)

    def __exit__(self, *_):
        self.open = False
        self.thread.join()


def run(kind, command, good=(0,)):
    """Wall time of the second run. `command(i)`: the command line of run i."""
    with Memory() as memory:
        subprocess.run(command(0), capture_output=True, timeout=600)
    start = time.perf_counter()
    result = subprocess.run(command(1), capture_output=True, text=True, timeout=600)
    seconds = time.perf_counter() - start
    if result.returncode not in good:
        raise OSError(f"{kind}: exited with {result.returncode}: {result.stderr[-2000:]}")
    print(f"{kind:<20} {seconds:7.2f} s  {memory.most:6} MiB", flush=True)
    return seconds


def nsight_counts(path):
    """Mangled name -> Nsight Compute's metric -> sum over all launches; and the launches."""
    with open(path, newline="") as stream:
        lines = [line for line in stream if line.startswith('"')]
    counts, launches = defaultdict(lambda: dict.fromkeys(SAME, 0)), defaultdict(int)
    for row in list(csv.DictReader(lines))[1:]:  # the first row holds the units
        launches[row["Kernel Name"]] += 1
        for name in SAME:
            counts[row["Kernel Name"]][name] += int(float(row[name].replace(",", "") or 0))
    return counts, launches


def our_counts(path):
    values = defaultdict(dict)
    for fact in read_facts(path):
        if fact.scope == "case" and fact.source == "cupti":
            values[fact.kernel][fact.metric] = fact.value
    return {
        kernel: {
            name: sum(metrics.get(metric, 0) for metric in ours) for name, ours in SAME.items()
        }
        for kernel, metrics in values.items()
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("warpgauge", type=Path)
    parser.add_argument("--ncu", default="ncu")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ncu = [
            *[arguments.ncu, "--clock-control", "none", "--csv", "--page", "raw"],
            *["--print-kernel-base", "mangled", "--target-processes", "all"],
            *["--metrics", ",".join(SAME), "--log-file"],
        ]
        attach = [arguments.warpgauge, "attach", "--out"]
        plain = run("plain", lambda i: arguments.command)
        attached = run(
            "warpgauge attach",
            lambda i: [*attach, folder / f"out{i}", "--", *arguments.command],
            good=(0, 1),
        )
        nsight = run("Nsight Compute", lambda i: [*ncu, folder / f"ncu{i}.csv", *arguments.command])
        ours, ours_again = (our_counts(folder / f"out{i}" / "facts.jsonl") for i in (0, 1))
        (theirs, launches), (theirs_again, _) = (
            nsight_counts(folder / f"ncu{i}.csv") for i in (0, 1)
        )
    print(f"{attached / plain:.2f} times plain; Nsight Compute {nsight / plain:.2f} times plain")
    print(f"{sum(launches.values())} launches of {len(theirs)} kernels")
    differing, varying = [], []
    for kernel in sorted(theirs):
        for count in SAME:
            here = [counts.get(kernel, {}).get(count) for counts in (ours, ours_again)]
            there = [counts[kernel][count] for counts in (theirs, theirs_again)]
            if here[0] == here[1] == there[0] == there[1]:
                continue
            varies = here[0] != here[1] or there[0] != there[1]
            (varying if varies else differing).append(
                f"{'varies' if varies else 'DIFFERS'}: {kernel[:100]} {count}: "
                f"{here[0]}, {here[1]}; Nsight Compute {there[0]}, {there[1]}"
            )
    only_ours = sorted(ours.keys() - theirs.keys())
    print(*varying, *differing, *(f"only here: {kernel[:100]}" for kernel in only_ours), sep="\n")
    print(
        f"{len(theirs) * len(SAME)} counts compared: {len(differing)} differ, {len(varying)} are "
        "not the same in two runs of one tool"
    )
    return 1 if differing or only_ours or not theirs else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, subprocess.SubprocessError, KeyError, ValueError) as error:
        print(f"cannot compare: {error!r}", file=sys.stderr)
        sys.exit(2)

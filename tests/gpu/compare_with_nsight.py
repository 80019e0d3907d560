"""Compares warpgauge's exact counts with Nsight Compute's, case by case, on a GPU.

    build/venv/bin/python tests/gpu/compare_with_nsight.py build/dev/bin/warpgauge-check

Runs the same program with the same cases four ways in turn: plain, counted by warpgauge, and under
`ncu` with warpgauge's own use of CUPTI switched off, once with just the metrics that are compared
and once with its source counters, which like warpgauge's are by line. Prints the differences
and how long each took.
Exit codes: 0 all counts equal, 1 some differ, 2 something could not be run or compared.
"""

import argparse
import csv
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from warpgauge.facts.reader import read_facts

# Nsight Compute's name -> the metrics of ours whose sum it is.
SAME = {
    "memory_l1_wavefronts_shared": ["shared.wavefronts"],
    "memory_l1_wavefronts_shared_ideal": ["shared.wavefronts_ideal"],
    "memory_l2_theoretical_sectors_global": [
        "global.load.sectors",
        "global.store.sectors",
        "global.atomic.sectors",
    ],
    "memory_l2_theoretical_sectors_global_ideal": ["global.sectors_ideal"],
    "memory_l1_tag_requests_global": ["global.l1_tags"],
    "memory_l2_theoretical_sectors_local": ["local.sectors"],
}


def timed(command, timeout):
    start = time.perf_counter()
    result = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    seconds = time.perf_counter() - start
    if result.returncode != 0:
        output = result.stdout[-2000:] + result.stderr[-2000:]
        raise OSError(f"{command[0]} exited with {result.returncode}: {output}")
    return seconds


def nsight_counts(path):
    """id -> Nsight Compute's name -> sum over the kernels in the range of that id."""
    with open(path, newline="") as stream:
        lines = [line for line in stream if not line.startswith("==")]
    rows = csv.DictReader(lines)
    counts = defaultdict(lambda: dict.fromkeys(SAME, 0))
    for row in list(rows)[1:]:  # the first row holds the units
        ranges = next(value for key, value in row.items() if "Push/Pop_Range" in key)
        match = re.search(r'warpgauge:([^:"]+)', ranges)
        if match:
            for name in SAME:
                counts[match[1]][name] += int(row[name].replace(",", ""))
    return counts


def our_counts(path):
    """id -> Nsight Compute's name -> the same quantity as warpgauge's facts have it."""
    values = defaultdict(dict)
    for fact in read_facts(path):
        if fact.scope == "case" and fact.source == "cupti":
            values[fact.id][fact.metric] = fact.value
    return {
        case: {name: sum(metrics[metric] for metric in ours) for name, ours in SAME.items()}
        for case, metrics in values.items()
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("check", type=Path, help="the program warpgauge-check")
    parser.add_argument("--filter", default="-sm_*/*", help="GoogleTest filter of the cases")
    parser.add_argument("--rounds", type=int, default=3, help="timed runs of each kind")
    parser.add_argument("--ncu", default="ncu", help="Nsight Compute's command line program")
    arguments = parser.parse_args()

    program = [str(arguments.check), f"--gtest_filter={arguments.filter}"]
    seconds = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.rounds):
            facts, log = Path(folder, f"{number}.jsonl"), Path(folder, f"{number}.csv")
            seconds["plain"].append(timed([*program, "--no-cupti"], 600))
            seconds["warpgauge"].append(timed([*program, "--facts", str(facts)], 600))
            ncu = [arguments.ncu, "--clock-control", "none", "--nvtx"]
            metrics = [
                "--csv",
                "--page",
                "raw",
                "--metrics",
                ",".join(SAME),
                "--log-file",
                str(log),
            ]
            lines = ["--section", "SourceCounters", "--log-file", str(Path(folder, "lines.log"))]
            plain = [*program, "--no-cupti"]
            seconds["Nsight Compute"].append(timed([*ncu, *metrics, *plain], 600))
            seconds["... with lines"].append(timed([*ncu, *lines, *plain], 600))
        ours, theirs = our_counts(facts), nsight_counts(log)

    if not theirs or ours.keys() != theirs.keys():
        print(f"not the same cases: {len(ours)} of ours, {len(theirs)} of Nsight Compute's")
        return 2
    differing = [
        f"{case} {name}: {counts[name]:.0f}, Nsight Compute {theirs[case][name]}"
        for case, counts in ours.items()
        for name in SAME
        if counts[name] != theirs[case][name]
    ]
    print(*differing, sep="\n", end="\n" if differing else "")
    print(f"{len(ours)} cases, {len(ours) * len(SAME)} counts compared, {len(differing)} differ")
    plain = statistics.median(seconds["plain"])
    for kind, times in seconds.items():
        median = statistics.median(times)
        print(f"{kind:<15} {median:7.2f} s (of {len(times)}), {median - plain:+7.2f} s over plain")
    cost = {kind: statistics.median(times) - plain for kind, times in seconds.items()}
    for kind in ("Nsight Compute", "... with lines"):
        print(f"{kind}: {cost[kind] / cost['warpgauge']:.1f} times warpgauge's cost")
    return 1 if differing else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, subprocess.TimeoutExpired, StopIteration, KeyError) as error:
        print(f"cannot compare: {error!r}", file=sys.stderr)
        sys.exit(2)

"""Compares wmma on the emulator with wmma on the GPU of this machine: fragments, results, counts.

    build/venv/bin/python tests/gpu/compare_wmma.py build/dev/bin/warpgauge

Builds tests/gpu/attached/wmma.cu for the GPU's architecture (ARCH, sm_90 by default) and runs it
with `warpgauge emulate` and `warpgauge attach`. Prints each form that differs with what both have:
the first word of a fragment or a result, every count of a kernel. Results of fractions may differ
in their last bits: those are listed, and are no error.
Exit codes: 0 fragments, exact results and counts are equal, 1 some differ, 2 something could not
be run or compared.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from warpgauge.errors import FactError
from warpgauge.facts.reader import read_facts

COUNTS = [
    "global.load.requests",
    "global.load.sectors",
    "global.store.requests",
    "global.store.sectors",
    "global.sectors_ideal",
    "global.l1_tags",
    "shared.requests",
    "shared.wavefronts",
    "shared.wavefronts_ideal",
]
PROGRAM = Path(__file__).parent / "attached" / "wmma.cu"


def run(command, good, folder):
    result = subprocess.run(command, capture_output=True, text=True, timeout=900, cwd=folder)
    if result.returncode not in good:
        raise OSError(f"{command[0]} exited with {result.returncode}: {result.stderr[-2000:]}")
    return result.stdout


def words_of(output):
    """(form, matrix) -> its words."""
    lines = [line.split() for line in output.splitlines()]
    return {(line[0], line[1]): line[2:] for line in lines if len(line) > 2}


def counts_of(path):
    """Kernel -> metric -> value."""
    counts = defaultdict(dict)
    for fact in read_facts(path):
        if fact.scope == "case" and fact.metric in COUNTS:
            counts[fact.kernel][fact.metric] = fact.value
    return counts


def compare_words(emulated, measured):
    """Prints what differs; the number of errors."""
    errors = 0
    for form, matrix in sorted(emulated.keys() | measured.keys()):
        ours, theirs = emulated.get((form, matrix), []), measured.get((form, matrix), [])
        pairs = enumerate(zip(ours, theirs, strict=False))
        places = [i for i, pair in pairs if pair[0] != pair[1]]
        if len(ours) == len(theirs) and not places:
            continue
        is_rounding = matrix == "rounded" and len(ours) == len(theirs)
        errors += not is_rounding
        if places:
            first = places[0]
            detail = f"word {first}: emulated {ours[first]}, GPU {theirs[first]}"
        else:
            detail = "emulated and GPU"
        kind = "rounding" if is_rounding else "DIFFERS"
        print(f"{kind} {form} {matrix}: {len(places)} of {len(ours)} and {len(theirs)}; {detail}")
    return errors


def compare_counts(emulated, measured):
    errors = 0
    for kernel in sorted(emulated.keys() | measured.keys()):
        for metric in COUNTS:
            ours = emulated.get(kernel, {}).get(metric)
            theirs = measured.get(kernel, {}).get(metric)
            if ours != theirs:
                errors += 1
                print(f"DIFFERS {kernel} {metric}: emulated {ours}, GPU {theirs}")
    return errors


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("warpgauge", type=Path)
    parser.add_argument("--arch", default="sm_90")
    arguments = parser.parse_args()
    warpgauge = arguments.warpgauge.resolve()
    nvcc = os.environ.get("CUDACXX", "nvcc")
    number = arguments.arch.removeprefix("sm_")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        code = f"arch=compute_{number},code=[sm_{number},compute_{number}]"
        build = [nvcc, "-O2", "-std=c++20", "-lineinfo", "-cudart", "shared", "-gencode", code]
        run([*build, "-o", "wmma", PROGRAM.resolve()], (0,), folder)
        outputs, counts = [], []
        for command in (["emulate", "--arch", arguments.arch], ["attach"]):
            out = folder / command[0]
            line = [warpgauge, *command, "--out", out, "--", "./wmma"]
            outputs.append(words_of(run(line, (0, 1, 2, 3), folder)))
            counts.append(counts_of(out / "facts.jsonl"))
    for kind, (emulated, measured) in (("words", outputs), ("counts", counts)):
        if not emulated or not measured:
            raise OSError(f"no {kind} of the {'GPU' if emulated else 'emulator'}")
    errors = compare_words(*outputs) + compare_counts(*counts)
    print(f"{len(outputs[1])} matrices and {len(counts[1])} kernels, {errors} differences")
    return errors > 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, subprocess.SubprocessError, FactError) as error:
        print(f"compare_wmma: {error}", file=sys.stderr)
        sys.exit(2)

"""Writes docs/metrics.md from the table of metrics (metrics/catalog.json).

build/venv/bin/python docs/make_metrics.py
"""

import re
import sys
from pathlib import Path
from textwrap import fill

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "reports"))

from warpgauge.facts.catalog import Metric, catalog  # noqa: E402
from warpgauge.files import write_whole  # noqa: E402

OUTPUT = ROOT / "docs" / "metrics.md"

HEAD = """\
<!-- Written by docs/make_metrics.py from metrics/catalog.json: change those, and run it again. -->
# Metrics

Every quantity that warpgauge measures, by the name that facts, budgets and reports give it.
`warpgauge metrics` prints the same table, and `warpgauge metrics --chip GH100` what a chip can
count. "Good" says which values are good, or what to look for where no value is good by itself, and
"cure" what usually mends a value that is not. The class says how far a value can be trusted:

- **exact** repeats to the last digit, and is judged as it is;
- **bounded** is noisy: its budget must have a `tolerance` (see [budgets](budgets.md));
- **info** is shown and never judged.

The source says who measures it on a GPU. What `cupti-sass` counts there, the emulator counts
elsewhere, as exactly but for what [its document](emulator.md) lists; `cuda-events` and
`cupti-range` need a GPU. A built-in budget holds for every kernel whose budget file does not say
otherwise.

"""

# Where a value comes from, in words.
SOURCES = {
    "run": "the comparison with the CPU reference",
    "ptxas": "what ptxas says when it compiles the kernel, for every architecture of the build",
    "occupancy": "CUDA's occupancy rules, applied to what ptxas says and to the launch",
    "cupti-sass": "CUPTI's SASS metrics (patched instructions, one launch); else the emulator",
    "cuda-events": "CUDA events around the launches, by `warpgauge-bench`",
    "cupti-range": "CUPTI's range profiler: hardware counters, several passes",
}

BUILT_IN = {  # as metrics/budget.cpp has them
    "result.correct": "= 1",
    "shared.bank_conflicts": "= 0",
    "spill.store_bytes": "= 0",
    "spill.load_bytes": "= 0",
    "local.sectors": "= 0",
}

# The sections: title, how the ids begin that belong there, and what is good.
SECTIONS = [
    (
        "Results",
        ("result.",),
        """A result that is not right makes the case an error (exit code 2), whatever it costs.""",
    ),
    (
        "What the compiler decides",
        ("registers", "barriers", "spill.", "stack.", "shared.static", "constant.")
        + ("occupancy.theoretical", "occupancy.limiter"),
        """None of it needs a GPU. Good is what leaves room for as many warps as hide the kernel's
        latencies: no spills, and the occupancy that theory asks for. Of a case that launches
        several kernels the worst decides.""",
    ),
    (
        "Shared memory",
        ("shared.wavefronts", "shared.bank", "shared.requests"),
        """32 banks of 4 bytes serve a warp. A request of all its lanes takes at best 1 wavefront
        for words of 4 bytes, 2 for 8 and 4 for 16; lanes that want different words of one bank add
        to that. Good is `shared.wavefronts` = `shared.wavefronts_ideal`, which is
        `shared.bank_conflicts` = 0 and `shared.bank_ways` = 1.""",
    ),
    (
        "Global memory",
        ("global.",),
        """Memory is asked for in sectors of 32 bytes. A warp whose lanes read neighbouring words
        from the beginning of a sector on touches 4 sectors for words of 4 bytes, 8 for 8, 16 for
        16, and `global.excess_sectors` is 0. The worst is 32, a sector for each lane.""",
    ),
    (
        "Local memory",
        ("local.",),
        """It holds spilled registers, stack frames, and arrays whose indices the compiler does not
        know. Good is none.""",
    ),
    (
        "Instructions",
        ("instructions", "branches."),
        """The emulator runs PTX, which ptxas turns into more or fewer instructions: there both are
        estimates.""",
    ),
    (
        "Times and speeds",
        ("time.median_us", "time.relative_to", "throughput."),
        """Only a GPU has them. The fact of a median has its 95 % confidence interval, and the state
        of the GPU around it.""",
    ),
    (
        "Hardware counters",
        ("time.profiled_us", "occupancy.achieved", "dram.", "l2.", "shared.raw_"),
        """Only a GPU has them. What is known of how they vary stands in
        [exactness](exactness.md).""",
    ),
]

BETTER = {"lower": "lower is better", "higher": "higher is better", "none": "a description"}


def entry(metric: Metric) -> str:
    """A heading, what it means, and a list of the rest."""
    lines = [
        f"### {metric.id}\n",
        wrapped(as_markdown(metric.meaning)),
        "",
        f"- Unit: {metric.unit}; {metric.cls}; {BETTER[metric.direction]}.",
    ]
    if metric.id in BUILT_IN:
        lines.append(f"- Built-in budget: `{BUILT_IN[metric.id]}`.")
    lines.append(wrapped(f"- Good: {as_markdown(metric.good)}"))
    lines.append(wrapped(f"- Cure: {as_markdown(metric.cure)}"))
    lines.append(f"- Source: `{metric.source}`: {SOURCES[metric.source]}.")
    lines += [f"  - `{name}`" for name in metric.cupti_names]
    return "\n".join(lines) + "\n"


def as_markdown(text: str) -> str:
    """Names of code as such: Markdown would take their underscores for markup."""
    return re.sub(
        r"[\w.]*_[\w.]*\w|[a-z]\w*\.[a-z]\w*|-maxrregcount", lambda name: f"`{name[0]}`", text
    )


def wrapped(text: str) -> str:
    indent = "  " if text.startswith("- ") else ""
    return fill(" ".join(text.split()), 120, subsequent_indent=indent, break_on_hyphens=False)


def document() -> str:
    """The whole document; raises ValueError if a metric has no section, or more than one."""
    sections = {title: [] for title, _, _ in SECTIONS}
    for metric in catalog().values():
        titles = [title for title, begin, _ in SECTIONS if metric.id.startswith(begin)]
        if len(titles) != 1:
            raise ValueError(f"{metric.id} belongs to {titles or 'no section'}: see SECTIONS")
        sections[titles[0]].append(entry(metric))
    return HEAD + "\n".join(
        f"## {title}\n\n{wrapped(good)}\n\n" + "\n".join(sections[title])
        for title, _, good in SECTIONS
    )


if __name__ == "__main__":
    write_whole(OUTPUT, document().encode())

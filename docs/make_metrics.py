"""Writes docs/metrics.md from the table of metrics (metrics/facts/catalog.toml).

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
<!-- docs/make_metrics.py writes this from metrics/facts/catalog.toml: change these. -->
# Metrics

Every quantity that warpgauge measures, by its name in facts, budgets and reports.
`warpgauge metrics` prints the same table, and `warpgauge metrics --chip GH100` what a chip can
count. "Good" gives the good values, or what to look for; "cure" gives the usual fix. The class is

- **exact**: repeats to the last digit, and is judged as it is;
- **bounded**: noisy; its budget must have a `tolerance` ([budgets](budgets.md));
- **info**: shown and never judged.

"Source" is what measures it on a GPU. The emulator counts the metrics of `cupti-sass`, with the
exceptions in [its document](emulator.md); `cuda-events` and `cupti-range` need a GPU. A built-in
budget holds for every kernel unless its budget file says otherwise.

Every other counter of a chip is a metric by its name, `counter.NAME`
([counters](budgets.md#counters-by-their-names)).

"""

# Where a value comes from, in words.
SOURCES = {
    "run": "the comparison with the CPU reference",
    "cubin": "the machine code of the kernel, for every architecture of the build",
    "occupancy": "CUDA's occupancy rules, from the machine code and the launch",
    "cupti-sass": "CUPTI's SASS metrics (patched instructions, one launch), or the emulator",
    "cuda-events": "CUDA events around the launches, by `warpgauge-bench`",
    "cupti-range": "CUPTI's range profiler: hardware counters, several passes",
    "emulator": "the emulator alone: no counter of a GPU has it",
}

# The sections: title, how the ids begin that belong there, and what is good.
SECTIONS = [
    (
        "Results",
        ("result.",),
        """A wrong result makes the case an error (exit code 2), however fast it is.""",
    ),
    (
        "What the compiler decides",
        ("registers", "barriers", "spill.", "stack.", "code.", "shared.static", "constant.")
        + ("cluster.blocks", "occupancy.theoretical", "occupancy.limiter"),
        """These need no GPU. Good values leave room for enough warps to hide the kernel's
        latencies: no spills, and the occupancy that theory asks for. For a case with several
        kernels the worst value counts. `warpgauge occupancy` computes the occupancy of other
        blocks, and its curves.""",
    ),
    (
        "Shared memory",
        ("shared.wavefronts", "shared.bank", "shared.requests"),
        """32 banks of 4 bytes serve a warp. A request of all lanes takes at best 1 wavefront for
        4-byte words, 2 for 8 and 4 for 16 bytes; lanes that want different words of one bank add
        to that. Good is `shared.wavefronts` = `shared.wavefronts_ideal`, which is
        `shared.bank_conflicts` = 0 and `shared.bank_ways` = 1.""",
    ),
    (
        "Global memory",
        ("global.",),
        """Memory moves in sectors of 32 bytes. A warp that reads neighbouring words from the start
        of a sector touches 4 sectors for 4-byte words, 8 for 8 and 16 for 16 bytes, and
        `global.excess_sectors` is 0. The worst is 32, a sector for each lane. These are the
        traffic of the load and store unit. Bulk copies are in none of them: a fact says how many
        it leaves out (`leaves_out`), and `bulk.*` has them.""",
    ),
    (
        "Bulk copies, matrix products and clusters",
        ("bulk.", "wgmma.", "cluster.requests"),
        """From compute capability 9.0 on; before, they are 0. Instructions are exact; bytes and
        sectors are the emulator's, and predicted. A copy that all lanes of a warp make counts
        once where ptxas has one instruction for it. Where it has a loop in which the lanes take
        turns, each counts, but of stores only one of those with the same operands. A GPU has the
        sectors of loads together with those of others that missed L1:
        `counter.l1tex__m_xbar2l1tex_read_sectors.sum`.""",
    ),
    (
        "Instruction mix",
        ("mix.",),
        """Kinds of instructions in the machine code of a kernel itself, as
        [`warpgauge inspect`](inspect.md) counts them: a description, which tells what became of a
        loop, and which budgets hold with `equal`.""",
    ),
    (
        "Local memory",
        ("local.",),
        """Local memory holds spilled registers, stack frames and arrays with indices unknown to the
        compiler. Good is none.""",
    ),
    (
        "Instructions",
        ("instructions", "branches."),
        """The emulator counts those of the machine code, exactly, where its branches are the PTX's,
        and calls the PTX's an estimate elsewhere
        ([emulator](emulator.md#instructions-and-divergent-branches)).""",
    ),
    (
        "Times and speeds",
        ("time.median_us", "time.relative_to", "throughput."),
        """These need a GPU. The fact of a median has its 95 % confidence interval and the state of
        the GPU. The GPU begins a run when all its launches are queued, in the default stream and in
        those that wait for it, so that a slow host makes no gaps between them. Launches that wait
        for the GPU (`cudaFree`, `cudaDeviceSynchronize`, copies of pageable memory, more launches
        than fit the GPU's queue) cannot be held back so: the time is then the host's as well, which
        `confidence_reason` in facts, a `*` in tables and `gpu_waited_for_host` in the benchmark
        say.""",
    ),
    (
        "Hardware counters",
        ("time.profiled_us", "occupancy.achieved", "dram.", "l2.", "shared.raw_"),
        """These need a GPU. [Exactness](exactness.md) shows how they vary.""",
    ),
]

FREE = {
    "occupancy": "as long as `occupancy.theoretical` does not fall",
    "size": "as long as it grows by a quarter at most",
    "explains": "but under a budget of its own: it says why another value is as it is",
}
BETTER = {"lower": "lower is better", "higher": "higher is better", "none": "a description"}


def entry(metric: Metric) -> str:
    """A heading, what it means, and a list of the rest."""
    lines = [
        f"### {metric.id}\n",
        wrapped(as_markdown(metric.meaning)),
        "",
        f"- Unit: {metric.unit}; {metric.cls}; {BETTER[metric.direction]}.",
    ]
    if metric.cost in FREE:
        lines.append(f"- Cost: none, {FREE[metric.cost]}.")
    if metric.built_in is not None:
        lines.append(f"- Built-in budget: `= {metric.built_in}`.")
    lines.append(wrapped(f"- Good: {as_markdown(metric.good)}"))
    lines.append(wrapped(f"- Cure: {as_markdown(metric.cure)}"))
    if metric.ideal:
        lines.append(f'- Ideal: `{metric.ideal}` (`of = "ideal"` in a budget).')
    names = "".join(f", `{name}`" for name in metric.cupti_names)
    lines.append(wrapped(f"- Source: `{metric.source}`{names}."))
    if metric.nsight_names:
        names = " - ".join(f"`{name}`" for name in metric.nsight_names)
        lines.append(wrapped(f"- Nsight Compute: {names}."))
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
    sources = "".join(f"| `{name}` | {what} |\n" for name, what in SOURCES.items())
    return f"{HEAD}| source | is |\n|---|---|\n{sources}\n" + "\n".join(
        f"## {title}\n\n{wrapped(good)}\n\n" + "\n".join(sections[title])
        for title, _, good in SECTIONS
    )


if __name__ == "__main__":
    write_whole(OUTPUT, document().encode())

"""Programs of generated kernels."""

import shutil
from pathlib import Path

from kernel import make_kernel

HERE = Path(__file__).resolve().parent


def seeds_of(text):
    """FIRST:COUNT, or a list of seeds: 3,17,20."""
    if ":" in text:
        first, count = map(int, text.split(":"))
        return list(range(first, first + count))
    return [int(seed) for seed in text.split(",")]


def program(kernels):
    """Launches those last that make what comes later less sure."""
    seeds = [kernel.seed for kernel in sorted(kernels, key=lambda k: (k.is_ordered, k.seed))]
    lines = [f"// {len(seeds)} kernels, made by tests/exactness/generate."]
    lines += [f'#include "k_{seed}.cuh"' for seed in seeds]
    lines += ["", "int main() {", "  const Buffers buffers;"]
    lines += [f'  run("k_{seed}", launch_{seed}, buffers);' for seed in seeds]
    return "\n".join([*lines, "}", ""])


def write_programs(seeds, per_program, out):
    """The programs, with the kernels of each."""
    out.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "buffers.cuh", out)
    programs = {}
    for first in range(0, len(seeds), per_program):
        kernels = [make_kernel(seed) for seed in seeds[first : first + per_program]]
        for kernel in kernels:
            (out / f"k_{kernel.seed}.cuh").write_text(kernel.text, encoding="utf-8")
        file = out / f"p_{kernels[0].seed}.cu"
        file.write_text(program(kernels), encoding="utf-8")
        programs[file] = kernels
    return programs

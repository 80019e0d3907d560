"""The kernel of a seed: its file, with the function that launches it, which follow from the seed
alone."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

import statements
from expressions import expression, leaf, load, to_unsigned
from writer import TYPES, Input, Output, Shape, Tile, Writer, power_of_two

BLOCKS = [
    *((32, 1, 1), (64, 1, 1), (96, 1, 1), (128, 1, 1), (128, 1, 1), (256, 1, 1), (256, 1, 1)),
    *((16, 16, 1), (32, 8, 1), (32, 4, 1), (8, 8, 1), (8, 8, 4), (4, 4, 4), (16, 2, 2)),
    *((33, 1, 1), (50, 1, 1), (100, 1, 1), (17, 1, 1), (200, 1, 1), (7, 5, 1), (3, 5, 2)),
    *((31, 1, 1), (1, 1, 1), (10, 10, 1), (512, 1, 1), (40, 6, 1)),
]
GRIDS = [*((n, 1, 1) for n in (1, 1, 2, 3, 4, 5, 8)), (2, 2, 1), (3, 2, 1), (2, 1, 2)]

# Statements: at least, at most.
SIZES = [(1, 4), (3, 8), (6, 14), (12, 24)]

# Kernels with headers that take long to compile stand together, in some groups of seeds.
GROUP = 50
HEADERS = {
    1: ["cuda_fp16.h", "cuda_bf16.h"],
    2: ["cuda_fp16.h", "mma.h"],
    3: ["cuda_pipeline.h"],
}

ORDERED = {
    *("ordered atomic", "loop of compare and swap", "shared atomic of floats"),
    *("volatile", "matrix product"),
}


@dataclass
class Kernel:
    seed: int
    text: str
    constructs: list[str]

    @property
    def is_ordered(self) -> bool:
        """Whether it leaves what the order of threads decides: later launches are less sure."""
        return not ORDERED.isdisjoint(self.constructs)

    @property
    def has_one_result(self) -> bool:
        return {"ordered atomic", "loop of compare and swap"}.isdisjoint(self.constructs)


def make_kernel(seed: int) -> Kernel:
    rng = random.Random(f"kernel {seed}")
    shape = Shape(rng.choice(GRIDS), rng.choice(BLOCKS))
    size = rng.randint(*rng.choice(SIZES))
    w = Writer(seed, rng, shape, left=size, plain=rng.random() < 0.5)
    w.cluster = shape.grid[0] % 2 == 0 and w.chance(0.12)
    w.headers = [h for h in HEADERS.get(seed // GROUP % 8, []) if rng.random() < 0.7]
    choose_buffers(w)
    for _ in range(w.pick(0, 0, 0, 1, 1, 2)):
        add_helper(w)
    above = w.lines
    w.lines = []
    prologue = tile_lines(w)
    for kind, count in (("u", 2), ("f", w.number(0, 2)), *((k, w.number(0, 1)) for k in "dwi")):
        for _ in range(count):
            w.declare(kind, load(w, kind) if w.chance(0.5) else expression(w, kind, 1))
    while w.left > 0:
        w.left -= 1
        statements.write_one(w)
    epilogue(w)
    return Kernel(seed, text_of(w, above, prologue), w.constructs)


# Parameters

INPUTS = [
    ("unsigned", "u", (), "bits<unsigned>()"),
    ("float", "f", (), "numbers<float>()"),
    ("double", "d", (), "doubles()"),
    ("unsigned char", "u", (), "bits<unsigned char>()"),
    ("short", "u", (), "bits<short>()"),
    ("unsigned long long", "w", (), "bits<unsigned long long>()"),
    ("uint2", "u", ("x", "y"), "bits<uint2>()"),
    ("uint4", "u", ("x", "y", "z", "w"), "bits<uint4>()"),
    ("float2", "f", ("x", "y"), "numbers<float2>()"),
    ("float4", "f", ("x", "y", "z", "w"), "numbers<float4>()"),
    ("Three", "f", ("x", "y", "z"), "numbers<Three>()"),
    ("uchar4", "u", ("x", "y", "z", "w"), "bits<uchar4>()"),
]
OUTPUTS = [
    ("unsigned", "u", "{}", "{}"),
    ("float", "f", "{}", "{}"),
    ("double", "d", "{}", "{}"),
    ("unsigned long long", "w", "{}", "{}"),
    ("unsigned char", "u", "(unsigned char)({})", "{}"),
    ("unsigned short", "u", "(unsigned short)({})", "{}"),
    ("float2", "f", "make_float2({}, 1.0f)", "{}.x"),
    ("uint4", "u", "make_uint4({}, 1u, i, t)", "{}.w"),
    ("Three", "f", "Three{{{}, 2.0f, 3.0f}}", "{}.z"),
]


def choose_buffers(w: Writer) -> None:
    for number, (type, kind, members, host) in enumerate(
        w.rng.sample(INPUTS, w.number(1, 3)), start=1
    ):
        w.inputs.append(Input(f"in{number}", type, kind, members, f"buffers.{host}"))
    chosen = [OUTPUTS[0], *w.rng.sample(OUTPUTS[1:], w.number(0, 2))]
    for number, (type, kind, make, read) in enumerate(chosen):
        w.outputs.append(Output(f"out{number}", type, kind, make, number, slot(w), read))


def slot(w: Writer) -> str:
    """Where the elements of a thread lie: each has four of its own."""
    space = power_of_two(w.shape.total)
    mask = f"{space - 1}u"
    spread = w.pick(
        *("i", "i", "i", "i"),
        f"({mask} - i)",
        f"(i ^ {w.number(1, 31) & (space - 1)}u)",
        f"((i * {w.number(1, 15) * 2 + 1}u + {w.number(0, 31)}u) & {mask})",
    )
    return w.pick(f"{spread} * 4u + {{}}u", f"{spread} + {{}}u * {space}u")


def parameters(w: Writer, body: str) -> list[tuple[str, str]]:
    """The parameters, and how the host calls them."""
    found = []
    restrict = w.pick(" __restrict__", "")
    for buffer in w.inputs:
        const = "const " if restrict or w.chance(0.7) else ""
        host = buffer.expression
        if not const:
            host = f"const_cast<{buffer.type}*>({host})"
        found.append((f"{const}{buffer.type}*{restrict} {buffer.name}", host))
    for output in w.outputs:
        host = f"buffers.out<{output.type}>({output.number})"
        found.append((f"{output.type}*{restrict} {output.name}", host))
    for name, parameter, host in (
        ("halves", "const __half* halves", "buffers.halves<__half>()"),
        ("products", "float* products", "buffers.out<float>(3)"),
        ("counters", "unsigned* counters", "buffers.out<unsigned>(4)"),
        ("n", "unsigned n", f"{w.number(1, 3 * w.shape.total)}u"),
        ("knob", "unsigned knob", f"{w.number(0, 31)}u"),
    ):
        if is_in(name, body):
            found.append((parameter, host))
    return found


# Above the kernel


def add_helper(w: Writer) -> None:
    """A device function of two unsigned."""
    name = f"helper{len(w.calls) + 1}_{w.seed}"
    kind = w.pick("inline", "inline", "noinline", "branches", "recursion", "template", "method")
    w.used(f"helper: {kind}")
    if kind == "recursion":
        w.lines += [
            f"__device__ __noinline__ unsigned {name}(unsigned a, unsigned depth) {{",
            f"  if (depth == 0u || (a & {w.number(1, 7)}u) == 0u) return a;",
            f"  return {name}(a * {w.number(3, 9)}u + 1u, depth - 1u) ^ depth;",
            "}",
            "",
        ]
        w.calls.append(f"{name}({{}}, {{}} & 3u)")
        return
    if kind == "template":
        w.lines += [
            "template <unsigned kCount>",
            f"__device__ unsigned {name}(unsigned a, unsigned b) {{",
            "  unsigned sum = 0u;",
            w.pick("#pragma unroll", "#pragma unroll 1", "#pragma unroll 2"),
            "  for (unsigned k = 0u; k < kCount; ++k) {",
            f"    sum += (a >> k) {w.pick('*', '^', '&')} (b + k);",
            "  }",
            "  return sum;",
            "}",
            "",
        ]
        w.calls.append(f"{name}<{w.number(2, 9)}u>({{}}, {{}})")
        return
    if kind == "method":
        w.lines += [
            f"struct Pair{name} {{",
            "  unsigned a, b;",
            "  __device__ unsigned mixed() const {",
            f"    const unsigned c = a * {w.number(3, 99)}u;",
            f"    return c {w.pick('+', '^', '%')} (b | 1u);",
            "  }",
            "};",
            "",
        ]
        w.calls.append(f"Pair{name}{{{{{{}}, {{}}}}}}.mixed()")
        return
    word = "__noinline__ " if kind == "noinline" or w.chance(0.2) else ""
    f = Writer(w.seed, w.rng, w.shape, left=w.number(2, 6), in_function=True, plain=w.plain)
    f.constructs, f.names = w.constructs, 100 * (len(w.calls) + 1)
    f.variables["u"] += ["a", "b"]
    if kind == "branches":
        f.line(f"if ((a & {w.number(1, 7)}u) == {w.number(0, 1)}u) return a + b;")
    while f.left > 0:
        f.left -= 1
        statements.write_one(f)
    value = "a ^ b"
    for variables in (f.variables["u"][2:], f.variables["i"]):
        value += "".join(f" ^ (unsigned){name}" for name in variables)
    f.line(f"return {value};")
    w.lines += [f"__device__ {word}unsigned {name}(unsigned a, unsigned b) {{", *f.lines, "}", ""]
    w.calls.append(f"{name}({{}}, {{}})")


def constant_table(w: Writer) -> list[str]:
    numbers = ", ".join(f"{w.number(0, 999)}u" for _ in range(16))
    return [f"__constant__ unsigned table_{w.seed}[16] = {{", f"    {numbers}}};", ""]


# Shared memory


def tile_lines(w: Writer) -> list[str]:
    """Declares the arrays in shared memory and gives each element a value."""
    lines: list[str] = []
    space = power_of_two(w.shape.threads)
    for number in range(w.pick(0, 0, 1, 1, 2)):
        kind = w.pick("u", "u", "f", "f", "d")
        tile, declared = a_tile(w, f"tile{number}", kind, max(4, space * w.pick(1, 1, 2)))
        w.tiles.append(tile)
        value = {"u": "k * 7u", "f": "(float)k", "d": "(double)k"}[kind]
        lines.append(f"  {declared}")
        lines.append(f"  for (unsigned k = t; k < {tile.size}u; k += {w.shape.threads}u) {{")
        lines.append(f"    {tile.element.format('k')} = {value};")
        lines.append("  }")
    if w.chance(0.15):
        w.sums = "sums"
        lines.append("  __shared__ float sums[64];")
        lines.append(f"  for (unsigned k = t; k < 64u; k += {w.shape.threads}u) sums[k] = 0.0f;")
    if lines:
        lines.append("  __syncthreads();")
    return lines


def a_tile(w: Writer, name: str, kind: str, size: int) -> tuple[Tile, str]:
    type = TYPES[kind]
    form = w.pick("row", "row", "padded row", "matrix", "padded matrix", "dynamic")
    if form == "dynamic" and w.dynamic_bytes:
        form = "row"
    w.used(f"shared array: {form}")
    mask = f"{size - 1}u"
    own = w.pick("t", "t", "t", f"t ^ {w.number(0, size - 1)}u", f"(t * 5u + 3u) & {mask}")
    if form == "dynamic":
        w.dynamic_bytes = size * {"u": 4, "f": 4, "d": 8}[kind]
        name = f"{name}_{w.seed}"
        declared = f"extern __shared__ {type} {name}[];"
    elif form in ("row", "padded row"):
        pad = size // 32 if form == "padded row" else 0
        declared = f"__shared__ {type} {name}[{size + pad}];"
        if pad:
            element = f"{name}[({{0}}) + (({{0}}) >> 5)]"
            return Tile(name, kind, size, element.format(own), element), declared
    else:
        columns = min(size, w.pick(4, 8, 16, 32))
        pad = w.pick(1, 2, 4) if form == "padded matrix" else 0
        declared = f"__shared__ {type} {name}[{size // columns}][{columns + pad}];"
        row, column = f"({{0}}) / {columns}u", f"({{0}}) % {columns}u"
        if w.chance(0.4) and size // columns > 1:  # by columns
            row, column = f"({{0}}) % {size // columns}u", f"({{0}}) / {size // columns}u"
        element = f"{name}[{row}][{column}]"
        return Tile(name, kind, size, element.format(own), element), declared
    return Tile(name, kind, size, f"{name}[{own}]", f"{name}[{{}}]"), declared


# The whole


def epilogue(w: Writer) -> None:
    """Stores what all variables say, so that none of it is left out."""
    first = w.outputs[0]
    names = [(kind, name) for kind, names in w.variables.items() for name in names]
    w.line(f"unsigned result = {leaf(w, 'u')};")
    for kind, name in names:
        w.line(f"result = result * 5u + {to_unsigned(w, kind, name)};")
    w.line(f"{first.name}[{first.slot.format(0)}] = result;")


def is_in(name: str, text: str) -> bool:
    return re.search(rf"\b{name}\b", text) is not None


def thread_lines(w: Writer, body: str) -> list[str]:
    """What the thread is, as far as the kernel asks for it."""
    shape, lines = w.shape, []

    def define(name: str, value: str) -> None:
        text = "\n".join([body, *lines])
        if is_in(name, text):
            lines.insert(0, f"  const unsigned {name} = {value};")

    all_lanes = "0xffffffffu"
    last = f"(1u << {shape.threads % 32}u) - 1u"
    define("lanes", f"warp == {shape.threads // 32}u ? {last} : {all_lanes}")
    define("lane", "t % 32u" if w.chance(0.7) else "t & 31u")
    define("warp", "t / 32u" if w.chance(0.7) else "t >> 5")
    block = "blockIdx.x"
    if shape.grid[1:] != (1, 1):
        block = "(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z))"
    size = w.pick("blockDim.x * blockDim.y * blockDim.z", f"{shape.threads}u")
    define("total", f"{size} * gridDim.x * gridDim.y * gridDim.z")
    define("i", f"{block} * {size if ' ' not in size else f'({size})'} + t")
    if shape.block[1:] == (1, 1):
        define("t", "threadIdx.x")
    elif shape.block[2] == 1:
        define("t", f"threadIdx.y * {w.pick('blockDim.x', f'{shape.block[0]}u')} + threadIdx.x")
    else:
        define("t", "threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)")
    return lines


def text_of(w: Writer, above: list[str], prologue: list[str]) -> str:
    name = f"k_{w.seed}"
    body = "\n".join([*prologue, *w.lines])
    lines = [f"// Kernel of seed {w.seed}, made by tests/exactness/generate."]
    lines += ["#pragma once", ""]
    lines += [f"#include <{header}>" for header in w.headers]
    lines += ["", '#include "buffers.cuh"', ""] if w.headers else ['#include "buffers.cuh"', ""]
    if f"table_{w.seed}[" in "\n".join([*above, body]):
        lines += constant_table(w)
    lines += above
    about_the_thread = thread_lines(w, body)
    found = parameters(w, body)
    bounds = "__cluster_dims__(2, 1, 1) " if w.cluster else ""
    if w.chance(0.12):
        w.used("launch bounds")
        bounds += f"__launch_bounds__({w.pick(512, 1024)}, {w.pick(1, 2, 2)}) "
    lines.append(f"__global__ void {bounds}{name}({', '.join(p for p, _ in found)}) {{")
    lines += [*about_the_thread, *prologue, *w.lines, "}", ""]
    grid, block = (", ".join(map(str, size)) for size in (w.shape.grid, w.shape.block))
    dynamic = f", {w.dynamic_bytes}" if w.dynamic_bytes else ""
    lines.append(f"inline void launch_{w.seed}(const Buffers& buffers) {{")
    lines.append(f"  {name}<<<dim3({grid}), dim3({block}){dynamic}>>>(")
    lines += [
        f"      {host}{',' if k < len(found) else ');'}" for k, (_, host) in enumerate(found, 1)
    ]
    lines += ["}", ""]
    return "\n".join(lines)

"""Writes the text of a kernel: its lines, the variables in scope, and how far the threads go one
way.

The level says which threads are sure to be at a line together: those of the block, of the warp, or
none. Barriers stand where the block is together, exchanges between lanes where the warp is."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

LANE, WARP, BLOCK = range(3)  # levels

TYPES = {
    "u": "unsigned",
    "i": "int",
    "f": "float",
    "d": "double",
    "w": "unsigned long long",
}
MOST_ROUNDS = 256  # of all loops around a line together


@dataclass
class Input:
    """A read-only buffer, a parameter of the kernel; `expression` is how the host calls it."""

    name: str
    type: str  # in C
    kind: str  # of what its elements give: a key of TYPES
    members: tuple[str, ...]  # of an element
    expression: str
    length: int = 4096


@dataclass
class Output:
    """A buffer of which each thread writes elements of its own."""

    name: str
    type: str
    kind: str
    make: str  # an element of a value {}
    number: int
    slot: str  # where the element {} of a thread lies
    read: str = ""  # a value of an element; empty: it is not read


@dataclass
class Tile:
    """An array in shared memory. In the mode "read" all of it may be read, in "own" each thread has
    an element, in "atomic" it is changed by atomics alone. A barrier stands between two modes."""

    name: str
    kind: str
    size: int  # a power of two
    own: str  # the element of the thread
    element: str  # that of an index {} below the size
    mode: str = "read"


@dataclass
class Shape:
    """How a kernel is launched."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]

    @property
    def threads(self) -> int:  # of a block
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def blocks(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def total(self) -> int:
        return self.threads * self.blocks

    @property
    def least_lanes(self) -> int:
        """Lanes that each warp has at least."""
        return self.threads % 32 or 32


def power_of_two(least: int) -> int:
    return 1 << max(0, least - 1).bit_length()


@dataclass
class Writer:
    seed: int
    rng: random.Random
    shape: Shape
    level: int = BLOCK
    rounds: int = 1
    depth: int = 1  # of the indentation
    lines: list[str] = field(default_factory=list)
    variables: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in TYPES})
    fixed: list[str] = field(default_factory=list)  # variables that no statement changes
    inputs: list[Input] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    tiles: list[Tile] = field(default_factory=list)
    helpers: list[str] = field(default_factory=list)  # lines above the kernel
    headers: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)  # what makes an unsigned of two, {} and {}
    constructs: list[str] = field(default_factory=list)
    left: int = 0  # statements to write
    sums: str = ""  # an array of 64 floats in shared memory, for atomics alone
    plain: bool = False  # nothing that the machine code calls a function for
    cluster: bool = False  # two blocks each
    ended: bool = False  # some threads may have returned
    in_function: bool = False  # not in the kernel: no buffers, no threads
    dynamic_bytes: int = 0  # of shared memory
    names: int = 0

    # Choices

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def pick(self, *choices):
        return self.rng.choice(choices)

    def number(self, first: int, last: int) -> int:
        return self.rng.randint(first, last)

    # Text

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text if not text.startswith("#") else text)

    def used(self, construct: str) -> None:
        if construct not in self.constructs:
            self.constructs.append(construct)

    def new_name(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"

    def declare(self, kind: str, value: str, *, const: bool = False) -> str:
        name = self.new_name(kind)
        self.line(f"{'const ' if const else ''}{TYPES[kind]} {name} = {value};")
        self.variables[kind].append(name)
        if const:
            self.fixed.append(name)
        return name

    def changeable(self, kind: str) -> list[str]:
        return [name for name in self.variables[kind] if name not in self.fixed]

    @contextmanager
    def scope(self, head: str, *, level: int = BLOCK, rounds: int = 1) -> Iterator[None]:
        """A block behind a head. Tiles have the modes that they had before at its end."""
        before = {kind: len(names) for kind, names in self.variables.items()}
        outer = self.level, self.rounds
        modes = [tile.mode for tile in self.tiles]
        self.level, self.rounds = min(self.level, level), self.rounds * rounds
        self.line(f"{head} {{")
        self.depth += 1
        yield
        self.keep(before)
        if [tile.mode for tile in self.tiles[: len(modes)]] != modes:
            self.line("__syncthreads();")
        for tile, mode in zip(self.tiles, modes, strict=False):
            tile.mode = mode
        self.depth -= 1
        self.line("}")
        self.level, self.rounds = outer
        for kind, length in before.items():
            del self.variables[kind][length:]

    def keep(self, before: dict[str, int]) -> None:
        """Adds what a block has declared to a variable from outside, so that it is not left out."""
        outside = [
            name for name in self.changeable("u") if name in self.variables["u"][: before["u"]]
        ]
        if not outside:
            return
        for kind, names in self.variables.items():
            for name in names[before[kind] :]:
                if name not in self.fixed and self.chance(0.6):
                    bits = {"f": "__float_as_uint({})", "d": "(unsigned)__double2loint({})"}
                    value = bits.get(kind, "(unsigned){}" if kind != "u" else "{}").format(name)
                    self.line(f"{self.rng.choice(outside)} ^= {value};")

    def barrier_for(self, tile: Tile, mode: str) -> bool:
        """Whether the tile is in the mode, or can be brought there."""
        if tile.mode == mode:
            return True
        if self.level < BLOCK:
            return False
        self.line("__syncthreads();")
        tile.mode = mode
        return True

    # Lanes

    def mask(self) -> str:
        """The lanes that the warp has."""
        return "0xffffffffu" if self.shape.threads % 32 == 0 else "lanes"

"""Random statements. Each is registered with its weight and the level that it needs; those that
cannot stand where they are return False and write nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from expressions import condition, expression, from_unsigned, index, leaf, uniform
from writer import BLOCK, LANE, MOST_ROUNDS, TYPES, WARP, Writer

UNROLLS = [""] * 5 + ["#pragma unroll", "#pragma unroll 1", "#pragma unroll 2", "#pragma unroll 4"]


@dataclass
class Statement:
    write: Callable[[Writer], bool | None]
    name: str
    weight: int
    level: int
    in_functions: bool


STATEMENTS: list[Statement] = []


def statement(name: str, weight: int, level: int = LANE, *, in_functions: bool = False):
    def register(write):
        STATEMENTS.append(Statement(write, name, weight, level, in_functions))
        return write

    return register


def write_some(w: Writer, most: int) -> None:
    """A few statements, at least one."""
    for _ in range(w.number(1, most)):
        w.left -= 1
        write_one(w)
        if w.left <= 0:
            return


def write_one(w: Writer) -> None:
    fitting = [
        s for s in STATEMENTS if s.level <= w.level and (s.in_functions or not w.in_function)
    ]
    while True:
        [chosen] = w.rng.choices(fitting, [s.weight for s in fitting])
        if chosen.write(w) is not False:
            w.used(chosen.name)
            return


def may_nest(w: Writer) -> bool:
    return w.depth < 5 and w.left > 0


# Values


@statement("assignment", 30, in_functions=True)
def assignment(w: Writer):
    kind = w.rng.choices("ufdwi", (50, 30, 5, 5, 5))[0]
    names = w.changeable(kind)
    if not names:
        return False
    name = w.rng.choice(names)
    how = {"u": "= += ^= *=", "f": "= += -= *=", "w": "= += ^="}.get(kind, "= +=").split()
    if kind == "i":
        how = ["="]  # sums could overflow
    w.line(f"{name} {w.rng.choice(how)} {expression(w, kind)};")


@statement("declaration", 12, in_functions=True)
def declaration(w: Writer):
    kind = w.rng.choices("ufdwi", (50, 30, 6, 6, 8))[0]
    w.declare(kind, expression(w, kind), const=w.chance(0.3))


@statement("vector load", 5)
def vector_load(w: Writer):
    vectors = [buffer for buffer in w.inputs if buffer.members]
    if not vectors:
        return False
    buffer = w.rng.choice(vectors)
    name = w.new_name("v")
    w.line(f"const {buffer.type} {name} = {buffer.name}[{index(w, buffer.length)}];")
    for member in buffer.members[: w.number(1, len(buffer.members))]:
        names = w.changeable(buffer.kind)
        if names:
            w.line(f"{w.rng.choice(names)} += {name}.{member};")


@statement("wide load of scalars", 2)
def wide_load_of_scalars(w: Writer):
    scalars = [b for b in w.inputs if b.type == "unsigned"]
    if not scalars:
        return False
    name = w.new_name("v")
    place = f"reinterpret_cast<const uint4*>({scalars[0].name})[{index(w, 1024)}]"
    w.line(f"const uint4 {name} = {place};")
    w.declare("u", f"{name}.x ^ {name}.w")


@statement("neighbours", 3)
def neighbours(w: Writer):
    """Loads of neighbouring elements, which ptxas may do as one."""
    scalars = [b for b in w.inputs if not b.members]
    if not scalars:
        return False
    buffer = w.rng.choice(scalars)
    count = w.pick(2, 3, 4)
    base = w.declare("u", f"({w.pick('i', 't', leaf(w, 'u'))} * {count}u) & 2047u", const=True)
    w.declare(buffer.kind, " + ".join(f"{buffer.name}[{base} + {k}u]" for k in range(count)))


@statement("constant table", 4, in_functions=True)
def constant_table(w: Writer):
    place = leaf(w, "u") if w.in_function or w.chance(0.5) else uniform(w, w.pick(WARP, BLOCK))
    w.declare("u", f"table_{w.seed}[{place} & 15u] + {leaf(w, 'u')}")


# Stores


@statement("store", 14)
def store(w: Writer):
    output = w.rng.choice(w.outputs)
    value = expression(w, output.kind)
    made = output.make.format(value)
    target = f"{output.name}[{output.slot.format(w.number(0, 3))}]"
    if w.chance(0.2):
        w.used("predicated store")
        w.line(f"if ({condition(w, LANE)}) {target} = {made};")
    elif not output.read or w.chance(0.75):
        w.line(f"{target} = {made};")
    else:
        w.used("read, change and write")
        w.line(f"{target} = {output.make.format(output.read.format(target) + ' + ' + value)};")


@statement("load of what was stored", 3)
def load_back(w: Writer):
    readable = [output for output in w.outputs if output.read]
    if not readable:
        return False
    output = w.rng.choice(readable)
    target = f"{output.name}[{output.slot.format(w.number(0, 3))}]"
    if w.chance(0.2):
        w.used("volatile")
        target = f"(*const_cast<const volatile {output.type}*>(&{target}))"
    w.declare(output.kind, output.read.format(target))


@statement("own shared element", 8)
def own_shared(w: Writer):
    if not w.tiles:
        return False
    tile = w.rng.choice(w.tiles)
    if tile.kind not in TYPES or not w.barrier_for(tile, "own"):
        return False
    if w.chance(0.3):
        w.declare(tile.kind, f"{tile.own} + {leaf(w, tile.kind)}")
    w.line(f"{tile.own} {w.pick('=', '+=')} {expression(w, tile.kind, 1)};")


@statement("shared load", 9)
def shared_load(w: Writer):
    if not w.tiles:
        return False
    tile = w.rng.choice(w.tiles)
    if not w.barrier_for(tile, "read"):
        return False
    w.declare(tile.kind, tile.element.format(index(w, tile.size)))


@statement("shared atomic", 5)
def shared_atomic(w: Writer):
    if w.sums and w.chance(0.3):
        w.used("shared atomic of floats")
        w.line(f"atomicAdd(&{w.sums}[{index(w, 64)}], {leaf(w, 'f')});")
        return True
    tiles = [tile for tile in w.tiles if tile.kind == "u"]
    if not tiles:
        return False
    tile = w.rng.choice(tiles)
    if not w.barrier_for(tile, "atomic"):
        return False
    place = f"&{tile.element.format(index(w, tile.size))}"
    function = w.pick("atomicAdd", "atomicMax", "atomicMin", "atomicOr", "atomicXor", "atomicAnd")
    w.line(f"{function}({place}, {w.pick('1u', expression(w, 'u', 1))});")
    return True


# Atomics on global memory


@statement("atomic", 5)
def atomic(w: Writer):
    """Its result is not used, and nothing reads the memory."""
    place = index(w, 256)
    match w.number(0, 4):
        case 0:
            w.line(f"atomicAdd(&counters[{place}], {w.pick('1u', leaf(w, 'u'))});")
        case 1:
            function = w.pick("Max", "Min", "Or", "Xor", "And", "Inc", "Exch")
            w.line(f"atomic{function}(&counters[{place}], {expression(w, 'u', 1)});")
        case 2:
            w.used("atomic of floats")
            sums = f"reinterpret_cast<float*>(counters)[256u + ({place})]"
            w.line(f"atomicAdd(&{sums}, {leaf(w, 'f')});")
        case 3:
            w.used("atomic of 64 bits")
            sums = f"reinterpret_cast<unsigned long long*>(counters)[256u + ({place})]"
            w.line(f"atomicAdd(&{sums}, {leaf(w, 'w')});")
        case _:
            w.used("atomic by one lane")
            with w.scope(f"if (lane == {w.number(0, w.shape.least_lanes - 1)}u)", level=LANE):
                w.line(f"atomicAdd(&counters[{place}], {leaf(w, 'u')});")


@statement("ordered atomic", 1)
def ordered_atomic(w: Writer):
    """Its result depends on the order of threads, and so do counts that follow from it."""
    if w.chance(0.5):  # keep them rare
        return False
    if w.chance(0.5):
        w.line("// The order of threads decides the result.")
        w.declare("u", f"atomicAdd(&counters[{index(w, 256)}], 1u)")
        return True
    w.used("loop of compare and swap")
    old, seen = w.new_name("old"), w.new_name("seen")
    w.line("// The order of threads decides how often this loops.")
    place = w.new_name("p")
    w.line(f"unsigned* const {place} = &counters[{index(w, 256)}];")
    w.line(f"unsigned {old} = 0u;")
    w.line(f"unsigned {seen};")
    w.line("do {")
    w.line(f"  {seen} = {old};")
    w.line(f"  {old} = atomicCAS({place}, {seen}, {seen} * 3u + 1u);")
    w.line(f"}} while ({old} != {seen});")
    return True


# Branches


def branch_level(w: Writer) -> int:
    """Of whom a condition is."""
    return w.rng.choices((LANE, WARP, BLOCK), (60, 20, 20))[0] if not w.in_function else LANE


@statement("branch", 16, in_functions=True)
def branch(w: Writer):
    if not may_nest(w):
        return False
    level = branch_level(w)
    w.used(f"branch of {('lanes', 'warps', 'blocks')[level]}")
    with w.scope(f"if ({condition(w, level)})", level=level):
        write_some(w, 4)
    if w.chance(0.45):
        w.used("else")
        if w.chance(0.25):
            w.lines.pop()
            with w.scope(f"}} else if ({condition(w, level)})", level=level):
                write_some(w, 3)
        w.lines.pop()
        with w.scope("} else", level=level):
            write_some(w, 3)
    return True


@statement("switch", 4, in_functions=True)
def switch(w: Writer):
    if not may_nest(w):
        return False
    level = branch_level(w)
    value = leaf(w, "u") if level == LANE else uniform(w, level)
    ways = w.number(3, 8)
    with w.scope(f"switch ({value} % {ways}u)", level=level):
        for way in range(ways - 1):
            # A case that goes on into the next one has a barrier for the modes of tiles at its end.
            with w.scope(f"case {way}u:", level=LANE):
                write_some(w, 2)
                if w.chance(0.8):
                    w.line("break;")
        with w.scope("default:", level=LANE):
            write_some(w, 2)
    return True


@statement("early return", 3)
def early_return(w: Writer):
    if w.depth > 1 or len(w.lines) < 12:
        return False
    level = w.pick(LANE, WARP, BLOCK)
    w.line(f"if ({condition(w, level)}) return;")
    w.level, w.ended = min(w.level, level), True
    return True


# Loops


def trips(w: Writer) -> tuple[str, int, int]:
    """The bound of a counter, the most rounds, and whose it is."""
    c = w.number(2, 9)
    kind = w.rng.choices(range(5), (35, 20, 10, 15, 20))[0]
    if w.in_function:
        kind = w.pick(0, 4)
    match kind:
        case 0:
            w.used("constant loop")
            c = w.pick(c, c, c, 16, 32)
            return f"{c}u", c, BLOCK
        case 1:
            w.used("uniform loop")
            return f"({uniform(w, BLOCK)} & {w.pick(3, 7, 15)}u) + {w.number(0, 2)}u", 17, BLOCK
        case 2:
            w.used("loop by warp")
            return f"(warp & 3u) + {w.number(0, 2)}u", 5, WARP
        case 3:
            w.used("loop by lane")
            return f"{w.pick('lane', 't', 'i')} % {c}u", c, LANE
        case _:
            w.used("loop by data")
            return f"({leaf(w, 'u')} & {w.pick(3, 7, 15)}u) + {w.number(0, 2)}u", 17, LANE


@statement("for loop", 12, in_functions=True)
def for_loop(w: Writer):
    if not may_nest(w):
        return False
    bound, rounds, level = trips(w)
    if rounds * w.rounds > MOST_ROUNDS:
        return False
    if unroll := w.rng.choice(UNROLLS):
        w.used("unroll")
        w.line(unroll)
    counter = w.new_name("k")
    ways = w.chance(0.2)
    leaving = branch_level(w) if ways else BLOCK  # who may leave it
    head = f"for (unsigned {counter} = 0u; {counter} < {bound}; ++{counter})"
    with w.scope(head, level=min(level, leaving), rounds=rounds):
        w.variables["u"].append(counter)
        w.fixed.append(counter)
        if ways:
            word = w.pick("break", "continue")
            w.used(word)
            w.line(f"if ({condition(w, leaving)}) {word};")
        if w.rounds > 1:
            w.used("nested loop")
        write_some(w, 4)
    return True


@statement("halving loop", 2, in_functions=True)
def halving_loop(w: Writer):
    if not may_nest(w) or w.rounds * 5 > MOST_ROUNDS:
        return False
    counter = w.new_name("k")
    head = f"for (unsigned {counter} = {w.pick(4, 8, 16)}u; {counter} > 0u; {counter} /= 2u)"
    with w.scope(head, rounds=5):
        w.variables["u"].append(counter)
        w.fixed.append(counter)
        write_some(w, 3)
    return True


@statement("while loop", 5, in_functions=True)
def while_loop(w: Writer):
    """Its rounds depend on data."""
    if w.rounds * 32 > MOST_ROUNDS * 4:
        return False
    x = w.declare("u", expression(w, "u"))
    w.fixed.append(x)  # or it might not end
    kind = w.number(0, 3)
    if kind == 0:
        with w.scope(f"while ({x} != 0u)", level=LANE):
            w.line(f"{x} &= {x} - 1u;")
            plain(w)
    elif kind == 1:
        w.line(f"{x} = ({x} & 31u) + 1u;")
        steps = w.declare("u", "0u")
        w.fixed.append(steps)
        with w.scope(f"while ({x} > 1u && {steps} < 24u)", level=LANE):
            w.line(f"{x} = ({x} & 1u) ? {x} * 3u + 1u : {x} >> 1;")
            w.line(f"{steps} += 1u;")
    elif kind == 2:
        w.used("greatest common divisor")
        y = w.declare("u", f"({expression(w, 'u', 1)} & 255u) + 1u")
        w.fixed.append(y)
        w.line(f"{x} &= 255u;")
        with w.scope(f"while ({y} != 0u)", level=LANE):
            rest = w.new_name("r")
            w.line(f"const unsigned {rest} = {x} % {y};")
            w.line(f"{x} = {y};")
            w.line(f"{y} = {rest};")
    else:
        w.used("do loop")
        w.line("do {")
        w.depth += 1
        w.line(f"{x} >>= {w.number(1, 4)};")
        w.depth -= 1
        w.line(f"}} while ({x} > {w.number(0, 100)}u);")
    return True


def plain(w: Writer) -> None:
    kind = w.pick("u", "f")
    if names := w.changeable(kind):
        w.line(f"{w.rng.choice(names)} += {leaf(w, kind)};")


@statement("convergence", 2, in_functions=True)
def convergence(w: Writer):
    """A loop until two floats are close: Newton's root."""
    if w.rounds > 8:
        return False
    x = w.declare("f", f"fabsf({leaf(w, 'f')}) + 1.0f", const=True)
    root = w.declare("f", f"{x} * 0.5f")
    counter = w.new_name("k")
    with w.scope(f"for (unsigned {counter} = 0u; {counter} < 20u; ++{counter})", level=LANE):
        next_root = w.new_name("f")
        ratio = f"__fdividef({x}, {root})" if w.plain else f"{x} / {root}"
        w.line(f"const float {next_root} = 0.5f * ({root} + {ratio});")
        w.line(f"if (fabsf({next_root} - {root}) < 1e-{w.number(2, 5)}f) break;")
        w.line(f"{root} = {next_root};")
    return True


@statement("grid-stride loop", 4)
def grid_stride(w: Writer):
    if w.rounds > 4:
        return False
    scalars = [buffer for buffer in w.inputs if not buffer.members]
    if not scalars:
        return False
    buffer = w.rng.choice(scalars)
    sums = w.changeable(buffer.kind)
    if not sums:
        return False
    if unroll := w.rng.choice(UNROLLS):
        w.line(unroll)
    counter = w.new_name("k")
    total = w.pick("total", f"{w.shape.total}u")
    first = w.pick("i", "t")
    step = "blockDim.x" if first == "t" and w.shape.block[0] >= 32 and w.chance(0.3) else total
    head = f"for (unsigned {counter} = {first}; {counter} < n; {counter} += {step})"
    with w.scope(head, level=LANE, rounds=8):
        w.line(f"{w.rng.choice(sums)} += {buffer.name}[{counter}];")
        if w.chance(0.3) and w.left > 0:
            write_some(w, 2)
    return True


@statement("pointer loop", 2)
def pointer_loop(w: Writer):
    scalars = [buffer for buffer in w.inputs if not buffer.members]
    if not scalars or w.rounds > 8:
        return False
    buffer = w.rng.choice(scalars)
    sums = w.changeable(buffer.kind)
    if not sums:
        return False
    p, end = w.new_name("p"), w.new_name("end")
    count = w.pick("(knob & 15u)", f"{w.number(1, 20)}u", f"({leaf(w, 'u')} & 15u)")
    step = w.pick(1, 1, 2, 32)
    w.line(f"const {buffer.type}* {p} = {buffer.name} + ({index(w, 1024)});")
    w.line(f"const {buffer.type}* const {end} = {p} + {count} * {step}u;")
    with w.scope(f"for (; {p} != {end}; {p} += {step})", level=LANE):
        w.line(f"{w.rng.choice(sums)} += *{p};")
    return True


# Local memory


@statement("local array", 5, in_functions=True)
def local_array(w: Writer):
    if w.rounds > 32:
        return False
    size, kind = w.pick(4, 8, 16, 32), w.pick("u", "u", "f")
    name, counter = w.new_name("local"), w.new_name("k")
    w.line(f"{TYPES[kind]} {name}[{size}];")
    if w.chance(0.5):
        w.line(w.pick("#pragma unroll", "#pragma unroll 1"))
    w.line(f"for (unsigned {counter} = 0u; {counter} < {size}u; ++{counter}) {{")
    value = from_unsigned(w, kind, f"({leaf(w, 'u')} + {counter})")
    w.line(f"  {name}[{counter}] = {value};")
    w.line("}")
    for _ in range(w.number(1, 3)):
        place = f"{name}[{leaf(w, 'u')} & {size - 1}u]"
        if w.chance(0.5):
            w.line(f"{place} = {expression(w, kind, 1)};")
        else:
            w.declare(kind, place)
    w.declare(kind, f"{name}[{leaf(w, 'u')} & {size - 1}u]")
    return True


# Exchanges between lanes


@statement("shuffle", 7, WARP)
def shuffle(w: Writer):
    kind, mask, least = w.pick("u", "f", "d", "w"), w.mask(), w.shape.least_lanes
    value = expression(w, kind, 1)
    width = f", {w.pick(4, 8, 16)}" if w.chance(0.3) else ""
    if least < 32 or w.chance(0.3):
        source = f"{expression(w, 'u', 1)} % {least}u" if least < 32 else leaf(w, "u")
        if least == 32 and width:
            w.used("shuffle of a part")
        text = f"__shfl_sync({mask}, {value}, {source}{width if least == 32 else ''})"
        if w.chance(0.4):
            text = f"__shfl_up_sync({mask}, {value}, {w.number(1, 16)}u{width})"
    else:
        if width:
            w.used("shuffle of a part")
        function = w.pick("xor", "down", "up")
        c = w.number(1, 3) if width else w.pick(1, 2, 4, 8, 16)
        text = (
            f"__shfl_{function}_sync({mask}, {value}, {c}{'' if function == 'xor' else 'u'}{width})"
        )
    w.declare(kind, text)


@statement("vote", 5, WARP)
def vote(w: Writer):
    mask = w.mask()
    match w.number(0, 3):
        case 0:
            w.declare("u", f"__ballot_sync({mask}, {condition(w, LANE)})")
        case 1:
            w.declare("u", f"(unsigned)__popc(__ballot_sync({mask}, {condition(w, LANE)}))")
        case 2 if may_nest(w):
            w.used("branch of a vote")
            function = w.pick("any", "all")
            with w.scope(f"if (__{function}_sync({mask}, {condition(w, LANE)}))", level=WARP):
                write_some(w, 3)
        case _:
            w.used("match")
            w.declare("u", f"__match_any_sync({mask}, {leaf(w, 'u')} & {w.pick(1, 3, 7)}u)")


@statement("reduction of a warp", 3, WARP)
def reduction_of_a_warp(w: Writer):
    mask = w.mask()
    if w.shape.least_lanes == 32 and w.chance(0.6):
        kind = w.pick("u", "f")
        total = w.declare(kind, expression(w, kind, 1))
        w.line(w.pick("#pragma unroll", "#pragma unroll 1", "#pragma unroll"))
        w.line("for (int offset = 16; offset > 0; offset /= 2) {")
        w.line(f"  {total} += __shfl_{w.pick('xor', 'down')}_sync({mask}, {total}, offset);")
        w.line("}")
        return
    w.used("redux")
    function = w.pick("add", "max", "min", "or", "xor", "and")
    w.declare("u", f"__reduce_{function}_sync({mask}, {expression(w, 'u', 1)})")


@statement("elected lane", 2, WARP)
def elected_lane(w: Writer):
    mask = w.new_name("m")
    # Who is in it has to be decided once.
    decided = w.new_name("chosen")
    w.line(f"const bool {decided} = {condition(w, LANE)};")
    w.line(f"const unsigned {mask} = __ballot_sync({w.mask()}, {decided});")
    with w.scope(f"if ({decided})", level=LANE):
        w.declare("u", f"__shfl_sync({mask}, {leaf(w, 'u')}, __ffs({mask}) - 1)")
        plain(w)


@statement("__syncwarp", 1, WARP)
def syncwarp(w: Writer):
    w.line(f"__syncwarp({w.mask()});")


# Exchanges between the threads of a block


@statement("barrier", 2, BLOCK)
def barrier(w: Writer):
    if w.chance(0.7):
        w.line("__syncthreads();")
    else:
        w.used("barrier with a vote")
        w.declare(
            "u", f"(unsigned)__syncthreads_{w.pick('count', 'or', 'and')}({condition(w, LANE)})"
        )


def a_tile(w: Writer, kind: str):
    tiles = [t for t in w.tiles if t.kind == kind and t.size >= w.shape.threads]
    return w.rng.choice(tiles) if tiles else None


@statement("reduction of a block", 4, BLOCK)
def reduction_of_a_block(w: Writer):
    kind = w.pick("u", "f")
    threads = w.shape.threads
    tile = a_tile(w, kind)
    if tile is None or threads < 4:
        return False
    at_t = tile.element.format("t")
    w.line("__syncthreads();")
    tile.mode = "own"
    w.line(f"{at_t} = {expression(w, kind, 1)};")
    w.line("__syncthreads();")
    half = (1 << (threads - 1).bit_length()) // 2
    if w.chance(0.3):
        w.line(w.pick("#pragma unroll", "#pragma unroll 1"))
    step = w.new_name("s")
    with w.scope(f"for (unsigned {step} = {half}u; {step} > 0u; {step} >>= 1)"):
        with w.scope(f"if (t < {step} && t + {step} < {threads}u)", level=LANE):
            w.line(f"{at_t} += {tile.element.format(f't + {step}')};")
        w.line("__syncthreads();")
    tile.mode = "read"
    w.declare(kind, tile.element.format("0u"))
    return True


@statement("scan of a block", 2, BLOCK)
def scan_of_a_block(w: Writer):
    tile = a_tile(w, "u")
    if tile is None:
        return False
    threads, at_t = w.shape.threads, tile.element.format("t")
    w.line("__syncthreads();")
    tile.mode = "own"
    w.line(f"{at_t} = {expression(w, 'u', 1)};")
    w.line("__syncthreads();")
    step, part = w.new_name("s"), w.new_name("part")
    with w.scope(f"for (unsigned {step} = 1u; {step} < {threads}u; {step} *= 2u)"):
        other = tile.element.format(f"t - {step}")
        w.line(f"const unsigned {part} = t >= {step} ? {other} : 0u;")
        w.line("__syncthreads();")
        w.line(f"{at_t} += {part};")
        w.line("__syncthreads();")
    tile.mode = "read"
    w.declare("u", at_t)
    return True


@statement("rounds over a tile", 4, BLOCK)
def rounds_over_a_tile(w: Writer):
    """Each round reads what other threads wrote in the one before."""
    kind = w.pick("u", "f")
    tile = a_tile(w, kind)
    if tile is None or w.rounds * 6 > MOST_ROUNDS:
        return False
    w.barrier_for(tile, "read")
    value = w.declare(kind, leaf(w, kind))
    counter = w.new_name("k")
    bound = w.pick("(knob & 3u) + 1u", f"{w.number(2, 6)}u")
    with w.scope(f"for (unsigned {counter} = 0u; {counter} < {bound}; ++{counter})", rounds=6):
        w.line(f"{value} += {tile.element.format(index(w, tile.size))};")
        w.line("__syncthreads();")
        tile.mode = "own"
        w.line(f"{tile.own} = {value} {w.pick('+', '-', '*')} {leaf(w, kind)};")
    return True


@statement("shared memory of the cluster", 40, BLOCK)
def shared_memory_of_the_cluster(w: Writer):
    if not w.cluster or w.depth > 1 or w.ended:
        return False
    name, other = w.new_name("seats"), w.new_name("other")
    w.line(f"__shared__ unsigned {name}[{w.shape.threads}];")
    w.line(f"{name}[t] = {expression(w, 'u', 1)};")
    w.line("__cluster_barrier_arrive();")
    w.line("__cluster_barrier_wait();")
    rank = w.pick("__clusterRelativeBlockRank() ^ 1u", "0u", "(t & 1u)")
    place = f"&{name}[{w.shape.threads - 1}u - t]"
    w.line(f"const void* const {other} = __cluster_map_shared_rank({place}, {rank});")
    w.declare("u", f"*static_cast<const unsigned*>({other})")
    w.line("__cluster_barrier_arrive();")
    w.line("__cluster_barrier_wait();")
    return True


@statement("asynchronous copy", 30, BLOCK)
def asynchronous_copy(w: Writer):
    if "cuda_pipeline.h" not in w.headers or w.depth > 2:
        return False
    fitting = [b for b in w.inputs if b.type in ("unsigned", "float", "uint2", "float4")]
    if not fitting:
        return False
    buffer, name = w.rng.choice(fitting), w.new_name("copied")
    size = {"uint2": 8, "float4": 16}.get(buffer.type, 4)
    member = f".{buffer.members[0]}" if buffer.members else ""
    w.line(f"__shared__ {buffer.type} {name}[{w.shape.threads}];")
    w.line(f"__pipeline_memcpy_async(&{name}[t], &{buffer.name}[{index(w, 4096)}], {size});")
    w.line("__pipeline_commit();")
    w.line("__pipeline_wait_prior(0);")
    w.line("__syncthreads();")
    w.declare(buffer.kind, f"{name}[{w.shape.threads - 1}u - t]{member}")
    w.line("__syncthreads();")
    return True


@statement("matrix product", 25, WARP)
def matrix_product(w: Writer):
    if "mma.h" not in w.headers or w.shape.least_lanes < 32 or w.depth > 2:
        return False
    a, b, c = (w.new_name("m") for _ in range(3))
    layout = w.pick("row_major", "col_major")
    fragment = "nvcuda::wmma::fragment<nvcuda::wmma::"
    for name, use in ((a, "matrix_a"), (b, "matrix_b")):
        w.line(f"{fragment}{use}, 16, 16, 16, __half, nvcuda::wmma::{layout}> {name};")
        place = f"halves + ({uniform(w, WARP)} & 15u) * 128u"
        w.line(f"nvcuda::wmma::load_matrix_sync({name}, {place}, {w.pick(16, 16, 24)});")
    w.line(f"{fragment}accumulator, 16, 16, 16, float> {c};")
    w.line(f"nvcuda::wmma::fill_fragment({c}, 0.0f);")
    w.line(f"nvcuda::wmma::mma_sync({c}, {a}, {b}, {c});")
    w.declare("f", f"{c}.x[{w.number(0, 7)}]")
    if w.chance(0.5):
        w.used("store of a matrix")
        place = "products + (i / 32u) * 256u"
        w.line(f"nvcuda::wmma::store_matrix_sync({place}, {c}, 16, nvcuda::wmma::mem_row_major);")
    return True


# Small types


@statement("half", 20)
def half(w: Writer):
    if "cuda_fp16.h" not in w.headers:
        return False
    name = w.new_name("h")
    if w.chance(0.5):
        w.line(f"__half2 {name} = __floats2half2_rn({leaf(w, 'f')}, {leaf(w, 'f')});")
        w.line(f"{name} = __hfma2({name}, {name}, {w.pick(name, f'__hadd2({name}, {name})')});")
        w.declare("f", f"{w.pick('__low2float', '__high2float')}({name})")
        return True
    w.line(f"__half {name} = halves[{index(w, 4096)}];")
    w.line(
        f"{name} = {name} {w.pick('*', '+', '-' if w.plain else '/')} __float2half({leaf(w, 'f')});"
    )
    w.declare("f", f"__half2float({name})")
    return True


@statement("bfloat", 10)
def bfloat(w: Writer):
    if "cuda_bf16.h" not in w.headers:
        return False
    name = w.new_name("b")
    w.line(f"__nv_bfloat16 {name} = __float2bfloat16({leaf(w, 'f')});")
    w.line(f"{name} = __hfma({name}, {name}, __float2bfloat16({leaf(w, 'f')}));")
    w.declare("f", f"__bfloat162float({name})")
    return True


@statement("lambda", 3)
def a_lambda(w: Writer):
    name, x = w.new_name("turned"), w.new_name("x")
    w.line(f"const auto {name} = [&](unsigned {x}) {{")
    w.line(f"  if (({x} & {w.number(1, 7)}u) == 0u) return {x} + {leaf(w, 'u')};")
    w.line(f"  return {x} * {w.number(3, 99)}u;")
    w.line("};")
    w.declare("u", f"{name}({leaf(w, 'u')}) ^ {name}({leaf(w, 'u')})")

"""Random expressions: of a type, and conditions, of the variables in scope. All are defined for all
values, and equal on each machine."""

from __future__ import annotations

from writer import BLOCK, LANE, WARP, Writer

NARROW = ("unsigned char", "short", "uchar4")  # they would become int


def literal(w: Writer, kind: str) -> str:
    match kind:
        case "u":
            return f"{w.pick(w.number(1, 9), w.number(1, 255), w.number(1, 1 << 31))}u"
        case "i":
            return str(w.number(1, 100))
        case "w":
            return f"{w.number(1, 1 << 40)}ull"
        case "f":
            return f"{w.number(-64, 64) / 8}f"
        case _:
            return str(w.number(-64, 64) / 8)


def leaf(w: Writer, kind: str) -> str:
    if kind == "u" and not w.in_function and w.chance(0.2):
        return w.pick("i", "t", "lane")
    if w.variables[kind] and w.chance(0.85):
        return w.rng.choice(w.variables[kind])
    if kind != "u" and w.chance(0.5):
        return from_unsigned(w, kind, leaf(w, "u"))
    return literal(w, kind)


def from_unsigned(w: Writer, kind: str, value: str) -> str:
    match kind:
        case "u":
            return value
        case "f":
            return w.pick(f"__uint2float_rn({value} & 1023u)", f"(float)({value} >> 20)")
        case "d":
            return f"(double)({value} & 4095u)"
        case "w":
            return w.pick(f"(unsigned long long){value}", f"{value} * 2654435761ull")
        case _:
            return f"(int)({value} & 65535u)"


def to_unsigned(w: Writer, kind: str, value: str) -> str:
    match kind:
        case "u":
            return value
        case "f":
            return w.pick(f"__float_as_uint({value})", f"__float2uint_rz({value})")
        case "d":
            return w.pick(f"__double2uint_rz({value})", f"(unsigned)__double2loint({value})")
        case "w":
            return w.pick(f"(unsigned)({value})", f"(unsigned)(({value}) >> 32)")
        case _:
            return f"(unsigned)({value})"


def expression(w: Writer, kind: str, depth: int = 2) -> str:
    if depth == 0 or w.chance(0.15):
        return leaf(w, kind)
    if not w.in_function and w.chance(0.2):
        return load(w, kind)
    return {"u": unsigned, "i": signed, "f": real, "d": double, "w": wide}[kind](w, depth - 1)


def unsigned(w: Writer, depth: int) -> str:
    a, b = (expression(w, "u", depth) for _ in range(2))
    c = w.number(1, 31)
    match w.rng.choices(range(12), (30, 12, 8, 6, 4, 5, 8, 4, 6, 3, 2, 4))[0]:
        case 0:
            return f"({a} {w.pick('+', '-', '^', '&', '|')} {b})"
        case 1:
            return f"({a} {w.pick('*', '+')} {b})"
        case 2:
            return f"({a} {w.pick('<<', '>>')} {w.pick(str(c), f'({b} & 31u)')})"
        case 3:
            w.used("constant division")
            return f"({a} {w.pick('/', '%')} {w.pick(3, 5, 7, 10, 12, 100, 641)}u)"
        case 4:
            w.used("division")
            return f"({a} {w.pick('/', '%')} {w.pick(f'({b} | 1u)', f'(({b} & 15u) + 1u)')})"
        case 5:
            return f"{w.pick('min', 'max')}({a}, {b})"
        case 6:
            w.used("predicate")
            return f"({condition(w, LANE)} ? {a} : {b})"
        case 7:
            function = w.pick("__popc", "__clz", "__brev", "__ffs")
            return f"(unsigned){function}({a})"
        case 8:
            w.used("bit intrinsic")
            return w.pick(
                f"__funnelshift_l({a}, {b}, {c}u)",
                f"__byte_perm({a}, {b}, {w.pick('0x5140', '0x3210', '0x7531')}u)",
                f"__umulhi({a}, {b})",
                f"__usad({a}, {b}, {c}u)",
            )
        case 9:
            w.used("dp4a")
            return f"__dp4a({a}, {b}, {leaf(w, 'u')})"
        case 10:
            kind = w.pick(*"fdwi")
            return to_unsigned(w, kind, expression(w, kind, min(depth, 1)))
        case _:
            if not w.calls:
                return a
            w.used("call")
            return w.rng.choice(w.calls).format(a, b)


def signed(w: Writer, depth: int) -> str:
    a, b = (expression(w, "u", depth) for _ in range(2))
    match w.number(0, 3):
        case 0:
            w.used("signed division")
            return f"((int){a} {w.pick('/', '%')} (int)(({b} & 15u) + 1u))"
        case 1:
            w.used("signed division")
            return f"((int){a} {w.pick('/', '%')} {w.pick(2, 3, 7, 8, 10, 60)})"
        case 2:
            return f"((int){a} >> {w.number(1, 31)})"
        case _:
            return f"{w.pick('min', 'max')}((int){a}, (int){b})"


def real(w: Writer, depth: int) -> str:
    a, b, c = (expression(w, "f", depth) for _ in range(3))
    weights = (30, 12, 8, 5, 4, 5, 4, 3, 8, 2, 2, 6)
    if w.plain:  # no divisions, roots and powers
        weights = (30, 12, 8, 0, 4, 0, 4, 3, 8, 0, 2, 6)
    match w.rng.choices(range(12), weights)[0]:
        case 0:
            return f"({a} {w.pick('+', '-', '*')} {b})"
        case 1:
            return w.pick(f"fmaf({a}, {b}, {c})", f"({a} * {b} + {c})")
        case 2:
            return f"{w.pick('fminf', 'fmaxf')}({a}, {b})"
        case 3:
            w.used("float division")
            return f"({a} / {b})"
        case 4:
            w.used("fast division")
            if w.plain:
                return f"__fdividef({a}, {b})"
            return w.pick(f"__fdividef({a}, {b})", f"__frcp_rn({a})", f"__fsqrt_rn({a})")
        case 5:
            w.used("root")
            return w.pick(f"sqrtf(fabsf({a}))", f"rsqrtf(fabsf({a}) + 0.5f)", f"sqrtf({a})")
        case 6:
            w.used("exponential")
            return w.pick(f"expf({a})", f"__expf({a})", f"logf(fabsf({a}) + 1.0f)", f"exp2f({a})")
        case 7:
            w.used("sine")
            functions = ("__sinf", "__cosf") if w.plain else ("__sinf", "sinf", "cosf")
            return f"{w.rng.choice(functions)}({a})"
        case 8:
            w.used("predicate")
            return f"({condition(w, LANE)} ? {a} : {b})"
        case 9:
            w.used("power")
            return w.pick(f"powf(fabsf({a}), {b})", f"fmodf({a}, {b})", f"tanhf({a})")
        case 10:
            return from_unsigned(w, "f", expression(w, "u", depth))
        case _:
            return f"{w.pick('fabsf', 'floorf', 'truncf', 'rintf')}({a})"


def double(w: Writer, depth: int) -> str:
    a, b, c = (expression(w, "d", depth) for _ in range(3))
    weights = (30, 10, 0, 0, 0, 8) if w.plain else (30, 10, 6, 3, 2, 8)
    match w.rng.choices(range(6), weights)[0]:
        case 0:
            return f"({a} {w.pick('+', '-', '*')} {b})"
        case 1:
            return f"fma({a}, {b}, {c})"
        case 2:
            w.used("double division")
            return f"({a} / {b})"
        case 3:
            w.used("double root")
            return f"sqrt(fabs({a}))"
        case 4:
            w.used("double function")
            return w.pick(f"exp({a})", f"log(fabs({a}) + 1.0)", f"sin({a})")
        case _:
            return f"(double){expression(w, 'f', depth)}"


def wide(w: Writer, depth: int) -> str:
    a, b = (expression(w, "w", depth) for _ in range(2))
    match w.rng.choices(range(5), (30, 8, 4, 3, 6))[0]:
        case 0:
            return f"({a} {w.pick('+', '-', '^', '*', '|')} {b})"
        case 1:
            return f"({a} {w.pick('<<', '>>')} {w.number(1, 63)})"
        case 2:
            w.used("wide division")
            by = w.pick("1000ull", "7ull") if w.plain else f"({b} | 1ull)"
            return f"({a} {w.pick('/', '%')} {by})"
        case 3:
            return w.pick(f"__umul64hi({a}, {b})", f"(unsigned long long)__popcll({a})")
        case _:
            return from_unsigned(w, "w", expression(w, "u", depth))


# Places


def index(w: Writer, length: int) -> str:
    """Below the length, a power of two: in rows, strided, turned about, spread, of one place, or
    random."""
    mask = f"{length - 1}u"
    thread = w.pick("i", "t") if not w.in_function else leaf(w, "u")
    counter = leaf(w, "u")
    match w.rng.choices(range(8), (30, 14, 8, 8, 6, 8, 18, 8))[0]:
        case 0 if thread == "i" and w.shape.total <= length:
            return "i"
        case 0 | 1:
            return (
                f"({thread} * {w.pick(2, 3, 4, 5, 8, 16, 32, 33)}u + {w.number(0, 40)}u) & {mask}"
            )
        case 2:
            return f"({thread} ^ {w.number(1, length - 1)}u) & {mask}"
        case 3:
            return f"({mask} - {thread}) & {mask}"
        case 4:
            return f"{uniform(w, WARP)} & {mask}"
        case 5:
            return f"{uniform(w, BLOCK)} & {mask}"
        case 6:
            return f"({thread} + {counter}) & {mask}"
        case _:
            return f"{expression(w, 'u', 1)} & {mask}"


def load(w: Writer, kind: str) -> str:
    """A value from memory."""
    fitting = [buffer for buffer in w.inputs if buffer.kind == kind]
    tiles = [tile for tile in w.tiles if tile.kind == kind and tile.mode == "read"]
    if tiles and w.chance(0.5):
        tile = w.rng.choice(tiles)
        w.used("shared load")
        return tile.element.format(index(w, tile.size))
    if not fitting:
        return leaf(w, kind)
    buffer = w.rng.choice(fitting)
    w.used(f"load of {buffer.type}")
    place = f"{buffer.name}[{index(w, buffer.length)}]"
    if buffer.members:
        place = f"{place}.{w.rng.choice(buffer.members)}"
    elif w.chance(0.15):
        w.used("__ldg")
        place = f"__ldg(&{place})"
    return f"(unsigned){place}" if buffer.type in NARROW else place


# Conditions


def uniform(w: Writer, level: int) -> str:
    """An unsigned that all threads of the block, or all lanes of a warp, have in common."""
    if w.in_function:
        return literal(w, "u")
    if level == WARP and w.chance(0.7):
        return w.pick("warp", f"(warp + {w.number(1, 9)}u)", f"(warp * {w.number(2, 9)}u)")
    return w.pick("knob", "blockIdx.x", "n", f"(blockIdx.x + {w.number(1, 9)}u)", "(knob >> 1)")


def condition(w: Writer, level: int) -> str:
    """That all threads of the block, all lanes of a warp, or just one lane decides alike."""
    c = w.number(1, 7)
    if level > LANE:
        value = uniform(w, level)
        return w.pick(f"{value} % {c + 1}u == {w.number(0, c)}u", f"({value} & {c}u) != 0u")
    if w.variables["f"] and w.chance(0.15):
        return f"{leaf(w, 'f')} {w.pick('<', '>')} {leaf(w, 'f')}"
    if not w.in_function and w.chance(0.5):
        return w.pick(
            f"lane < {w.number(1, 31)}u",
            f"(lane & {c}u) == 0u",
            f"lane % {c + 1}u == {w.number(0, c)}u",
            f"t > {w.number(0, w.shape.threads)}u",
            f"i + {w.number(0, 40)}u < n",
        )
    return w.pick(
        f"({leaf(w, 'u')} & {c}u) == {w.number(0, c)}u",
        f"{leaf(w, 'u')} < {leaf(w, 'u')}",
        f"{leaf(w, 'u')} % {c + 1}u != 0u",
    )

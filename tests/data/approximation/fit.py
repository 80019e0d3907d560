"""Finds the quadratics of the multifunction unit from recorded results, and writes them as C++.

    fit.py FOLDER >harness/emulator/machine/isa/approximation_tables.h

FOLDER is what record.cu wrote. Each function is cut into segments. In one of them the result is

    (c0 + c1 h + c2 square(h)) 2^-42, truncated to a float,

with whole numbers c0, c1, c2 and h the bits of the argument below those that choose the segment. A
recorded result bounds that sum from both sides; the bounds of a segment leave one c1 and one c2.
The hardware is known from S. Oberman and M. Siu, "A High-Performance Area-Efficient Multifunction
Interpolator" (ARITH 2005); its truncated squarer was found from where exact squares do not fit.
"""

import sys
from pathlib import Path

import numpy as np
from scipy.optimize import linprog

H_BITS = {"rcp": 16}  # of all others: 17
# Of tanh: bits of the mantissa that choose the segment, by exponent.
TANH = {-8: 0, -7: 0, -6: 0, -5: 1, -4: 1, -3: 2, -2: 2, -1: 2, 0: 3, 1: 4, 2: 3}


def square(h, bits):
    """(Upper 16 bits of h)^2 2^-17, without the partial products below 2^17."""
    x = h >> (bits - 16)
    return ((x >> 8) ** 2 >> 1) + sum((x >> j & 1) * (x >> (16 - j)) for j in range(8))


def bounds(words, exponent=0):
    """What floats 2^exponent times as large were truncated from: [low, high), in units of 2^-42."""
    words = words.astype(np.int64)
    shift = (words >> 23) - 127 - exponent + 42 - 23
    significand = words & 0x7FFFFF | 0x800000
    left, right = np.maximum(shift, 0), np.maximum(-shift, 0)
    low = significand << left >> np.minimum(right, 63)
    return low, low + (np.int64(1) << left)


def coefficients(h, bits, low, high):
    """c0, c1, c2, so that low <= c0 + c1 h + c2 square(h) < high. Exits where there are none."""
    s, base = square(h, bits), low[0]
    terms = np.stack([np.ones(len(h)), h / 2.0**bits, s / 2.0**15], axis=1)
    # Close to the upper bound is outside: all numbers are whole.
    below, above = (low - base).astype(float), (high - 1 - base).astype(float)

    used = np.unique(np.linspace(0, len(h) - 1, 80).astype(int))

    def least(objective):
        nonlocal used
        while True:
            a, lo, hi = terms[used], below[used], above[used]
            found = linprog(
                objective, np.concatenate([-a, a]), np.concatenate([-lo, hi]), bounds=(None, None)
            )
            if found.status != 0:
                sys.exit(f"no quadratic fits: {found.message}")
            value = terms @ found.x
            excess = np.maximum(below - value, value - above)
            outside = np.flatnonzero(excess > 1e-3)
            if len(outside) == 0:
                return found.x
            worst = outside[np.argsort(excess[outside])[-30:]]
            some = outside[np.linspace(0, len(outside) - 1, 50).astype(int)]
            used = np.unique(np.concatenate([used, worst, some]))

    def only(place, unit):
        sign = np.zeros(3)
        sign[place] = 1
        ends = least(sign)[place] / unit, least(-sign)[place] / unit
        middle = round((ends[0] + ends[1]) / 2)
        if max(abs(middle - ends[0]), abs(middle - ends[1])) >= 0.5:
            sys.exit(f"more than one fits: {ends}")
        return middle

    c1, c2 = only(1, 2.0**bits), only(2, 2.0**15)
    rest = c1 * h + c2 * s
    c0, end = int((low - rest).max()), int((high - rest).min())
    if c0 >= end:
        sys.exit(f"no whole numbers fit: {c0}, {end}")
    return c0, c1, c2


def segments(name, folder):
    """Yields (h, low, high) of each segment."""

    def read(form, exponent):
        return np.fromfile(folder / f"table.{form}.{exponent + 127}", np.uint32)

    def cut(words, exponent=0, *, leave_out=None):
        low, high = bounds(words, exponent)
        bits = H_BITS.get(name, 17)
        for begin in range(0, len(words), 1 << bits):
            h = np.arange(1 << bits)
            part = slice(begin, begin + (1 << bits))
            kept = words[part] != 0  # not recorded, or a special case: log2(1)
            if begin == 0 and leave_out is not None:
                kept[leave_out] = False
            yield h[kept], low[part][kept], high[part][kept]

    if name in ("rcp", "sqrt", "rsqrt"):
        exponents = (0,) if name == "rcp" else (0, 1)
        for exponent in exponents:
            # 1 / sqrt(1) is 1, which the quadratic misses by a little.
            special = 0 if (name, exponent) == ("rsqrt", 0) else None
            yield from cut(read(name, exponent), leave_out=special)
    elif name == "ex2":
        yield from cut(read("ex2", 0), 1)  # 2^(1 + fraction)
    elif name == "lg2":
        yield from cut(read("lg2", 0))
    elif name == "sin":
        yield from cut(first_quarter(read))
    elif name == "tanh":
        for exponent, bits in TANH.items():
            yield from cut(read("tanh", exponent)[:: 1 << (6 - bits)])


def first_quarter(read):
    """Sines of 0 to 2^23 parts of a quarter turn, of which there are 2^25 in a turn."""
    by_part = np.zeros(1 << 23, np.uint32)
    factor, factor_exponent = 10680707, -3  # 1 / (2 pi), by which the argument is multiplied
    for exponent in range(-10, 1):
        significand = np.arange(1 << 23, 1 << 24, dtype=np.uint64)
        product = significand * np.uint64(factor)  # in units of 2^(exponent + factor_exponent - 46)
        # A float of 24 bits, truncated; then in parts of a turn, truncated.
        extra = (product >> np.uint64(47)) + np.uint64(23)
        turns = product >> extra
        shift = exponent + factor_exponent - 46 + 25 + extra.astype(np.int64)
        assert (shift <= 0).all()
        parts = turns >> np.minimum(-shift, 63).astype(np.uint64)
        inside = parts < (1 << 23)
        by_part[parts[inside]] = read("sin", exponent)[inside]
    return by_part


def main():
    folder = Path(sys.argv[1])
    print("// The quadratics of the multifunction unit of an H100. Written by")
    print("// tests/data/approximation/fit.py, which says what they are.")
    print("#pragma once\n")
    print('#include "harness/emulator/machine/isa/quadratic_columns.h"\n')
    print("namespace warpgauge::emulator::machine::isa {\n")
    print("// clang-format off")
    for name in ("rcp", "rsqrt", "sqrt", "ex2", "lg2", "sin", "tanh"):
        print(f"inline constexpr Quadratic k{name.title()}Table[] = {{", flush=True)
        for h, low, high in segments(name, folder):
            c0, c1, c2 = coefficients(h, H_BITS.get(name, 17), low, high)
            print(f"    {{{c0}, {c1}, {c2}}},", flush=True)
        print("};\n")
    print("// clang-format on\n")
    print("}  // namespace warpgauge::emulator::machine::isa")


if __name__ == "__main__":
    main()

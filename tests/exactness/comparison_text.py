"""What a comparison of counts says, as text and as JSON."""

import re
from collections import Counter
from dataclasses import asdict

from counts import WHOLE, Comparison, Shares

MOST_REASONS = 20


def place_text(place):
    return "in all" if place == WHOLE else f"{place[0]}:{place[1]}"


def number(value):
    return f"{value:g}" if value != int(value) else str(int(value))


def differences_text(comparison: Comparison):
    for kernel in comparison.differing:
        yield f"{kernel.a.id}{', launched differently' if kernel.other_launches else ''}"
        for d in kernel.differences:
            where = f"  {place_text(d.place)}: {d.metric}"
            yield f"{where} is {number(d.a)} emulated and {number(d.b)} attached"


def share(part, whole):
    return f"{part} of {whole} ({100 * part / whole:.2f} %)" if whole else "none"


def sums_of(comparison: Comparison):
    """Of all kernels: their totals, and their counts by line."""
    totals, lines = Shares(), Shares()
    for kernel in comparison.kernels:
        totals += kernel.totals
        lines += kernel.lines
    return {"totals": totals, "lines": lines}


def reasons(comparison: Comparison):
    """Why totals are not exact: side and reason without its places -> number of totals."""
    found = Counter()
    for kernel in comparison.kernels:
        for side, of_side in (("emulated", kernel.a), ("attached", kernel.b)):
            for count in of_side.counts[WHOLE].values():
                if count.unsure:
                    found[side, general(count.unsure)] += 1
    return found


PLACE = re.compile(r"\S+:\d+|line \d+|\d+ times, the PTX \d+")


def general(reason):
    """A reason without the places that it names."""
    return PLACE.sub("...", reason)


def summary(comparison: Comparison):
    of_all = sums_of(comparison)
    yield f"kernels compared: {len(comparison.kernels)}"
    yield f"kernels that differ: {share(len(comparison.differing), len(comparison.kernels))}"
    for name, shares in of_all.items():
        yield f"{name}: {share(shares.exact, shares.all)} are exact on both sides"
        yield f"{name} that differ: {share(shares.differing, shares.exact)}"
    others = [kernel.a.id for kernel in comparison.kernels if kernel.other_launches]
    for text, ids in (
        ("launched differently", others),
        ("of other machine code, not compared", comparison.other_code),
        ("emulated only", comparison.only_in_a),
        ("attached only", comparison.only_in_b),
    ):
        if ids:
            yield f"{text}: {len(ids)} ({', '.join(ids[:4])}{' ...' if len(ids) > 4 else ''})"
    for (side, reason), times in reasons(comparison).most_common(MOST_REASONS):
        yield f"not exact {side}, {times} totals: {reason}"


def as_json(comparison: Comparison):
    return {
        "kernels": len(comparison.kernels),
        **{name: asdict(shares) for name, shares in sums_of(comparison).items()},
        "differing": [
            {
                "kernel": kernel.a.id,
                "other_launches": kernel.other_launches,
                "differences": [
                    {"file": d.place[0], "line": d.place[1], "metric": d.metric, "a": d.a, "b": d.b}
                    for d in kernel.differences
                ],
            }
            for kernel in comparison.differing
        ],
        "only_in_a": comparison.only_in_a,
        "only_in_b": comparison.only_in_b,
        "other_code": comparison.other_code,
        "reasons": [
            {"side": side, "reason": reason, "totals": times}
            for (side, reason), times in reasons(comparison).most_common()
        ],
    }

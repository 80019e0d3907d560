"""Why a value moved between two runs, from what the facts say of source, machine code and machine.

code         the source files of the kernel are not the same
compiler     the same source became other machine code
code or compiler  other machine code, and the facts do not tell of the source
launch       the same machine code was launched otherwise
environment  a noisy value of the same machine code and launches: clocks, driver, load
input or counter  an exact count of the same machine code: other input, or counted otherwise
unknown      the facts do not tell
"""

from __future__ import annotations

from warpgauge_report.catalog import catalog
from warpgauge_report.facts import Fact

from warpgauge_ci.selection import gpu_of


def cause_of(a: Fact, b: Fact) -> tuple[str, tuple[str, ...]]:
    """The cause, and what else is known to have changed: "toolkit 12.8 -> 13.0"."""
    return _cause(a, b), _details(a, b)


def _cause(a: Fact, b: Fact) -> str:
    is_noisy = catalog()[a.metric].cls == "bounded"
    same_code = _same(a.code_hash, b.code_hash)  # of all kernels and launches
    if is_noisy and same_code:
        return "environment"
    same_source = _same(a.source_hash, b.source_hash)
    same_kernel = _same(a.sass_hash, b.sass_hash)
    if same_kernel and (a.launch != b.launch or (is_noisy and same_code is False)):
        return "launch"
    if same_source is False:  # of the same kernel: it was called by other code
        return "code"
    if same_kernel is False:
        return "compiler" if same_source else "code or compiler"
    if not same_kernel and not same_source:
        return "unknown"
    if not same_kernel and (a.toolkit, a.flags) != (b.toolkit, b.flags):
        return "compiler"
    return "unknown" if is_noisy else "input or counter"


def _same(a: str | None, b: str | None) -> bool | None:
    """None: not known."""
    return None if a is None or b is None else a == b


def _details(a: Fact, b: Fact) -> tuple[str, ...]:
    pairs = [("toolkit", a.toolkit, b.toolkit), ("flags", a.flags, b.flags)]
    if a.device is not None and b.device is not None:
        pairs += [
            ("driver", a.device.driver, b.device.driver),
            ("GPU", a.device.name, b.device.name),
        ]
        if gpu_of(a) != gpu_of(b) and a.device.name == b.device.name:
            pairs.append(("GPU", gpu_of(a), gpu_of(b)))
    pairs.append(("counted by", a.source, b.source))
    found = [f"{what} {old or '?'} -> {new or '?'}" for what, old, new in pairs if old != new]
    for run, fact in (("A", a), ("B", b)):
        if fact.confidence not in (None, "exact") and fact.interval is None:
            found.append(f"{run} only {fact.confidence}")
        if fact.machine is not None and fact.machine.disturbance is not None:
            found.append(f"{run} disturbed: {fact.machine.disturbance}")
    return tuple(found)

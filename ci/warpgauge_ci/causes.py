"""Why a value moved between two runs, from what the facts say of source, machine code and machine.

code         the source files of the kernel are not the same
compiler     the same source became other machine code
code or compiler  other machine code, and the facts do not tell of the source
launch       the same machine code was launched with another shape
environment  the same machine code: clocks, driver, load, or the input
unknown      the facts do not tell
"""

from __future__ import annotations

from warpgauge_report.facts import Fact


def cause_of(a: Fact, b: Fact) -> tuple[str, tuple[str, ...]]:
    """The cause, and what else is known to have changed: "toolkit 12.8 -> 13.0"."""
    same_source = _same(a.source_hash, b.source_hash)
    same_code = _same(a.sass_hash, b.sass_hash)
    return _cause(same_source, same_code, a, b), _details(a, b)


def _cause(same_source: bool | None, same_code: bool | None, a: Fact, b: Fact) -> str:
    if same_code:
        if a.launch != b.launch:
            return "launch"
        # What counts something else with the same kernel was called by other code.
        is_noisy = a.interval is not None
        return "code" if same_source is False and not is_noisy else "environment"
    if same_source is False:
        return "code"
    if same_code is False:
        return "compiler" if same_source else "code or compiler"
    if same_source:
        return "compiler" if (a.toolkit, a.flags) != (b.toolkit, b.flags) else "environment"
    return "unknown"


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
    pairs.append(("counted by", a.source, b.source))
    found = [f"{what} {old or '?'} -> {new or '?'}" for what, old, new in pairs if old != new]
    for run, fact in (("A", a), ("B", b)):
        if fact.confidence not in (None, "exact") and fact.interval is None:
            found.append(f"{run} only {fact.confidence}")
        if fact.machine is not None and fact.machine.disturbance is not None:
            found.append(f"{run} disturbed: {fact.machine.disturbance}")
    return tuple(found)

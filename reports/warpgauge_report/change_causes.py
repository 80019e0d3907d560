"""Why a series changed from one night to another: from hashes, compiler and driver."""

from __future__ import annotations

from typing import Literal

from warpgauge_report.history.model import Point

Cause = Literal["code", "compiler", "driver", "machine", "unknown"]


def cause_of(old: Point, new: Point, *, noisy: bool, on_gpu: bool) -> Cause:
    """Why the value of `new` is not that of `old`.

    code      the source files of the kernel are not the same
    compiler  the same source became other machine code
    driver    the same machine code under another driver, or the runtime of another toolkit
    machine   the same machine code and the same driver: clocks, load, another GPU
    unknown   the history does not tell

    Other source that became the same machine code cannot have changed a `noisy` value; a count it
    can, by another launch. What was not measured `on_gpu` does not depend on driver and machine.
    """
    same_code = _same(old.sass_hash, new.sass_hash)
    same_source = _same_source(old, new)
    same_compiler = _compiler(old) == _compiler(new)
    if same_source is False and not (same_code and noisy):
        return "code"
    if same_code is False:
        if same_source:
            return "compiler"
        return "code" if same_compiler else "unknown"
    if same_code is None and not same_source:
        return "unknown"
    if same_code is None and not same_compiler:
        return "compiler"
    if not on_gpu or (same_source is None and not noisy):
        return "unknown"
    same_runtime = old.run.toolkit == new.run.toolkit and _driver(old) == _driver(new)
    return "machine" if same_runtime else "driver"


def may_explain(old: Point, new: Point) -> bool:
    """Whether something moved that can move a noisy value: machine code, compiler or driver."""
    same_code = _same(old.sass_hash, new.sass_hash)
    if same_code is None:
        same_code = _same_source(old, new) is not False
    return not (same_code and _compiler(old) == _compiler(new) and _driver(old) == _driver(new))


def details_of(old: Point, new: Point) -> tuple[str, ...]:
    """What else is known to have changed: "toolkit 12.8 -> 13.0". Names are data: escape them."""
    commits = [point.run.commit and point.run.commit[:12] for point in (old, new)]
    gpus = [point.run.device.uuid_hash if point.run.device else None for point in (old, new)]
    pairs = [
        ("commit", *commits),
        ("toolkit", old.run.toolkit, new.run.toolkit),
        ("flags", old.run.flags, new.run.flags),
        ("driver", _driver(old), _driver(new)),
        ("GPU with the id", *gpus),
        ("machine code", old.sass_hash, new.sass_hash),
        ("source", old.source_hash, new.source_hash),
        ("confidence", old.confidence, new.confidence),
    ]
    found = [f"{what} {a or '?'} -> {b or '?'}" for what, a, b in pairs if a != b]
    for point in (old, new):
        if point.run.dirty:
            found.append(f"run {point.run.id} had uncommitted changes")
    return tuple(found)


def _same_source(old: Point, new: Point) -> bool | None:
    known = _same(old.source_hash, new.source_hash)
    if known is None and not (old.run.dirty or new.run.dirty):
        return _same(old.run.commit, new.run.commit) or None  # other commits: perhaps other files
    return known


def _same(a: str | None, b: str | None) -> bool | None:
    """None: not known."""
    return None if a is None or b is None else a == b


def _compiler(point: Point) -> tuple[str | None, str | None]:
    return point.run.toolkit, point.run.flags


def _driver(point: Point) -> str | None:
    return point.run.device.driver if point.run.device else None

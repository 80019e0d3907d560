"""Causes of changed values, and the rules that find them, for the history.
harness/diff/cause.cpp has the same rules for `warpgauge diff`.

code               the source files of the kernel are not the same
compiler           the same source became other machine code
code or compiler   other machine code, and the source is not known
launch             the same machine code was launched otherwise
input or counter   an exact count of the same machine code: other input, or counted otherwise
driver             a noisy value of the same machine code and launches, under another driver
environment        the same under the same driver: clocks, temperature, load, another GPU
unknown            no known difference
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from warpgauge.facts.records import Launch

if TYPE_CHECKING:
    from warpgauge.history.model import Point

Cause = Literal[
    "code",
    "compiler",
    "code or compiler",
    "launch",
    "input or counter",
    "driver",
    "environment",
    "unknown",
]


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a value; None: not known.

    `sass_hash` is that of the machine code of its kernel, `code_hash` that of all kernels and
    launches of the case. `commit` is that of sources without changes of their own.
    """

    sass_hash: str | None
    source_hash: str | None
    code_hash: str | None
    toolkit: str | None
    flags: str | None
    driver: str | None
    launches: tuple[Launch, ...] = ()
    commit: str | None = None


def cause_between(old: Origin, new: Origin, *, noisy: bool) -> Cause:
    """The cause of a change from `old` to `new`; `noisy` values differ from run to run."""
    same_launches = _same(old.code_hash, new.code_hash)
    if noisy and same_launches:
        return "environment" if old.driver == new.driver else "driver"
    same_source = _same_source(old, new)
    same_kernel = _same(old.sass_hash, new.sass_hash)
    if same_kernel and (old.launches != new.launches or (noisy and same_launches is False)):
        return "launch"
    if same_source is False:  # of the same kernel: it was called by other code
        return "code"
    if same_kernel is False:
        return "compiler" if same_source else "code or compiler"
    if not same_kernel and not same_source:
        return "unknown"
    if not same_kernel and _compiler(old) != _compiler(new):
        return "compiler"
    known = same_source or bool(old.launches and new.launches)
    return "input or counter" if known and not noisy else "unknown"


def cause_of(old: Point, new: Point, *, noisy: bool) -> Cause:
    """The cause of a change between two points of a series."""
    return cause_between(_origin(old), _origin(new), noisy=noisy)


def is_recount(cause: Cause, *confidences: str | None) -> bool:
    """Whether nothing but the counting moved a count that is an estimate: such need not repeat."""
    return cause == "input or counter" and "estimate" in confidences


def may_explain(old: Point, new: Point) -> bool:
    """Whether something moved that can move a noisy value: machine code, launches, or driver; where
    there are no hashes, source or compiler."""
    before, after = _origin(old), _origin(new)
    if before.driver != after.driver:
        return True
    same = _same(before.code_hash, after.code_hash)
    if same is None:
        same = _same(before.sass_hash, after.sass_hash)
    if same is None:
        same = _same_source(before, after) is not False and _compiler(before) == _compiler(after)
    return not same


def details_of(old: Point, new: Point) -> tuple[str, ...]:
    """Other known differences: "toolkit 12.8 -> 13.0". Names are data: escape them."""
    commits = [point.run.commit and point.run.commit[:12] for point in (old, new)]
    gpus = [point.run.device.uuid_hash if point.run.device else None for point in (old, new)]
    found = differing(
        [
            ("commit", *commits),
            ("toolkit", old.run.toolkit, new.run.toolkit),
            ("flags", old.run.flags, new.run.flags),
            ("driver", _driver(old), _driver(new)),
            ("GPU", *gpus),
            ("machine code", old.sass_hash, new.sass_hash),
            ("source", old.source_hash, new.source_hash),
            ("confidence", old.confidence, new.confidence),
        ]
    )
    for point in (old, new):
        if point.run.dirty:
            found.append(f"run {point.run.id} had uncommitted changes")
    return tuple(found)


def differing(pairs: Iterable[tuple[str, str | None, str | None]]) -> list[str]:
    """Of (what, old, new) a sentence for each that is not the same."""
    return [f"{what} {old or '?'} -> {new or '?'}" for what, old, new in pairs if old != new]


def _origin(point: Point) -> Origin:
    run = point.run
    return Origin(
        *(point.sass_hash, point.source_hash, point.code_hash, run.toolkit, run.flags),
        driver=_driver(point),
        launches=point.launches,
        commit=None if run.dirty else run.commit,
    )


def _same_source(old: Origin, new: Origin) -> bool | None:
    known = _same(old.source_hash, new.source_hash)
    if known is None:
        return _same(old.commit, new.commit) or None  # other commits: perhaps other files
    return known


def _same(a: str | None, b: str | None) -> bool | None:
    """None: not known."""
    return None if a is None or b is None else a == b


def _compiler(origin: Origin) -> tuple[str | None, str | None]:
    return origin.toolkit, origin.flags


def _driver(point: Point) -> str | None:
    return point.run.device.driver if point.run.device else None

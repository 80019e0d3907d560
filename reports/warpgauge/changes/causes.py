"""Causes of changed values, for the history: by the rules of `warpgauge diff`
(harness/diff/cause_rules.json). docs/trends.md says what each cause means."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from warpgauge.facts.records import Launch

if TYPE_CHECKING:
    from warpgauge.history.model import Point

Cause = str  # "code", "input or counter"; as in the rules


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
    found = {
        "noisy": noisy,
        "whole_case": _named(_same(old.code_hash, new.code_hash)),
        "source": _named(_same_source(old, new)),
        "code": _named(_same(old.sass_hash, new.sass_hash)),
        "launches": _named(_same_launches(old, new)),
        "compiler": _named(_compiler(old) == _compiler(new)),
        "driver": _named(old.driver == new.driver),
    }
    return next(rule["cause"] for rule in _rules() if rule["if"].items() <= found.items())


@cache
def _rules() -> list[dict[str, Any]]:
    text = resources.files(__package__).joinpath("cause_rules.json").read_text("utf-8")
    return json.loads(text)


def _named(same: bool | None) -> str:
    return "unknown" if same is None else "same" if same else "other"


def cause_of(old: Point, new: Point, *, noisy: bool) -> Cause:
    """The cause of a change between two points of a series."""
    return cause_between(_origin(old), _origin(new), noisy=noisy)


def is_recount(cause: Cause, *confidences: str | None) -> bool:
    """Whether nothing but the counting moved a count that is an estimate: such need not repeat."""
    return cause == "input or counter" and "estimate" in confidences


def is_of_the_machine(cause: Cause) -> bool:
    """Whether the machine changed, and not the kernel."""
    return cause in ("driver", "environment")


def may_explain(old: Point, new: Point) -> bool:
    """Whether something moved that can move a noisy value: code or driver."""
    return _driver(old) != _driver(new) or is_other_code(old, new)


def is_other_code(old: Point, new: Point) -> bool:
    """Whether machine code or launches are others; where there are no hashes, source or compiler
    may be."""
    before, after = _origin(old), _origin(new)
    same = _same(before.code_hash, after.code_hash)
    if same is None:
        same = _same(before.sass_hash, after.sass_hash)
    if same is None:
        same = _same_source(before, after) is not False and _compiler(before) == _compiler(after)
    return not same


def details_of(old: Point, new: Point) -> tuple[str, ...]:
    """Other known differences: "toolkit 12.8 -> 13.0". Names are data: escape them."""
    found = differing(
        [
            ("commit", _commit(old), _commit(new)),
            ("toolkit", old.run.toolkit, new.run.toolkit),
            ("flags", old.run.flags, new.run.flags),
            ("driver", _driver(old), _driver(new)),
            ("GPU", _gpu(old), _gpu(new)),
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


def _commit(point: Point) -> str | None:
    return point.run.commit and point.run.commit[:12]


def _gpu(point: Point) -> str | None:
    return point.run.device.uuid_hash if point.run.device else None


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


def _same_launches(old: Origin, new: Origin) -> bool | None:
    return old.launches == new.launches if old.launches or new.launches else None


def _same(a: str | None, b: str | None) -> bool | None:
    """None: not known."""
    return None if a is None or b is None else a == b


def _compiler(origin: Origin) -> tuple[str | None, str | None]:
    return origin.toolkit, origin.flags


def _driver(point: Point) -> str | None:
    return point.run.device.driver if point.run.device else None

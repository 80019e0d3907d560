"""Refuses values that must not become budgets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from warpgauge.budgets.acceptance import Wish, name
from warpgauge.budgets.budget_file import BudgetFile
from warpgauge.budgets.limits import is_storable, tolerance_of
from warpgauge.budgets.placing import Move
from warpgauge.facts.catalog import catalog
from warpgauge.facts.records import Fact
from warpgauge.facts.selection import gpu_of

_LINES_OF_A_TEST = "budget:"  # the origin of limits that EXPECT_BUDGET itself names
_TIMED = ("time.", "throughput.")  # metrics that need a GPU that does nothing else


def refusals(
    moves: Iterable[Move],
    facts: Iterable[Fact],
    files: dict[str, BudgetFile],
    wish: Wish,
    head: str | None,
) -> dict[Fact, str]:
    """The facts of moves that must not become budgets, with a sentence each; empty if all may.

    `facts`: all of them, because other facts of a case can also refuse a move; `files`: by family;
    `head`: the commit that they must be of, None: any.
    """
    failed, gpus = {}, defaultdict(set)
    for fact in facts:
        if fact.verdict == "error":
            failed[fact.id, fact.arch] = fact
        elif fact.value is not None:
            gpus[fact.id, fact.arch, fact.metric].add(gpu_of(fact))
    found = {}
    for move in moves:
        fact = move.fact
        error = failed.get((fact.id, fact.arch)) or failed.get((fact.id, None))
        why = (
            (error and f"the case failed at {error.run.time} ({error.reason}); fix it")
            or _objection_to_origin(fact, head)
            or _objection_to_noise(move, gpus[fact.id, fact.arch, fact.metric])
            or _objection(move, files[fact.family], wish)
        )
        if why:
            found[fact] = f"{name(fact)}: {why}"
    return found


def is_of_changes(fact: Fact) -> bool:
    """Whether a fact is of sources that differ from those of its commit."""
    return fact.run.dirty and fact.run.commit is not None


def _objection_to_origin(fact: Fact, head: str | None) -> str | None:
    commit = fact.run.commit
    if is_of_changes(fact):
        return (
            "measured from sources with changes that are not committed; commit them, build again, "
            "and run the gate again"
        )
    if head is not None and commit != head:
        return (
            f"measured from {f'commit {commit}' if commit else 'no commit'}, and the "
            f"sources are at {head}; run the gate again, or pass --any-commit"
        )
    return None


def _objection_to_noise(move: Move, gpus: set[str | None]) -> str | None:
    """The reason why a noisy value is unfit for a budget."""
    fact = move.fact
    if catalog()[fact.metric].cls != "bounded":
        return None
    if fact.device is None or fact.device.is_emulated:
        return "the emulator's times are not those of a GPU; measure on one"
    if len(gpus) > 1:
        return (
            f"measured on {len(gpus)} GPUs of this architecture, and a budget holds for all of "
            "them; give the facts of one"
        )
    if fact.metric.startswith(_TIMED) and fact.machine is None:
        return (
            "GPU state unknown (NVML unavailable), so it may have been disturbed; measure with NVML"
        )
    if fact.machine is not None and fact.machine.disturbance is not None:
        return f"the GPU was disturbed ({fact.machine.disturbance}); measure again"
    return _objection_to_interval(fact, tolerance_of(move.new))


def _objection_to_interval(fact: Fact, tolerance: float) -> str | None:
    if fact.interval is None:
        return f"{fact.confidence_reason}; measure again" if fact.stable is False else None
    spread = max(fact.numeric - fact.interval[0], fact.interval[1] - fact.numeric)
    if spread > tolerance * fact.numeric:
        return (
            f"{fact.value} is not stable: its confidence interval, {fact.interval[0]} to "
            f"{fact.interval[1]}, is wider than the tolerance of {tolerance:.3g}; measure again"
        )
    return None


def _objection(move: Move, file: BudgetFile, wish: Wish) -> str | None:
    fact = move.fact
    row = catalog()[fact.metric]
    held = fact.limit.text if fact.limit is not None else ""
    if fact.metric == "result.correct":
        return "a wrong result is never a budget; fix the kernel"
    if fact.limit is not None and fact.limit.origin.startswith(_LINES_OF_A_TEST):
        return f"the test has its budget, {held}: change it there ({fact.case.file})"
    if row.cls == "exact" and not (fact.confidence and file.judges(fact.confidence)):
        return (
            f"{fact.value} is only {fact.confidence} ({fact.confidence_reason}); measure it where "
            f'it is exact, or begin {file.name} with gate_on = "{fact.confidence}"'
        )
    if isinstance(move.old, dict) and "of" in move.old:
        return (
            f"{fact.value} is held to a multiple of {move.old['of']}, {held}, which is "
            "a rule; change it by hand"
        )
    if not is_storable(move.new):
        return f"{fact.value} is more than a budget file can hold (2^53)"
    if move.loosens and not wish.baseline and wish.reason is None:
        return (
            f"{fact.value} is over its budget {held}; give the reason with "
            "--reason, or leave it out with --tighten"
        )
    return None

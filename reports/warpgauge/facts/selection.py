"""Selection of facts: those whose id matches, and of each value the newest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from warpgauge.errors import CommandError
from warpgauge.facts.case_filter import CaseFilter
from warpgauge.facts.catalog import catalog
from warpgauge.facts.reader import read_facts
from warpgauge.facts.records import Fact

Key = tuple[str, str | None, str, str | None]  # id, architecture, metric, and gpu_of()


def read_all(paths: Sequence[str | Path]) -> list[Fact]:
    """The facts of all files. Raises FactError, and CommandError where there is none in them."""
    facts = [fact for path in paths for fact in read_facts(path)]
    if not facts:
        raise CommandError(f"{', '.join(map(str, paths))}: no facts")
    return facts


def matching(facts: Iterable[Fact], cases: CaseFilter) -> list[Fact]:
    """The facts of these cases; raises CommandError if there are none."""
    found = [fact for fact in facts if cases.takes(fact.id)]
    if not found:
        raise CommandError(f"{cases} matches no case of the facts")
    return found


def gpu_of(fact: Fact) -> str | None:
    """Hash or name of the GPU of a noisy value; None of an exact one, which is the same on all GPUs
    of an architecture."""
    if fact.device is None or catalog()[fact.metric].cls != "bounded":
        return None
    return fact.device.uuid_hash or fact.device.name


def key_of(fact: Fact) -> Key:
    return fact.id, fact.arch, fact.metric, gpu_of(fact)


def newest(facts: Iterable[Fact]) -> dict[Key, Fact]:
    """Of each metric of a case on an architecture (of noisy ones: on a GPU) the newest measured
    value or error, or, where there is none, the newest fact that says so. Of one run, the error."""
    found: dict[Key, Fact] = {}
    for fact in facts:
        if fact.scope != "case":
            continue
        key = key_of(fact)
        known = found.get(key)
        if known is None or _age(fact) >= _age(known):
            found[key] = fact
    return found


def _age(fact: Fact) -> tuple[bool, str, bool]:
    failed = fact.verdict == "error"
    return failed or fact.value is not None, fact.run.time, failed

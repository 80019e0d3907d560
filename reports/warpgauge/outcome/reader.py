"""Reads results.json, one file or several as one. The contract is
harness/outcome/results.schema.json."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from jsonschema_rs import Draft202012Validator

from warpgauge.documents import read_document
from warpgauge.errors import CommandError
from warpgauge.facts import contract
from warpgauge.facts.catalog import catalog
from warpgauge.facts.reader import run_of
from warpgauge.facts.records import Run
from warpgauge.outcome.results import (
    CaseResult,
    Family,
    Finding,
    Place,
    Results,
    Unmeasured,
    Value,
    badness,
)

SCHEMA = "warpgauge.results/1"
_WORST_FIRST = (2, 1, 3, 0)  # exit codes, as the gate chooses between them


def read_results(paths: Sequence[Path]) -> Results:
    """The results of one file, or of several together. Raises CommandError if a file has none."""
    read = [_read(path) for path in paths]
    return read[0] if len(read) == 1 else _together(read)


def _read(path: Path) -> Results:
    document = read_document(path, SCHEMA, "make it with `warpgauge outcome FACTS...`")
    try:
        contract.hold(_validator(), document)
        _check_metrics(document)
    except ValueError as error:
        raise CommandError(f"{path}: does not match {SCHEMA}: {error}") from error
    return _results(document)


def _check_metrics(document: dict[str, Any]) -> None:
    """The schema cannot say which metrics there are."""
    known = catalog()
    for values in (document["findings"], *(case["values"] for case in document["cases"])):
        for value in values:
            if value["metric"] not in known:
                raise ValueError(f"unknown metric '{value['metric']}'")
            contract.check_kind(value["metric"], value.get("value"), "value")


@cache
def _validator() -> Draft202012Validator:
    text = resources.files(__package__).joinpath("results.schema.json").read_text("utf-8")
    return Draft202012Validator(json.loads(text))


def _results(document: dict[str, Any]) -> Results:
    results = Results.of(
        document,
        runs=tuple(_run(run) for run in document.get("runs", ())),
        families=tuple(map(Family.of, document.get("families", ()))),
        found=tuple(map(_finding, document.get("findings", ()))),
        unmeasured=tuple(map(Unmeasured.of, document.get("unmeasured", ()))),
        cases=tuple(map(_case, document["cases"])),
        lost=tuple(document.get("lost", ())),
        left_out=tuple(document.get("left_out", ())),
    )
    if not results.exit_code or results.wrong or results.faults:
        return results
    return replace(results, lost=(results.headline,))  # red, and nothing else says why


def _run(members: dict[str, Any]) -> Run:
    return run_of({"run": "", **members})


def _finding(members: dict[str, Any]) -> Finding:
    return Finding.of(members, blame=tuple(map(Place.of, members.get("blame", ()))))


def _case(members: dict[str, Any]) -> CaseResult:
    return CaseResult.of(members, values=tuple(map(Value.of, members.get("values", ()))))


def _together(read: Iterable[Results]) -> Results:
    """Several results as one: what is wrong first, the worst exit code."""
    read = list(read)
    worst = min(read, key=lambda results: _rank(results.exit_code))
    found = (finding for results in read for finding in results.found)
    cases = (case for results in read for case in results.cases)
    counts: Counter[str] = Counter()
    for results in read:
        counts.update(results.counts)
    return replace(
        worst,
        headline="; ".join(dict.fromkeys(results.headline for results in read)),
        counts=dict(counts),
        cases=tuple(sorted(cases, key=lambda case: not case.wrong)),
        found=tuple(sorted(found, key=badness)),
        cases_total=sum(results.cases_total for results in read),
        checks=sum(results.checks for results in read),
        runs=_all(read, "runs"),
        families=_all(read, "families"),
        unmeasured=_all(read, "unmeasured"),
        lost=_all(read, "lost"),
        left_out=_all(read, "left_out"),
        units={metric: unit for results in read for metric, unit in results.units.items()},
    )


def _rank(exit_code: int) -> int:
    return _WORST_FIRST.index(exit_code) if exit_code in _WORST_FIRST else -1


def _all(read: list[Results], name: str) -> tuple[Any, ...]:
    return tuple(item for results in read for item in getattr(results, name))

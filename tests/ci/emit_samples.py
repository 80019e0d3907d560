"""Results to write in the formats of CI systems: of real runs, and changed in memory."""

import dataclasses
import functools
from pathlib import Path

from warpgauge.facts.reader import read_facts
from warpgauge.outcome.results import Demands, Results, Sources
from warpgauge.outputs import FORMATS

ROOT = Path(__file__).resolve().parents[2]
CANARIES = ROOT / "tests" / "data" / "emit" / "canaries.jsonl"
H100 = ROOT / "tests" / "data" / "outcome" / "h100.jsonl"
GOLDEN = Path(__file__).resolve().parent / "golden"
SOURCE = GOLDEN / "source"
NO_DEMANDS = Demands()

# What a name must not do: end a string, a tag, a cell, a line or a comment; turn text round.
HOSTILE = (
    "\"'><script>alert(1)</script>]]><!--|`*_[x](javascript:1)\\{0}%0A::error::x # SKIP\r\n"
    "::warning::y\n\x1b[31m\x01\u202egnp\u2028@everyone ${{ x }} $(id) ,:;&amp;\ufffe"
)


@functools.cache
def facts_of(path):
    return tuple(read_facts(path))


def results(facts, root=SOURCE, pictures=(), demands=NO_DEMANDS):
    return Results(facts, Sources(root), pictures, demands)


def canaries():
    return results(facts_of(CANARIES))


def rendered(name, shown):
    return FORMATS[name].render(shown)


def changed(fact, **members):
    """The fact with other members; the id follows its parts."""
    fact = dataclasses.replace(fact, **members)
    whole = f"{fact.family}.{fact.variant}.{fact.type}@{fact.size}"
    return dataclasses.replace(fact, id=whole)


def one_of_each_verdict():
    """Facts of an H100, one case for each verdict and one that is both failed and unmeasured."""
    conflicts, *_ = (f for f in facts_of(H100) if f.metric == "shared.bank_conflicts")
    budget = {"budget": "= 0", "budget_reason": "padded"}
    return [
        changed(conflicts, variant="right", verdict="pass", reason="within", **budget),
        changed(conflicts, variant="free", verdict="unbudgeted", budget=None, reason="no budget"),
        changed(
            conflicts,
            variant="blind",
            value=None,
            verdict="unmeasured",
            reason="no CUPTI",
            **budget,
        ),
        changed(conflicts, variant="let", value=9, verdict="waived", reason="until 2027", **budget),
        changed(
            conflicts, variant="slow", value=9, verdict="environment", reason="moved", **budget
        ),
        changed(conflicts, variant="good", verdict="better", reason="better", **budget),
        changed(conflicts, variant="bad", value=9, verdict="fail", reason="is 9", **budget),
        changed(
            conflicts,
            variant="bad",
            metric="shared.requests",
            value=None,
            verdict="unmeasured",
            reason="the profiler is taken",
        ),
        changed(
            conflicts,
            variant="crash",
            metric="result.correct",
            unit="bool",
            value=None,
            verdict="error",
            reason="it crashed",
            file=None,
            line=None,
        ),
    ]


def hostile():
    """Facts in which every text that a run can choose is hostile, one for each verdict."""
    return [
        changed(
            fact,
            family=f"f{HOSTILE}",
            variant=f"{fact.variant}{HOSTILE}",
            type=HOSTILE,
            size=HOSTILE,
            arch=f"sm{HOSTILE}",
            kernel=HOSTILE,
            file=fact.file and HOSTILE,
            reason=HOSTILE,
            budget=fact.budget and HOSTILE,
            budget_reason=HOSTILE,
            run=HOSTILE,
            commit=HOSTILE,
            toolkit=HOSTILE,
            flags=HOSTILE,
            device=dataclasses.replace(fact.device, name=HOSTILE),
        )
        for fact in one_of_each_verdict()
    ]

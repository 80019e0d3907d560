"""The facts that a run has left, by what tests look for."""

from warpgauge.facts.reader import read_facts


def of_cases(out):
    """The values of whole cases in a folder of results, by id, metric and architecture."""
    return {
        (fact.id, fact.metric, fact.arch): fact
        for fact in read_facts(out / "facts.jsonl")
        if fact.scope == "case"
    }

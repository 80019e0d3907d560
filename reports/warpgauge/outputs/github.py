"""Annotations of GitHub Actions: commands that a step prints to its output."""

from __future__ import annotations

from warpgauge.facts.records import Fact
from warpgauge.outcome import words
from warpgauge.outcome.results import Results, unmeasured_reasons
from warpgauge.text import printable

FILE = "github.txt"
READER = "annotations of GitHub Actions"

# GitHub shows so many of a kind for a step, and drops the rest without a word.
MAX_ERRORS = MAX_WARNINGS = 10


def render(results: Results) -> str:
    """What makes the run red as errors, the worst first; what moved with the environment, would
    fail if it were sure, or could not be measured as warnings; and a notice that counts all, and
    what was left out."""
    errors = [
        _command("error", fact, words.title(fact), [words.problem(fact), words.advice(fact)])
        for fact in results.wrong
        if fact.verdict != "unmeasured"
    ]
    errors += [
        _command("error", None, "warpgauge: not measured", [why])
        for why in words.required(results.wrong)
    ]
    if results.unexplained:
        errors.append(_command("error", None, "warpgauge", [results.unexplained]))
    warnings = [
        _command("warning", fact, f"{words.title(fact)}: environment", [words.problem(fact)])
        for fact in results.having("environment")
    ]
    warnings += [
        _command("warning", fact, f"{words.title(fact)}: not sure", [words.problem(fact)])
        for fact in results.unsure
    ]
    warnings += [
        _command("warning", None, f"{len(facts)} not judged", [printable(reason)])
        for reason, facts in unmeasured_reasons(results.noted)
    ]
    shown = errors[:MAX_ERRORS] + warnings[:MAX_WARNINGS]
    total = [words.headline(results)]
    if cut := len(errors) + len(warnings) - len(shown):
        total.append(f"{cut} more findings are in the summary and in the facts: GitHub shows no")
        total[-1] += f" more than {MAX_ERRORS} errors and {MAX_WARNINGS} warnings of a step"
    return "\n".join([*shown, _command("notice", None, "warpgauge", total)]) + "\n"


def _command(kind: str, fact: Fact | None, title: str, lines: list[str]) -> str:
    properties = {"title": title}
    if fact and fact.file:
        properties["file"] = printable(fact.file)
        if fact.line:
            properties["line"] = properties["endLine"] = str(fact.line)
    text = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{kind} {text}::{_data(chr(10).join(line for line in lines if line))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

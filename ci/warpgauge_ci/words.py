"""What the formats say of a fact, in words; nothing in them is a control character."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterable

from warpgauge_report.catalog import catalog
from warpgauge_report.facts import Fact
from warpgauge_report.output import printable

from warpgauge_ci.results import VERDICTS, Results

_COUNTED = {
    "error": ("error", "errors"),
    "fail": ("value over budget", "values over budget"),
    "environment": ("value moved by the environment", "values moved by the environment"),
    "waived": ("waived", "waived"),
    "better": ("better than budget", "better than budget"),
    "pass": ("within budget", "within budget"),
    "unbudgeted": ("without a budget", "without a budget"),
    "unmeasured": ("unmeasured", "unmeasured"),
}


def title(fact: Fact) -> str:
    """The case and its architecture: "transpose.tiled.f32@1024x1024 on sm_90"."""
    return printable(fact.id + (f" on {fact.arch}" if fact.arch else ""))


def value_text(fact: Fact) -> str:
    """The value with its unit."""
    return "not measured" if fact.value is None else printable(f"{fact.value} {fact.unit}")


def reason(fact: Fact) -> str:
    """Why the verdict is what it is."""
    return printable(fact.reason or f"{fact.metric} is {value_text(fact)}")


def more_than_the_budget(fact: Fact) -> str:
    """The reason, where it says more than that the value is not within the budget."""
    says_no_more = fact.budget and (fact.reason or "").endswith(f"budget {fact.budget}")
    return "" if says_no_more else reason(fact)


def problem(fact: Fact) -> str:
    """The reason, and the one that stands beside the budget."""
    beside = f" ({printable(fact.budget_reason)})" if fact.budget_reason else ""
    return reason(fact) + beside


def place(fact: Fact) -> str:
    """FILE:LINE, or nothing."""
    return printable(f"{fact.file}:{fact.line}") if fact.file and fact.line else fact.file or ""


def advice(fact: Fact) -> str:
    """What the metric means and what to do about it; of faults nothing, their reason says it."""
    metric = catalog()[fact.metric]
    if fact.verdict == "error":
        return ""
    return f"{metric.meaning} {metric.cure}" if metric.cure else metric.meaning


def repeat(fact: Fact) -> str:
    """The command that gives this verdict again: emulated again where it was emulated."""
    words = ["ci/gate"]
    on_emulator = fact.device is not None and fact.device.driver == "emulator"
    emulated = fact.source == "emulator" or on_emulator
    if emulated:
        words.append("--device=emulated")
    if fact.arch and (emulated or fact.source == "ptxas"):
        words += ["--arch", fact.arch]
    return printable(shlex.join([*words, "--large", "--filter", fact.id]))


def paragraph(fact: Fact, results: Results) -> str:
    """All there is to say of a fact, several lines of text."""
    metric = catalog()[fact.metric]
    fault = fact.verdict == "error"
    line = results.sources.text(fact.file, fact.line).strip()
    budget = fact.budget and fact.budget + (
        f" ({fact.budget_reason})" if fact.budget_reason else ""
    )
    entries = {
        "value": None if fault else value_text(fact),
        "unsure": fact.confidence_reason,
        "budget": budget,
        "why": more_than_the_budget(fact),
        "means": None if fault else metric.meaning,
        "cure": None if fault else metric.cure,
        "at": place(fact) + (f": {line}" if line else ""),
        "repeat": repeat(fact),
    }
    head = f"{printable(str(fact.verdict)).upper()} {title(fact)}: {fact.metric}"
    lines = [f"  {key:<8} {printable(text)}" for key, text in entries.items() if text]
    return "\n".join([head, *lines])


def headline(results: Results) -> str:
    """How many facts have each verdict; those without a budget do not count."""
    counts = [(results.counts[verdict], verdict) for verdict in VERDICTS if verdict != "unbudgeted"]
    told = [f"{n} {_COUNTED[verdict][n != 1]}" for n, verdict in counts if n]
    return ", ".join(told) or "nothing was held against a budget"


def fingerprint(*parts: str | None) -> str:
    """A hash that stays the same while the parts do."""
    return hashlib.sha256("\0".join(part or "" for part in parts).encode()).hexdigest()[:16]


def line_fingerprint(fact: Fact, results: Results) -> str:
    """Names a finding by its line's text instead of its number: edits elsewhere leave it alone."""
    text = results.sources.text(fact.file, fact.line).strip()
    return fingerprint(fact.metric, fact.file, fact.id, fact.arch, text)


def device_name(facts: Iterable[Fact]) -> str | None:
    """The device of the first of these facts that has one; compile-time facts have none."""
    return next((fact.device.name for fact in facts if fact.device), None)


def some(words: Iterable[str], most: int) -> str:
    """The first words and how many more there are: "a, b and 3 more"."""
    words = list(words)
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more

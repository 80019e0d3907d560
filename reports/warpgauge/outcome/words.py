"""What the formats say of a fact, in words; nothing in them is a control character."""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Iterable

from warpgauge.facts.catalog import catalog
from warpgauge.facts.records import Fact
from warpgauge.outcome.results import VERDICTS, Results, unmeasured_reasons
from warpgauge.text import printable

_ENDED = ("PASS", "FAIL", "ERROR", "NOT MEASURED")  # the exit codes of the gate
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


def required(facts: Iterable[Fact]) -> list[str]:
    """Why facts that were required are missing, and how many: a sentence for each reason."""
    return [
        printable(f"{len(missing)} value{'s' * (len(missing) > 1)} required, but {why}")
        for why, missing in unmeasured_reasons(facts)
    ]


def place(fact: Fact) -> str:
    """FILE:LINE, or nothing."""
    line = f":{fact.line}" if fact.line else ""
    return printable(f"{fact.file}{line}") if fact.file else ""


def advice(fact: Fact) -> str:
    """What the metric means and what to do about it; of faults nothing, their reason says it."""
    metric = catalog()[fact.metric]
    if fact.verdict == "error":
        return ""
    return f"{metric.meaning} {metric.cure}"


def repeat(fact: Fact) -> str:
    """The command that gives this verdict again: emulated again where it was emulated, timed again
    where it was timed. Facts do not tell which cases are large ones, so it always takes them; nor
    the arguments of an attached program."""
    if fact.size == "run":  # of a kernel of an attached program: attached_facts.cpp
        kernels = ["--kernels", fact.variant] if fact.kernel else []
        words = ["warpgauge", "attach", *kernels, "--", fact.family]
        return printable(shlex.join(words) + " ...")
    if catalog()[fact.metric].source == "cuda-events":
        return printable(shlex.join([_bench(), "--large", "--filter", fact.id]))
    words = _gate()
    on_emulator = fact.device is not None and fact.device.driver == "emulator"
    emulated = fact.source == "emulator" or on_emulator
    if emulated:
        words.append("--device=emulated")
    if fact.arch and (emulated or fact.source == "ptxas"):
        words += ["--arch", fact.arch]
    return printable(shlex.join([*words, "--large", "--filter", fact.id]))


def _gate() -> list[str]:
    """How the gate is called: a program that has handed on its work says how it is."""
    return shlex.split(os.environ.get("WARPGAUGE_GATE_COMMAND") or "ci/gate")


def _bench() -> str:
    """The program beside the gate that takes times."""
    program = _gate()[0]
    return "build/gate/bin/warpgauge-bench" if program == "ci/gate" else f"{program}-bench"


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
    """How the gate has ended, if that is known, and how many facts have each verdict; those without
    a budget do not count."""
    counts = [(results.counts[verdict], verdict) for verdict in VERDICTS if verdict != "unbudgeted"]
    told = {verdict: f"{n} {_COUNTED[verdict][n != 1]}" for n, verdict in counts if n}
    if "better" in told and results.demands.strict:
        told["better"] += " (--strict)"
    if results.missing:
        told["unmeasured"] += f" ({len(results.missing)} required)"
    text = ", ".join(told.values()) or "nothing was held against a budget"
    code = results.demands.exit_code
    if code is None:
        return text
    return f"{_ENDED[code] if code < len(_ENDED) else f'ERROR (exit code {code})'}: {text}"


def fingerprint(*parts: str | None) -> str:
    """A hash that stays the same while the parts do."""
    return hashlib.sha256("\0".join(part or "" for part in parts).encode()).hexdigest()[:16]


def line_fingerprint(fact: Fact, results: Results) -> str:
    """Names a finding by its line's text instead of its number: edits elsewhere leave it alone."""
    text = results.sources.text(fact.file, fact.line).strip()
    return fingerprint(fact.metric, fact.file, fact.id, fact.arch, text)


def each(texts: Iterable[str | None]) -> str:
    """All of the texts, each once: "a, b"."""
    return ", ".join(dict.fromkeys(printable(text) for text in texts if text))


def devices(facts: Iterable[Fact]) -> str:
    """The names of the devices of these facts; compile-time facts have none."""
    return each(fact.device and fact.device.name for fact in facts)


def commits(facts: Iterable[Fact], digits: int | None = None) -> str:
    """The commits of these facts, and whether there were changes that are not in them."""
    known = (fact for fact in facts if fact.commit)
    return each(fact.commit[:digits] + (" with changes" if fact.dirty else "") for fact in known)


def some(words: Iterable[str], most: int) -> str:
    """The first words and how many more there are: "a, b and 3 more"."""
    words = list(words)
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more

"""The counts below the headline, of the page and of the digest."""

from __future__ import annotations

from typing import NamedTuple

from warpgauge.page.report import Report
from warpgauge.page.rows import values_of

_ALWAYS = ("over budget", "got worse")


class Count(NamedTuple):
    """How many of what, and the part of the page that has more."""

    number: int
    words: str
    part: str


def counts(report: Report) -> list[Count]:
    """What there is of each; what is over budget and what got worse also where there is nothing."""
    verdicts = report.verdicts
    errors = "error" if verdicts["error"] == 1 else "errors"
    new = "new case" if len(report.new_cases) == 1 else "new cases"
    found = [
        Count(verdicts["fail"], "over budget", "budget"),
        Count(verdicts["error"], errors, "budget"),
        Count(report.worse, "got worse", "changes"),
        Count(report.still, "worse since earlier nights", "open"),
        Count(report.back, "recovered, to be confirmed", "open"),
        Count(report.acknowledged, "worse and acknowledged", "open"),
        Count(report.better, "got better", "changes"),
        Count(values_of(report.suspected), "suspected", "suspected"),
        Count(len(report.disturbed), "disturbed", "disturbed"),
        Count(values_of(report.moved), "moved by the machine", "moved"),
        Count(report.gone, "missing", "missing"),
        Count(len(report.new_cases), new, "newcases"),
        Count(verdicts["unmeasured"], "unmeasured", "budget"),
        Count(verdicts["waived"], "waived", "budget"),
        Count(verdicts["moved"], "beyond budget by the environment", "budget"),
        Count(verdicts["pass"] + verdicts["better"], "within budget", "every"),
        Count(verdicts["unbudgeted"], "without budget", "every"),
    ]
    return [counted for counted in found if counted.number or counted.words in _ALWAYS]

"""The budget that a value was held against, and its text."""

from __future__ import annotations

from dataclasses import dataclass

BUILT_IN = "built-in"  # the origin of limits that are in no file


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """Members as in metrics/facts/fact.schema.json. `tolerance` is a fraction of the limit, `until`
    a date, `origin` the file:line of the budget. The numbers of a limit with `of` are multiples of
    `reference`, the value of what it names."""

    max: float | None = None
    min: float | None = None
    equal: float | str | None = None
    tolerance: float = 0.0
    until: str | None = None
    code: str | None = None
    of: str | None = None
    reference: float | None = None
    reference_confidence: str = "exact"
    reason: str | None = None
    origin: str
    gate_on: str = "exact"

    @property
    def is_built_in(self) -> bool:
        return self.origin == BUILT_IN

    @property
    def text(self) -> str:
        """ "<= 20", ">= 1 and <= 2", "= 32 ± 5% until 2027-01-31", "<= 1.1 x 1024 of naive.f32"."""
        signs = (("=", self.equal), (">=", self.min), ("<=", self.max))
        bounds = (f"{sign} {number_text(limit)}" for sign, limit in signs if limit is not None)
        text = " and ".join(bounds)
        if self.of:
            text += " x" if self.reference is None else f" x {number_text(self.reference)} of"
            text += f" {self.of}"
        if self.tolerance:
            text += f" ± {self.tolerance * 100:g}%"
        return f"{text} until {self.until}" if self.until else text


def number_text(value: float | str) -> str:
    """The shortest text that reads back as the same number; whole numbers without a point."""
    if isinstance(value, str):
        return value
    return str(int(value)) if value == int(value) else repr(float(value))

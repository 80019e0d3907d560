"""Limits of budget files as Python sees them, and the limit that a measured value asks for.

A limit is what stands behind the metric in TOML: a number or word, or a dict with max, min, equal,
of, tolerance, until, code and reason. metrics/budgets/budget_limit.cpp says what they mean; whether
a value is within one is for the judge alone to say.
"""

from __future__ import annotations

import datetime
import math
import re
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from typing import Any

from warpgauge.facts.catalog import Metric
from warpgauge.facts.limit import Limit as HeldLimit
from warpgauge.facts.limit import number_text
from warpgauge.facts.records import Fact
from warpgauge.text import is_blank

Limit = float | str | dict[str, Any]

MAX_LIMIT = 2.0**53  # what a budget file can hold
NOISY_TOLERANCE = "10%"  # of a limit that is new, of a metric that is not exact
NOISY_DIGITS = 4
_ORDER = ("max", "min", "equal", "of", "tolerance", "until", "code", "reason")
_PLAIN_KEYS = {"lower": "max", "higher": "min", "none": "equal"}


def as_table(limit: Limit, metric: Metric) -> dict[str, Any]:
    """The limit with all keys written out: a plain number is a max, min or equal."""
    if isinstance(limit, dict):
        return dict(limit)
    return {"equal" if isinstance(limit, str) else _PLAIN_KEYS[metric.direction]: limit}


def limit_text(limit: Limit, metric: Metric) -> str:
    """The limit as facts show it: "<= 20", ">= 1 and <= 2", "= 32 ± 5% until 2027-01-31"."""
    table = as_table(limit, metric)
    bounds: dict[str, Any] = {key: table.get(key) for key in ("max", "min", "equal", "of")}
    until = table.get("until")
    bounds |= {"tolerance": tolerance_of(limit), "until": until and until.isoformat()}
    return HeldLimit(origin="", **bounds).text


def fault_of(limit: object) -> str | None:
    """The reason why a limit cannot be rewritten, as the end of a sentence; None: it can."""
    if not isinstance(limit, dict):
        return None if _is_number(limit) or isinstance(limit, str) else "is no limit"
    for key, value in limit.items():
        if key not in _ORDER:
            return f"has the unknown key '{key}' (the keys are {', '.join(_ORDER)})"
        if not _FORMS[key](value):
            return f"has a bad '{key}'"
    return None if {"max", "min", "equal"} & limit.keys() else "has no max, min or equal"


def fraction(text: float | str) -> float:
    """The share that "5%" or 0.05 names; raises ValueError for what is none from 0 to 1."""
    if isinstance(text, str) and text.endswith("%"):
        share = float(text.removesuffix("%")) / 100
    else:
        share = float(text)
    if not 0 <= share <= 1:
        raise ValueError(f"{text} is not a share: write 5% or 0.05")
    return share


def tolerance_of(limit: Limit) -> float:
    """By what fraction of the limit a value may be beyond it."""
    return fraction(limit.get("tolerance", 0)) if isinstance(limit, dict) else 0.0


def code_of(limit: Limit | None) -> str | None:
    """The hash of the code that the limit was measured with, if it names one."""
    return limit.get("code") if isinstance(limit, dict) else None


def is_same(a: Limit, b: Limit, metric: Metric) -> bool:
    """True if both let the same values pass; reasons may differ."""
    left, right = ({**as_table(limit, metric), "reason": None} for limit in (a, b))
    return left == right


def is_built_in(limit: Limit, metric: Metric) -> bool:
    """True for the limit that holds for every kernel unless a line says otherwise."""
    return metric.built_in is not None and is_same(limit, {"equal": metric.built_in}, metric)


def of_held(held: HeldLimit) -> Limit:
    """The limit of a fact as a budget file would have it, with all keys written out."""
    limit = {key: getattr(held, key) for key in _ORDER}
    limit["tolerance"] = held.tolerance or None
    limit["until"] = held.until and datetime.date.fromisoformat(held.until)
    return {key: value for key, value in limit.items() if value is not None}


def is_limit(held: HeldLimit | None, limit: Limit | None, metric: Metric) -> bool:
    """Whether a fact was held against this limit of a budget file; its reason does not count."""
    if held is None or limit is None:
        return held is None and limit is None
    table = as_table(limit, metric)
    until = table.get("until")
    bounds = tuple(table.get(key) for key in ("max", "min", "equal", "of"))
    return (
        bounds == (held.max, held.min, held.equal, held.of)
        and tolerance_of(limit) == held.tolerance
        and (until and until.isoformat()) == held.until
    )


def asked_for(
    fact: Fact, metric: Metric, old: Limit | None, today: datetime.date, with_code: bool
) -> Limit:
    """The limit that just holds the value of the fact, in the shape of `old`: the same key and
    tolerance. Without an old one, what may not get worse; what is noisy gets a tolerance.

    Of a value with a confidence interval, the end that is worse counts. A waiver that has expired
    becomes lasting. A line that names the code of the case names that of the fact from then on;
    a new line does so `with_code` only, because with the same code it fails no more.
    """
    table: dict[str, Any]
    if old is None:
        table = {_PLAIN_KEYS[metric.direction]: None}
        if metric.cls != "exact":
            table["tolerance"] = NOISY_TOLERANCE
    else:
        table = as_table(old, metric)
    if isinstance(until := table.get("until"), datetime.date) and until < today:
        del table["until"]
    if "equal" in table and isinstance(fact.value, str):
        table["equal"] = fact.value
    elif "equal" in table:
        table["equal"] = _rounded(fact.numeric, metric, ROUND_HALF_EVEN)
    elif "max" in table and "min" in table:
        if fact.numeric > table["max"]:
            table["max"] = _worst(fact, metric, "max")
        elif fact.numeric < table["min"]:
            table["min"] = _worst(fact, metric, "min")
    else:
        key = "max" if "max" in table else "min"
        table[key] = _worst(fact, metric, key)
    if metric.cls == "bounded":
        names_code = with_code if old is None else "code" in table
        table.pop("code", None)
        if names_code and fact.case.code_hash is not None:
            table["code"] = fact.case.code_hash
    is_plain = old is not None and not isinstance(old, dict) and len(table) == 1
    return next(iter(table.values())) if is_plain else table


def with_reason(limit: Limit, metric: Metric, reason: str | None) -> Limit:
    """The limit with this reason; with its own, if it has one, where there is no other."""
    return limit if reason is None else {**as_table(limit, metric), "reason": reason}


def is_storable(limit: Limit) -> bool:
    """False for numbers that a budget file cannot hold."""
    numbers = limit.values() if isinstance(limit, dict) else [limit]
    return all(
        math.isfinite(n) and 0 <= n <= MAX_LIMIT for n in numbers if isinstance(n, int | float)
    )


def toml_value(limit: Limit) -> str:
    """The limit as it is written behind the metric."""
    if not isinstance(limit, dict):
        return _scalar(limit)
    keys = sorted(limit, key=_ORDER.index)
    return "{ " + ", ".join(f"{key} = {_scalar(limit[key])}" for key in keys) + " }"


def toml_string(text: str) -> str:
    """The text as a basic string of TOML, on one line."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    hidden = {ord(c): f"\\u{ord(c):04X}" for c in escaped if ord(c) < 32 or not c.isprintable()}
    return f'"{escaped.translate({c: t for c, t in hidden.items() if c <= 0xFFFF})}"'


def _scalar(value: float | str | datetime.date) -> str:
    if isinstance(value, datetime.date):
        return value.isoformat()
    return toml_string(value) if isinstance(value, str) else number_text(value)


def _worst(fact: Fact, metric: Metric, key: str) -> float:
    value = fact.numeric
    low, high = fact.interval or (value, value)
    if key == "max":
        return _rounded(max(high, value), metric, ROUND_CEILING)
    return _rounded(min(low, value), metric, ROUND_FLOOR)


def _rounded(value: float, metric: Metric, rounding: str) -> float:
    """Exact values to the last digit; of noisy ones more digits would only pretend."""
    if metric.cls == "exact":
        return value
    return float(Context(prec=NOISY_DIGITS, rounding=rounding).create_decimal(Decimal(repr(value))))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_tolerance(value: object) -> bool:
    if isinstance(value, str):
        is_percent = re.fullmatch(r"[0-9.]+(e-?[0-9]+)?%", value, re.IGNORECASE)
        return is_percent is not None and _is_share(value)
    return isinstance(value, int | float) and _is_number(value) and _is_share(value)


def _is_share(value: float | str) -> bool:
    try:
        fraction(value)
    except ValueError:
        return False
    return True


def _is_text(value: object) -> bool:
    return isinstance(value, str) and not is_blank(value)


_FORMS = {
    **{"max": _is_number, "min": _is_number, "tolerance": _is_tolerance},
    "of": _is_text,
    **{"equal": lambda value: _is_number(value) or _is_text(value)},
    **{"until": lambda value: type(value) is datetime.date, "code": _is_text, "reason": _is_text},
}

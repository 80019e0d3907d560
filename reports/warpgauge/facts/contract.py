"""Checks records against fact.schema.json and the catalog. A ValueError names the problem."""

from __future__ import annotations

import json
import math
from functools import cache, lru_cache
from hashlib import blake2b
from importlib import resources
from typing import Any

from jsonschema_rs import Draft202012Validator, ValidationError, ValidationErrorKind

from warpgauge.facts.catalog import catalog


def parsed(line: bytes) -> dict[str, Any]:
    """A line as a JSON object."""
    try:
        text = line.decode("utf-8")
        members = _DECODER.decode(text)
        if "\\u" in text:
            json.dumps(members, ensure_ascii=False).encode("utf-8")  # half a surrogate pair
    except KeyTwice:
        raise
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not a JSON object: {error}") from error
    if not isinstance(members, dict):
        raise ValueError("not a JSON object")
    return members


def checked(members: dict[str, Any]) -> dict[str, Any]:
    """The members, if they are a record of the schema."""
    kind, schema = members.get("record"), members.get("schema")
    if kind in (None, "run") and isinstance(schema, str) and schema != schema_name():
        raise ValueError(
            f"schema is '{schema}', and this version reads '{schema_name()}'; measure again"
        )
    if kind not in ("run", "case", "shared", "values", "end"):
        raise ValueError("key 'record' must be run, case, shared, values or end")
    validator = _validators()[kind]
    hold(validator, members)
    return members


def hold(validator: Draft202012Validator, members: dict[str, Any]) -> None:
    """Raises ValueError unless the members keep to the schema; it names the outermost problem."""
    if not validator.is_valid(members):
        problems = validator.iter_errors(members)
        raise ValueError(_describe(min(problems, key=lambda problem: len(problem.instance_path))))


def check_kind(name: str, value: Any, key: str) -> None:
    """ValueError for a number where the metric is a word, and the other way."""
    metric = catalog()[name]
    if value is not None and isinstance(value, str) != metric.is_word:
        kind = "a word" if metric.is_word else "a number"
        raise ValueError(f"key '{key}': {name} is {kind}")


_OF_VALUES = ("pass", "fail", "better", "waived", "moved")  # verdicts on what was measured


def check_values(members: dict[str, Any]) -> None:
    """The rules for values that the schema cannot say."""
    equal = members.get("limit", {}).get("equal")
    verdict = members.get("verdict")
    for name, value in members["values"].items():
        if name not in catalog():
            raise ValueError(f"key 'values' has the unknown metric '{name}'")
        if value is None and verdict in _OF_VALUES and "rule" not in members:
            raise ValueError(f"key 'values.{name}' must not be null: its verdict is {verdict}")
        for key, given in ((f"values.{name}", value), ("limit.equal", equal)):
            check_kind(name, given, key)
    if "verdict" in members and "scope" in members:
        raise ValueError("key 'verdict': values of lines and nodes are not judged")
    low, high = members.get("interval", (0, 0))
    if low > high:
        raise ValueError("key 'interval' must be two numbers, the lower first")


@cache
def schema_name() -> str:
    """The name and version of the schema, as each run carries it."""
    return _schema()["$defs"]["run"]["properties"]["schema"]["const"]


def ordered(kind: str, members: dict[str, Any]) -> dict[str, Any]:
    """The members of a record in the order of the schema."""
    return {key: members[key] for key in _schema()["$defs"][kind]["properties"] if key in members}


@cache
def digest() -> bytes:
    """A digest of the schema: what is held against another one is not the same."""
    return blake2b(_text().encode(), digest_size=16).digest()


@lru_cache(maxsize=4096)  # values repeat each other's numbers
def _finite(text: str) -> float:
    """A number that JSON can hold: Python alone would take NaN, Infinity and 1e999."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a number")
    return number


@lru_cache(maxsize=4096)
def _whole_or_float(text: str) -> int | float:
    """Whole numbers beyond 64 bits count as floating-point numbers, as in the C++ reader."""
    number = _finite(text)
    return int(text) if abs(number) < 2**63 or 0 < int(text) < 2**64 else number


class KeyTwice(ValueError):
    """A member occurs twice in an object; the last alone would count."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for at, key in enumerate(keys) if key in keys[:at])
        raise KeyTwice(f"key '{twice}' occurs twice")
    return members


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_constant=_finite,
    parse_float=_finite,
    parse_int=_whole_or_float,
)


@cache
def _text() -> str:
    return resources.files(__package__).joinpath("fact.schema.json").read_text("utf-8")


@cache
def _schema() -> dict[str, Any]:
    return json.loads(_text())


@cache
def _validators() -> dict[str, Draft202012Validator]:
    """One for each kind of record: its errors are of that kind."""
    parts = _schema()["$defs"]
    return {
        kind: Draft202012Validator({"$ref": f"#/$defs/{kind}", "$defs": parts}) for kind in parts
    }


def _describe(problem: ValidationError) -> str:
    path = [part for part in problem.instance_path if isinstance(part, str)]
    match problem.kind:
        case ValidationErrorKind.Required(property=missing):
            return f"missing key '{'.'.join([*path, missing])}'"
        case ValidationErrorKind.AdditionalProperties(unexpected=unknown):
            return f"unknown key '{'.'.join([*path, unknown[0]])}'"
    return f"key '{'.'.join(path)}': {problem.message}"

"""Reads a JSON document of one schema, for the commands that draw it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from warpgauge.errors import CommandError
from warpgauge.facts.contract import parsed
from warpgauge.files import read_whole


def read_document(path: Path, schema: str, remedy: str) -> dict[str, Any]:
    """The document of a file with this `schema`. Raises CommandError, which ends with `remedy`."""
    try:
        text = read_whole(path)
    except OSError as error:
        raise CommandError(f"{path}: cannot be read: {error.strerror}") from error
    if text.startswith(b'{"record":'):
        raise CommandError(f"{path}: these are facts, not '{schema}'; {remedy}")
    try:
        document = parsed(text)
    except ValueError as error:
        raise CommandError(f"{path}: {error}; {remedy}") from error
    found = document.get("schema")
    if found != schema:
        raise CommandError(
            f"{path}: schema is '{found}', and this version reads '{schema}'; {remedy}"
        )
    return document

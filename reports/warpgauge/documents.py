"""Reads a JSON document of one schema, for the commands that draw it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from warpgauge.errors import CommandError


def read_document(path: Path, schema: str, remedy: str) -> dict[str, Any]:
    """The document, whose member `schema` is that; CommandError, which ends with the remedy."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise CommandError(f"{path}: cannot be read: {error.strerror}") from error
    if text.startswith(b'{"record":'):
        raise CommandError(f"{path}: these are facts, not '{schema}'; {remedy}")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CommandError(f"{path}: not JSON: {error}; {remedy}") from error
    found = document.get("schema") if isinstance(document, dict) else None
    if found != schema:
        raise CommandError(
            f"{path}: schema is '{found}', and this version reads '{schema}'; {remedy}"
        )
    return document

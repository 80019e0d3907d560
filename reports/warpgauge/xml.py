"""Text made of data as XML. Python's own escape() brings an HTTP client with it, which takes longer
to import than most outputs to write."""

from __future__ import annotations

from collections.abc import Mapping

from warpgauge.text import printable


def escaped(text: str) -> str:
    """Text between tags."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def element(tag: str, attributes: Mapping[str, str], content: str | None = None) -> str:
    """An element; its content is XML. Without any it has no end tag."""
    head = start(tag, attributes)
    return f"{head} />" if content is None else f"{head}>{content}</{tag}>"


def start(tag: str, attributes: Mapping[str, str]) -> str:
    """The start of an element, without the ">" or "/>" that ends it."""
    named = [f' {name}="{_quoted(text)}"' for name, text in attributes.items()]
    return f"<{tag}{''.join(named)}"


def _quoted(text: str) -> str:
    return escaped(printable(text)).replace('"', "&quot;")

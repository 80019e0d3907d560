"""Text made of data as GitHub-flavoured Markdown."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from warpgauge.text import printable


def text(data: str) -> str:
    """Text that is shown as it is: no markup of Markdown or HTML, no link, no cell's end."""
    shown = html.escape(printable(data), quote=False)
    shown = re.sub(r"[`*_\[\]~#\\|@$]", _shown, shown)
    return shown.replace("://", ":&#47;/")


def code(data: str) -> str:
    """The same in the letters of code; not in backticks, which text may hold itself."""
    return f"<code>{text(data)}</code>" if data else ""


def row(cells: Iterable[object]) -> str:
    """A row of a table."""
    return f"| {' | '.join(map(str, cells))} |"


def _shown(match: re.Match[str]) -> str:
    """A letter of markup as a letter; where a backslash before it is markup as well, its number."""
    letter = match[0]
    return f"&#{ord(letter)};" if letter in "\\|@$" else f"\\{letter}"

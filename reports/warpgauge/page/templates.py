"""What all pages share: their templates, files and colours."""

from __future__ import annotations

from functools import cache
from importlib import resources

import jinja2
from markupsafe import Markup

from warpgauge.drawing import style


def templates() -> jinja2.Environment:
    """The templates of this folder; what they are given is escaped."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader("warpgauge", "page"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def file(name: str) -> str:
    """The text of a file of this folder."""
    return resources.files(__package__).joinpath(name).read_text("utf-8")


def css(*more: str) -> Markup:
    """The style of a page, in light and dark colours; `more` are further files."""
    return Markup(style.css_variables() + "\n".join(file(name) for name in ("page.css", *more)))

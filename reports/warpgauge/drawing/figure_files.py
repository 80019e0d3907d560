"""A figure of matplotlib as the content of files."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from warpgauge.drawing import style


def files_of(draw: Callable[[], Figure], title: str) -> dict[str, bytes]:
    """The figure of `draw` in the style of the reports, by ending: "svg" and "png". The same figure
    gives the same files: no date, no version."""
    with style.applied():
        figure = draw()
        FigureCanvasAgg(figure)
        svg, png = BytesIO(), BytesIO()
        about = {"Title": title, "Date": None, "Creator": None}
        figure.savefig(svg, format="svg", bbox_inches="tight", metadata=about)
        about = {"Software": None}
        figure.savefig(png, format="png", bbox_inches="tight", metadata=about, dpi=style.PNG_DPI)
    return {"svg": svg.getvalue(), "png": png.getvalue()}

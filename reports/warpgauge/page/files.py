"""The files that are the page: itself, its digest and its pictures."""

from __future__ import annotations

from warpgauge.page import digest, view
from warpgauge.page.contents import Contents
from warpgauge.page.pictures import galleries
from warpgauge.page.report import Report


def page_files(found: Report, title: str, source_link: str | None) -> dict[str, bytes]:
    """Name -> content, the page last. `source_link`: the address of a source line, with {commit},
    {file} and {line}."""
    contents = Contents(found)
    drawn = galleries(contents)
    files = {
        f"{picture.stem}.{ending}": content
        for _, gallery in drawn
        for picture in gallery.pictures
        for ending, content in picture.files.items()
    }
    files["digest.md"] = digest.digest(found, title, contents.matrix).encode("utf-8")
    page = view.render(view.View(contents, drawn, title, source_link))
    files["index.html"] = page.encode("utf-8")
    return files

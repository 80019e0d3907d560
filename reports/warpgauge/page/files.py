"""The files that are the page: itself, its digest and its pictures."""

from __future__ import annotations

from warpgauge.page import badge, digest, feed, view
from warpgauge.page.contents import Contents
from warpgauge.page.links import Links
from warpgauge.page.pictures import galleries
from warpgauge.page.report import Report
from warpgauge.repository import Repository


def page_files(
    found: Report, title: str, links: Links, repository: Repository | None = None
) -> dict[str, bytes]:
    """Name -> content, the page last. A feed is at an address, so without one there is none."""
    contents = Contents(found, repository)
    drawn = galleries(contents)
    files = {
        f"{picture.stem}.{ending}": content
        for _, gallery in drawn
        for picture in gallery.pictures
        for ending, content in picture.files.items()
    }
    files["badge.svg"] = badge.svg(found, title).encode("utf-8")
    files["badge.json"] = badge.endpoint(found, title).encode("utf-8")
    if links.address:
        files["feed.xml"] = feed.feed(contents, title, links.address).encode("utf-8")
    files["digest.md"] = digest.digest(contents, title, links.address).encode("utf-8")
    page = view.render(view.View(contents, drawn, title, links))
    files["index.html"] = page.encode("utf-8")
    return files

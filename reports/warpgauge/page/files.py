"""The files that are the page: itself, its digest and its pictures."""

from __future__ import annotations

from warpgauge.page import digest, generations, pictures, speeds, view
from warpgauge.page.report import Report


def page_files(found: Report, title: str, source_link: str | None) -> dict[str, bytes]:
    """Name -> content, the page last. `source_link`: the address of a source line, with {commit},
    {file} and {line}."""
    values = generations.latest_values(found.current)
    matrix = generations.matrix(values)
    heat_maps, more = pictures.heat_map_pictures(found.current)
    drawn = [
        *pictures.generation_picture(matrix),
        *pictures.roofline_pictures(speeds.rooflines(speeds.speeds(found.current))),
        *heat_maps,
    ]
    page = view.render(found, title, source_link, values, matrix, drawn, more)
    files = {
        f"{picture.stem}.{ending}": content
        for picture in drawn
        for ending, content in picture.files.items()
    }
    files["digest.md"] = digest.digest(found, title, matrix).encode("utf-8")
    files["index.html"] = page.encode("utf-8")
    return files

"""Pictures of the page's parts for the documentation, taken in Chromium: docs/pictures/*.png.

    build/venv/bin/python reports/pictures.py --db history.db

They show real nights: take a history with two kinds of GPUs; reports/sample.py takes the recorded
ones. Needs Chromium and chromedriver.
Exit codes: 0 written, 2 a fault, such as a part that this history has nothing for.
"""

from __future__ import annotations

import argparse
import base64
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from io import BytesIO, StringIO
from pathlib import Path

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from warpgauge.errors import CommandError
from warpgauge.files import write_whole
from warpgauge.program import main as warpgauge

OF_DOCUMENTS = Path(__file__).parents[1] / "docs" / "pictures"
MOST_BYTES = 200_000
WIDE, PHONE = 1200, 390  # pixels
_DRAWN = "#trend canvas"  # what the page's script makes last


@dataclass(frozen=True, slots=True)
class Shot:
    """From the top of the element `start` on, as wide as the page (or as the element, `alone`), and
    at most `height` pixels high."""

    name: str
    start: str
    height: int
    width: int = WIDE
    scheme: str = "light"
    alone: bool = False


SHOTS = (
    Shot("headline", "header", 900),
    Shot("trend", "#trends", 560),
    Shot("generations", "#generations", 1000),
    Shot("roofline", 'figure[aria-label^="Roofline"] svg', 700, alone=True),
    Shot("heat_map", ".pictures figure svg", 700, alone=True),
    Shot("phone", "header", 844, PHONE),
    Shot("dark", "header", 900, scheme="dark"),
)


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory() as folder:
            page = [
                "report",
                "html",
                "--db",
                options.db,
                "--out",
                folder,
                "--nights",
                str(options.nights),
            ]
            with redirect_stdout(StringIO()):  # the names of files that do not last
                code = warpgauge(page)
            if code:
                return code
            write(Path(folder) / "index.html", options.out)
    except CommandError as error:
        print(f"pictures.py: {error}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    parser.add_argument("--db", required=True, help="the history, as warpgauge report takes it")
    parser.add_argument("--nights", type=int, default=90, help="newest nights (default: 90)")
    parser.add_argument("--out", type=Path, default=OF_DOCUMENTS, help="default: docs/pictures")
    return parser


def write(page: Path, folder: Path) -> None:
    """Takes all shots of a page into a folder and prints their paths; CommandError as take()."""
    with browser() as chromium:
        pictures = take(chromium, page.absolute().as_uri())
    for name, content in pictures.items():
        write_whole(folder / f"{name}.png", content)
        print(folder / f"{name}.png")


@contextmanager
def browser() -> Iterator[webdriver.Chrome]:
    """Chromium without a window and without a network."""
    programs = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if not all(programs):
        raise CommandError("needs Chromium: install the packages chromium and chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for argument in (
        *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
        *("--hide-scrollbars", "--host-resolver-rules=MAP * ~NOTFOUND"),
    ):
        options.add_argument(argument)
    chromium = webdriver.Chrome(options=options, service=Service(programs[1]))
    try:
        yield chromium
    finally:
        chromium.quit()


def take(chromium: webdriver.Chrome, address: str) -> dict[str, bytes]:
    """All shots of a page as PNG, by name. Raises CommandError where the page lacks a part, or a
    picture is too large."""
    return {shot.name: _small(shot, _take(chromium, address, shot)) for shot in SHOTS}


def _take(chromium: webdriver.Chrome, address: str, shot: Shot) -> bytes:
    scheme = {"name": "prefers-color-scheme", "value": shot.scheme}
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    size = {"width": shot.width, "height": 1000, "deviceScaleFactor": 1}
    chromium.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {**size, "mobile": shot.width == PHONE}
    )
    chromium.get("about:blank")
    chromium.get(address)
    found = chromium.find_elements(By.CSS_SELECTOR, shot.start)
    if not found or not chromium.find_elements(By.CSS_SELECTOR, _DRAWN):
        raise CommandError(f"no picture of {shot.name}: the page has no {shot.start}")
    box = chromium.execute_script(
        "const part = arguments[0].closest('.tab'); if (part) showTab(part);"
        "const r = arguments[0].getBoundingClientRect(), page = document.documentElement;"
        "return [r.x + scrollX, r.y + scrollY, r.width, r.height, page.scrollHeight]",
        found[0],
    )
    left, top, width, height, bottom = box
    clip = {"x": left, "y": top, "width": width, "height": min(height, shot.height), "scale": 1}
    if not shot.alone:
        margin = min(top, 16)
        height = min(shot.height, bottom - top + margin)
        clip |= {"x": 0, "y": top - margin, "width": shot.width, "height": height}
    taken = chromium.execute_cdp_cmd(
        "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip}
    )
    return base64.b64decode(taken["data"])


def _small(shot: Shot, png: bytes) -> bytes:
    """The picture in 256 colours; among those are all that its lines and marks have, however small
    they are."""
    image = Image.open(BytesIO(png)).convert("RGB")
    image = image.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    small = BytesIO()
    image.save(small, format="PNG", optimize=True)
    if len(small.getvalue()) > MOST_BYTES:
        raise CommandError(f"{shot.name}: {len(small.getvalue())} bytes, more than {MOST_BYTES}")
    return small.getvalue()


if __name__ == "__main__":
    sys.exit(main())

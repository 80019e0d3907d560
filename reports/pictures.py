"""Pictures of the pages' parts for the documentation, taken in Chromium: docs/pictures/*.png.

    build/venv/bin/python reports/sample.py --out sample --pictures

What nights tell is shown of the simulated ones, what GPUs measured of the recorded ones. Needs
Chromium and chromedriver.
"""

from __future__ import annotations

import base64
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from warpgauge.errors import CommandError
from warpgauge.files import write_whole

OF_DOCUMENTS = Path(__file__).parents[1] / "docs" / "pictures"
MOST_BYTES = 200_000
WIDE, PHONE = 1200, 390  # pixels
TREND = "attention.tiled.f16@2048x128/time.median_us/sm_90/clock"  # that a shift has
_DRAWN = "#trend canvas"  # what the page's script makes last


@dataclass(frozen=True, slots=True)
class Shot:
    """From the top of the element `start` on, as wide as the page (or as the element, `alone`), and
    at most `height` pixels high. `address` is what the page shows: the part behind the #."""

    name: str
    start: str
    height: int
    width: int = WIDE
    scheme: str = "light"
    alone: bool = False
    address: str = ""
    medium: str = "screen"


# By the page that they are of.
SHOTS = {
    "simulated": (
        Shot("headline", "header", 900, 1440),
        Shot("trend", "#trends", 620, address=f"trend/{TREND}"),
        Shot("phone", "header", 2 * 844, PHONE),
        Shot("dark", "header", 900, 1440, scheme="dark"),
        Shot("print", "header", 1100, 800, medium="print"),
    ),
    "recorded": (
        Shot("generations", "#generations", 1000),
        Shot("roofline", 'figure[aria-label^="Roofline"] svg', 700, alone=True),
        Shot("heat_map", ".pictures figure svg", 700, alone=True),
    ),
}


def write(pages: Mapping[str, Path], folder: Path) -> None:
    """Takes all shots of the pages, by their names in SHOTS, into a folder and prints their paths.
    Raises CommandError as take()."""
    with browser() as chromium:
        for name, shots in SHOTS.items():
            pictures = take(chromium, pages[name].absolute().as_uri(), shots)
            for shot, content in pictures.items():
                write_whole(folder / f"{shot}.png", content)
                print(folder / f"{shot}.png")


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


def take(chromium: webdriver.Chrome, address: str, shots: Sequence[Shot]) -> dict[str, bytes]:
    """Shots of a page as PNG, by name. Raises CommandError where the page lacks a part, or a
    picture is too large."""
    return {shot.name: _small(shot, _take(chromium, address, shot)) for shot in shots}


def _take(chromium: webdriver.Chrome, address: str, shot: Shot) -> bytes:
    scheme = {"name": "prefers-color-scheme", "value": shot.scheme}
    seen = {"media": shot.medium, "features": [scheme]}
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", seen)
    size = {"width": shot.width, "height": 1000, "deviceScaleFactor": 1}
    chromium.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {**size, "mobile": shot.width == PHONE}
    )
    chromium.get("about:blank")
    chromium.get(f"{address}#{shot.address}" if shot.address else address)
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

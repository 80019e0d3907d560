"""The program that takes the documentation's pictures, in a real browser.

Skipped where there is no Chromium; where WARPGAUGE_TEST_PACKAGES names it, as ci/test does in CI,
it has to be there.
"""

import os
import shutil
import sys
from io import BytesIO
from pathlib import Path

import pytest
from page_samples import build, render, samples
from PIL import Image
from warpgauge.errors import CommandError

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "reports"))

import pictures  # noqa: E402

if not (shutil.which("chromium") and shutil.which("chromedriver")) and (
    "chromium" not in os.environ.get("WARPGAUGE_TEST_PACKAGES", "")
):
    pytest.skip("needs the packages chromium and chromium-driver", allow_module_level=True)

EVERY = [shot for shots in pictures.SHOTS.values() for shot in shots]
HEAT_MAP = '<div class="pictures"><figure><svg width="90" height="50"></svg></figure></div>'


@pytest.fixture(scope="module")
def chromium():
    with pictures.browser() as chromium:
        yield chromium


@pytest.fixture(scope="module")
def page():
    return render(build(samples()))


def written(folder, text):
    path = folder / "index.html"
    path.write_text(text, encoding="utf-8")
    return path.as_uri()


def test_every_part_is_a_small_picture_of_its_size(chromium, tmp_path, page):
    whole = page.replace(
        '<section class="tab" id="every"', HEAT_MAP + '<section class="tab" id="every"', 1
    )
    found = pictures.take(chromium, written(tmp_path, whole), EVERY)
    assert list(found) == [shot.name for shot in EVERY]
    sizes = {name: Image.open(BytesIO(png)).size for name, png in found.items()}
    assert sizes["headline"] == sizes["dark"] == (1440, 900)
    assert sizes["phone"] == (390, 1688) and sizes["heat_map"] == (90, 50)
    assert all(len(png) <= pictures.MOST_BYTES for png in found.values())
    corners = {
        name: Image.open(BytesIO(found[name])).convert("L").getpixel((5, 5))
        for name in ("headline", "dark")
    }
    assert corners["headline"] > 200 and corners["dark"] < 60


def test_a_part_that_is_not_there_is_a_fault(chromium, tmp_path, page):
    with pytest.raises(CommandError, match="no picture of heat_map"):
        pictures.take(chromium, written(tmp_path, page), EVERY)

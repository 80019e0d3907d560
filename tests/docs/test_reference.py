"""The reference that Doxygen makes of the headers names what projects use, and nothing in them
lacks its documentation."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ["WARPGAUGE_BINARY_DIR"]).resolve()
DOXYFILE = (BUILD / "reference/Doxyfile").read_text()

pytestmark = pytest.mark.skipif(not shutil.which("doxygen"), reason="Doxygen is not installed")


def doxygen(folder, **settings):
    lines = [f"{name} = {text}" for name, text in settings.items()]
    return subprocess.run(
        ["doxygen", "-"],
        input="\n".join([DOXYFILE, f"OUTPUT_DIRECTORY = {folder}", *lines]),
        capture_output=True,
        text=True,
        cwd=folder,
    )


def test_the_reference_is_complete(tmp_path):
    done = doxygen(tmp_path)
    assert done.returncode == 0 and not done.stderr, done.stderr
    pages = "".join(path.read_text() for path in (tmp_path / "html").glob("*.html"))
    used = "Problem Comparison Input InOut Output Size Variants Family Measurement NotMeasured "
    used += "close equal counts_only flops bytes prepare large uncounted gpu_only measure "
    used += (
        "over_budget EXPECT_BUDGET ASSERT_BUDGET WARPGAUGE_FAMILY WARPGAUGE_CUDA prepare_to_measure"
    )
    for name in used.split():
        assert re.search(rf">{name}[<(\s]|[\s;]{name}[<(\s]", pages), name


def test_what_has_no_documentation_is_an_error(tmp_path):
    header = tmp_path / "some.h"
    header.write_text("/// Documented.\nclass Some {\n public:\n  void not_documented();\n};\n")
    done = doxygen(tmp_path, INPUT=header)
    assert done.returncode != 0
    assert "not_documented() (function) of class Some is not documented" in done.stderr

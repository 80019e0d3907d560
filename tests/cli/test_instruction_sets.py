"""Code for newer CPUs must not leak into what runs on all of them."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

FILES = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "harness" / "emulator" / "CMakeFiles"
OBJECTS = sorted(FILES.glob("warpgauge_isa_*.dir/**/*.o"))


@pytest.mark.skipif(shutil.which("nm") is None, reason="no nm on this machine")
def test_no_object_of_an_instruction_set_has_functions_that_others_could_share():
    """Of an inline function that several files define, the linker keeps one: it must not be one
    that needs AVX."""
    assert OBJECTS, "recognised nothing"
    shared = []
    for path in OBJECTS:
        listed = subprocess.run(
            ["nm", "--defined-only", "--demangle", path], capture_output=True, text=True, check=True
        )
        for line in listed.stdout.splitlines():
            _, kind, name = line.split(maxsplit=2)
            if kind in "WVu" and not name.startswith("DW.ref."):
                shared.append(f"{path.name}: {name}")
    assert not shared

"""A checkout with the scripts of ci/ as they are, and programs that have been built already."""

import os
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"
# Options of a gate, by name: one case that passes; of warpgauge-faulty, one that fails.
ONE_PASSES = {"device": "emulated", "arch": "sm_90", "filter": "transpose.padded.f32@1024x1024"}
ONE_FAILS = {"device": "emulated", "arch": "sm_90", "filter": "canaries.padding_removed.*"}


def scratch_checkout(folder, program="warpgauge"):
    """Makes FOLDER a checkout whose ci/gate runs PROGRAM, without setting up and building."""
    shutil.copytree(ROOT / "ci", folder / "ci", ignore=shutil.ignore_patterns("__pycache__"))
    bootstrap = folder / "ci/bootstrap"
    bootstrap.write_text("#!/usr/bin/env bash\nexit 0\n")
    with (folder / "ci/common.sh").open("a") as common:
        common.write("\nbuild_preset() { :; }\n")
    (folder / "build/ci/bin").mkdir(parents=True)
    (folder / "build/venv").symlink_to(ROOT / "build/venv")
    for built in BIN.iterdir():
        (folder / "build/ci/bin" / built.name).symlink_to(built)
    gauge = folder / "build/ci/bin/warpgauge"
    gauge.unlink()
    gauge.symlink_to(BIN / program)
    return folder

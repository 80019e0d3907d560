"""Prints what a host compiler compiles of metrics, harness and kernels in a build, each file once
and ended by a NUL: host_units.py BUILD. With unity most of them include a folder of sources."""

import json
import re
import sys
from pathlib import Path

build = Path(sys.argv[1]).resolve()
root = Path(__file__).resolve().parents[1]
ours = re.compile(r"(metrics|harness|kernels)/.*\.(cpp|cxx)")
units = set()
for command in json.loads((build / "compile_commands.json").read_text("utf-8")):
    file = Path(command["file"])
    below = file.relative_to(build) if build in file.parents else file.relative_to(root)
    if ours.fullmatch(below.as_posix()) and "_build_info.dir" not in str(below):
        units.add(str(file))
print("\0".join(sorted(units)), end="\0")

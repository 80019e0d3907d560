"""Prints what a host compiler compiles of metrics, harness and kernels in a build, each file once
and ended by a NUL, and writes how to FOLDER/compile_commands.json: host_units.py BUILD FOLDER. With
unity most of them include a folder of sources. Programs compile build_info.cpp each with texts of
their own: one is taken."""

import json
import re
import sys
from pathlib import Path

build = Path(sys.argv[1]).resolve()
root = Path(__file__).resolve().parents[1]
ours = re.compile(r"(metrics|harness|kernels)/.*\.(cpp|cxx)")
units, commands = set(), []
for command in json.loads((build / "compile_commands.json").read_text("utf-8")):
    file = command["file"]
    base = build if build in Path(file).parents else root
    if not ours.fullmatch(Path(file).relative_to(base).as_posix()):
        continue
    if file not in units or "_build_info.dir" not in command["command"]:
        commands.append(command)
    units.add(file)
Path(sys.argv[2], "compile_commands.json").write_text(json.dumps(commands), "utf-8")
print("\0".join(sorted(units)), end="\0")

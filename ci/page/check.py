"""Checks layout and types of the page's scripts with deno, which has TypeScript's checker:
check.py DENO FOLDER FILE...

The page has them as one script, so their types are checked in one, joined in its order in FOLDER.
Prints each finding as FILE:LINE:COLUMN. Exit codes: 0 clean, 1 findings, 2 deno failed."""

import os
import re
import subprocess
import sys
from pathlib import Path

from warpgauge.page.view import SCRIPTS

PAGE = Path("reports/warpgauge/page")
UNFORMATTED = re.compile(r"^from (\S+):\n\s*(\d+) \|", re.M)
# A message, the line with marks below it, and the place.
TYPES = re.compile(
    r"(?:(TS\d+) \[ERROR\]|error): (.*?)\n.*?^ +at file://\S+?:(\d+):(\d+)$", re.M | re.S
)


def deno(pattern, command, *arguments):
    """What the pattern finds in the output of a command of deno."""
    call = [sys.argv[1], command, "--config", "ci/page/deno.json", *arguments]
    done = subprocess.run(call, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    findings = pattern.findall(done.stdout)
    if bool(findings) != (done.returncode != 0):
        print(f"{' '.join(call)}: status {done.returncode}\n{done.stdout}")
        sys.exit(2)
    return findings


joined, origins = "", []  # the file and line of each of its lines
for name in (name for name in SCRIPTS if "third_party" not in name):
    text = (PAGE / name).read_text("utf-8")
    joined += text
    origins += [f"{PAGE / name}:{line + 1}" for line in range(text.count("\n"))]
script = Path(sys.argv[2], "page.js")
script.write_text(joined, "utf-8")

found = []
for code, text, line, column in deno(TYPES, "check", "--quiet", str(script)):
    place = f"{origins[int(line) - 1]}:{column}"
    found.append(f"{place}: {text.removesuffix('.')} [{code or 'syntax'}]")
if not any(line.endswith("[syntax]") for line in found):  # which cannot be laid out
    for file, line in deno(UNFORMATTED, "fmt", "--check", *sys.argv[3:]):
        found.append(f"{os.path.relpath(file)}:{line}:1: ci/lint --fix lays it out otherwise")
print("\n".join(found))
sys.exit(bool(found))

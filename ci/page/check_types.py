"""Checks the types of the page's scripts with TypeScript's checker: check_types.py DENO FOLDER.

The page has them as one script, so they are checked as one, joined in its order in FOLDER. Prints
each finding as FILE:LINE:COLUMN. Exit codes: 0 clean, 1 findings, another: deno failed."""

import re
import subprocess
import sys
from pathlib import Path

from warpgauge.page.view import SCRIPTS

PAGE = Path("reports/warpgauge/page")
# A message, the line with marks below, and the place, or what ends the parser.
FINDING = re.compile(
    r"(?:(TS\d+) \[ERROR\]|error): (.*?)\n.*?^ +at file://\S+?:(\d+):(\d+)$", re.M | re.S
)

deno, folder = sys.argv[1:]
joined, origins = "", []  # the file and line of each of its lines
for name in (name for name in SCRIPTS if "third_party" not in name):
    text = (PAGE / name).read_text("utf-8")
    joined += text
    origins += [f"{PAGE / name}:{line + 1}" for line in range(text.count("\n"))]
script = Path(folder, "page.js")
script.write_text(joined, "utf-8")
check = [deno, "check", "--quiet", "--config", "ci/page/deno.json", str(script)]
done = subprocess.run(check, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
findings = FINDING.findall(done.stdout)
for code, text, line, column in findings:
    print(f"{origins[int(line) - 1]}:{column}: {text.removesuffix('.')} [{code or 'syntax'}]")
if done.returncode != 0 and not findings:
    print(f"{' '.join(check)}: status {done.returncode}\n{done.stdout}")
    sys.exit(2)
sys.exit(done.returncode)

"""Shared by the tests of `warpgauge diff`: facts, and the program on two runs of them."""

import os
import subprocess
from pathlib import Path

from some_facts import FACT, write

BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"
SAME = {"source_hash": "5", "sass_hash": "a"}


def a_fact(metric="shared.bank_conflicts", value=100, case=("transpose", "tiled"), **members):
    family, variant = case
    source = {} if value is not None else {"source": None}
    verdict = "unbudgeted" if value is not None else "unmeasured"
    return {
        **FACT,
        **{"family": family, "variant": variant, "type": "f32", "size": "8x8", "metric": metric},
        **{"value": value, "budget": None, "budget_reason": None, "verdict": verdict},
        **{"reason": None, **SAME, **source, **members},
    }


def a_line(line, value, **members):
    return a_fact(value=value, **{"scope": "line", "line": line, "verdict": None, **members})


def a_time(value, low, high, **members):
    noise = {"confidence": "estimate", "confidence_reason": "times differ", "code_hash": "c"}
    return a_fact("time.median_us", value, **{"interval": [low, high], **noise, **members})


def run(*arguments):
    command = [BIN / "warpgauge", "diff", *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return result.returncode, result.stdout, result.stderr


def differ(folder):
    """A function that compares two runs: what the program returns and prints."""

    def compare(a, b, *options):
        return run(write(folder / "a.jsonl", a), write(folder / "b.jsonl", b), *options)

    return compare


def rows(out):
    """Of what --all prints, the rows of values and lines that are not the same."""
    found = [line.strip() for line in out.splitlines() if line.startswith("  ")]
    return [row for row in found if not row.startswith("same ")]

"""What the tests of `warpgauge diff` share: facts, and the program on two runs of them."""

import json
from pathlib import Path

from warpgauge.program import main

ROOT = Path(__file__).resolve().parents[2]
MEASURED = json.loads((ROOT / "tests/data/facts/good.jsonl").read_text().splitlines()[0])
UNITS = {
    "shared.bank_conflicts": "wavefronts",
    "occupancy.theoretical": "fraction",
    "occupancy.limiter": "resource",
    "registers": "registers/thread",
    "time.median_us": "us",
    "result.correct": "bool",
    "result.max_error": "1",
    "global.sectors_ideal": "sectors",
}
SAME = {"source_hash": "5", "sass_hash": "a"}


def a_fact(metric="shared.bank_conflicts", value=100, case=("transpose", "tiled"), **members):
    family, variant = case
    confidence = {} if value is not None else {"confidence": None, "source": None}
    verdict = "unbudgeted" if value is not None else "unmeasured"
    return {
        **MEASURED,
        **{"id": f"{family}.{variant}.f32@8x8", "family": family, "variant": variant},
        **{"type": "f32", "size": "8x8", "metric": metric, "unit": UNITS[metric]},
        **{"value": value, "budget": None, "budget_reason": None, "verdict": verdict},
        **{"reason": None, **SAME, **confidence, **members},
    }


def a_line(line, value, **members):
    return a_fact(value=value, **{"scope": "line", "line": line, "verdict": None, **members})


def a_time(value, low, high, **members):
    noise = {"confidence": "estimate", "confidence_reason": "times differ", "code_hash": "c"}
    return a_fact("time.median_us", value, **{"interval": [low, high], **noise, **members})


def differ(tmp_path, capsys):
    """A function that compares two runs: what the program returns and prints."""

    def compare(a, b, *options):
        for name, facts in (("a", a), ("b", b)):
            text = "".join(json.dumps(fact) + "\n" for fact in facts)
            (tmp_path / f"{name}.jsonl").write_text(text)
        code = main(["diff", str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"), *options])
        out, err = capsys.readouterr()
        return code, out, err

    return compare


def rows(out):
    """The rows of values and lines, without the cases above them."""
    return [line.strip() for line in out.splitlines() if line.startswith("  ")]

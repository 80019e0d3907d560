"""What the tests of `warpgauge diff` share: facts, and the program on two runs of them."""

from pathlib import Path

from some_facts import FACT, write
from warpgauge.program import main

ROOT = Path(__file__).resolve().parents[2]
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


def differ(tmp_path, capsys):
    """A function that compares two runs: what the program returns and prints."""

    def compare(a, b, *options):
        for name, facts in (("a", a), ("b", b)):
            write(tmp_path / f"{name}.jsonl", facts)
        code = main(["diff", str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"), *options])
        out, err = capsys.readouterr()
        return code, out, err

    return compare


def rows(out):
    """The rows of values and lines, without the cases above them."""
    return [line.strip() for line in out.splitlines() if line.startswith("  ")]

"""The cure that a failure prints: variant `rows` of tests/cures is given one, and variant `cured`,
which applies it, counts what was promised. Gate, results, SARIF and explain print the same.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest
from warpgauge.facts.reader import read_facts

BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"
CONFLICTS = "shared.bank_conflicts"
# type -> the cure, and the wavefronts that it promises
CURES = {
    "word": (
        "Rows are 128 words apart: pad by 1 word; this access then takes 1 wavefront instead of "
        "32, ideal 1.",
        1,
    ),
    "double": (
        "Rows are 256 words apart: pad by 2 words, which keeps 8-byte alignment; this access then "
        "takes 2 wavefronts instead of 32, ideal 2.",
        2,
    ),
    "float4": (
        "Rows are 128 words apart: pad by 4 words, which keeps 16-byte alignment; this access then "
        "takes 4 wavefronts instead of 32, ideal 4.",
        4,
    ),
    # Padded by a word already.
    "block": (
        "Rows are 129 words apart: pad by 7 words more; this access then takes 1 wavefront instead "
        "of 4, ideal 1.",
        1,
    ),
}


def warpgauge(*arguments, code):
    result = subprocess.run(
        [BIN / "warpgauge-faulty", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout


def gate(out, case, code):
    emulated = ("--device=emulated", "--arch", "sm_90")
    return warpgauge("gate", *emulated, "--filter", case, "--out", out, code=code)


def wavefronts_of_the_read(out):
    """Of the line that only reads shared memory: by one warp, once."""
    (line,) = (
        fact
        for fact in read_facts(out / "facts.jsonl")
        if fact.scope == "line" and fact.metric == "shared.wavefronts_ideal" and fact.value <= 4
    )
    (taken,) = (
        fact.value
        for fact in read_facts(out / "facts.jsonl")
        if fact.scope == "line" and fact.metric == "shared.wavefronts" and fact.line == line.line
    )
    return taken


@pytest.mark.parametrize("type", CURES)
def test_a_cure_that_is_applied_counts_what_was_promised(tmp_path, type):
    cure, promised = CURES[type]
    red = gate(tmp_path / "rows", f"cures.rows.{type}@*", code=1)
    assert f"\n  cure     {cure}\n" in red
    assert "Pad rows" not in red
    gate(tmp_path / "cured", f"cures.cured.{type}@*", code=0)
    assert wavefronts_of_the_read(tmp_path / "cured") == promised
    assert wavefronts_of_the_read(tmp_path / "rows") > promised


def test_where_nothing_helps_nothing_is_claimed(tmp_path):
    red = gate(tmp_path, "cures.rows.scattered@*", code=1)
    taken = int(wavefronts_of_the_read(tmp_path))
    assert (
        "\n  cure     Lanes are at no constant distance, 4 bytes a lane: no padding or swizzle of "
        f"those tried takes fewer than {taken} wavefronts, ideal 1.\n" in red
    )


def test_of_global_memory_the_distance_of_lanes_is_told(tmp_path):
    red = gate(tmp_path, "canaries.stride_added.*", code=1)
    assert (
        "\n  cure     Neighbouring lanes are 32 bytes apart: side by side from a multiple of 32 "
        "this access takes 4 sectors instead of 32, ideal 4.\n" in red
    )


def test_every_output_has_the_same_cure(tmp_path):
    cure, _ = CURES["float4"]
    case = "cures.rows.float4@32x128"
    gate(tmp_path, case, code=1)
    findings = json.loads((tmp_path / "results.json").read_text())["findings"]
    assert {found["cure"] for found in findings if found["metric"] == CONFLICTS} == {cure}
    facts = [
        fact
        for fact in read_facts(tmp_path / "facts.jsonl")
        if fact.metric == CONFLICTS and fact.value
    ]
    assert {(fact.scope, fact.cure) for fact in facts} == {("case", cure), ("line", cure)}
    for format in ("sarif", "github", "markdown"):
        drawn = warpgauge("emit", tmp_path / "results.json", "--format", format, code=0)
        assert cure.partition(",")[0] in drawn, format
    explained = warpgauge("explain", case, "--device=emulated", code=0)
    assert f"\n         {cure}\n" in explained
    drawn = warpgauge("explain", case, "--text", "--device=emulated", code=0)
    assert cure in " ".join(drawn.split())

"""docs/stability.md: files of another version are refused, by each command that reads them."""

import os
import subprocess
from pathlib import Path

import pytest

BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"
ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs/stability.md").read_text()


@pytest.mark.parametrize(
    "command",
    [
        ("outcome", "facts.jsonl", "--out", "results.json"),
        ("diff", "facts.jsonl", "facts.jsonl"),
        ("accept", "facts.jsonl"),
        ("report", "ingest", "facts.jsonl", "--db", "nights.db"),
    ],
    ids=lambda command: command[0],
)
def test_facts_of_another_schema_are_refused(command, tmp_path):
    facts = (ROOT / "tests/data/outcome/h100.jsonl").read_text()
    assert "warpgauge.fact/2" in facts
    (tmp_path / "facts.jsonl").write_text(facts.replace("warpgauge.fact/2", "warpgauge.fact/3"))
    done = subprocess.run(
        [BIN / "warpgauge", *command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "CI": ""},  # CI accepts no budgets
    )
    assert done.returncode == 2
    wanted = "1: schema is 'warpgauge.fact/3', and this version reads 'warpgauge.fact/2'"
    assert wanted in done.stderr, done.stderr
    assert wanted in DOCUMENT
    assert not (tmp_path / "results.json").exists()


@pytest.mark.parametrize(
    ("path", "schema"),
    [
        ("metrics/facts/fact.schema.json", "warpgauge.fact/2"),
        ("harness/outcome/results_json.cpp", "warpgauge.results/1"),
    ],
)
def test_the_page_names_the_schemas_that_are_written(path, schema):
    assert schema in (ROOT / path).read_text() and f"`{schema}`" in DOCUMENT

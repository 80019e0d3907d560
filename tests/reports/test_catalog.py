"""The copy of the table of metrics that Python reads is the program's."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from warpgauge.facts.catalog import catalog

ROOT = Path(__file__).parents[2]
WARPGAUGE = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin" / "warpgauge"
COPY = ROOT / "metrics" / "catalog.json"


def test_copy_is_what_the_program_prints():
    printed = subprocess.run(
        [WARPGAUGE, "metrics", "--json"], capture_output=True, text=True, check=True
    )
    assert printed.stdout == COPY.read_text(), (
        "write it again: build/ci/bin/warpgauge metrics --json > metrics/catalog.json"
    )


def test_the_readable_table_says_the_same():
    printed = subprocess.run([WARPGAUGE, "metrics"], capture_output=True, text=True, check=True)
    for metric in catalog().values():
        words = f"    {metric.meaning}\n    good  {metric.good}\n    cure  {metric.cure}\n"
        assert words in printed.stdout, metric.id


def test_json_of_one_chip_is_refused():
    refused = subprocess.run(
        [WARPGAUGE, "metrics", "--json", "--chip", "GH100"], capture_output=True, text=True
    )
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--chip excludes --json" in refused.stderr


def test_rows_are_read_whole():
    conflicts = catalog()["shared.bank_conflicts"]
    assert (conflicts.direction, conflicts.cls, conflicts.unit) == ("lower", "exact", "wavefronts")
    assert conflicts.meaning.startswith("Passes taken beyond the ideal")
    assert conflicts.good.startswith("0: each request takes as few passes")
    assert "Pad rows" in conflicts.cure
    assert catalog()["occupancy.limiter"].direction == "none"
    assert {metric.cls for metric in catalog().values()} == {"exact", "bounded", "info"}


@pytest.mark.parametrize("row", json.loads(COPY.read_text())["metrics"], ids=lambda row: row["id"])
def test_words_are_sentences(row):
    for column in ("meaning", "good", "cure"):
        assert row[column].endswith("."), column

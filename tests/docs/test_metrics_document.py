"""docs/metrics.md is generated from the table of metrics and is up to date."""

import importlib.util
import json
import os
import re
import subprocess
from pathlib import Path

from warpgauge.facts.catalog import catalog

ROOT = Path(__file__).resolve().parents[2]
WARPGAUGE = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin" / "warpgauge"


def program():
    spec = importlib.util.spec_from_file_location("make_metrics", ROOT / "docs/make_metrics.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_document_is_up_to_date():
    assert (ROOT / "docs/metrics.md").read_text() == program().document(), (
        "write it again: build/venv/bin/python docs/make_metrics.py"
    )


def test_every_metric_of_the_gauge_has_an_entry():
    printed = subprocess.run(
        [WARPGAUGE, "metrics", "--json"], capture_output=True, text=True, check=True
    )
    ids = [row["id"] for row in json.loads(printed.stdout)["metrics"]]
    entries = re.findall(r"^### (\S+)$", (ROOT / "docs/metrics.md").read_text(), re.M)
    assert sorted(entries) == sorted(ids) and len(ids) == len(catalog())

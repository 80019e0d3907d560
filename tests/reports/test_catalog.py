"""The copy of the table of metrics that Python reads is the program's."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from warpgauge.facts.catalog import catalog

ROOT = Path(__file__).parents[2]
WARPGAUGE = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin" / "warpgauge"
COPY = ROOT / "metrics" / "facts" / "catalog.json"


def test_copy_is_what_the_program_prints():
    printed = subprocess.run(
        [WARPGAUGE, "metrics", "--json"], capture_output=True, text=True, check=True
    )
    assert printed.stdout == COPY.read_text(), (
        "write it again: build/ci/bin/warpgauge metrics --json > metrics/facts/catalog.json"
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
    assert "--json takes --chip only with --search" in refused.stderr


def test_rows_are_read_whole():
    conflicts = catalog()["shared.bank_conflicts"]
    assert (conflicts.direction, conflicts.cls, conflicts.unit) == ("lower", "exact", "wavefronts")
    assert conflicts.meaning.startswith("Passes taken beyond the ideal")
    assert conflicts.good.startswith("0: each request takes as few passes")
    assert "Pad rows" in conflicts.cure
    assert catalog()["occupancy.limiter"].direction == "none"
    assert {metric.cls for metric in catalog().values()} == {"exact", "bounded", "info"}


def test_a_counter_is_a_row_by_its_name():
    row = catalog()["counter.sm__inst_executed.sum.per_second"]
    assert (row.unit, row.direction, row.cls, row.source) == (
        "counts/s",
        "none",
        "bounded",
        "cupti-range",
    )
    assert row.cupti_names == ("sm__inst_executed.sum.per_second",)
    assert catalog()["counter.LTS.TriageCompute.lts__t_sectors.sum"].unit == "counts"
    assert catalog().get("counter.l1tex__throughput.avg.pct_of_peak_sustained_active") is not None
    assert not any(name.startswith("counter.") for name in catalog())


@pytest.mark.parametrize(
    "name",
    ["counter.", "counter.sm__inst", "counter.sm__inst.sum\n", "counter.<b>__x.sum", "sm__inst.sum"]
    + ["counter.a__" + "b" * 300 + ".sum"],
)
def test_what_has_not_the_shape_of_a_counter_is_no_metric(name):
    assert name not in catalog()
    with pytest.raises(KeyError):
        catalog()[name]


def run_metrics(*options):
    return subprocess.run([WARPGAUGE, "metrics", *options], capture_output=True, text=True)


def without_cupti(finished):
    if finished.returncode == 3:
        pytest.skip(finished.stderr)
    return finished


def test_counters_of_a_chip_are_found_by_a_word_without_a_gpu():
    found = without_cupti(run_metrics("--chip", "gh100", "--search", "pipe_tensor", "--json"))
    counters = {row["name"]: row for row in json.loads(found.stdout)["counters"]}
    tensor = counters["sm__inst_executed_pipe_tensor"]
    assert (tensor["type"], tensor["unit"], tensor["hw_unit"]) == ("counter", "instruction", "sm")
    assert {"sum", "avg", "sum.per_second"} <= set(tensor["rollups"])
    for row in counters.values():
        assert "pipe_tensor" in (row["name"] + row["description"]).lower()
    text = run_metrics("--chip", "GH100", "--search", "PIPE_TENSOR").stdout
    assert "sm__inst_executed_pipe_tensor (counter, instruction)\n" in text
    assert text.splitlines()[-1].startswith(f"{len(counters)} counters;")


def test_every_counter_of_a_chip_with_every_rollup_is_a_metric():
    found = without_cupti(run_metrics("--chip", "GH100", "--search", "", "--json"))
    counters = json.loads(found.stdout)["counters"]
    types = [row["type"] for row in counters]
    assert (types.count("counter") > 3000, types.count("ratio") > 200) == (True, True)
    shape = catalog()._shape
    names = [f"counter.{row['name']}.{rollup}" for row in counters for rollup in row["rollups"]]
    assert [name for name in names if not shape.fullmatch(name)] == []


def test_an_unknown_chip_is_told_those_that_there_are():
    refused = without_cupti(run_metrics("--chip", "gh10", "--search", "tensor"))
    assert refused.returncode == 2
    assert "did you mean 'GH100'?; the chips are GV100 " in refused.stderr


def test_a_search_needs_a_chip():
    for words in ([], ["--chip", "all"]):
        refused = run_metrics("--search", "tensor", *words)
        assert refused.returncode == 2
        assert "--search needs --chip with one chip" in refused.stderr


@pytest.mark.parametrize("row", json.loads(COPY.read_text())["metrics"], ids=lambda row: row["id"])
def test_words_are_sentences(row):
    for column in ("meaning", "good", "cure"):
        assert row[column].endswith("."), column

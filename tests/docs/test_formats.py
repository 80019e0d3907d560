"""docs/formats.md names the members of facts that metrics/facts/fact.schema.json has."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RECORDS = json.loads((ROOT / "metrics/facts/fact.schema.json").read_text())["$defs"]
TEXT = (ROOT / "docs/formats.md").read_text()


def first_column(record):
    section = re.search(rf"^### {record}\n(.*?)(?=^##|\Z)", TEXT, re.M | re.S)[1]
    return [
        name
        for cell in re.findall(r"^\| (`[^|]+) \|", section, re.M)
        for name in re.findall(r"`(\w+)`", cell)
    ]


@pytest.mark.parametrize("record", ["run", "case", "shared", "values", "end"])
def test_members_of_a_record_are_those_of_the_schema(record):
    assert sorted(first_column(record)) == sorted(RECORDS[record]["properties"])


def test_members_of_a_limit_are_those_of_the_schema():
    row = re.search(r"^\| `limit` \| (.+) \|$", TEXT, re.M)[1]
    limit = RECORDS["values"]["properties"]["limit"]["properties"]
    assert set(limit) <= set(re.findall(r"`(\w+)`", row))

"""results.json keeps to its schema, harness/outcome/results.schema.json."""

import json
from pathlib import Path

import jsonschema_rs
import pytest
from programs import run
from some_facts import limit_of, registers, write
from warpgauge.facts.limit import Limit

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "harness/outcome/results.schema.json").read_text())
RECORDED = ("outcome/h100", "emit/canaries", "facts/good", "facts/good_time", "facts/good_empty")


def outcome(folder, *arguments):
    """The exit code and the results of `warpgauge outcome`."""
    out = folder / "results.json"
    done = run("warpgauge", "outcome", *arguments, "--out", out)
    return done.returncode, json.loads(out.read_text())


def objects(part):
    """All objects of known members that the schema describes."""
    if "properties" in part:
        yield part
    for inner in part.values():
        if isinstance(inner, dict):
            yield from objects(inner)


def test_schema_is_valid_closed_and_described():
    jsonschema_rs.meta.validate(SCHEMA)
    for part in objects(SCHEMA):
        assert part["additionalProperties"] is False, part
        assert set(part["required"]) <= set(part["properties"])
        assert part["description"], part


@pytest.mark.parametrize("options", [(), ("--every-value",)], ids=["judged", "every value"])
@pytest.mark.parametrize("recorded", RECORDED)
def test_outcomes_keep_to_the_schema(tmp_path, recorded, options):
    facts = ROOT / "tests" / "data" / f"{recorded}.jsonl"
    code, results = outcome(tmp_path, facts, *options)
    jsonschema_rs.validator_for(SCHEMA).validate(results)
    assert results["exit_code"] == code
    assert results["status"] == ("pass", "fail", "error", "not measured")[code]
    budgeted = [n for verdict, n in results["counts"].items() if verdict != "unbudgeted"]
    assert sum(budgeted) == results["checks"]


@pytest.mark.parametrize(
    "text",
    ["= 32", "= 0", "<= 13", "<= 13.5 ± 5%", ">= 0.25 and <= 2 ± 12.5%", "<= 1e-05"]
    + [">= 1 and <= 2 until 2027-01-31", "<= 9007199254740992 ± 0.1%", "<= 1.1 x 30 of other.f32"],
)
def test_python_writes_limits_as_the_gauge_does(tmp_path, text):
    bounds, _, reference = text.partition(" x ")
    limit = limit_of(bounds, reason="theory", origin="budgets.toml:3")
    if reference:
        limit |= {"of": "other.f32", "reference": 30}
    assert Limit(**limit).text == text
    fact = registers(value=20, verdict="fail", reason="it is 20", limit=limit, budget=None)
    results = outcome(tmp_path, write(tmp_path / "facts.jsonl", [fact]))[1]
    assert results["findings"][0]["budget"] == f"{text} (theory)"


def test_several_files_are_one_outcome(tmp_path):
    files = [ROOT / "tests" / "data" / f"{name}.jsonl" for name in RECORDED[:2]]
    code, both = outcome(tmp_path, *files)
    singles = [outcome(tmp_path, file)[1] for file in files]
    assert both["checks"] == sum(single["checks"] for single in singles)
    assert len(both["findings"]) == sum(len(single["findings"]) for single in singles)
    assert code == 2, "the canaries have a fault"
    jsonschema_rs.validator_for(SCHEMA).validate(both)


def test_facts_are_not_replaced_by_their_results(tmp_path):
    facts = tmp_path / "facts.jsonl"
    text = (ROOT / "tests/data/facts/good.jsonl").read_text()
    facts.write_text(text)
    (tmp_path / "link").symlink_to(facts)
    for out in (facts, tmp_path / "link"):
        done = run("warpgauge", "outcome", facts, "--out", out, code=2)
        assert "the results would replace the facts; name another file" in done.stderr
    assert facts.read_text() == text

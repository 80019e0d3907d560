"""Readers of the formats of CI systems that are not warpgauge's: what they do not take, fails."""

import json
import re
import subprocess
from xml.etree import ElementTree

import jsonschema_rs
from emit_samples import ROOT
from junitparser import JUnitXml
from markdown_it import MarkdownIt
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from tap.parser import Parser

# One of the schema's patterns has a bracket that closes nothing, which not all regexes allow.
SARIF = jsonschema_rs.validator_for(
    json.loads(
        (ROOT / "tests" / "data" / "emit" / "sarif-2.1.0.schema.json")
        .read_text()
        .replace("{2}]?$", r"{2}\\]?$")
    )
)

# The fields that GitLab documents for Code Quality, and no others.
CODE_QUALITY = jsonschema_rs.validator_for(
    {
        "type": "array",
        "items": {
            "type": "object",
            "additionalProperties": False,
            "required": ["description", "check_name", "fingerprint", "severity", "location"],
            "properties": {
                "description": {"type": "string", "minLength": 1},
                "check_name": {"type": "string", "minLength": 1},
                "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{16,64}$"},
                "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
                "location": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["path", "lines"],
                    "properties": {
                        "path": {"type": "string", "pattern": "^[^./]"},
                        "lines": {
                            "type": "object",
                            "required": ["begin"],
                            "properties": {"begin": {"type": "integer", "minimum": 1}},
                        },
                    },
                },
            },
        },
    }
)


def junit(text):
    """Suites by name."""
    ElementTree.fromstring(text)
    return {suite.name: suite for suite in JUnitXml.fromstring(text.encode())}


def sarif(text):
    """The runs, valid by the schema and with all that GitHub asks for beyond it."""
    log = json.loads(text)
    SARIF.validate(log)
    categories = [run["automationDetails"]["id"] for run in log["runs"]]
    assert len(set(categories)) == len(categories) <= 20
    for run in log["runs"]:
        rules = run["tool"]["driver"]["rules"]
        for rule in rules:
            assert rule["shortDescription"]["text"] and rule["fullDescription"]["text"]
            assert rule["help"]["text"]
        assert len(run["results"]) <= 25_000
        prints = [
            result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]
        ]
        assert len(set(prints)) == len(prints)
        for result in run["results"]:
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
            (place,) = result["locations"]
            region = place["physicalLocation"]["region"]
            assert region["endLine"] >= region["startLine"] >= 1
    return log["runs"]


def github(text):
    """(command, properties, message) of each line, as the runner of GitHub Actions reads them."""
    commands = []
    for line in text.removesuffix("\n").split("\n"):
        assert line.isprintable()
        match = re.fullmatch(r"::(\w+)(?: (.*?))?::(.*)", line)
        kind, properties, data = match.groups()
        pairs = dict(pair.split("=", 1) for pair in (properties or "").split(","))
        commands.append((kind, {k: _unescape(v) for k, v in pairs.items()}, _unescape(data)))
    return commands


def _unescape(text):
    for code, letter in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, letter)
    return text


def markdown(text):
    """The tokens of GitHub-flavoured Markdown, HTML included, those within lines among them."""
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(text)
    return [inner for token in tokens for inner in [token, *(token.children or [])]]


def code_quality(text):
    issues = json.loads(text)
    CODE_QUALITY.validate(issues)
    prints = [issue["fingerprint"] for issue in issues]
    assert len(set(prints)) == len(prints)  # GitLab merges those that are equal
    return issues


def open_metrics(text):
    """Samples by name of the metric."""
    families = text_string_to_metric_families(text)
    return {family.name: [(s.labels, s.value) for s in family.samples] for family in families}


def tap(text):
    """The test points, with their YAML."""
    lines = list(Parser().parse_text(text))
    assert [line.category for line in lines if line.category == "unknown"] == []
    (version,) = [line for line in lines if line.category == "version"]
    (plan,) = [line for line in lines if line.category == "plan"]
    tests = [line for line in lines if line.category == "test"]
    assert (version.version, plan.expected_tests) == (14, len(tests))
    assert [test.number for test in tests] == list(range(1, len(tests) + 1))
    return tests


def ctest(text, folder):
    """name -> (type, value) of what `ctest -T Test` records of a test that prints the text."""
    (folder / "text").write_text(text)
    (folder / "CTestTestfile.cmake").write_text('add_test(emit "/bin/cat" "text")\n')
    (folder / "DartConfiguration.tcl").write_text(
        f"SourceDirectory: {folder}\nBuildDirectory: {folder}\nSite: s\nBuildName: b\n"
    )
    subprocess.run(["ctest", "-T", "Test"], cwd=folder, check=True, capture_output=True)
    (report,) = folder.glob("Testing/*/Test.xml")
    return {
        named.get("name"): (named.get("type"), named.findtext("Value"))
        for named in ElementTree.parse(report).iter("NamedMeasurement")
    }

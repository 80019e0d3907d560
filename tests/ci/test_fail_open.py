"""Ways in which gates are known to have passed when they should not, each tried on this one.

Every test is one way: its name says how a gate could let a change through, its exit code and words
what this gate does instead. (That each kind of planted defect is blocked shows test_canaries.py.)
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from private_mounts import OWN_MOUNTS, with_file
from warpgauge.facts.reader import read_facts

BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"
ROOT = Path(__file__).resolve().parents[2]
BUDGETS = ROOT / "tests" / "canaries" / "budgets.toml"
HEALTHY, RED = "canaries.healthy.*", "canaries.padding_removed.*"

WITHIN, OVER, FAULT, NOT_MEASURED = range(4)  # exit codes


@dataclass(frozen=True)
class Way:
    name: str
    exit_code: int
    says: str
    act: Callable[[Path], subprocess.CompletedProcess]


WAYS = []


def way(name, exit_code, says):
    def keep(act):
        WAYS.append(Way(name, exit_code, says, act))
        return act

    return keep


def run(program, *arguments, before=(), **environment):
    return subprocess.run(
        [*before, BIN / program, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | environment,
    )


def gate(folder, pattern, *arguments, program="warpgauge-faulty", before=()):
    options = ["--filter", pattern, "--out", folder / "out"]
    if not any(str(argument).startswith("--device") for argument in arguments):
        options.append("--device=emulated")
    return run(program, "gate", *options, *arguments, before=before)


def gate_with_budgets(folder, text, pattern, *arguments):
    """The gate with another budget file of the canaries, which this process alone sees."""
    if OWN_MOUNTS is None:
        pytest.skip("this machine allows no mount of a file for one process")
    budgets = folder / "budgets.toml"
    budgets.write_text(text)
    return gate(folder, pattern, *arguments, before=with_file(budgets, at=BUDGETS))


def facts_of(folder, pattern, name):
    gate(folder, pattern)
    return (folder / "out" / "facts.jsonl").rename(folder / name)


# Comparisons and their direction.


@way("a value that falls counts as better although higher is better", OVER, "occupancy.theoretical")
def _(folder):
    return gate(folder, "canaries.block_too_large.*")


@way("a value far too good to be true passes a strict gate", OVER, "better")
def _(folder):
    budget = '["healthy"]\n"global.load.sectors" = { max = 10000, reason = "97 % more" }\n'
    return gate_with_budgets(folder, budget, HEALTHY, "--strict")


@way("a budget near 0 is exempt because per cent of it mean nothing", OVER, "bank_conflicts")
def _(folder):
    budget = '[default]\n"shared.bank_conflicts" = { equal = 0, tolerance = "50%" }\n'
    return gate_with_budgets(folder, budget, RED)


@way("a waiver lives for ever", OVER, "waiver expired on 2020-01-31")
def _(folder):
    waiver = '{ max = 5000, until = 2020-01-31, reason = "for now" }'
    return gate_with_budgets(folder, f'[default]\n"shared.bank_conflicts" = {waiver}\n', RED)


@way("a wrong result is measured all the same", FAULT, "wrong result: element 0")
def _(folder):
    return gate(folder, "faulty.wrong_result.*")


# A baseline that is not there, or not what it seems.


@way("an empty budget file disarms the gate", OVER, "built-in default")
def _(folder):
    return gate_with_budgets(folder, "", RED)


@way("a broken budget file counts as none", FAULT, "tests/canaries/budgets.toml:2:")
def _(folder):
    return gate_with_budgets(folder, '[default]\n"shared.bank_conflicts" = = 0\n', RED)


@way("a run that finds no baseline writes its own and passes", OVER, "built-in default")
def _(folder):
    result = gate(folder, "faulty.spilling.*")
    assert not (ROOT / "tests" / "faulty" / "budgets.toml").exists()
    return result


@way("a red run becomes the baseline of the next", OVER, "shared.bank_conflicts")
def _(folder):
    before = BUDGETS.read_bytes()
    gate(folder, RED)
    assert BUDGETS.read_bytes() == before
    return gate(folder, RED)


@way("CI accepts what CI has found", FAULT, "CI is set")
def _(folder):
    facts = facts_of(folder, RED, "red.jsonl")
    return run("warpgauge-python", "accept", facts, "--reason", "because", CI="true")


@way("a first run asks for a baseline that does not exist", WITHIN, "PASS")
def _(folder):
    return gate(folder, HEALTHY)


# A gate that is there and does nothing.


@way("the emulated program is of an older build", FAULT, "is of another build than ")
def _(folder):
    shutil.copy(BIN / "warpgauge-faulty", folder / "gauge")
    shutil.copy(BIN / "warpgauge-emulated", folder / "gauge-emulated")
    options = ["--device=emulated", "--filter", "hello.*", "--out", folder / "out"]
    return run(folder / "gauge", "gate", *options)


@way("the exit code is always 0", OVER, "FAIL: 1 value over budget")
def _(folder):
    return gate(folder, RED)


@way("the exit code of the tests is always 0", OVER, "bank_conflicts")
def _(folder):
    return run("warpgauge-faulty-check-emulated", f"--gtest_filter={RED}")


@way("the gate is not armed because its counter is blind", FAULT, "self test: a planted bank")
def _(folder):
    return gate(folder, HEALTHY, program="warpgauge-blind")


@way("the gate is not armed because counting is switched off", NOT_MEASURED, "NOT MEASURED")
def _(folder):
    return gate(folder, HEALTHY, "--device=auto", "--no-cupti", "--require=cupti")


# Omissions.


@way("an unknown architecture is skipped", FAULT, "did you mean 'sm_90'")
def _(folder):
    return gate(folder, RED, "--arch", "sm_91")


@way("a test of an unknown architecture is skipped", FAULT, "did you mean 'sm_90'")
def _(folder):
    return run("warpgauge-faulty-check-emulated", "--arch", "sm_91")


@way("a budget of an unknown architecture never holds", FAULT, "sm_9O")
def _(folder):
    return gate_with_budgets(folder, '["healthy".sm_9O]\nregisters = 1\n', HEALTHY)


@way("a filter that matches nothing passes", FAULT, "selects no case")
def _(folder):
    return gate(folder, "canaries.no_such.*")


@way("a filter of tests that matches nothing passes", FAULT, "no test was selected")
def _(folder):
    return run("warpgauge-faulty-check-emulated", "--gtest_filter=no.such")


@way("a test is not run because its name says DISABLED_", OVER, "hollow.DISABLED_wrong.f32@1024")
def _(folder):
    return run("warpgauge-faulty-check-emulated", "--gtest_filter=hollow.DISABLED_*")


@way("a result that was never written is the expected -1 by chance", FAULT, "wrong result")
def _(folder):
    return gate(folder, "hollow.unwritten.*")


@way("a call of CUDA that failed in a check is blamed on the next case", FAULT, "in its check()")
def _(folder):
    result = gate(folder, "hollow.*careless.*")
    facts = read_facts(folder / "out" / "facts.jsonl")
    errors = [fact.case.variant for fact in facts if fact.verdict == "error"]
    assert errors == ["careless"], result.stdout
    return result


@way("a result without a reference passes", FAULT, "its check compares nothing")
def _(folder):
    return gate(folder, "faulty.unchecked.*")


TIME_BUDGET = '[default]\n"time.median_us" = { max = 1, tolerance = "5%" }\n'


@way("a metric with a budget that was not measured passes in silence", WITHIN, "1 unmeasured: ")
def _(folder):
    result = gate_with_budgets(folder, TIME_BUDGET, HEALTHY)
    facts = read_facts(folder / "out" / "facts.jsonl")
    assert [f.metric for f in facts if f.verdict == "unmeasured"] == ["time.median_us"]
    return result


@way("a metric that was required and not measured passes", NOT_MEASURED, "NOT MEASURED")
def _(folder):
    return gate_with_budgets(folder, TIME_BUDGET, HEALTHY, "--device=auto", "--require=cupti")


@way("a case that is gone is skipped", FAULT, "budgets.toml:1:")
def _(folder):
    return gate_with_budgets(folder, '["healthy_no_more"]\nregisters = 10\n', HEALTHY)


@way("a case that crashed is skipped among those that pass", FAULT, "SIGABRT")
def _(folder):
    return gate(folder, "faulty.[gh]o*", "--timeout", "2")


# Comparisons of two runs.


@way("a comparison's exit code is 0 although counts differ", OVER, "DIFFERENT")
def _(folder):
    good = facts_of(folder, RED, "good.jsonl")
    bad = folder / "bad.jsonl"
    bad.write_text(re.sub(r'":1024\b', '":1023', good.read_text()))
    assert bad.read_text() != good.read_text()
    bad.write_text(bad.read_text().replace('"source":"emulator"', '"source":"cupti"'))
    return run("warpgauge", "diff", good, bad)


@way("a comparison of runs with nothing in common passes", FAULT, "in common")
def _(folder):
    good = facts_of(folder, HEALTHY, "good.jsonl")
    return run("warpgauge", "diff", good, facts_of(folder, RED, "other.jsonl"))


@way("a comparison with a file that is not there passes", FAULT, "none.jsonl")
def _(folder):
    good = facts_of(folder, HEALTHY, "good.jsonl")
    return run("warpgauge", "diff", folder / "none.jsonl", good)


@way("a change for the worse is shown and passes", OVER, "worse")
def _(folder):
    good = facts_of(folder, "canaries.local_array.*", "good.jsonl")
    bad = folder / "bad.jsonl"
    records = [json.loads(line) for line in good.read_text().splitlines()]
    for record in records:
        if "local.sectors" in record.get("values", ()):
            record["values"]["local.sectors"] *= 2
    bad.write_text("".join(json.dumps(record) + "\n" for record in records))
    return run("warpgauge", "diff", good, bad)


@way("a case that a comparison misses is skipped", NOT_MEASURED, "lost")
def _(folder):
    both = facts_of(folder, "canaries.[hp]*", "both.jsonl")
    return run("warpgauge", "diff", both, facts_of(folder, HEALTHY, "one.jsonl"))


@way("a report of nothing is written as a success", FAULT, "not a JSON object")
def _(folder):
    empty = folder / "results.json"
    empty.touch()
    return run("warpgauge-python", "emit", empty, "--format", "junit")


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_way(tmp_path, way):
    result = way.act(tmp_path)
    said = result.stdout + result.stderr
    assert result.returncode == way.exit_code, said
    assert way.says in said
    assert ("\nPASS: " in result.stdout) == (way.exit_code == WITHIN)


def test_ctest_without_a_matching_test_is_an_error_in_every_preset():
    presets = json.loads((ROOT / "CMakePresets.json").read_text())["testPresets"]
    by_name = {preset["name"]: preset for preset in presets}
    for preset in presets:
        while "execution" not in preset:
            preset = by_name[preset["inherits"]]
        assert preset["execution"]["noTestsAction"] == "error"

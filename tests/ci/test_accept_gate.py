"""`warpgauge accept` with the real gate: it fails before, and passes with tight budgets after."""

import os
import secrets
import shutil
import subprocess
from pathlib import Path

import pytest
from accept_project import ROOT
from warpgauge.commands.accept import CI_VARIABLES

BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"


@pytest.fixture
def other_root():
    """A source tree elsewhere, with a copy of the canaries whose budgets may change. Its path is no
    longer than the real one, which it replaces in a copy of the program."""
    root = Path("/tmp") / secrets.token_hex(2)
    assert len(str(root)) <= len(str(ROOT)), f"{ROOT} is too short a path for this test"
    root.mkdir()
    try:
        (root / "tests").mkdir()
        for entry in [*ROOT.iterdir(), *(ROOT / "tests").iterdir()]:
            if entry.name not in ("tests", "canaries"):
                (root / entry.relative_to(ROOT)).symlink_to(entry)
        shutil.copytree(ROOT / "tests/canaries", root / "tests/canaries")
        yield root
    finally:
        shutil.rmtree(root)


@pytest.fixture
def warpgauge(other_root, tmp_path):
    """A function that runs a gauge of the canaries whose sources are in the other root."""
    program = tmp_path / "warpgauge-faulty-emulated"
    padded_root = str(other_root).ljust(len(str(ROOT)), "/").encode()
    program.write_bytes((BIN / program.name).read_bytes().replace(bytes(ROOT), padded_root))
    program.chmod(0o755)
    shutil.copy(BIN / "warpgauge-python", tmp_path)
    outside_of_ci = {k: v for k, v in os.environ.items() if k not in CI_VARIABLES}

    def run(*words):
        return subprocess.run(
            [program, *words], capture_output=True, text=True, timeout=300, env=outside_of_ci
        )

    return run


@pytest.fixture
def gate(warpgauge, tmp_path):
    """A function that runs a strict gate: a budget that allows more than is needed is a failure."""

    def run():
        out = tmp_path / "out"
        shutil.rmtree(out, ignore_errors=True)
        # The counts of these are exact on the emulator, and only exact ones can be accepted.
        cases = "canaries.[ps]*ed.f32@*"
        return warpgauge("gate", "--device=emulated", "--out", out, "--filter", cases, "--strict")

    return run


def test_the_gate_passes_after_what_it_found_was_accepted(warpgauge, gate, other_root, tmp_path):
    assert gate().returncode == 1
    facts = tmp_path / "out/facts.jsonl"
    facts.write_text(facts.read_text().replace('"dirty":true', '"dirty":false'))
    reason = 'planted | `on` "purpose"'
    accepted = warpgauge("accept", facts, "--root", other_root, "--reason", reason)
    assert accepted.returncode == 0, accepted.stderr
    assert "`canaries.padding_removed.f32@1024`" in accepted.stdout

    result = gate()
    assert result.returncode == 0, result.stdout + result.stderr
    budgets = other_root / "tests/canaries/budgets.toml"
    text = budgets.read_text()
    # Every other line is kept. Occupancy is better than its budget on some architectures.
    before = (ROOT / "tests/canaries/budgets.toml").read_text().splitlines()
    kept = [line for line in before if line and not line.startswith('"occupancy')]
    assert [line for line in text.splitlines() if line in kept] == kept
    assert text.count("equal = 1984") == 1
    budgets.write_text(text.replace("equal = 1984", "equal = 1983"))
    assert gate().returncode == 1

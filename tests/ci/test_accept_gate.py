"""`warpgauge accept` with the real gate: red before, green and tight after."""

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
    """A source tree elsewhere, with a copy of the canaries whose budgets may change. Its path is
    as long as the real one: programs hold that, and a copy of one gets this instead."""
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


def test_the_gate_is_green_after_what_it_found_was_accepted(other_root, tmp_path):
    moved = str(other_root).ljust(len(str(ROOT)), "/").encode()
    program = tmp_path / "warpgauge-faulty-emulated"
    built = (BIN / program.name).read_bytes()
    program.write_bytes(built.replace(bytes(ROOT), moved))
    program.chmod(0o755)
    shutil.copy(BIN / "warpgauge-python", tmp_path)
    facts = tmp_path / "out" / "facts.jsonl"
    budgets = other_root / "tests/canaries/budgets.toml"

    def do(command, *arguments):
        return subprocess.run(
            [program, command, *arguments],
            **{"capture_output": True, "text": True, "timeout": 300},
            env={k: v for k, v in os.environ.items() if k not in CI_VARIABLES},
        )

    def gate():
        shutil.rmtree(facts.parent, ignore_errors=True)
        # Their counts are exact on the emulator, and exact ones alone can be accepted.
        chosen = ["--filter", "canaries.[ps]*ed.f32@*", "--strict"]
        return do("gate", "--device=emulated", "--out", facts.parent, *chosen)

    assert gate().returncode == 1
    facts.write_text(facts.read_text().replace('"dirty":true', '"dirty":false'))
    accepted = do("accept", facts, "--root", other_root, "--reason", 'planted | `on` "purpose"')
    assert accepted.returncode == 0, accepted.stderr
    assert "`canaries.padding_removed.f32@1024`" in accepted.stdout

    result = gate()  # strict: the new budgets are tight as well
    assert result.returncode == 0, result.stdout + result.stderr
    text = budgets.read_text()
    # Every other line is kept. Occupancy is better than its budget on some architectures.
    before = (ROOT / "tests/canaries/budgets.toml").read_text().splitlines()
    kept = [line for line in before if line and not line.startswith('"occupancy')]
    assert [line for line in text.splitlines() if line in kept] == kept
    assert text.count("equal = 1984") == 1
    budgets.write_text(text.replace("equal = 1984", "equal = 1983"))
    assert gate().returncode == 1

"""A gate on a GPU whose counters are refused, as in most clouds, has the emulator count."""

import os
import subprocess
from pathlib import Path

import pytest
from stored_facts import of_cases

BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"
pytestmark = pytest.mark.skipif(not Path("/dev/nvidia0").exists(), reason="no GPU on this machine")

# As CUPTI_ERROR_INSUFFICIENT_PRIVILEGES.
REFUSES = "int cuptiProfilerGetCounterAvailability(void* params) { (void)params; return 35; }"
COUNTED = "transpose.*@1024x1024"


@pytest.fixture(scope="module")
def refused(tmp_path_factory):
    """The environment of a program whose CUPTI refuses."""
    folder = tmp_path_factory.mktemp("refuses")
    (folder / "refuses.c").write_text(REFUSES)
    library = folder / "refuses.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, folder / "refuses.c"], check=True)
    return os.environ | {"LD_PRELOAD": str(library)}


def gate(out, *words, env=None):
    return subprocess.run(
        [BIN / "warpgauge", "gate", "--device=gpu", "--filter", COUNTED, "--out", out, *words],
        capture_output=True,
        text=True,
        timeout=300,
        env=env,
    )


def test_counts_are_the_emulators_and_say_so(tmp_path, refused):
    done = gate(tmp_path / "refused", env=refused)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert "counts are the emulator's; results and times the GPU's" in lines
    counted = gate(tmp_path / "counted")
    assert counted.returncode == 0, counted.stdout + counted.stderr
    assert "the emulator's" not in counted.stdout
    expected, got = of_cases(tmp_path / "counted"), of_cases(tmp_path / "refused")
    compared = 0
    for key, fact in expected.items():
        if fact.source != "cupti" or got[key].confidence == "estimate":
            continue
        assert (got[key].value, got[key].source) == (fact.value, "emulator"), key
        assert got[key].verdict == fact.verdict, key
        compared += 1
    assert compared > 20
    results = [fact for key, fact in got.items() if key[1] == "result.correct"]
    assert results and all(fact.source == "harness" for fact in results)
    assert all("Emulated" not in fact.device.name for fact in results)


def test_what_is_required_is_not_replaced(tmp_path, refused):
    done = gate(tmp_path, "--require=cupti", env=refused)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "ERR_NVGPUCTRPERM" in done.stdout
    assert not (tmp_path / "emulated").exists()

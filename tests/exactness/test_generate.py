"""The generated kernels, and the whole way from a seed to compared counts, without a GPU."""

import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
GAUGE = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin" / "warpgauge"
sys.path.insert(0, str(HERE))
from kernel import make_kernel  # noqa: E402
from statements import STATEMENTS  # noqa: E402

# Some of each group of headers (kernel.py).
SEEDS = [0, 3, 7, 50, 52, 105, 106, 151, 153]
# attach, where there is no GPU: the emulator, with another count of one kernel and another result
# of one more.
SOME_GAUGE = """#!{python}
import re, subprocess, sys
from pathlib import Path
arguments = sys.argv[1:]
is_attach = arguments[0] == "attach"
done = subprocess.run(["{gauge}", "emulate", *arguments[1:]], stdout=subprocess.PIPE, text=True)
if is_attach:
    done.stdout = re.sub("k_3 [0-9a-f]{{16}}", "k_3 " + 16 * "0", done.stdout)
    facts = Path(arguments[arguments.index("--out") + 1]) / "facts.jsonl"
    lines = facts.read_text().splitlines(keepends=True)
    [case] = [line[25:37] for line in lines if '"variant":"k_7"' in line]
    for k, line in enumerate(lines):
        if f'"values","case":"{{case}}"' in line and '"global.store.requests":' in line:
            lines[k] = line.replace('"global.store.requests":', '"global.store.requests":1')
            break
    facts.write_text("".join(lines))
print(done.stdout)
sys.exit(done.returncode)
"""


def script(name, *arguments, **environment):
    command = [HERE / name, *map(str, arguments)]
    environment = {**os.environ, **environment}
    result = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    return result.returncode, result.stdout + result.stderr


def texts(folder):
    return {path.name: path.read_text() for path in folder.glob("k_*.cuh")}


def test_a_kernel_follows_from_its_seed_alone(tmp_path):
    for name, seeds, hashes in (("a", "0:12", "1"), ("b", "3,11,5", "2")):
        code, out = script(
            *("generate", "--seeds", seeds, "--per-program", 4, "--out", tmp_path / name),
            PYTHONHASHSEED=hashes,
        )
        assert code == 0, out
    all, some = texts(tmp_path / "a"), texts(tmp_path / "b")
    assert len(all) == 12 and some.keys() == {"k_3.cuh", "k_11.cuh", "k_5.cuh"}
    assert some.items() <= all.items()
    assert sorted(path.name for path in (tmp_path / "a").glob("*.cu")) == [
        "p_0.cu",
        "p_4.cu",
        "p_8.cu",
    ]


def test_every_construct_occurs_in_the_first_thousand():
    names = {statement.name for statement in STATEMENTS}
    for file in HERE.glob("*.py"):
        names |= set(re.findall(r'w\.used\("([^"]+)"\)', file.read_text()))
    assert len(names) > 80
    found = {name for seed in range(1000) for name in make_kernel(seed).constructs}
    assert names <= found, names - found


def test_what_makes_later_launches_less_sure_stands_last():
    ordered = [seed for seed in range(50) if make_kernel(seed).is_ordered]
    assert 0 < len(ordered) < 20


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    """`run` with a planted difference in k_7."""
    folder = tmp_path_factory.mktemp("trial")
    gauge = folder / "gauge"
    gauge.write_text(SOME_GAUGE.format(python=sys.executable, gauge=GAUGE))
    gauge.chmod(0o755)
    options = ["--seeds", ",".join(map(str, SEEDS)), "--check", "all", "--jobs", 1]
    code, out = script(
        "run", *options, "--warpgauge", gauge, "--work", folder / "work", "--out", folder / "out"
    )
    return folder, code, out


def test_kernels_compile_and_are_clean(trial):
    folder, _, out = trial
    assert "emulate: 1 programs" in out and "failed:" not in out, out
    results = json.loads((folder / "work" / "emulated" / "p_0" / "results.json").read_text())
    assert [f for f in results["findings"] if f["verdict"] == "error"] == []
    assert results["cases_total"] == len(SEEDS)


def test_the_planted_difference_is_found(trial):
    folder, code, out = trial
    assert code == 1, out
    assert f"kernels compared: {len(SEEDS)}\nkernels that differ: 1 of {len(SEEDS)} " in out
    assert re.search(
        r"^p_0\.k_7\..*\n  \S.*: global.store.requests is \d+ emulated and 1\d+ attached", out, re.M
    )
    assert "other results: k_3\n" in out
    result = json.loads((folder / "out" / "result.json").read_text())
    assert result["generated"] == len(SEEDS) and result["failures"] == {}
    assert len(result["differing"]) == 1
    with tarfile.open(folder / "out" / "differing.tar.xz") as archive:
        assert archive.getnames() == ["k_7.cuh"]


def test_recorded_counts_are_compared_without_a_gpu(trial, tmp_path):
    folder, _, _ = trial
    recorded = tmp_path / "recorded.jsonl.xz"
    code, out = script(
        *("record", folder / "out" / "attached.jsonl.xz", "--seeds", "0,7,105", "--out", recorded)
    )
    assert code == 0 and out.startswith("3 kernels, "), out
    code, out = script("compare", folder / "work" / "emulated", recorded)
    assert code == 1 and "kernels that differ: 1 of 3" in out
    assert f"emulated only: {len(SEEDS) - 3} " in out
    code, out = script("record", recorded, "--seeds", "0:2", "--out", tmp_path / "none.xz")
    assert code == 2 and "no kernels of the seeds [1]" in out


def test_what_does_not_compile_is_named(tmp_path):
    (tmp_path / "nvcc").write_text("#!/bin/sh\necho 'k_0.cuh(3): error: no'\nexit 1\n")
    (tmp_path / "nvcc").chmod(0o755)
    code, out = script(
        *("run", "--seeds", "0:3", "--warpgauge", GAUGE, "--work", tmp_path / "w"),
        *("--out", tmp_path / "o"),
        PATH=f"{tmp_path}:{os.environ['PATH']}",
    )
    assert code == 2, out
    assert "failed: p_0: build: exit code 1: k_0.cuh(3): error: no\n" in out
    assert "kernels compared: 0\n" in out


def test_the_time_limit_is_kept(tmp_path):
    code, out = script(
        *("run", "--seeds", "0:3", "--warpgauge", GAUGE, "--work", tmp_path / "w"),
        *("--out", tmp_path / "o", "--limit", 1),
    )
    assert code == 2, out
    assert "not run, as the 1 s were over: 1 programs\n" in out

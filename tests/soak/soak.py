"""Runs many gates with random filters and architectures, several at once, and holds each exact
value against a reference: one gate of every family of the sample for all architectures. A third of
them is killed first and started again in the same folder. A killed gate must leave no process, no
temporary file and no outcome of facts that were cut off.

    build/venv/bin/python tests/soak/soak.py --gates 10000 --limit 480
    build/venv/bin/python tests/soak/soak.py --device gpu --program build/ci/bin/warpgauge

Exit codes: 0 every gate as expected, 1 one was not, 2 a fault: nothing could be compared.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import count
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "reports"))

from warpgauge.errors import FactError  # noqa: E402
from warpgauge.facts.reader import read_facts  # noqa: E402

# Small cases of all kinds of facts: shared memory, atomics, spills, stack, textures, divergence.
FAMILIES = (
    *("barrier_in_branch", "cache_operators", "constant_memory", "divergence", "fences"),
    *("funnel_shift", "generic_pointer", "half_precision", "hello", "local_array"),
    *("same_word_store", "stack", "system_scope", "three_components", "uneven_load"),
    *("uniform_load", "vote_barriers"),
)
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
LONGEST = 120  # seconds of a gate; one of this sample takes less than one
PATIENCE = 10  # seconds in which the processes of a killed gate end
MOST_LINES = 40


class Wrong(Exception):
    """A gate is not as expected."""


class Key(NamedTuple):
    """One value of a case, and where it belongs."""

    case: str
    arch: str
    device: str
    on_gpu: bool
    source: str
    scope: str
    node: int
    kernel: str
    metric: str
    place: str

    def __str__(self) -> str:
        parts = (self.case, self.arch, self.source, self.scope, self.kernel, self.place)
        return f"{self.metric} of {' '.join(filter(None, parts))}"


@dataclass(frozen=True)
class Values:
    """The exact values of a file of facts with their verdicts, and which estimates there are."""

    exact: dict[Key, list[str]]
    estimates: set[Key]

    def chosen(self, glob: str, archs: Iterable[str]) -> Values:
        """What a gate with this filter and these architectures finds. A GPU is always its own."""
        archs = set(archs)

        def fits(key: Key) -> bool:
            return fnmatchcase(key.case, glob) and (key.arch in archs or key.on_gpu)

        exact = {key: values for key, values in self.exact.items() if fits(key)}
        return Values(exact, set(filter(fits, self.estimates)))

    def differences(self, reference: Values) -> list[str]:
        lines = []
        for key in self.exact.keys() | reference.exact.keys():
            found, wanted = self.exact.get(key), reference.exact.get(key)
            if found != wanted:
                lines.append(f"{key}: {found}, reference {wanted}")
        lines += [f"missing estimate: {key}" for key in reference.estimates - self.estimates]
        return sorted(lines)


@dataclass(frozen=True)
class Gauge:
    program: Path
    device: str

    def gate(self, folder: Path, glob: str, archs: Iterable[str]) -> subprocess.Popen:
        """Starts a gate in a session of its own; it writes to `folder`/out."""
        (folder / "tmp").mkdir(parents=True, exist_ok=True)
        words = [self.program, "gate", "--no-bounded", "--device", self.device, "--out", "out"]
        with (folder / "output.txt").open("wb") as output:
            return subprocess.Popen(
                [*words, "--filter", glob, "--arch", ",".join(archs)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env=os.environ | {"TMPDIR": str(folder / "tmp")},
                start_new_session=True,
            )

    def archs(self) -> list[str]:
        command = [self.program, "list", "--archs"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def values_of(path: Path) -> Values:
    exact, estimates = defaultdict(list), set()
    for fact in read_facts(path):
        key = Key(
            case=fact.id,
            arch=fact.arch or "",
            device=fact.device.name if fact.device else "",
            on_gpu=fact.device is not None and not fact.device.is_emulated,
            source=fact.source or "",
            scope=fact.scope,
            node=-1 if fact.node is None else fact.node,
            kernel=fact.kernel or "",
            metric=fact.metric,
            place=" < ".join(f"{at.file}:{at.line}" for at in (fact, *fact.inlined)),
        )
        if fact.confidence == "estimate":
            if fact.scope == "case":  # it need not repeat, but is there
                estimates.add(key._replace(place=""))
        elif fact.row.cls == "exact":
            exact[key].append(f"{fact.value} {fact.verdict} {fact.case.code_hash}")
            exact[key].sort()
    return Values(dict(exact), estimates)


def run_gate(gauge: Gauge, folder: Path, glob: str, archs: Iterable[str]) -> Values:
    """Runs a gate to its end. Wrong unless all that it leaves says the same of how it ended."""
    gate, out = gauge.gate(folder, glob, archs), folder / "out"
    try:
        code = gate.wait(LONGEST)
    except subprocess.TimeoutExpired:
        os.killpg(gate.pid, signal.SIGKILL)
        raise Wrong(f"did not end within {LONGEST} s") from None
    if not (out / "facts.jsonl").exists():
        raise Wrong(f"exit code {code}, and no facts: {(folder / 'output.txt').read_text()}")
    end = json.loads((out / "facts.jsonl").read_text().splitlines()[-1])
    if end["record"] != "end":
        raise Wrong(f"exit code {code}, and the run was cut off")
    results = json.loads((out / "results.json").read_text())
    if not code == end["exit_code"] == results["exit_code"]:
        raise Wrong(f"exit code {code}, in facts {end['exit_code']}, {results['exit_code']}")
    if end["counts"] != results["counts"]:
        raise Wrong(f"facts count {end['counts']}, the outcome {results['counts']}")
    left = {path.name for path in (*out.iterdir(), *(folder / "tmp").iterdir())}
    if left != {".lock", "facts.jsonl", "results.json", "summary.md"}:
        raise Wrong(f"in the folders are {', '.join(sorted(left))}")
    check_free(out)
    return values_of(out / "facts.jsonl")


def check_free(out: Path) -> None:
    """Wrong if a process still holds the lock of the folder, as all processes of a gate do."""
    deadline = time.monotonic() + PATIENCE
    while (out / ".lock").exists():
        with (out / ".lock").open() as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise Wrong("a process of the gate has not ended") from None
        time.sleep(0.01)


def kill_gate(gauge: Gauge, folder: Path, glob: str, archs: Iterable[str], draw: random.Random):
    """Kills a gate at a random moment. Wrong if it leaves an outcome of facts that were cut off."""
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    gate, number = gauge.gate(folder, glob, archs), draw.choice(SIGNALS)
    try:
        gate.wait(draw.uniform(0, 0.6))
    except subprocess.TimeoutExpired:
        # A terminal sends SIGINT to the whole group.
        os.killpg(gate.pid, number) if number == signal.SIGINT else gate.send_signal(number)
    gate.wait(LONGEST)
    check_free(out)
    check_killed(out)


def check_killed(out: Path) -> None:
    facts = out / "facts.jsonl"
    lines = facts.read_text().splitlines() if facts.exists() else []
    ended = any(line.startswith('{"record":"end"') and line.endswith("}") for line in lines[-1:])
    written = [name for name in ("results.json", "summary.md") if (out / name).exists()]
    if written and not ended:
        raise Wrong(f"{', '.join(written)} of a run that was cut off")


def play(gauge: Gauge, reference: Values, draw: random.Random, folder: Path) -> None:
    """One gate, perhaps killed before; Wrong unless it finds what the reference has."""
    every = sorted({key.arch for key in reference.exact} - {""})
    case = draw.choice(sorted({key.case for key in reference.exact}))
    family, variant, rest = case.split(".", 2)
    globs = (case, f"{family}.{variant}.*", f"{family}.*@{rest.partition('@')[2]}", f"{family}.*")
    glob, archs = draw.choice(globs), draw.sample(every, min(draw.randint(1, 2), len(every)))
    if draw.random() < 1 / 3:
        kill_gate(gauge, folder, glob, archs, draw)
    found = run_gate(gauge, folder, glob, archs)
    if lines := found.differences(reference.chosen(glob, archs)):
        raise Wrong(f"--filter '{glob}' --arch {','.join(archs)}: " + "\n  ".join(lines))


def make_reference(gauge: Gauge, families: Iterable[str], folder: Path) -> Values:
    exact, estimates = {}, set()
    for family in families:
        found = run_gate(gauge, folder / family, f"{family}.*", gauge.archs())
        exact |= found.exact
        estimates |= found.estimates
    return Values(exact, estimates)


def soak(options: argparse.Namespace, folder: Path) -> int:
    gauge = Gauge(options.program.resolve(), options.device)
    reference = make_reference(gauge, options.families.split(","), folder)
    print(f"reference: {len(reference.exact)} exact values", flush=True)
    numbers, began = count(), time.monotonic()

    def work(job: int) -> list[str]:
        wrong, place = [], folder / f"job-{job}"
        while (number := next(numbers)) < options.gates:
            if options.limit and time.monotonic() - began > options.limit:
                break
            seed = f"{options.seed}-{number}"
            try:
                play(gauge, reference, random.Random(seed), place)
            except (Wrong, FactError) as error:
                wrong.append(f"gate {seed}: {error}")
                shutil.rmtree(place)
        return wrong

    with ThreadPoolExecutor(options.jobs) as pool:
        wrong = [line for lines in pool.map(work, range(options.jobs)) for line in lines]
    for line in wrong[:MOST_LINES]:
        print(line)
    print(f"{len(wrong)} of {min(next(numbers), options.gates)} gates are not as expected")
    return 1 if wrong else 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--gates", type=int, default=1000, help="gates to compare (default 1000)")
    add("--limit", type=float, metavar="SECONDS", help="stop earlier, after this time")
    add("--jobs", type=int, default=os.cpu_count(), help="gates at a time (default: all cores)")
    add("--seed", type=int, default=1, help="the gates follow from it (default 1)")
    add("--program", type=Path, default=ROOT / "build/ci/bin/warpgauge", help="the gauge")
    add("--device", choices=("auto", "gpu", "emulated"), default="emulated")
    add("--families", metavar="NAME,...", default=",".join(FAMILIES), help="the sample of cases")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="warpgauge-soak-") as folder:
        try:
            return soak(options, Path(folder))
        except (Wrong, FactError, OSError, subprocess.CalledProcessError) as error:
            print(f"soak: {error}", file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main())

"""What the soak does to gates: alone, killed and repeated, several in one folder or file of facts.
Each scene draws from its own seed, runs, and is held against the reference."""

from __future__ import annotations

import fcntl
import json
import os
import random
import shutil
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import facts
from facts import Broken, Key, Ran, Sample

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
FILES = {".lock", "facts.jsonl", "results.json", "summary.md"}
LONGEST = 120  # seconds: a gate of this sample takes less than one
PATIENCE = 10  # seconds in which the children of a killed gate end
MOST_DURATIONS = 100  # of the latest gates


@dataclass(frozen=True)
class Plan:
    """The options of one gate."""

    glob: str
    archs: tuple[str, ...] | None
    strict: bool

    def words(self) -> list[str]:
        words = ["--filter", self.glob]
        if self.archs:
            words += ["--arch", ",".join(self.archs)]
        return words + ["--strict"] * self.strict


@dataclass
class Tally:
    """What was done; shared by all threads."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    durations: list[float] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, **numbers: int) -> None:
        with self.lock:
            self.counts.update(numbers)

    def blame(self, scene: str, lines: list[str]) -> None:
        with self.lock:
            self.counts["wrong"] += 1
            self.wrong += [f"{scene}: {line}" for line in lines]

    def took(self, seconds: float) -> None:
        with self.lock:
            self.durations = [*self.durations[1 - MOST_DURATIONS :], seconds]

    def typical(self) -> float:
        with self.lock:
            return sorted(self.durations)[len(self.durations) // 2] if self.durations else 0.3


@dataclass(frozen=True)
class End:
    """The moment and the signal that end a program: so many seconds after its start, or after
    `begun` says that it writes facts."""

    seconds: float
    number: int
    begun: Callable[[], bool] | None


class Program:
    """A process of the gauge, in a session of its own, with its output in a file."""

    def __init__(self, words: list[str], folder: Path, name: str) -> None:
        self.words = words
        self._text = folder / f"{name}.txt"
        self._began = time.monotonic()
        temporary = folder / "tmp"
        temporary.mkdir(exist_ok=True)
        with self._text.open("wb") as output:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env={**os.environ, "TMPDIR": str(temporary)},
                start_new_session=True,
            )

    def kill(self, end: End) -> None:
        """Sends the signal unless the program has ended by then."""
        while end.begun and not end.begun() and self._process.poll() is None:
            time.sleep(0.001)
        try:
            self._process.wait(end.seconds)
        except subprocess.TimeoutExpired:
            if end.number == signal.SIGINT:  # a terminal sends it to the whole group
                os.killpg(self._process.pid, end.number)
            else:
                self._process.send_signal(end.number)

    def wait(self) -> int:
        """The exit code, negative for a signal. Broken if it hangs, or leaves a process."""
        try:
            code = self._process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            self._end_group()
            raise Broken(f"did not end within {LONGEST} s: {self.says()}") from None
        self.seconds = time.monotonic() - self._began
        deadline = time.monotonic() + PATIENCE
        while living := self._living():
            if time.monotonic() > deadline:
                self._end_group()
                raise Broken(f"left processes behind: {', '.join(living)}")
            time.sleep(0.01)
        return code

    def says(self) -> str:
        return " / ".join(self._text.read_text("utf-8", "replace").splitlines()[-6:])

    def refused(self, code: int) -> bool:
        return code == 2 and "another run is writing to it" in self.says()

    def _living(self) -> list[str]:
        """Processes of the group that still run; zombies do not."""
        try:
            os.killpg(self._process.pid, 0)
        except ProcessLookupError:
            return []
        living = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                number, _, rest = stat.read_text().partition(" (")
            except OSError:
                continue
            name, _, rest = rest.rpartition(") ")
            words = rest.split()
            state, group, threads = words[0], int(words[2]), int(words[17])
            # The first thread of a killed process may have ended before the others.
            if group == self._process.pid and (state not in "ZX" or threads > 1):
                living.append(f"{number} ({name})")
        return living

    def _end_group(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


class Scene:
    """One scene in a folder that scenes use one after another."""

    def __init__(self, sample: Sample, program: Path, device: str, tally: Tally) -> None:
        self._sample = sample
        self._program = program
        self._device = device
        self._tally = tally

    def play(self, name: str, folder: Path) -> int:
        """Returns the number of gates that were held against the reference."""
        draw = random.Random(name)
        kinds = {self._alone: 5, self._killed: 3, self._crowd: 1}
        if self._check.exists():
            kinds[self._one_file_of_facts] = 1
        kind = draw.choices(list(kinds), list(kinds.values()))[0]
        scene = f"{name} ({kind.__name__.strip('_').replace('_', ' ')})"
        try:
            gates, wrong = kind(draw, folder)
            left = sorted(path.name for path in (folder / "tmp").iterdir())
            if left:
                wrong.append(f"temporary files are left: {', '.join(left)}")
        except (Broken, OSError) as error:
            gates, wrong = 0, [str(error)]
        if wrong:
            self._tally.blame(scene, wrong)
            shutil.rmtree(folder)
            folder.mkdir()
        return gates

    # ---- the kinds of scenes: the number of gates held against the reference, and what is wrong

    def _alone(self, draw: random.Random, folder: Path) -> tuple[int, list[str]]:
        return self._gate_to_its_end(self._plan(draw), folder)

    def _killed(self, draw: random.Random, folder: Path) -> tuple[int, list[str]]:
        """A gate is killed at a random moment, and started again in the same folder."""
        plan, out = self._plan(draw), folder / "out"
        before = _contents(out)
        end = self._end_of(draw, out / "facts.jsonl")
        gate = self._start(plan, folder, "killed")
        gate.kill(end)
        code = gate.wait()
        if code >= 0:
            return 1, self._ended(gate, code, plan, out)
        self._tally.add(killed=1)
        wrong = self._after_a_kill(gate, code, before, folder)
        gates, more = self._gate_to_its_end(plan, folder)
        return gates, wrong + [f"after a kill: {line}" for line in more]

    def _crowd(self, draw: random.Random, folder: Path) -> tuple[int, list[str]]:
        """Several gates in one folder at once: one writes, the others are refused. The files are of
        one that was not."""
        plans = [self._plan(draw) for _ in range(draw.randint(2, 3))]
        end = self._end_of(draw, folder / "out/facts.jsonl")
        gates = [self._start(plan, folder, f"crowd-{n}") for n, plan in enumerate(plans)]
        if draw.random() < 0.3:
            gates[0].kill(end)
        codes = [gate.wait() for gate in gates]
        refused = [gate.refused(code) for gate, code in zip(gates, codes, strict=True)]
        self._tally.add(refused=sum(refused), killed=sum(code < 0 for code in codes))
        self._free(folder / "out")
        if not (folder / "out/facts.jsonl").exists():
            all_out = all(code < 0 or no for code, no in zip(codes, refused, strict=True))
            return 0, [] if all_out else ["there are no facts though a gate ended"]
        found = facts.runs_of(folder / "out/facts.jsonl")
        for gate, code, no, plan in zip(gates, codes, refused, plans, strict=True):
            if code >= 0 and not no and found and _asked(found[0], plan):
                return 1, self._ended(gate, code, plan, folder / "out")
        if min(codes) < 0:
            return 0, []  # the files are those of the one that was killed
        return 0, ["the facts are of none of the gates that ran"]

    def _one_file_of_facts(self, draw: random.Random, folder: Path) -> tuple[int, list[str]]:
        """Several programs of the tests append to one file of facts, as ctest starts them."""
        file = folder / "shared.jsonl"
        file.unlink(missing_ok=True)
        cases = draw.sample(self._sample.cases, min(3, len(self._sample.cases)))
        end = self._end_of(draw, file)
        programs = []
        for number, case in enumerate(cases):
            words = [str(self._check), "--facts", str(file)]
            words.append(f"--gtest_filter={case}:sm_*/{case}")
            programs.append(Program(words, folder, f"check-{number}"))
        victim = draw.random() < 0.5
        if victim:
            programs[0].kill(end)
        codes = [program.wait() for program in programs]
        self._tally.add(killed=sum(code < 0 for code in codes), checks=len(codes))
        if not file.exists():
            return 0, [] if max(codes) < 0 else ["there is no file of facts"]
        wrong: list[str] = []
        runs = facts.runs_of(file)
        open_runs = [run.id for run in runs if run.end is None]
        whole = sum(code >= 0 for code in codes)
        if len(runs) - len(open_runs) != whole and not (victim and codes[0] < 0):
            wrong.append(f"{len(runs)} runs, {len(open_runs)} of them open, of {whole} programs")
        if len(open_runs) > len(codes) - whole:
            wrong.append(f"no end of {', '.join(open_runs)}, though the program ended")
        expected = facts.chosen(self._sample.exact, "*", self._sample.archs)
        for run in runs:
            ids = {key.case for key in run.exact}
            wanted = {key for key in expected if key.case in ids and self._by_default(key)}
            wrong += self._differences(run, wanted, whole=run.end is not None)
        return 0, wrong

    # ---- what is checked

    def _gate_to_its_end(self, plan: Plan, folder: Path) -> tuple[int, list[str]]:
        gate = self._start(plan, folder, "gate")
        code = gate.wait()
        self._tally.took(gate.seconds)
        return 1, self._ended(gate, code, plan, folder / "out")

    def _ended(self, gate: Program, code: int, plan: Plan, out: Path) -> list[str]:
        """Facts, closing record, outcome and exit code of a gate that ended by itself."""
        if not (out / "facts.jsonl").exists():
            return [f"exit code {code}, and no facts: {gate.says()}"]
        run = facts.run_of(out / "facts.jsonl")
        archs = plan.archs or self._sample.archs
        expected = facts.chosen(self._sample.exact, plan.glob, archs)
        if plan.archs is None:
            expected = {key for key in expected if self._by_default(key)}
        wrong = self._differences(run, expected, whole=True)
        if run.end is None or run.torn:
            return [*wrong, f"exit code {code}, and the run was cut off"]
        results = _document(out / "results.json")
        wanted = _exit_code(run, results, plan)
        codes = (code, run.end["exit_code"], results["exit_code"])
        if set(codes) != {wanted}:
            wrong.append(f"exit code, closing record and outcome say {codes}, expected {wanted}")
        counts = dict(run.counts())
        if not run.end["counts"] == counts == results["counts"]:
            wrong.append(f"the closing record counts {run.end['counts']}, the facts are {counts}")
        if [one["run"] for one in results["runs"]] != [run.id]:
            wrong.append(f"results.json is not of run {run.id}")
        if not (out / "summary.md").read_text("utf-8").startswith("# "):
            wrong.append("summary.md is not whole")
        others = {path.name for path in out.iterdir()} - FILES
        if others:
            wrong.append(f"also in the folder: {', '.join(sorted(others))}")
        self._free(out)
        return wrong

    def _after_a_kill(
        self, gate: Program, code: int, before: dict[str, bytes], folder: Path
    ) -> list[str]:
        """The files are those of an earlier run, or say that this one was cut off."""
        out = folder / "out"
        if -code not in SIGNALS:
            return [f"ended by signal {-code}: {gate.says()}"]
        self._free(out)
        after = _contents(out)
        if after.items() <= before.items():  # not begun, or only taking the old ones away
            return []
        if "facts.jsonl" not in after:
            return [f"{', '.join(sorted(after))} without facts"]
        runs = facts.runs_of(out / "facts.jsonl")
        if not runs:
            return [] if set(after) == {"facts.jsonl"} else ["files of a run without facts"]
        run = facts.run_of(out / "facts.jsonl")
        wrong = self._differences(run, set(self._sample.exact), whole=False)
        if run.end is not None and not run.torn:
            for name in after.keys() & {"results.json"}:
                _document(out / name)
            return wrong
        self._tally.add(cut_off=1)
        if set(after) != {"facts.jsonl"}:
            wrong.append(f"{', '.join(sorted(after))} of a run that was cut off")
        words = [str(self._program), "outcome", str(out / "facts.jsonl"), "--out", "outcome.json"]
        reader = Program(words, folder, "outcome")
        said = (reader.wait(), "cut off" in reader.says())
        if said != (2, True):
            wrong.append(f"the reader of a run that was cut off says {said}: {reader.says()}")
        return wrong

    def _differences(self, run: Ran, expected: set[Key], whole: bool) -> list[str]:
        """`whole`: nothing of what is expected may be missing."""
        exact = self._sample.exact
        if not whole:
            expected = expected & run.exact.keys()
        self._tally.add(facts=len(run.exact))
        wrong = facts.differences(run.exact, {key: exact[key] for key in expected})
        if whole:
            chosen = {(key.case, key.arch, key.device) for key in expected}
            place = [(key.case, key.arch, key.device) for key in self._sample.estimates]
            there = zip(self._sample.estimates, place, strict=True)
            lost = {key for key, at in there if at in chosen} - run.estimates
            wrong += [f"missing estimate: {key}" for key in sorted(lost)]
        return wrong

    def _by_default(self, key: Key) -> bool:
        """Without --arch kernels are compiled for all, and emulated as the default."""
        return key.device == "" or facts.on_gpu(key) or key.arch in self._sample.default_archs

    def _free(self, out: Path) -> None:
        """Raises Broken if a process still holds the lock of a folder."""
        if not (out / ".lock").exists():
            return
        with (out / ".lock").open() as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Broken(f"{out}: all processes have ended, and its lock is held") from None

    # ---- what is drawn

    def _plan(self, draw: random.Random) -> Plan:
        case = draw.choice(self._sample.cases)
        family, variant, rest = case.split(".", 2)
        kind, _, size = rest.partition("@")
        globs = [case, case, f"{family}.{variant}.*", f"{family}.*.{kind}@*", f"{family}.*@{size}"]
        globs += [f"{family}.{variant[0]}*", f"{family}.[{variant[0]}-z]*", f"{family}.*"]
        archs = None
        if draw.random() < 0.7:
            archs = tuple(draw.sample(self._sample.archs, draw.randint(1, 2)))[:2]
        return Plan(draw.choice(globs), archs, draw.random() < 0.2)

    def _end_of(self, draw: random.Random, file: Path) -> End:
        """Of a program that writes this file of facts."""
        before = _written(file)
        begun = (lambda: _written(file) not in (None, before)) if draw.random() < 0.6 else None
        seconds = draw.random() * (0.3 if begun else 1.1) * self._tally.typical()
        return End(seconds, draw.choice(SIGNALS), begun)

    def _start(self, plan: Plan, folder: Path, name: str) -> Program:
        words = [str(self._program), "gate", "--no-bounded", "--out", "out"]
        return Program(words + [f"--device={self._device}", *plan.words()], folder, name)

    @property
    def _check(self) -> Path:
        suffix = "-check-emulated" if self._device == "emulated" else "-check"
        return self._program.with_name(self._program.name + suffix)


def _exit_code(run: Ran, results: dict, plan: Plan) -> int:
    counts = run.counts()
    missing = results.get("lost") or any(one["required"] for one in results.get("unmeasured", ()))
    if counts["error"]:
        return 2
    if counts["fail"] or (plan.strict and counts["better"]):
        return 1
    return 3 if missing else 0


def _asked(run: Ran, plan: Plan) -> bool:
    asked = run.run.get("asked", {})
    said = (asked.get("filter"), asked.get("architectures"), asked.get("strict", False))
    return said == ([plan.glob], list(plan.archs) if plan.archs else None, plan.strict)


def _contents(out: Path) -> dict[str, bytes]:
    """The finished files of a folder."""
    names = FILES - {".lock"}
    return {name: (out / name).read_bytes() for name in names if (out / name).exists()}


def _written(file: Path) -> tuple[int, int] | None:
    """Tells a file from a later one of the same name; None while there is nothing in it."""
    try:
        stat = file.stat()
    except FileNotFoundError:
        return None
    return (stat.st_ino, stat.st_mtime_ns) if stat.st_size else None


def _document(path: Path) -> dict:
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise Broken(f"{path}: {error}") from error

"""Completion of the command line: the words that the program prints, and that each shell gets them.

Tests in zsh and fish are skipped where it is not installed; where WARPGAUGE_TEST_PACKAGES names it,
as ci/test does in CI, they fail instead.
"""

import os
import pty
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from warpgauge.commands import report
from warpgauge.outputs import FORMATS
from warpgauge.program import command_names

BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"
ENVIRONMENT = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
CASE = "transpose.padded.f32@1024x1024"


def output(*command):
    done = subprocess.run(
        [BIN / command[0], *command[1:]], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def completed(line):
    """The words that can stand in place of the last one of `line`."""
    return output(line.split()[0], "--complete", line)


def test_commands_and_their_options():
    commands = completed("warpgauge ")
    assert {"gate", "list", "explain", "accept", "report", "completion"} <= set(commands)
    assert completed("warpgauge expl") == ["explain"]
    assert completed("warpgauge --v") == ["--version"]
    assert completed("warpgauge gate --no-") == ["--no-cupti", "--no-bounded"]
    assert "--picture" in completed("warpgauge explain -")
    assert completed("warpgauge gate --nothing") == []


def test_choices_of_options():
    assert completed("warpgauge gate --device ") == ["auto", "gpu", "emulated"]
    assert completed("warpgauge gate --device em") == ["emulated"]
    assert completed("warpgauge gate --device=em") == ["--device=emulated"]
    assert completed("warpgauge gate --require=") == ["--require=cubin", "--require=cupti"]
    assert completed("warpgauge completion ") == ["bash", "zsh", "fish"]


def test_cases_are_those_of_the_program():
    listed = output("warpgauge", "list", "--large")
    wanted = [name for name in listed if name.startswith("transpose.padded.f32@10")]
    assert len(wanted) > 1
    assert completed("warpgauge gate --filter transpose.padded.f32@10") == wanted
    assert completed("warpgauge gate --filter 'transpose.padded.f32@10") == wanted
    assert completed("warpgauge gate --filter=hello.*,transpose.padded.f32@10") == [
        f"--filter=hello.*,{name}" for name in wanted
    ]
    assert completed("warpgauge explain transpose.padded.f32@10") == wanted
    assert completed(f"warpgauge explain --text {CASE[:-3]}") == [CASE]  # behind a flag


def test_architectures_are_those_of_the_build():
    archs = output("warpgauge", "list", "--archs")
    assert completed("warpgauge gate --arch ") == archs
    assert completed(f"warpgauge gate --arch {archs[0]},{archs[-1]}") == [f"{archs[0]},{archs[-1]}"]


def test_commands_that_are_python():
    assert completed("warpgauge report ") == command_names(report)
    assert completed("warpgauge report export --for") == ["--format"]
    assert completed("warpgauge report export --format ") == ["jsonl", "csv", "parquet"]
    assert completed("warpgauge report export --metric registers.") == [
        "registers.least",
        "registers.most",
    ]
    assert completed("warpgauge emit --format ") == list(FORMATS)
    assert completed("warpgauge emit --format=sm") == ["--format=smaller-is-better"]
    assert completed(f"warpgauge accept --exclude {CASE[:-3]}") == [CASE]
    assert completed("warpgauge accept --dry-run fac") == []  # files: the shell knows them


def test_the_programs_beside_it():
    assert completed("warpgauge-check --require") == ["--require-cupti"]
    assert completed("warpgauge-bench --no-") == ["--no-counters"]
    assert completed("warpgauge-bench-emulated --hot --ta") == ["--tables"]
    assert completed("warpgauge-emulated gate --dev") == ["--device"]
    assert completed(f"warpgauge-bench --filter {CASE[:-3]}") == [CASE]
    filters = f"--gtest_filter={CASE}"
    assert completed(f"warpgauge-check-emulated {filters[:-3]}") == [filters]


def needs(shell):
    """A parameter that is skipped where the shell is not installed, unless that is asked for."""
    asked_for = shell in os.environ.get("WARPGAUGE_TEST_PACKAGES", "").split()
    missing = shutil.which(shell) is None and not asked_for
    return pytest.param(shell, marks=pytest.mark.skipif(missing, reason=f"{shell} is missing"))


SHELLS = [needs("bash"), needs("zsh"), needs("fish")]
START = {
    "bash": ["bash", "--norc", "--noprofile"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "--private"],
}
EVAL = {
    "bash": 'eval "$(warpgauge completion bash)"',
    "zsh": 'autoload -U compinit; compinit -u -D; eval "$(warpgauge completion zsh)"',
    "fish": "warpgauge completion fish | source",
}


BEGINNING = "\x01"  # the key that goes to the beginning of the line


class Terminal:
    """A shell at a terminal, to type at."""

    def __init__(self, folder, shell):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            home = {"TERM": "dumb", "HOME": str(folder), "ZDOTDIR": str(folder)}
            os.execvpe(shell, START[shell], ENVIRONMENT | home)

    def type_and_wait(self, text, wanted):
        shown = ""
        os.write(self.terminal, text.encode())
        end = time.monotonic() + 30
        while wanted not in shown and time.monotonic() < end:
            if select.select([self.terminal], [], [], 0.2)[0]:
                shown += os.read(self.terminal, 65536).decode(errors="replace")
        assert wanted in shown, shown

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_key_is_enough(shell, tmp_path):
    """The shell itself, at a terminal: the key that completes, and then the line as an echo."""
    (tmp_path / "facts.jsonl").touch()
    with Terminal(tmp_path, shell) as terminal:
        terminal.type_and_wait(f"{EVAL[shell]}; echo re''ady\n", "ready")
        for typed, wanted in (
            ("warpgauge ga", "gate"),
            ("warpgauge gate --dev", "--device"),
            ("warpgauge gate --device em", "emulated"),
            ("warpgauge gate --device=em", "--device=emulated"),
            (f"warpgauge gate --filter {CASE[:-3]}", CASE),
            (f"warpgauge gate --filter={CASE[:-3]}", f"--filter={CASE}"),
            (f"warpgauge explain '{CASE[:-3]}", CASE),
            ("warpgauge report he", "heatmap"),
            ("warpgauge emit --format smal", "smaller-is-better"),
            ("warpgauge emit fac", "facts.jsonl"),
            ("warpgauge emit --out=fac", "--out=facts.jsonl"),
            ("warpgauge-check --require", "--require-cupti"),
        ):
            line = f"{typed.rpartition(' ')[0]} {wanted}"
            terminal.type_and_wait(f"{typed}\t{BEGINNING}echo '=>' \n", f"=> {line}")

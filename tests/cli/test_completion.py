"""Completion of the command line, in real shells.

Those in zsh and fish are skipped where it is not installed; where WARPGAUGE_TEST_PACKAGES names it,
as ci/test does in CI, they fail instead.
"""

import os
import pty
import re
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
# As bash divides a line for those that complete it: at blanks, and '=', '@' and ':' are words of
# their own.
WORDS = re.compile(r"[=@:]+|[^\s=@:]+")
ASK = r"""
eval "$(warpgauge completion bash)"
COMP_LINE=$1 COMP_POINT=${#1} COMP_CWORD=$2
shift 2
COMP_WORDS=("$@")
_warpgauge_words "${COMP_WORDS[0]}"
printf '%s\n' "${COMPREPLY[@]}"
"""


def needs(shell):
    """Skipped where the shell is not installed, unless that is what was asked for."""
    asked_for = shell in os.environ.get("WARPGAUGE_TEST_PACKAGES", "").split()
    there = shutil.which(shell) is not None
    return pytest.mark.skipif(not there and not asked_for, reason=f"{shell} is not installed")


def completed(line, cwd=None):
    """The words that bash would put in place of the last one of `line`."""
    words = WORDS.findall(line)
    if line.endswith(" "):
        words.append("")
    done = subprocess.run(
        ["bash", "--norc", "-c", ASK, "bash", line, str(len(words) - 1), *words],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        cwd=cwd,
        timeout=60,
    )
    assert done.returncode == 0 and done.stderr == ""
    return done.stdout.split()


def test_commands_and_their_options():
    assert {"gate", "list", "explain", "accept", "report", "completion"} <= set(
        completed("warpgauge ")
    )
    assert completed("warpgauge expl") == ["explain"]
    assert completed("warpgauge gate --no-") == ["--no-cupti", "--no-bounded"]
    assert "--picture" in completed("warpgauge explain -")
    assert completed("warpgauge gate --nothing") == []


def test_choices_of_options():
    assert completed("warpgauge gate --device ") == ["auto", "gpu", "emulated"]
    assert completed("warpgauge gate --device em") == ["emulated"]
    assert completed("warpgauge gate --device=em") == ["emulated"]
    assert completed("warpgauge gate --require=") == ["cubin", "cupti"]
    assert completed("warpgauge completion ") == ["bash", "zsh", "fish"]


def test_cases_come_from_the_program():
    listed = subprocess.run(
        [BIN / "warpgauge", "list", "--large"], capture_output=True, text=True, check=True
    ).stdout.split()
    transposed = [id for id in listed if id.startswith("transpose.padded.f32@10")]
    assert len(transposed) > 1
    assert completed("warpgauge gate --filter transpose.padded.f32") == [
        id for id in listed if id.startswith("transpose.padded.f32")
    ]
    # Behind the '@' bash begins a new word: only the rest is to be put there.
    rests = [id.partition("@")[2] for id in transposed]
    assert completed("warpgauge gate --filter transpose.padded.f32@10") == rests
    assert completed("warpgauge gate --filter=transpose.padded.f32@10") == rests
    assert completed("warpgauge explain transpose.padded.f32@10") == rests
    assert completed("warpgauge gate --filter 'transpose.padded.f32@10") == rests


def test_architectures_are_those_of_the_build():
    archs = subprocess.run(
        [BIN / "warpgauge", "list", "--archs"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert completed("warpgauge gate --arch ") == archs
    last = archs[-1]
    assert completed(f"warpgauge gate --arch {archs[0]},{last}") == [f"{archs[0]},{last}"]


def test_behind_a_flag_stands_an_argument():
    assert completed("warpgauge explain --text transpose.padded.f32@1024x1") == ["1024x1024"]


def test_files_and_programs_that_are_python(tmp_path):
    (tmp_path / "facts.jsonl").touch()
    assert completed("warpgauge diff fac", cwd=tmp_path) == ["facts.jsonl"]
    assert completed("warpgauge accept fac", cwd=tmp_path) == ["facts.jsonl"]
    assert completed("warpgauge emit facts.jsonl --out fac", cwd=tmp_path) == ["facts.jsonl"]
    assert completed("warpgauge accept --dry-run fac", cwd=tmp_path) == ["facts.jsonl"]
    assert "--tighten" in completed("warpgauge accept --")


def test_what_programs_that_are_python_know():
    assert completed("warpgauge report ") == command_names(report)
    assert completed("warpgauge report ex") == ["export"]
    assert completed("warpgauge report export --for") == ["--format"]
    assert completed("warpgauge report export --format ") == ["jsonl", "csv", "parquet"]
    assert completed("warpgauge report export --metric regis") == [
        "registers",
        "registers.least",
        "registers.most",
    ]
    assert completed("warpgauge emit --format ") == list(FORMATS)
    assert completed("warpgauge emit --format=sm") == ["smaller-is-better"]
    assert completed(f"warpgauge accept --exclude=transpose.*,{CASE[:-3]}") == ["1024x1024"]
    assert completed("warpgauge diff a b --filter transpose.padded.f32@1024x1") == ["1024x1024"]


def test_the_programs_beside_it():
    assert completed("warpgauge-check --require") == ["--require-cupti"]
    assert completed("warpgauge-bench --no-") == ["--no-counters"]
    assert completed("warpgauge-bench-emulated --hot --ta") == ["--tables"]
    assert completed("warpgauge-emulated gate --dev") == ["--device"]
    assert completed(f"warpgauge-bench --filter {CASE[:-3]}") == ["1024x1024"]
    assert completed(f"warpgauge-check-emulated --gtest_filter={CASE[:-3]}") == ["1024x1024"]


class Terminal:
    """A shell at a terminal, to type at."""

    def __init__(self, folder, *command, **environment):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, {**ENVIRONMENT, "TERM": "dumb", **environment})

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


def test_a_key_is_enough(tmp_path):
    """The shell itself, at a terminal, with the key that completes."""
    with Terminal(tmp_path, "bash", "--norc", "--noprofile") as bash:
        bash.type_and_wait('eval "$(warpgauge completion bash)"; echo re""ady\n', "ready")
        bash.type_and_wait("warpgauge gate --filter transpose.padded.f32@1024x1\t", "1024x1024 ")
        bash.type_and_wait(" --dev\t", "--device")
        bash.type_and_wait("em\t", "emulated")


@needs("zsh")
@pytest.mark.parametrize("way", ["folder", "eval"])
def test_the_first_key_is_enough_in_zsh(way, tmp_path):
    """From a folder of functions, as it is installed, the script is loaded by that key."""
    script = subprocess.run(
        [BIN / "warpgauge", "completion", "zsh"], capture_output=True, text=True, check=True
    ).stdout
    functions = tmp_path / "site-functions"
    functions.mkdir()
    (functions / "_warpgauge").write_text(script)
    prepare = {
        "folder": f"fpath=('{functions}' $fpath); autoload -U compinit; compinit -u -D",
        "eval": 'autoload -U compinit; compinit -u -D; eval "$(warpgauge completion zsh)"',
    }
    with Terminal(tmp_path, "zsh", "-f", "-i", ZDOTDIR=str(tmp_path)) as zsh:
        zsh.type_and_wait(f"{prepare[way]}; echo re''ady\n", "ready")
        zsh.type_and_wait("warpgauge ga\t", "gate ")
        zsh.type_and_wait("--dev\t", "--device")
        zsh.type_and_wait(" em\t", "emulated")
        zsh.type_and_wait("\x15warpgauge report he\t", "heatmap")
        zsh.type_and_wait("\x15warpgauge emit --format smal\t", "smaller-is-better")
        zsh.type_and_wait(f"\x15warpgauge gate --filter={CASE[:-3]}\t", f"filter={CASE}")
        zsh.type_and_wait("\x15warpgauge-check --require\t", "--require-cupti")


@needs("fish")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("warpgauge expl", ["explain"]),
        ("warpgauge gate --dev", ["--device"]),
        ("warpgauge gate --device em", ["emulated"]),
        (f"warpgauge explain {CASE[:-3]}", [CASE]),
        ("warpgauge report ", command_names(report)),
        ("warpgauge report export --for", ["--format"]),
        ("warpgauge emit --format sm", ["smaller-is-better"]),
        ("warpgauge emit --format=sm", ["--format=smaller-is-better"]),
        ("warpgauge accept fac", ["facts.jsonl"]),
        ("warpgauge-check --require", ["--require-cupti"]),
        (f"warpgauge-bench --filter {CASE[:-3]}", [CASE]),
    ],
)
def test_completion_in_fish(line, words, tmp_path):
    (tmp_path / "facts.jsonl").touch()
    ask = "warpgauge completion fish | source; complete -C $argv"
    done = subprocess.run(
        ["fish", "--no-config", "-c", ask, line],
        capture_output=True,
        text=True,
        env={**ENVIRONMENT, "HOME": str(tmp_path)},
        cwd=tmp_path,
        timeout=60,
    )
    assert done.returncode == 0 and done.stderr == ""
    assert sorted(word.partition("\t")[0] for word in done.stdout.splitlines()) == sorted(words)


def test_another_shell_is_refused():
    done = subprocess.run(
        [BIN / "warpgauge", "completion", "bsh"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == (
        "no completion for 'bsh', did you mean 'bash'?; there is one for bash, zsh, fish\n"
    )


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_scripts_of_other_shells_are_theirs(shell, tmp_path):
    script = subprocess.run(
        [BIN / "warpgauge", "completion", shell], capture_output=True, text=True, check=True
    ).stdout
    assert "gate" in script and "--archs" in script
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "script").write_text(script)
    subprocess.run([shell, "-n", tmp_path / "script"], check=True, timeout=60)

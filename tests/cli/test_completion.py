"""Completion of the command line, in a real bash."""

import os
import pty
import re
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"
ENVIRONMENT = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
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


def completed(line, cwd=None):
    """What bash would put in place of the last word of its own of `line`."""
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
    assert completed("warpgauge gate --require=") == ["ptxas", "cupti"]
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


def test_files_and_programs_that_are_python(tmp_path):
    (tmp_path / "facts.jsonl").touch()
    assert completed("warpgauge compare fac", cwd=tmp_path) == ["facts.jsonl"]
    assert completed("warpgauge accept fac", cwd=tmp_path) == ["facts.jsonl"]
    assert "--tighten" in completed("warpgauge accept --")


def test_a_key_is_enough(tmp_path):
    """The shell itself, at a terminal, with the key that completes."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        os.execvpe("bash", ["bash", "--norc", "--noprofile"], {**ENVIRONMENT, "TERM": "dumb"})
    shown = ""

    def type_and_wait(text, wanted):
        nonlocal shown
        shown = ""
        os.write(terminal, text.encode())
        end = time.monotonic() + 30
        while wanted not in shown and time.monotonic() < end:
            if select.select([terminal], [], [], 0.2)[0]:
                shown += os.read(terminal, 65536).decode(errors="replace")
        assert wanted in shown, shown

    try:
        type_and_wait('eval "$(warpgauge completion bash)"; echo re""ady\n', "ready")
        type_and_wait("warpgauge gate --filter transpose.padded.f32@1024x1\t", "1024x1024 ")
        type_and_wait(" --dev\t", "--device")
        type_and_wait("em\t", "emulated")
    finally:
        os.close(terminal)
        os.waitpid(pid, 0)


def test_another_shell_is_refused():
    done = subprocess.run(
        [BIN / "warpgauge", "completion", "bsh"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == (
        "there is no completion for 'bsh', did you mean 'bash'?; there is for bash, zsh, fish\n"
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

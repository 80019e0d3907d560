"""A limit of the size of files, as a full disk: a message and exit code 2, never the signal."""

import os
import resource
import shutil
import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest
from programs import BIN
from some_facts import FACT, write
from warpgauge.commands.accept import CI_VARIABLES

ROOT = Path(__file__).resolve().parents[2]
ONE = ("--device=emulated", "--arch=sm_90", "--filter=transpose.padded.f32@1024x1024")
WRITERS = {
    "gate": ("gate", *ONE, "--out=o"),
    "inspect": ("inspect", "k.cubin", "--out=o"),
    "wheel": ("inspect", "k.whl", "--out=o"),
    "outcome": ("outcome", "good.jsonl", "--out=o.json"),
    "diff": ("diff", "good.jsonl", "good.jsonl", "--json=o.json"),
    "explain": ("explain", "transpose.padded.f32@1024x1024", "--json=o.json"),
    "emit": ("emit", "r.json", "--all=o"),
    "init": ("init", "o"),
    "accept": ("accept", "good.jsonl", "--any-commit", "--reason=r", "--budgets=o.toml"),
    "ingest": ("report", "ingest", "good.jsonl", "--db=o.db"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("limits")
    write(folder / "good.jsonl", [FACT | {"registered": "kernels/transpose/family.cu"}], 1)
    cubin = (ROOT / "tests/fuzz/corpus/cubin_fuzz/spills.sm_75.cubin").read_bytes()
    (folder / "k.cubin").write_bytes(cubin)
    with ZipFile(folder / "k.whl", "w") as wheel:
        wheel.writestr("k.cubin", cubin)
    command = [BIN / "warpgauge", "outcome", "good.jsonl", "--out=r.json"]
    assert subprocess.run(command, cwd=folder, capture_output=True).returncode == 1
    return folder


def limited(folder, words, limit, value):
    environment = {name: text for name, text in os.environ.items() if name not in CI_VARIABLES}
    return subprocess.run(
        [BIN / "warpgauge", *words],
        cwd=folder,
        env=environment,
        preexec_fn=lambda: resource.setrlimit(limit, (value, value)),
        restore_signals=True,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize("size", [0, 50])
@pytest.mark.parametrize("name", WRITERS)
def test_files_that_may_not_grow(folder, name, size):
    done = limited(folder, WRITERS[name], resource.RLIMIT_FSIZE, size)
    assert done.returncode == 2 and "Traceback" not in done.stderr, done
    lines = done.stderr.splitlines()
    assert lines and len(lines) == len(set(lines)), "a message is there twice"
    assert not (folder / "o.json").exists() and not (folder / "o.toml").exists()


def test_bytecode_is_written_whole_or_not_at_all(tmp_path):
    """Python keeps what a limit let it write, and the next command would read that."""
    leave = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "reports", tmp_path / "reports", ignore=leave)
    script = (BIN / "warpgauge-python").read_text()
    mine = script.replace(f"source='{ROOT}'", f"source='{tmp_path}'")
    assert mine != script

    def written(size):
        done = subprocess.run(
            ["/bin/sh", "-c", mine, "sh", "init", "--help"],
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return list((tmp_path / "reports").rglob("*.pyc"))

    assert not written(50)
    assert written(resource.RLIM_INFINITY)


def test_a_program_that_is_emulated_has_the_signal(folder):
    words = ["emulate", "--out=o", "--", "sh", "-c", "kill -XFSZ $$"]
    done = subprocess.run([BIN / "warpgauge", *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 2 and "was ended by SIGXFSZ" in done.stdout + done.stderr


def test_too_little_memory_for_a_page(folder):
    done = limited(folder, ("report", "html", "--out=o"), resource.RLIMIT_AS, 100_000 << 10)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done


@pytest.mark.parametrize("name", WRITERS)
def test_too_little_stack(folder, name):
    done = limited(folder, WRITERS[name], resource.RLIMIT_STACK, 64 << 10)
    assert done.returncode == 2, done
    assert "the stack may have 64 KiB, and 1024 KiB are needed; raise the limit" in done.stderr


@pytest.mark.parametrize(
    "name", ["list", "metrics", "outcome good.jsonl", "emit r.json --format tap"]
)
def test_a_reader_that_wants_no_more(folder, name):
    reader, writer = os.pipe()
    os.close(reader)
    command = [BIN / "warpgauge", *name.split()]
    done = subprocess.run(command, cwd=folder, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert done.returncode == 2
    assert "standard output cannot be written" in done.stderr and "Broken pipe" in done.stderr


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("report runs --db none.db", 2),
        ("report ingest none.jsonl --db n.db", 2),
        ("accept good.jsonl --any-commit --budgets n.toml", 2),
        ("emit r.json --format nonsense", 2),
        ("emit r.json --format tap", 0),
        ("outcome good.jsonl", 1),
    ],
)
def test_messages_that_cannot_be_written_change_no_exit_code(folder, words, code):
    command = [BIN / "warpgauge", *words.split()]
    env = {name: text for name, text in os.environ.items() if name not in CI_VARIABLES}
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=full)
    assert done.returncode == code

"""Pipes, devices and folders where a file is to be read: refused at once, with a way out."""

import os
import re

import pytest
from programs import run
from some_facts import FACT, write
from warpgauge.commands.accept import CI_VARIABLES

PIPE, DEVICE = "it is a pipe; write it to a file first", "it is a device; write it to a file first"
EXPLAINED = ("explain", "transpose.padded.f32@1024x1024")
ONE = ("--device=emulated", "--arch=sm_90", "--filter=transpose.padded.f32@1024x1024")

# By what is read: the words of a command, in which FILE is the file. A name that a command expects
# stands behind its colon.
READS = {
    "outcome facts": ("outcome", "FILE"),
    "diff a": ("diff", "FILE", "good.jsonl"),
    "diff b": ("diff", "good.jsonl", "FILE"),
    "diff b:x.csv": ("diff", "good.jsonl", "FILE"),
    "inspect things": ("inspect", "FILE"),
    "inspect --budgets": ("inspect", "--budgets", "FILE", "good.jsonl"),
    "inspect --project": ("inspect", "--project", "FILE", "good.jsonl"),
    "gate --project": ("gate", *ONE, "--project", "FILE"),
    "gate --replay": ("gate", *ONE, "--replay", "FILE"),
    "emulate --replay": ("emulate", "--replay", "FILE", "--", "true"),
    "emulate --budgets": ("emulate", "--budgets", "FILE", "--", "true"),
    "emulate --project": ("emulate", "--project", "FILE", "--", "true"),
    "attach --budgets": ("attach", "--budgets", "FILE", "--", "true"),
    "attach --project": ("attach", "--project", "FILE", "--", "true"),
    "toolchain sources:x.ptx": ("toolchain", "--with", "a", "--with", "b", "FILE"),
    "explain --against": (*EXPLAINED, "--against", "FILE"),
    "accept facts": ("accept", "FILE"),
    "accept --budgets:x.toml": ("accept", "good.jsonl", "--reason=known", "--budgets", "FILE"),
    "emit results": ("emit", "FILE", "--format", "junit"),
    "emit --diff": ("emit", "results.json", "--all=x", "--diff", "FILE", "--base", "results.json"),
    "emit --base": ("emit", "results.json", "--all=x", "--diff", "diff.json", "--base", "FILE"),
    "report ingest facts": ("report", "ingest", "FILE", "--db", "new.db"),
    "report heatmap facts": ("report", "heatmap", "FILE", "--out", "x"),
    "report change": ("report", "change", "FILE", "--out", "x"),
    "report diff diff": ("report", "diff", "FILE"),
    "report occupancy curves": ("report", "occupancy", "FILE", "--out", "x"),
}
# Options whose file is written, and arguments that are no file.
WRITTEN = {"--out", "--json", "--coverage", "--html", "--picture", "--all", "--facts", "--results"}


@pytest.fixture(autouse=True)
def outside_of_ci(monkeypatch):
    for variable in CI_VARIABLES:
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    write(folder / "good.jsonl", [FACT | {"registered": "kernels/transpose/family.cu"}], 1)
    for words in (
        ("outcome", "good.jsonl"),
        ("diff", "good.jsonl", "good.jsonl", "--json=diff.json"),
    ):
        assert run("warpgauge", *words, cwd=folder).returncode in (0, 1)
    for name in ("pipe", "x.csv", "x.ptx", "x.toml"):
        os.mkfifo(folder / name)
    (folder / "folder").mkdir()
    return folder


def refused(folder, name, file):
    """The message of the command for a file; it writes nothing, but locks and makes its folder."""
    words = [file if word == "FILE" else word for word in READS[name]]
    before = set(folder.rglob("*"))
    done = run("warpgauge", *words, cwd=folder)
    assert done.returncode == 2 and "Traceback" not in done.stderr, done
    new = {str(path.relative_to(folder)) for path in set(folder.rglob("*")) - before}
    assert new <= {"out", "out/.lock", "new.db", "new.db-shm", "new.db-wal"}
    return done.stderr


@pytest.mark.parametrize("name", READS)
def test_pipes(folder, name):
    error = refused(folder, name, name.partition(":")[2] or "pipe")
    assert PIPE in error


@pytest.mark.parametrize("name", [name for name in READS if ":" not in name])
def test_devices(folder, name):
    assert DEVICE in refused(folder, name, "/dev/zero")


@pytest.mark.parametrize("name", [n for n in READS if ":" not in n and n != "inspect things"])
def test_folders(folder, name):
    error = refused(folder, name, "folder")
    assert "folder" in error and re.search("[Ii]s a directory|no file has machine code", error)


def test_a_history_is_a_file(folder):
    for place in ("pipe", "/dev/zero", "folder"):
        for words in (["ingest", "good.jsonl"], ["html", "--out", "x"], ["runs"]):
            done = run("warpgauge", "report", *words, "--db", place, cwd=folder)
            assert done.returncode == 2
            assert done.stderr == f"{place}: is no file; name that of a history\n"


def test_every_file_that_a_command_reads_is_tried():
    """The help of commands names what is a file; each is written, or tried above."""
    known = {name.partition(":")[0] for name in READS}
    for command in {name.rpartition(" ")[0] for name in known}:
        text = run("warpgauge", *command.split(), "--help").stdout
        shown = re.findall(
            r"^ +(?:-\w, )?(--[\w-]+)[ =](?:FILE|DIFF|RESULTS|DIR\|FILE)\b", text, re.M
        )
        for option in set(shown) - WRITTEN:
            assert f"{command} {option}" in known

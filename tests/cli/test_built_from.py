"""Facts are of the commit that was built: cmake/BuiltFrom.cmake, and what a program makes of it."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from programs import BIN
from scratch_repository import ScratchRepository

ROOT = Path(__file__).resolve().parents[2]
OF_NO_PROGRAM = ("README.md", "budgets.toml", "k/budgets/a.toml", "warpgauge.toml")
NAME = re.compile(r'#define WARPGAUGE_BUILT_FROM "([0-9a-f]*)"\n')


class Checkout(ScratchRepository):
    """A repository with a commit, and the header of its build."""

    def __init__(self, folder):
        super().__init__(folder / "source")
        self.header = folder / "build/built_from.h"
        for name in ("kernel.cu", *OF_NO_PROGRAM):
            self.write(name, "first")
        self.commit("first")

    def write(self, name, text):
        place = self.folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    def build(self):
        """The commit that a build names now."""
        script = ROOT / "cmake/BuiltFrom.cmake"
        words = ["-D", f"SOURCE={self.folder}", "-D", f"HEADER={self.header}", "-P", script]
        done = subprocess.run(["cmake", *words], capture_output=True, text=True)
        assert done.returncode == 0 and not done.stderr, done
        return NAME.search(self.header.read_text())[1]


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path)


def test_a_clean_checkout_is_its_commit(checkout):
    head = checkout.git("rev-parse", "HEAD")
    assert checkout.build() == head == checkout.build()


@pytest.mark.parametrize("name", ["kernel.cu", "new.cuh", "CMakeLists.txt", "data/x.toml"])
def test_sources_that_are_not_committed_are_of_no_commit(checkout, name):
    checkout.write(name, "second")
    assert checkout.build() == ""
    assert checkout.commit("second") == checkout.build()


def test_what_was_built_stays_what_was_built(checkout):
    checkout.write("kernel.cu", "fixed")
    assert checkout.build() == ""
    kept = checkout.header.read_text()
    checkout.git("checkout", "--", "kernel.cu")
    assert checkout.header.read_text() == kept  # until the next build


@pytest.mark.parametrize("name", [*OF_NO_PROGRAM, "docs/new.md"])
def test_what_no_program_is_built_from_links_none_again(checkout, name):
    head = checkout.build()
    age = checkout.header.stat().st_mtime_ns
    checkout.write(name, "second")
    assert checkout.build() == head
    assert checkout.commit("second") != head == checkout.build()
    assert checkout.header.stat().st_mtime_ns == age
    checkout.write("kernel.cu", "second")
    assert checkout.commit("second") == checkout.build() != head


@pytest.mark.parametrize("text", ["", "nonsense", '#define WARPGAUGE_BUILT_FROM "abc"\n'])
def test_a_header_of_no_commit_is_written_again(checkout, text):
    checkout.header.parent.mkdir()
    checkout.header.write_text(text)
    assert checkout.build() == checkout.git("rev-parse", "HEAD")


def test_without_git_no_commit_has_the_sources(checkout, tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "none"))
    assert checkout.build() == ""


GIT = """#!/bin/sh
echo "$*" >>LOG
case "$*" in
  *rev-parse\\ HEAD) echo 0123456789abcdef0123456789abcdef01234567 ;;
  *diff\\ --quiet*) exit OTHERS ;;
esac
"""


@pytest.mark.parametrize("others", [0, 1, 128])
def test_facts_are_of_the_commit_unless_other_sources_were_built(tmp_path, monkeypatch, others):
    """git, which here sees no change in the tree, compares the commit that was built with HEAD."""
    git = tmp_path / "bin/git"
    git.parent.mkdir()
    git.write_text(GIT.replace("OTHERS", str(others)).replace("LOG", str(tmp_path / "log")))
    git.chmod(0o755)
    monkeypatch.setenv("PATH", f"{git.parent}:{os.environ['PATH']}")
    words = ["--device=emulated", "--arch=sm_90", "--filter=transpose.padded.f32@1024x1024"]
    command = [BIN / "warpgauge", "gate", *words, "--out", tmp_path / "out"]
    assert subprocess.run(command, capture_output=True, timeout=300).returncode == 0
    run = json.loads((tmp_path / "out/facts.jsonl").read_text().partition("\n")[0])
    header = BIN.parent / "warpgauge_built_from/warpgauge_built_from.h"
    built_from = NAME.search(header.read_text())[1]
    assert run["dirty"] == (others != 0 or not built_from)
    compared = f"diff --quiet --no-ext-diff {built_from} HEAD -- :/ :(top,exclude,glob)**/*.md"
    assert (compared in (tmp_path / "log").read_text()) == bool(built_from)

"""The gallery of errors (examples/errors): each section prints its recorded text."""

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ["WARPGAUGE_BINARY_DIR"])
GALLERY = ROOT / "examples/errors"
SECTIONS = sorted(script.stem for script in GALLERY.glob("*.sh"))
# `warpgauge attach` refuses to start without CUPTI.
NEED_CUPTI = {"budgets", "programs"}
HAS_CUPTI = (BUILD / "lib" / "libwarpgauge_injection.so").exists()
# What differs between machines and versions, and the name that takes its place.
DIFFERING = (
    (r"(\.cmake|common\.sh: line |\.cpp|/faulty/family\.cu):?\d+", r"\1:LINE"),
    (r"libcudart\.so\.\d+", "libcudart.so.N"),
    (r"this build has( sm_\w+)+", "this build has sm_NN ..."),
    (r"no CUDA device here \([^)]*\)", "no CUDA device here (WHY)"),
    (r" at 0x[0-9a-f]+:", " at 0xADDRESS:"),
)


def source_root():
    """Where the programs were built."""
    cache = (BUILD / "CMakeCache.txt").read_text()
    return re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", cache, re.MULTILINE)[1]


def provoked(section, folder):
    """The output of a section, with names in place of what differs."""
    done = subprocess.run(
        [GALLERY / "provoke", BUILD / "bin", section],
        cwd=folder,
        env={**os.environ, "TMPDIR": "/tmp"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0 and done.stderr == ""
    text = done.stdout.replace(str(folder), "HERE")
    for root in (str(ROOT), source_root()):
        text = text.replace(root, "ROOT")
    for pattern, name in DIFFERING:
        text = re.sub(pattern, name, text, flags=re.MULTILINE)
    return text


@pytest.fixture(scope="module")
def gallery(tmp_path_factory):
    """A function that returns the text of a section. All run before, two at a time."""
    sections = [section for section in SECTIONS if HAS_CUPTI or section not in NEED_CUPTI]
    with ThreadPoolExecutor(2) as pool:
        folders = map(tmp_path_factory.mktemp, sections)
        texts = dict(zip(sections, pool.map(provoked, sections, folders), strict=True))

    def text_of(section):
        if section not in texts:
            pytest.skip("this build has no CUPTI, which counts in attached programs")
        return texts[section]

    return text_of


@pytest.mark.parametrize("section", SECTIONS)
def test_messages_are_those_of_the_gallery(section, gallery):
    """WARPGAUGE_WRITE_GOLDEN=1 records them again."""
    text, golden = gallery(section), GALLERY / f"{section}.txt"
    if os.environ.get("WARPGAUGE_WRITE_GOLDEN"):
        golden.write_text(text)
    assert text == golden.read_text()


@pytest.mark.parametrize("section", SECTIONS)
def test_each_command_fails_with_a_message(section, gallery):
    text = gallery(section)
    shown = re.findall(r"^\$ (.*(?:\\\n.*)*)\n((?:.*\n)*?)exit (\d+)$", text, re.MULTILINE)
    assert len(shown) == text.count("\n$ ") > 3
    for command, message, code in shown:
        assert message.strip(), command
        assert code in ({"1"} if command.startswith("cmake") else {"2", "3"}), command
        assert "Traceback" not in message and "terminate called" not in message, command


def test_provoke_shows_all_sections():
    script = (GALLERY / "provoke").read_text()
    assert sorted(re.search(r"set -- (.*)", script)[1].split()) == SECTIONS
    assert sorted(golden.stem for golden in GALLERY.glob("*.txt")) == SECTIONS

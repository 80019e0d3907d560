"""A report of ptxas on other machine code than that of the program is a fault, never a verdict."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from warpgauge.facts.reader import read_facts

BUILD = Path(os.environ["WARPGAUGE_BINARY_DIR"])
PROGRAM = BUILD / "bin" / "warpgauge-faulty-emulated"
TEXTS = BUILD / "ptxas" / "warpgauge_faulty_kernels"
TEXT = "tests/canaries/family.cu.ptxas.txt"
KERNEL = "_ZN8canaries7healthyEPfPKf"
FRAME = "0 bytes stack frame"


@pytest.fixture
def gate():
    """Runs a copy of the program that reads its texts in `gate.folder`."""
    old = os.fsencode(TEXTS)
    folder = Path(tempfile.mkdtemp(dir="/tmp", prefix="w"))
    texts = folder / "t"
    new = os.fsencode(texts).ljust(len(old), b"/")  # no byte of the program may move
    assert len(new) == len(old), "the build folder's path is too short for this test"
    program = folder / PROGRAM.name
    code = PROGRAM.read_bytes()
    assert code.count(old) > 0
    program.write_bytes(code.replace(old, new))
    program.chmod(0o755)
    shutil.copytree(TEXTS, texts)

    def run(code):
        command = ("gate", "--filter", "canaries.healthy.*", "--out", folder / "out")
        result = subprocess.run(
            [program, *command], capture_output=True, text=True, cwd=folder, timeout=300
        )
        assert result.returncode == code, result.stdout + result.stderr
        return result.stdout

    run.folder = texts
    run.facts = folder / "out" / "facts.jsonl"
    yield run
    shutil.rmtree(folder)


def doctor(path, old, new):
    """Replaces text in the first report on the kernel; returns its architecture and line."""
    lines = path.read_text().splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines) if f"'{KERNEL}' for" in line)
    place = next(i for i in range(first, first + 5) if old in lines[i])
    lines[place] = lines[place].replace(old, new, 1)
    path.write_text("".join(lines))
    return lines[first].split("'")[3], first + 1


def registers(path):
    lines = iter(path.read_text().splitlines())
    next(line for line in lines if f"'{KERNEL}' for" in line)
    used = next(line for line in lines if "Used " in line)
    return int(used.split("Used ")[1].split()[0])


def test_the_programs_own_texts_are_no_fault(gate):
    gate(code=0)


def test_other_registers_are_a_fault(gate):
    text = gate.folder / TEXT
    actual = registers(text)
    arch, line = doctor(text, f"Used {actual} registers", f"Used {actual - 1} registers")
    said = gate(code=2)
    assert (
        f"{TEXT}:{line}: ptxas' report on {KERNEL} for {arch} is not that of this program: it says "
        f"{actual - 1} registers, but {actual} in the machine code; delete the file and build again"
    ) in said
    (fault,) = {f.reason for f in read_facts(gate.facts) if f.verdict == "error"}
    assert fault in said


@pytest.mark.parametrize(
    "old, new, difference",
    [
        (FRAME, "8 bytes stack frame", "8 bytes of stack frame, but 0 in the machine code"),
        ("used 0 barriers", "used 1 barriers", "1 barriers, but 0 in the machine code"),
        (
            "used 0 barriers",
            "used 0 barriers, 64 bytes smem",
            "64 bytes of shared memory, but 0 in the machine code",
        ),
        (
            "used 0 barriers",
            "used 0 barriers, 16 bytes cumulative stack size",
            "16 bytes of cumulative stack, but 0 in the machine code",
        ),
    ],
)
def test_whatever_else_differs_is_a_fault(gate, old, new, difference):
    doctor(gate.folder / TEXT, old, new)
    assert difference in gate(code=2)

"""`inspect` says the same of the whole catalogue by its machine code and by the log of a build."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from warpgauge.facts.reader import read_facts

GAUGE = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin" / "warpgauge"
CATALOGUE = GAUGE.with_name("warpgauge-emulated")  # without code that the device linker makes
BOTH_HAVE = (
    "registers",
    "registers.least",
    "registers.most",
    "barriers",
    "stack.bytes",
    "spill.load_bytes",
    "spill.store_bytes",
    "shared.static_bytes",
)


def embedded_ptx(program):
    """The options that nvcc gave to ptxas, and the text, of each piece of PTX in a program."""
    data = program.read_bytes()
    begin = 0
    while (begin := data.find(b"\n.version ", begin)) >= 0:
        end = data.index(b"\0", begin)
        in_front = data[max(begin - 4096, 0) : begin].rstrip(b"\n").rstrip(b"\0")
        options = in_front[in_front.rfind(b"\0") + 1 :].decode(errors="replace").strip()
        yield shlex.split(options) if options.startswith("-") else [], data[begin:end]
        begin = end


def log_of(program, arch, folder):
    """What ptxas says when it compiles the kernels of a program again."""
    ptx, log = folder / "some.ptx", folder / "build.log"
    with log.open("w") as stream:
        for options, text in embedded_ptx(program):
            if not re.search(rf"^\.target {arch}\b".encode(), text, re.M) or b".entry" not in text:
                continue
            ptx.write_bytes(text)
            command = ["ptxas", "-v", "-arch", arch, *options, "-o", folder / "some.cubin", ptx]
            subprocess.run(command, stderr=stream, check=True)
    return log


def values(thing, arch, out):
    subprocess.run(
        [GAUGE, "inspect", "--arch", arch, "--out", out, thing], stdout=subprocess.DEVNULL
    )
    return {
        (fact.case.kernels[0].name, fact.metric): fact.value
        for fact in read_facts(out / "facts.jsonl")
        if fact.scope == "case" and fact.metric in BOTH_HAVE
    }


@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
def test_both_say_the_same_of_every_kernel(arch, tmp_path):
    logged = values(log_of(CATALOGUE, arch, tmp_path), arch, tmp_path / "log")
    compiled = values(CATALOGUE, arch, tmp_path / "code")
    assert compiled == logged
    assert len(logged) > 600 * len(BOTH_HAVE)

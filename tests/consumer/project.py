"""Configures, builds and gates a project that uses warpgauge."""

import os
import subprocess
from pathlib import Path

from warpgauge.facts.reader import read_facts

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ["WARPGAUGE_BINARY_DIR"])


def ended(*command, cwd, code=0, **env):
    """Runs it, and shows what it printed if it does not end with `code`."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == code, done.stdout[-4000:] + done.stderr[-4000:]
    return done


def run(*command, cwd, code=0, **env):
    """What it printed to stdout. It must end with `code`."""
    return ended(*command, cwd=cwd, code=code, **env).stdout


def configure(source, build, *options, archs="90", build_type="Debug", code=0, **env):
    """What CMake printed to stderr. It must end with `code`."""
    return ended(
        *("cmake", "-S", source, "-B", build, "-G", "Ninja", f"-DCMAKE_CUDA_ARCHITECTURES={archs}"),
        *(f"-DCMAKE_BUILD_TYPE={build_type}", *options),
        cwd=source,
        code=code,
        **env,
    ).stderr


def gate(build, program, *options, code=0):
    """The facts of a run that ends with `code`."""
    run(build / program, "gate", "--device=emulated", "--out=out", *options, cwd=build, code=code)
    return list(read_facts(build / "out/facts.jsonl"))

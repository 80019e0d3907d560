"""The scripts of ci/ when they are killed or get a signal: what they started ends with them.

The checkout is a small one: CMake and ninja are real, the compiler sleeps while there is a file
`slow`, and the gauge while there is a file `endless`.
"""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PRESETS = """{"version": 3,
"configurePresets": [
  {"name": "ci", "generator": "Ninja", "binaryDir": "${sourceDir}/build/ci"}],
"buildPresets": [{"name": "ci", "configurePreset": "ci"}],
"testPresets": [{"name": "ci", "configurePreset": "ci"}]}
"""
# Two compilers at a time.
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(slow NONE)
enable_testing()
add_test(NAME endless COMMAND "${PROJECT_SOURCE_DIR}/sleeps_if" endless)
foreach(name warpgauge warpgauge-emulated)
  add_custom_target(${name} ALL COMMAND "${PROJECT_SOURCE_DIR}/sleeps_if" slow)
endforeach()
"""
SLEEPS_IF = """#!/bin/sh
cd "$(dirname "$0")" || exit
[ -e "$1" ] || exit 0
exec ./sleeper 600
"""
GAUGE = "#!/bin/sh\ncase $1 in devices | list) exit 0 ;; esac\nexec ROOT/sleeps_if endless\n"


@pytest.fixture
def checkout(tmp_path):
    shutil.copytree(ROOT / "ci", tmp_path / "ci", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "CMakePresets.json").write_text(PRESETS)
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    for name in ("cmake", "reports"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "sleeper").symlink_to(shutil.which("sleep"))
    gauge = tmp_path / "build/ci/bin/warpgauge"
    gauge.parent.mkdir(parents=True)
    for path, text in [
        ("ci/bootstrap", "#!/bin/sh\necho CUDACXX= >build/env.sh\n"),
        ("sleeps_if", SLEEPS_IF),
        (gauge, GAUGE.replace("ROOT", str(tmp_path))),
    ]:
        (tmp_path / path).write_text(text)
        (tmp_path / path).chmod(0o755)
    return tmp_path


def start(checkout, script, *options):
    """Runs the script in a session of its own; what it starts stays in it."""
    return subprocess.Popen(
        [checkout / "ci" / script, *options],
        **{"cwd": checkout, "start_new_session": True, "text": True},
        **{"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE},
    )


def processes(session):
    """Those that still run in a session: names by process id."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().partition("(")[2].rpartition(")")
        except OSError:  # it has just ended
            continue
        state, _, _, of_session = rest.split()[:4]
        if int(of_session) == session and state != "Z":
            found[int(stat.parent.name)] = name
    return found


def wait_for(condition, what, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        time.sleep(0.02)


def has(run, programs):
    return set(programs) <= set(processes(run.pid).values())


def end(run):
    for process in processes(run.pid):
        os.kill(process, signal.SIGKILL)
    run.wait()


def interrupt(checkout, phase, script, how):
    """Starts the script and sends it a signal while what it started sleeps in that phase. Returns
    its exit code, when no process of it is left."""
    (checkout / phase).touch()
    run = start(checkout, *COMMANDS[script])
    try:
        wait_for(lambda: has(run, PHASES[phase]), f"{PHASES[phase]} of ci/{script}")
        run.send_signal(how)
        wait_for(lambda: not processes(run.pid), "the end of all that was started", 15)
        return run.wait(timeout=1)
    finally:
        end(run)
        (checkout / phase).unlink()


EXIT_CODES = {signal.SIGKILL: -9, signal.SIGHUP: 129, signal.SIGINT: 130, signal.SIGTERM: 143}
COMMANDS = {
    "gate": ["gate"],
    "nightly": ["nightly", "--device=emulated"],
    "test": ["test", "--preset=ci"],
}
PHASES = {"slow": ["ninja", "sleeper"], "endless": ["sleeper"]}
any_signal = pytest.mark.parametrize("how", EXIT_CODES, ids=lambda how: how.name)
any_script = pytest.mark.parametrize("script", COMMANDS)


@any_signal
@any_script
def test_a_build_ends_with_its_script_and_the_next_one_runs(checkout, script, how):
    assert interrupt(checkout, "slow", script, how) == EXIT_CODES[how]
    again = start(checkout, "gate")
    try:
        _, said = again.communicate(timeout=30)
    finally:
        end(again)
    assert "waiting for" not in said
    assert "wrote no out/results.json" in said, "the stand-in of the gauge has run"


@any_signal
@any_script
def test_a_gauge_or_test_ends_with_its_script(checkout, script, how):
    assert interrupt(checkout, "endless", script, how) == EXIT_CODES[how]


def test_a_second_build_says_which_process_it_waits_for(checkout):
    (checkout / "slow").touch()
    first = start(checkout, "gate")
    wait_for(lambda: has(first, PHASES["slow"]), "the first build")
    second = start(checkout, "gate", "--out=out2")
    try:
        says = f"waiting for another build of build/ci: process {first.pid} holds "
        assert says in second.stderr.readline()
        (checkout / "slow").unlink()
        first.terminate()
        _, said = second.communicate(timeout=30)
        assert "wrote no out2/results.json" in said
    finally:
        end(first)
        end(second)

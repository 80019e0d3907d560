"""Programs and libraries that have the CUDA runtime in them, under `warpgauge emulate`."""

import ctypes
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from warpgauge.facts.reader import read_facts

BUILD = Path(os.environ["WARPGAUGE_BINARY_DIR"])
PROGRAMS = BUILD / "programs"
SHARED = sorted(path.name for path in (PROGRAMS / "static").iterdir())
# The rounds of a kernel that waits for the host, or for a lock, differ from run to run.
WAIT = {"conversation", "image"}

if sys.platform != "linux" or os.uname().machine != "x86_64":
    pytest.skip("the jumps are those of x86-64", allow_module_level=True)


def emulate(out, *program, before=()):
    command = [*before, BUILD / "bin" / "warpgauge", "emulate", "--out", out, "--", *program]
    return subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=120, check=False
    )


def records(out):
    """Those of facts.jsonl, but for what tells one run from another."""
    lines = (out / "facts.jsonl").read_bytes().splitlines()
    return [line for line in lines if json.loads(line)["record"] not in ("run", "end")]


def exact(out):
    return {
        (fact.case.id, fact.metric, fact.file, fact.line): fact.value
        for fact in read_facts(out / "facts.jsonl")
        if fact.confidence == "exact"
    }


@pytest.mark.parametrize("name", SHARED)
def test_the_counts_are_those_of_the_shared_runtime(name, tmp_path):
    shared = emulate(tmp_path / "shared", PROGRAMS / name)
    static = emulate(tmp_path / "static", PROGRAMS / "static" / name)
    assert static.returncode == shared.returncode, static.stderr
    assert static.stdout == shared.stdout
    if name not in WAIT:
        assert records(tmp_path / "static") == records(tmp_path / "shared")
    assert exact(tmp_path / "static") == exact(tmp_path / "shared") != {}


def test_programs_that_are_started_without_the_environment_are_counted(tmp_path):
    program = PROGRAMS / "static" / "forks"
    result = emulate(tmp_path, "env", "-i", program)
    assert result.returncode == 0, result.stderr
    assert "PASSED" in result.stdout


def test_another_audit_library_stays(tmp_path):
    (tmp_path / "other.c").write_text(
        "#include <unistd.h>\n"
        'unsigned la_version(unsigned v) { return write(2, "other\\n", 6) ? v : 0; }\n'
    )
    other = build(tmp_path, "other.so", "other.c", "-shared")
    result = emulate(tmp_path, PROGRAMS / "static" / "ends", before=["env", f"LD_AUDIT={other}"])
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("other\n") >= 2, "the gauge's own, and the program's"


def test_a_stripped_program_is_refused_with_the_remedy(tmp_path):
    if shutil.which("strip") is None:
        pytest.skip("no strip on this machine")
    program = tmp_path / "ends"
    subprocess.run(["strip", "-o", program, PROGRAMS / "static" / "ends"], check=True)
    result = emulate(tmp_path / "out", program)
    said = " ".join(result.stderr.split())
    assert result.returncode == 2, said
    assert "without the names of its functions, which were stripped" in said
    assert "link it without -s or strip, or build it with -cudart shared" in said


def test_a_system_that_forbids_changes_of_code_is_named(tmp_path):
    PR_SET_MDWE, PR_GET_MDWE = 65, 66
    if ctypes.CDLL(None).prctl(PR_GET_MDWE, 0, 0, 0, 0) < 0:
        pytest.skip("this kernel cannot forbid it")
    program = PROGRAMS / "static" / "ends"
    script = f"import ctypes, os; ctypes.CDLL(None).prctl({PR_SET_MDWE}, 1, 0, 0, 0)"
    script += f"; os.execv({str(program)!r}, ['ends'])"
    result = emulate(tmp_path, sys.executable, "-c", script)
    said = " ".join(result.stderr.split())
    assert result.returncode == 2, said
    assert f"{program}: the CUDA runtime that is linked into it is not emulated" in said
    assert "its code cannot be written" in said
    assert "build it with -cudart shared" in said


# A runtime that nvcc could have linked: functions of so many bytes, each of which returns 7.
RUNTIME = {"cudaMemGetDefaultMemPool": 64, "cudaGetDeviceCount": 64, "__cudaGetProcAddress": 6}

CALLS = """
#include <stdio.h>
int {declared};
int devices = 0;
__attribute__((constructor)) static void early(void) {{ cudaGetDeviceCount(&devices); }}
int run(void) {{ {printed} fflush(stdout); return 0; }}
int main(void) {{ return run(); }}
"""


def build(folder, name, *words):
    compiler = shutil.which("cc") or "gcc"
    subprocess.run([compiler, "-fPIC", "-o", name, *map(str, words)], cwd=folder, check=True)
    return folder / name


def function(name, size):
    head = f".globl {name}\n.hidden {name}\n.type {name},@function\n{name}:\n"
    body = "mov $7, %eax\nret\n" if size >= 6 else "nop\nret\n"
    filled = f".skip {size} - (. - {name}), 0x90\n"
    return head + body + filled + f".size {name}, {size}\n"


def calling(folder, functions, calls, more="", options=()):
    """A program that prints what functions return, and how many devices there are."""
    own = {"libcudart_static_begin": 16, **functions, "libcudart_static_end": 16}
    text = "".join(function(name, size) for name, size in own.items())
    (folder / "runtime.s").write_text(f".text\n{text}{more}.section .note.GNU-stack\n")
    names = dict.fromkeys(["cudaGetDeviceCount", *calls])
    declared = ", ".join(f"{name}()" for name in names)
    printed = "".join(f'printf("{name} %d\\n", {name}(&devices));' for name in calls)
    printed += 'printf("devices %d\\n", devices);'
    (folder / "calls.c").write_text(CALLS.format(declared=declared, printed=printed))
    return build(folder, "program", "runtime.s", "calls.c", *options)


def test_functions_are_led_to_the_emulated_ones_before_any_code_runs(tmp_path):
    program = calling(tmp_path, RUNTIME, [])
    assert "devices 1\n" in emulate(tmp_path / "out", program).stdout
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    assert done.stdout == "devices 0\n", "it is no emulated runtime by itself"


def test_a_library_is_led_there_when_it_is_loaded(tmp_path):
    library = calling(tmp_path, RUNTIME, [], options=["-shared"])
    script = f"import ctypes; ctypes.CDLL({str(library)!r}).run()"
    assert "devices 1\n" in emulate(tmp_path / "out", sys.executable, "-c", script).stdout


def test_a_function_without_room_gets_a_short_jump(tmp_path):
    program = calling(tmp_path, RUNTIME | {"cudaDriverGetVersion": 6}, ["cudaDriverGetVersion"])
    said = emulate(tmp_path / "out", program).stdout
    assert "cudaDriverGetVersion 0\n" in said
    assert "devices 13" in said, "the version"


def test_functions_of_a_later_cuda_are_refused_by_name(tmp_path):
    program = calling(tmp_path, RUNTIME | {"cudaLater": 32, "cudaNever": 6}, ["cudaLater"])
    result = emulate(tmp_path / "out", program)
    said = " ".join(result.stderr.split())
    assert result.returncode == 2, said
    assert "cudaLater 801\ndevices 1\n" in result.stdout
    assert f"cudaLater of a later CUDA (build {program} with the CUDA of this emulator)" in said
    assert "cudaNever" not in said


def test_an_earlier_cuda_is_refused_as_a_whole(tmp_path):
    earlier = {"cudaGetDeviceCount": 64, "cudaMalloc": 64}
    result = emulate(tmp_path / "out", calling(tmp_path, earlier, ["cudaMalloc"]))
    said = " ".join(result.stderr.split())
    assert result.returncode == 2, said
    assert result.stdout == "cudaMalloc 801\ndevices 0\n"
    assert f"cudaMalloc of a CUDA before 13.0 (build {tmp_path}/program with CUDA 13)" in said


@pytest.mark.parametrize(
    ("functions", "more", "reason"),
    [
        ({"cudaMalloc": 3}, "", "cudaMalloc has 3 bytes, too few for a jump"),
        (
            {"cudaMalloc": 32},
            ".hidden cudaFree\n.globl cudaFree\n.type cudaFree,@function\n"
            "cudaFree = cudaMalloc\n.size cudaFree, 32\n",
            "share code",
        ),
    ],
)
def test_what_cannot_be_led_as_a_whole_is_not_led_at_all(functions, more, reason, tmp_path):
    result = emulate(tmp_path / "out", calling(tmp_path, RUNTIME | functions, [], more))
    said = " ".join(result.stderr.split())
    assert result.stdout == "devices 0\n"
    assert f"{tmp_path}/program: the CUDA runtime that is linked into it is not emulated" in said
    assert reason in said
    assert "build it with -cudart shared" in said


def test_what_only_has_a_name_like_those_of_cuda_stays(tmp_path):
    own = function("cudaOfTheProgram", 32)
    result = emulate(tmp_path / "out", calling(tmp_path, RUNTIME, ["cudaOfTheProgram"], own))
    assert result.stdout == "cudaOfTheProgram 7\ndevices 1\n", result.stderr


def test_a_stripped_library_is_refused_by_its_name(tmp_path):
    """The program's own runtime was replaced."""
    library = tmp_path / "libasks.so"
    source = "int cuGetExportTable(); int ask(void *t) { return cuGetExportTable(&t, t); }\n"
    (tmp_path / "asks.c").write_text(source)
    build(tmp_path, library.name, "asks.c", "-shared")
    (tmp_path / "calls.c").write_text(
        'int ask(void*); int main(void) { return ask("sixteen letters.") == 0; }\n'
    )
    section = '__asm__(".section .nv_fatbin,\\"a\\"\\n.long 1\\n.text");\n'
    (tmp_path / "section.c").write_text(section)
    words = ["calls.c", "section.c", library, f"-Wl,-rpath={tmp_path},--allow-shlib-undefined"]
    result = emulate(tmp_path / "out", build(tmp_path, "program", *words))
    said = " ".join(result.stderr.split())
    assert result.returncode == 2, said
    assert "cuGetExportTable is not emulated, and libasks.so calls it" in said
    assert "could not be replaced" not in said

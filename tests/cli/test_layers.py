"""The allowed include directions between folders, and the files that a new family may touch."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
FAMILIES = sorted(path for path in (ROOT / "kernels").iterdir() if path.is_dir())

STANDARD = r"[a-z_]+"  # <vector>: the standard library alone has headers without an ending
POSIX = (
    r"(cerrno|cxxabi|dlfcn|elf|fcntl|fenv|fnmatch|link|malloc|poll|pthread|sched|spawn|unistd"
    r"|sys/\w+)(\.h)?"
)
CUDA = (
    r"(cuda\w*|fatbinary_section|math_constants|mma)\.h"
    r"|cooperative_groups(/\w+)?\.h|(cub|thrust|cuda)/[\w/.]+"
)
CUPTI = r"cupti\w*\.h"
FMT = r"fmt/\w+\.h"
CLI = r"CLI/CLI\.hpp"

# The libraries that each folder may include in <>, beside the standard library. Programs
# (*_main.cpp) and their headers (*gtest*) may also use CLI11 and GoogleTest.
LIBRARIES = {
    "metrics": [
        *(POSIX, CUDA, CUPTI, FMT),
        *(r"nlohmann/json(_fwd)?\.hpp", r"toml\+\+/toml\.h", r"(lz4|zstd|demangle)\.h"),
    ],
    "harness/emulator/ptx": [],
    "harness/emulator/machine/memory": [POSIX],
    "harness/emulator/machine/control": [],
    "harness/emulator/machine/isa": [POSIX, r"immintrin\.h"],
    "harness/emulator/machine/compile": [r"xbyak/xbyak\.h"],
    "harness/emulator/machine/decode": [],
    "harness/emulator/machine": [POSIX],
    "harness/emulator/preload": [POSIX, FMT],
    "harness/emulator": [POSIX, CUDA, FMT, r"(immintrin|xmmintrin|cpuid)\.h"],
    "metrics/include": [r"cuda_runtime_api\.h"],
    "harness/include": [],
    "harness/attach": [POSIX, CUDA, CUPTI, FMT, r"nlohmann/json\.hpp"],
    "harness/files": [POSIX, FMT, r"nlohmann/json(_fwd)?\.hpp"],
    "harness/process": [POSIX, CUDA, FMT, CLI],
    "harness/outcome": [POSIX, FMT, r"nlohmann/json(_fwd)?\.hpp"],
    "harness/diff": [POSIX, FMT, r"nlohmann/json(_fwd)?\.hpp"],
    "harness/gate": [POSIX, FMT],
    "harness/emulate": [POSIX, FMT],
    "harness/inspect": [POSIX, FMT],
    "harness/programs": [POSIX, FMT],
    "harness/toolchain": [POSIX, FMT],
    "harness/doctor": [POSIX, CUDA, FMT, r"nlohmann/json\.hpp"],
    "harness/explain": [POSIX, FMT, r"nlohmann/json\.hpp"],
    "harness/measure": [POSIX, CUDA, FMT, r"nvtx3/nvToolsExt\.h"],
    "harness/bench": [POSIX, CUDA, FMT, r"nlohmann/json\.hpp", r"benchmark/benchmark\.h"],
    "harness/check": [POSIX, FMT],
    "harness/commands": [POSIX, CUDA, FMT, CLI, r"nlohmann/json\.hpp"],
    "harness": [POSIX, CUDA, FMT, r"nlohmann/json\.hpp", r"nvtx3/nvToolsExt\.h"],
    "kernels": [CUDA, r"cublas\w*\.h"],
}
PROGRAMS = [CLI, r"gtest/gtest\.h"]
# Folders of the machine use the folders in front of them, and the headers of the machine itself.
MACHINE = [r"harness/emulator/(ptx|machine)/\w+\.h"]


def inside(folders):
    return rf"harness/emulator/machine/({folders})/\w+\.h"


def harness_rooms(*names):
    """Includes that a room of the harness may have: metrics, the public headers and these rooms
    ("" is the folder itself)."""
    rooms = "|".join(f"{name}/" if name else "" for name in names)
    return [rf"harness/({rooms})\w+\.h", r"metrics/\w+\.h", r"warpgauge/\w+\.h"]


# And in "": kernels use one header, headers in the folders of families, and those that several
# families share.
OURS = {
    "metrics": [r"metrics/\w+\.h", r"warpgauge/cuda_error\.h"],
    "metrics/include": [r"warpgauge/check_cuda\.h"],
    "harness/emulator/ptx": [r"harness/emulator/ptx/\w+\.h", r"metrics/source_line\.h"],
    "harness/emulator/machine/memory": [*MACHINE, inside("memory"), r"metrics/\w+\.h"],
    "harness/emulator/machine/control": [*MACHINE, inside("memory|control")],
    "harness/emulator/machine/isa": [
        *MACHINE,
        inside("memory|control|isa"),
        r"metrics/counting_rules\.h",
    ],
    "harness/emulator/machine/compile": [*MACHINE, inside("memory|control|isa|compile")],
    "harness/emulator/machine/decode": [
        *MACHINE,
        inside(r"memory|control|isa|compile|decode"),
        r"metrics/\w+\.h",
    ],
    "harness/emulator/machine": [*MACHINE, inside(r"\w+"), r"metrics/\w+\.h"],
    "harness/emulator/preload": [
        r"harness/emulator/(emulator|launch_watch|uninterrupted_mutex)\.h",
        r"harness/(process/(flush_at_exit|progress)|files/\w+|programs/choice)\.h",
        r"metrics/(append_file|counts_report|coverage|demangled)\.h",
    ],
    "harness/emulator": [
        *(r"harness/emulator/([\w/]+/)?\w+\.h", r"metrics/\w+\.h", r"warpgauge/cuda_error\.h"),
    ],
    "harness/include": [r"warpgauge/\w+\.h"],
    "harness/attach": harness_rooms("attach", "programs", "outcome", "process", "files", ""),
    "harness/files": [r"harness/build_info\.h", *harness_rooms("files")],
    "harness/process": [r"harness/outcome/exit_code\.h", *harness_rooms("process", "files", "")],
    "harness/outcome": harness_rooms("outcome", "files", ""),
    "harness/diff": harness_rooms("diff", "outcome", "files"),
    "harness/gate": harness_rooms("gate", "outcome", "process", "files", ""),
    "harness/emulate": harness_rooms("emulate", "programs", "outcome", "process", "files", ""),
    "harness/inspect": harness_rooms("inspect", "programs", "outcome", "process", "files", ""),
    "harness/toolchain": harness_rooms(
        "toolchain", "inspect", "emulate", "diff", "programs", "outcome", "process", "files", ""
    ),
    "harness/programs": harness_rooms("programs", "outcome", "process", "files", ""),
    "harness/doctor": harness_rooms("doctor", "outcome", "process", "files", ""),
    "harness/explain": harness_rooms("explain", "outcome", "process", "files", ""),
    "harness/measure": harness_rooms("measure", "outcome", "process", "files", ""),
    "harness/bench": harness_rooms("bench", "outcome", "process", "files", ""),
    "harness/check": harness_rooms("check", "measure", "outcome", "process", "files", ""),
    "harness/commands": [r"harness/([\w]+/)?\w+\.h", r"metrics/\w+\.h"],
    "harness": [r"harness/emulator/emulator\.h", *harness_rooms("process", "files", "")],
    "kernels": [r"warpgauge/warpgauge\.h", r"kernels/(\w+/)?\w+\.h"],
}


def sources(folder):
    found = [p for p in (ROOT / folder).rglob("*") if re.fullmatch(r"\.(h|cpp|cu|cuh)", p.suffix)]
    assert found, f"{folder}: recognised nothing"
    return found


def own_sources(folder):
    """Those that no folder inside of it has rules of its own for."""
    inner = [ROOT / other for other in OURS if other.startswith(folder + "/")]
    return [p for p in sources(folder) if not any(p.is_relative_to(other) for other in inner)]


def fits(name, patterns):
    return any(re.fullmatch(pattern, name) for pattern in patterns)


def lines_with(pattern, paths):
    """file:line of all lines that the pattern matches, comments left out."""
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in paths
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if re.search(pattern, re.sub(r"\s*(//|#(?!include)).*", "", line))
    ]


@pytest.mark.parametrize("folder", OURS)
def test_folders_include_only_what_they_may_know(folder):
    wrong = []
    for path in own_sources(folder):
        libraries = [STANDARD, *LIBRARIES[folder]]
        if path.name.endswith("_main.cpp") or "gtest" in path.name:
            libraries += PROGRAMS
        for bracket, name in INCLUDE.findall(path.read_text()):
            if not fits(name, OURS[folder] if bracket == '"' else libraries):
                wrong.append(f"{path.relative_to(ROOT)} includes {name}")
    assert not wrong


@pytest.mark.parametrize("folder", ["metrics", "harness", "kernels"])
def test_headers_of_ours_that_are_included_are_there(folder):
    """A name in "" that is of no file would mean that the rules above look past something."""
    for path in sources(folder):
        for bracket, name in INCLUDE.findall(path.read_text()):
            if bracket == '"':
                folders = (ROOT, path.parent, ROOT / "harness/include", ROOT / "metrics/include")
                assert any((folder / name).exists() for folder in folders), f"{path}: {name}"


def test_what_nvcc_reads_for_each_architecture_is_light():
    """Of the standard headers, <string> and <string_view> make a small family take half as long
    again, <optional> a tenth."""
    light = {"cmath", "cstddef", "cstdint", "initializer_list", "iosfwd", "source_location"}
    light |= {"cuda_runtime_api.h", "type_traits", "utility", "vector"}
    ours, standard = {"warpgauge/warpgauge.h"}, set()
    unread = list(ours)
    while unread:
        name = unread.pop()
        folders = (ROOT / "harness/include", ROOT / "metrics/include")
        text = next(folder / name for folder in folders if (folder / name).exists()).read_text()
        names = INCLUDE.findall(text)
        standard |= {name for bracket, name in names if bracket == "<"}
        unread += {name for bracket, name in names if bracket == '"'} - ours
        ours |= set(unread)
    assert len(ours) > 5 and "vector" in standard
    assert standard <= light


@pytest.mark.parametrize("top", ["metrics", "harness"])
def test_a_namespace_is_its_folder(top):
    """harness itself, its public headers and harness/measure, which carries them out, are
    warpgauge."""
    wrong = []
    for path in sources(top):
        folders = path.relative_to(ROOT).parent.parts
        public = "include" in folders or folders[1:2] == ("measure",)
        folder = "" if public else "::".join(("", *folders[top == "harness" :]))
        closed = re.findall(r"^}  // namespace (warpgauge.*)$", path.read_text(), re.MULTILINE)
        # Those before the last are of forward declarations.
        if closed and not f"{closed[-1]}::".startswith(f"warpgauge{folder}::"):
            wrong.append(f"{path.relative_to(ROOT)}: {closed[-1]}")
    assert not wrong


def test_the_rules_catch_what_they_are_for():
    assert not fits("harness/problem.h", OURS["metrics"])
    assert not fits("metrics/fact.h", OURS["kernels"])
    assert not fits("harness/registry.h", OURS["kernels"])
    assert not fits("../transpose/tile.cuh", OURS["kernels"])
    assert not fits("tests/faulty/family.cu", OURS["harness"])
    assert not fits("gtest/gtest.h", [STANDARD, *LIBRARIES["harness"]])
    assert not fits("fmt/format.h", [STANDARD, *LIBRARIES["kernels"]])
    assert fits("cooperative_groups/reduce.h", LIBRARIES["kernels"])
    assert INCLUDE.findall('  #  include "tests/x.h"\n') == [('"', "tests/x.h")]


def test_there_is_one_judge():
    """A verdict is given by the judge, read back by the reader, and, where a case itself fails
    and there is nothing to judge, the harness says error."""
    given = lines_with(
        r"verdict\s*=(?!=)|set_verdict", [p for f in ("metrics", "harness") for p in sources(f)]
    )
    given += lines_with(r"verdict\s*=(?!=)|Verdict", sources("kernels"))
    elsewhere = [line for line in given if not line.startswith("metrics/judge.cpp:")]
    allowed = [
        r"metrics/fact\.h:\d+: Verdict verdict = Verdict::unbudgeted;.*",
        r"metrics/fact_(reader|records)\.cpp:\d+: .*",
        r"harness/case_facts\.cpp:\d+: fact\.verdict = metrics::Verdict::error;",
    ]
    assert len(elsewhere) < len(given), "the judge was not recognised"
    assert [line for line in elsewhere if not fits(line, allowed)] == []


def test_budgets_are_compared_by_the_judge_alone():
    """Limits are made by the parser, held against values by the judge, and written and read with
    facts; the outcome sorts by the distance to them. Everything else shows them as text."""
    known = (
        *("metrics/judge.cpp", "metrics/budget", "metrics/built_in_budgets.", "metrics/limit."),
        "metrics/fact",
        "harness/outcome/finding.cpp",
    )
    uses = lines_with(r"\blimit(\.|->)(max|min|equal)\b", sources("metrics") + sources("harness"))
    assert any(line.startswith(known[0]) for line in uses)
    assert [line for line in uses if not line.startswith(known)] == []


def strings(path):
    """The texts in a Python file, without docstrings."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    constants = (node for node in nodes if isinstance(node, ast.Constant))
    return [str(node.value) for node in constants if id(node) not in docstrings]


def test_python_has_one_reader_of_facts():
    readers = {
        path.parent.relative_to(ROOT).as_posix()
        for folder in ("ci", "reports")
        for path in (ROOT / folder).rglob("*.py")
        if path.parent.name != "versions"  # migrations write what was read at their time
        and any("warpgauge.fact/" in text or "fact.schema" in text for text in strings(path))
    }
    assert readers == {"reports/warpgauge/facts"}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda path: path.name)
def test_a_family_is_a_folder_with_a_source_and_budgets(family):
    """One of kernels is family.cu and has budgets; one of a library's calls is family.cpp."""
    names = {path.name for path in family.iterdir()}
    assert {"family.cu", "budgets.toml"} <= names or "family.cpp" in names
    own = r"\w+(\.rdc)?\.(cu|cpp|h)|budgets\.toml|options\.cmake"
    assert not [n for n in names if not re.fullmatch(own, n)]
    main = family / ("family.cu" if "family.cu" in names else "family.cpp")
    assert f"WARPGAUGE_FAMILY({family.name})" in main.read_text()


def test_no_build_file_knows_a_family():
    build_files = [
        *ROOT.glob("cmake/*"),
        *ROOT.glob("*/CMakeLists.txt"),
        ROOT / "CMakeLists.txt",
        ROOT / "CMakePresets.json",
    ]
    names = "|".join(path.name for path in FAMILIES)
    assert lines_with(rf"kernels/({names})\b|\b({names})/family", build_files) == []

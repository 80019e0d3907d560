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
    r"|wordexp|sys/\w+)(\.h)?"
)
CUDA = (
    r"(cuda\w*|fatbinary_section|math_constants|mma)\.h"
    r"|cooperative_groups(/\w+)?\.h|(cub|thrust|cuda)/[\w/.]+"
)
CUPTI = r"cupti\w*\.h"
FMT = r"fmt/\w+\.h"
JSON = r"nlohmann/json(_fwd)?\.hpp"
CLI = r"CLI/CLI\.hpp"
TOML = r"toml\+\+/(toml|impl/\w+)\.h"

# The libraries that each folder may include in <>, beside the standard library. Programs
# (*_main.cpp) and their headers (*gtest*) may also use CLI11 and GoogleTest.
LIBRARIES = {
    "metrics/base": [POSIX, CUDA, FMT, JSON, TOML, r"demangle\.h"],
    "metrics/architecture": [CUDA],
    "metrics/facts": [POSIX, FMT, JSON],
    "metrics/machine_code": [POSIX, FMT, r"(lz4|zstd|zlib)\.h"],
    "metrics/counting": [POSIX, FMT, JSON],
    "metrics/cupti": [POSIX, CUDA, CUPTI, FMT],
    "metrics/budgets": [POSIX, FMT],
    "harness/emulator/ptx": [],
    "harness/emulator/machine/core": [],
    "harness/emulator/machine/checks": [POSIX],
    "harness/emulator/machine/memory": [POSIX],
    "harness/emulator/machine/control": [],
    "harness/emulator/machine/isa": [POSIX, r"immintrin\.h"],
    "harness/emulator/machine/compile": [r"xbyak/xbyak\.h"],
    "harness/emulator/machine/decode": [],
    "harness/emulator/machine": [],
    "harness/emulator/preload": [POSIX, FMT],
    "harness/emulator": [POSIX, CUDA, FMT, r"(immintrin|xmmintrin|cpuid)\.h"],
    "metrics/include": [r"cuda_runtime_api\.h"],
    "harness/include": [],
    "harness/attach": [POSIX, CUDA, CUPTI, FMT, JSON],
    "harness/files": [POSIX, FMT, JSON],
    "harness/process": [POSIX, CUDA, FMT, CLI],
    "harness/outcome": [POSIX, FMT, JSON],
    "harness/diff": [POSIX, FMT, JSON],
    "harness/fuzz": [POSIX, FMT, CLI, JSON],
    "harness/gate": [POSIX, FMT],
    "harness/emulate": [POSIX, FMT],
    "harness/environment": [POSIX],
    "harness/audit": [POSIX, FMT],
    "harness/inspect": [POSIX, FMT],
    "harness/programs": [POSIX, FMT],
    "harness/toolchain": [POSIX, FMT],
    "harness/doctor": [POSIX, CUDA, FMT, JSON],
    "harness/explain": [POSIX, FMT, JSON],
    "harness/measure": [POSIX, CUDA, FMT, r"nvtx3/nvToolsExt\.h"],
    "harness/bench": [POSIX, CUDA, FMT, JSON, r"benchmark/benchmark\.h"],
    "harness/check": [POSIX, FMT, r"gtest/gtest\.h"],
    "harness/commands": [POSIX, CUDA, FMT, CLI, JSON],
    "harness/cases": [POSIX, CUDA, FMT, CLI],
    "harness/measuring": [POSIX, CUDA, FMT, JSON, r"nvtx3/nvToolsExt\.h"],
    "harness": [POSIX, CUDA, FMT, JSON],
    "kernels": [CUDA, r"cublas\w*\.h", r"dlfcn\.h"],
}
PROGRAMS = [CLI, r"gtest/gtest\.h"]
# The rooms of metrics, each of which uses those in front of it.
METRICS = ("base", "architecture", "facts", "machine_code", "counting", "cupti", "budgets")
ANY_METRICS = r"metrics/\w+/\w+\.h"
# The folders of the machine: each uses those in front of it.
MACHINE = ("core", "checks", "memory", "control", "isa", "compile", "decode")


def machine_folder(folder):
    """Includes that a folder of the machine may have: its own headers, those of folders in front,
    and the PTX."""
    folders = "|".join(MACHINE[: MACHINE.index(folder) + 1])
    return [rf"harness/emulator/machine/({folders})/\w+\.h", r"harness/emulator/ptx/\w+\.h"]


def metrics_room(room):
    """Includes that a room of metrics may have: its own headers and those of rooms in front."""
    rooms = "|".join(METRICS[: METRICS.index(room) + 1])
    return [rf"metrics/({rooms})/\w+\.h", r"warpgauge/cuda_error\.h"]


def harness_rooms(*names):
    """Includes that a room of the harness may have: metrics, the public headers and these rooms
    ("" is the folder itself)."""
    rooms = "|".join(f"{name}/" if name else "" for name in names)
    return [rf"harness/({rooms})\w+\.h", ANY_METRICS, r"warpgauge/\w+\.h"]


# And in "": kernels use one header, headers in the folders of families, and those that several
# families share.
OURS = {
    **{f"metrics/{room}": metrics_room(room) for room in METRICS},
    "metrics/include": [r"warpgauge/check_cuda\.h"],
    "harness/emulator/ptx": [r"harness/emulator/ptx/\w+\.h", r"metrics/base/source_line\.h"],
    **{f"harness/emulator/machine/{folder}": machine_folder(folder) for folder in MACHINE},
    "harness/emulator/machine": [
        r"harness/emulator/machine/\w+\.h",
        r"metrics/base/(available_cores|own_thread|source_line)\.h",
        *machine_folder("decode"),
    ],
    "harness/emulator/preload": [
        r"harness/emulator/(emulator|launch_watch|runtime/refuse|uninterrupted_mutex)\.h",
        r"harness/(process/(flush_at_exit|progress)|files/\w+|programs/launch_filter|runtime)\.h",
        r"metrics/(base/(append_file|demangled)|counting/(emulator_report|coverage))\.h",
    ],
    "harness/emulator": [
        *(r"harness/(runtime|emulator/([\w/]+/)?\w+)\.h", ANY_METRICS),
        r"warpgauge/cuda_error\.h",
    ],
    "harness/environment": [r"harness/environment/\w+\.h"],
    "harness/audit": [
        r"harness/audit/\w+\.h",
        r"metrics/machine_code/elf_sections\.h",
    ],
    "harness/include": [r"warpgauge/\w+\.h"],
    "harness/attach": harness_rooms(
        "attach", "programs", "outcome", "process", "files", "cases", "measuring", ""
    ),
    "harness/files": [r"harness/build_info\.h", *harness_rooms("files")],
    "harness/process": [
        r"harness/(outcome/exit_code|cases/device_code)\.h",
        *harness_rooms("process", "files", ""),
    ],
    "harness/outcome": harness_rooms("outcome", "files", "cases", ""),
    "harness/diff": harness_rooms("diff", "outcome", "files", "cases"),
    "harness/fuzz": harness_rooms("fuzz", "process", "files", "cases", "measuring"),
    "harness/gate": harness_rooms(
        "gate", "fuzz", "outcome", "process", "files", "cases", "measuring", ""
    ),
    "harness/emulate": harness_rooms(
        "emulate", "programs", "outcome", "process", "files", "cases", "measuring", ""
    ),
    "harness/inspect": [
        r"harness/emulator/(machine/refusals|ptx/(error|module))\.h",
        *harness_rooms(
            "inspect", "programs", "outcome", "process", "files", "cases", "measuring", ""
        ),
    ],
    "harness/toolchain": harness_rooms(
        "toolchain",
        "inspect",
        "emulate",
        "diff",
        "programs",
        "outcome",
        "process",
        "files",
        "cases",
        "measuring",
        "",
    ),
    "harness/programs": harness_rooms(
        "programs", "environment", "outcome", "process", "files", "cases", "measuring", ""
    ),
    "harness/doctor": harness_rooms(
        "doctor", "outcome", "process", "files", "cases", "measuring", ""
    ),
    "harness/explain": harness_rooms(
        "explain", "outcome", "process", "files", "cases", "measuring", ""
    ),
    "harness/measure": harness_rooms(
        "measure", "outcome", "process", "files", "cases", "measuring", ""
    ),
    "harness/bench": harness_rooms(
        "bench", "outcome", "process", "files", "cases", "measuring", ""
    ),
    "harness/check": harness_rooms(
        "check", "fuzz", "measure", "outcome", "process", "files", "cases", "measuring", ""
    ),
    "harness/commands": [r"harness/([\w]+/)?\w+\.h", ANY_METRICS],
    "harness/cases": [
        *harness_rooms("cases", "process", "files", ""),
    ],
    "harness/measuring": harness_rooms("measuring", "cases", "process", "files", ""),
    "harness": harness_rooms(""),
    "kernels": [r"warpgauge/warpgauge\.h", r"kernels/(\w+/)?\w+\.h"],
}
for folder in ("core", "memory", "isa"):  # what accesses count as
    OURS[f"harness/emulator/machine/{folder}"].append(r"metrics/counting/\w+\.h")
OURS["harness/emulator/machine/core"].append(r"metrics/base/(check_rules|demangled|source_line)\.h")
OURS["harness/emulator/machine/checks"].append(r"metrics/base/check_rules\.h")
OURS["harness/emulator/machine/decode"].append(r"harness/emulator/machine/program\.h")


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


def included_units(folders):
    """By unit, which is a header with its source: the units whose headers it includes."""
    graph = {}
    for path in (path for folder in folders for path in sources(folder)):
        includes = graph.setdefault(path.relative_to(ROOT).with_suffix("").as_posix(), set())
        for _, name in INCLUDE.findall(path.read_text()):
            places = (ROOT, path.parent, ROOT / "harness/include", ROOT / "metrics/include")
            found = next((place / name for place in places if (place / name).exists()), None)
            if found is not None and found.is_relative_to(ROOT):
                includes.add(found.resolve().relative_to(ROOT).with_suffix("").as_posix())
    return graph


def loops(graph):
    """The sets of more than one node that all reach each other, the largest first (Tarjan)."""
    order, lowest, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = lowest[node] = len(order)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in order:
                visit(other)
            if other in stack:
                lowest[node] = min(lowest[node], lowest[other])
        if lowest[node] == order[node]:
            at = stack.index(node)
            found.append(sorted(stack[at:]))
            del stack[at:]

    for node in graph:
        if node not in order:
            visit(node)
    return sorted((loop for loop in found if len(loop) > 1), key=len, reverse=True)


# How many units may include each other in a loop, by the first folder that has all of them.
LARGEST_LOOPS = {
    "harness/emulator/machine/": 3,
    "harness/emulator/counting/": 3,
    "harness/emulator/": 4,
    "harness/": 3,
    "metrics/": 2,
}


def test_loops_of_units_stay_small():
    """Folders whose headers include each other only forwards may have sources that do not."""
    assert loops({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]
    graph = included_units(["metrics", "harness"])
    assert len(graph) > 400 and "metrics/facts/fact" in graph["harness/measuring/blank_facts"]

    def largest(loop):
        return next(
            (n for folder, n in LARGEST_LOOPS.items() if all(u.startswith(folder) for u in loop)), 0
        )

    assert [loop for loop in loops(graph) if len(loop) > largest(loop)] == []


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
    """The rooms of metrics are one namespace. harness itself, its public headers, what makes and
    measures cases, and harness/measure, which carries them out, are warpgauge. The vocabulary of
    the machine is of its namespace."""
    wrong = []
    for path in sources(top):
        folders = path.relative_to(ROOT).parent.parts
        public = "include" in folders or folders[1:2] in (("measure",), ("cases",), ("measuring",))
        own = folders[1:] if top == "harness" else folders[:1]
        own = own[:-1] if own[-2:] == ("machine", "core") else own
        folder = "" if public else "::".join(("", *own))
        closed = re.findall(r"^}  // namespace (warpgauge.*)$", path.read_text(), re.MULTILINE)
        # Those before the last are of forward declarations.
        if closed and not f"{closed[-1]}::".startswith(f"warpgauge{folder}::"):
            wrong.append(f"{path.relative_to(ROOT)}: {closed[-1]}")
    assert not wrong


def test_the_rules_catch_what_they_are_for():
    assert not fits("harness/runtime.h", OURS["metrics/budgets"])
    assert not fits("metrics/budgets/budget.h", OURS["metrics/facts"])
    assert not fits("metrics/facts/fact.h", OURS["kernels"])
    assert not fits("harness/cases/registry.h", OURS["kernels"])
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
    elsewhere = [line for line in given if not line.startswith("metrics/budgets/judge.cpp:")]
    allowed = [
        r"metrics/facts/fact\.h:\d+: Verdict verdict = Verdict::unbudgeted;.*",
        r"metrics/facts/fact_(reader|records)\.cpp:\d+: .*",
        r"harness/measuring/error_facts\.cpp:\d+: fact\.verdict = metrics::Verdict::error;",
    ]
    assert len(elsewhere) < len(given), "the judge was not recognised"
    assert [line for line in elsewhere if not fits(line, allowed)] == []


def test_budgets_are_compared_by_the_judge_alone():
    """Limits are made by the parser, held against values by the judge, and written and read with
    facts; the outcome sorts by the distance to them. Everything else shows them as text."""
    known = (
        *("metrics/budgets/judge.cpp", "metrics/budgets/budget"),
        *("metrics/facts/built_in_limits.", "metrics/facts/limit.", "metrics/facts/fact"),
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
        if any("warpgauge.fact/" in text or "fact.schema" in text for text in strings(path))
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

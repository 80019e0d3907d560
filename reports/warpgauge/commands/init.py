"""Write a first kernel, budgets of the project and a CI workflow.

Writes warpgauge.toml, gauge/first.cu, .github/workflows/kernels.yml and, where
there is none, CMakeLists.txt, and prints the next commands. The kernel has bank
conflicts, so that its gate is red at first. Nothing is overwritten.

--kernel takes a kernel that the project has instead: gauge/NAME.cu registers a
family for it, with its parameters, and TODOs that are errors of its case until
they are filled in. Files that are there stay.
"""

from __future__ import annotations

import argparse
import os
import shlex
from importlib import resources
from pathlib import Path

from warpgauge import templates
from warpgauge.command_line import as_started
from warpgauge.errors import CommandError
from warpgauge.files import replace_files
from warpgauge.skeleton import find_kernel, skeleton
from warpgauge.text import printable

EPILOG = """\
exit codes:
  0  written
  2  an error, such as a file that is there; nothing is written

examples:
  warpgauge init
  warpgauge init my-project
  warpgauge init --kernel softmax
  warpgauge init --kernel src/reduce.cu:sum
"""

_CMAKE, _SOURCE = "CMakeLists.txt", "first.cu"
_PLACES = {  # of the templates
    "warpgauge.toml": Path("warpgauge.toml"),
    _SOURCE: Path("gauge/first.cu"),
    "kernels.yml": Path(".github/workflows/kernels.yml"),
    _CMAKE: Path(_CMAKE),
}
_OF_A_PROJECT = ("enable_testing", "find_package", "warpgauge_")  # calls for one that is there


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder",
        nargs="?",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="folder of the project, which need not be there (default: here)",
    )
    parser.add_argument(
        "--kernel",
        metavar="[FILE:]NAME",
        help="write a skeleton of a family for this kernel of the project",
    )


def run(options: argparse.Namespace) -> int:
    """Returns 0; raises CommandError."""
    folder = options.folder
    texts = {place: _template(name) for name, place in _PLACES.items()}
    source = _PLACES[_SOURCE]
    if options.kernel is not None:
        del texts[source]
        kernel = find_kernel(folder, options.kernel)
        source = source.with_name(f"{kernel.name}.cu")
        texts[source] = skeleton(kernel, folder / source)
        texts = {p: t for p, t in texts.items() if p == source or not _is_there(folder / p)}
    cmake = _template(_CMAKE).replace(str(_PLACES[_SOURCE]), str(source))
    has_cmake = _is_there(folder / _CMAKE)
    texts[_PLACES[_CMAKE]] = cmake
    if has_cmake:
        del texts[_PLACES[_CMAKE]]
    contents = {folder / place: text.encode() for place, text in texts.items()}
    if there := [str(place) for place in contents if _is_there(place)]:
        raise CommandError(
            f"{', '.join(there)}: there already; nothing was written. Move it away, "
            "or name another folder"
        )
    replace_files(contents)
    for place in contents:
        print(printable(f"wrote {place}"))
    todo = "pad the tile to tile[32][33]"
    if options.kernel is not None:
        todo = f"fill in the TODOs of {source}"
    print(_next_steps(folder, cmake if has_cmake else None, todo))
    if "OWNER/" in texts.get(_PLACES["kernels.yml"], ""):  # which a release fills in
        print(f"\nIn {_PLACES['kernels.yml']}, OWNER is the account of your clone of warpgauge.")
    return 0


def _is_there(place: Path) -> bool:
    return os.path.lexists(place)  # which a name that is too long is not


def _template(name: str) -> str:
    return resources.files(templates).joinpath(name).read_text("utf-8")


def _next_steps(folder: Path, cmake: str | None, todo: str) -> str:
    """`cmake`: what a CMakeLists.txt that is there needs lines of; `todo`: what to change."""
    steps = []
    if cmake is not None:
        lines = [line for line in cmake.splitlines() if line.startswith(_OF_A_PROJECT)]
        steps += [
            printable(f"Add to {folder / _CMAKE}") + ", behind project() with the language CUDA:",
            "",
        ]
        steps += [*lines, ""]
    steps += [
        "Next:",
        *([] if folder == Path() else [f"  cd {shlex.quote(printable(str(folder)))}"]),
        "  export CMAKE_PREFIX_PATH=$(warpgauge config --prefix)",
        "  cmake -S . -B build -G Ninja -DCMAKE_CUDA_ARCHITECTURES=90",
        "  cmake --build build",
        f"  build/first gate        # red: {todo}, and build again",
    ]
    return "\n" + as_started("\n".join(steps))

"""Write a first kernel, budgets of the project and a CI workflow.

Writes warpgauge.toml, gauge/first.cu, .github/workflows/kernels.yml and, where
there is none, CMakeLists.txt and .gitignore, and prints the next commands. The
kernel has bank conflicts, so that its gate is red at first. Nothing is
overwritten.

--kernel takes a kernel that the project has instead: gauge/NAME.cu registers a
family for it, with its parameters, and TODOs that are errors of its case until
they are filled in. Files that are there stay.
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import shlex
from collections.abc import Iterable
from importlib import resources
from pathlib import Path

from warpgauge import templates
from warpgauge.command_line import as_started
from warpgauge.errors import CommandError
from warpgauge.files import read_whole, replace_files
from warpgauge.skeleton import Kernel, find_kernel, first_kernel, skeleton
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
_IGNORE, _IGNORED = Path(".gitignore"), ("build/", "out/")  # what is made is no source
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
    folder, source = options.folder, _PLACES[_SOURCE]
    texts = {place: _template(name) for name, place in _PLACES.items()}
    other, todo = None, "pad the tile to tile[32][33]"
    if options.kernel is None:
        other = first_kernel(folder)
    else:
        kernel = find_kernel(folder, options.kernel)
        del texts[source]
        source = source.with_name(f"{kernel.name}.cu")
        texts[source] = skeleton(kernel, folder / source)
        texts[Path(_CMAKE)] = texts[Path(_CMAKE)].replace(
            f"{_PLACES[_SOURCE]})", f"{source})  # LIBRARIES <your library>, if it needs one"
        )
        todo = f"fill in the TODOs of {source}"
    cmake = _read(folder / _CMAKE)
    to_add = [] if cmake is None else _lines_to_add(cmake, texts.pop(Path(_CMAKE)), source)
    ignored = _read(folder / _IGNORE)
    not_ignored = _not_among((ignored or "").splitlines())
    if ignored is None:
        texts[_IGNORE] = "".join(f"{line}\n" for line in _IGNORED)
    contents = {folder / place: text.encode() for place, text in texts.items()}
    there = [place for place in contents if _is_there(place)]
    if options.kernel is not None:
        contents = {p: c for p, c in contents.items() if p == folder / source or p not in there}
        there = [place for place in there if place in contents]
    if there:
        raise CommandError(
            f"{', '.join(map(str, there))}: there already; nothing was written. Move it away, "
            "or name another folder"
        )
    replace_files(contents)
    for place in contents:
        print(printable(f"wrote {place}"))
    if ignored is not None and not_ignored:
        lines = f"{folder / _IGNORE} lacks {' and '.join(not_ignored)}"
        print(f"\n{printable(lines)}: add it, or what is built counts as changed sources.")
    print(_next_steps(folder, to_add, todo))
    if other is not None:
        print(_on_other_kernel(other, folder))
    if folder / _PLACES["kernels.yml"] in contents and "OWNER/" in texts[_PLACES["kernels.yml"]]:
        print(f"\nIn {_PLACES['kernels.yml']}, OWNER is the account of your clone of warpgauge.")
    return 0


def _read(file: Path) -> str | None:
    """The text of a file of the project; None if it is not there."""
    if not _is_there(file):
        return None
    try:
        return read_whole(file).decode("utf-8", "replace")
    except OSError as error:
        raise CommandError(
            f"{file}: cannot be read: {error.strerror}; nothing was written"
        ) from error


def _lines_to_add(cmake: str, template: str, source: Path) -> list[str]:
    """What a CMakeLists.txt that is there needs for a source."""
    if "warpgauge_add_kernels(" in cmake:
        return ["# to the SOURCES of warpgauge_add_kernels():", str(source)]
    return [line for line in template.splitlines() if line.startswith(_OF_A_PROJECT)]


def _not_among(lines: Iterable[str]) -> list[str]:
    """What is to be ignored and no line of a .gitignore names."""
    globs = [line.strip().removeprefix("**").strip("/") for line in lines]
    return [
        folder
        for folder in _IGNORED
        if not any(fnmatch.fnmatchcase(folder.rstrip("/"), glob) for glob in globs)
    ]


def _on_other_kernel(kernel: Kernel, folder: Path) -> str:
    """That a kernel of the project can be chosen."""
    words = ["warpgauge", "init", *([] if folder == Path() else [str(folder)])]
    words += ["--kernel", f"{kernel.file}:{kernel.name}"]
    command = as_started(printable(shlex.join(words)))
    return (
        f"\nThis project has kernels of its own, such as {kernel.name}; for that one:\n  {command}"
    )


def _is_there(place: Path) -> bool:
    return os.path.lexists(place)  # which a name that is too long is not


def _template(name: str) -> str:
    return resources.files(templates).joinpath(name).read_text("utf-8")


def _next_steps(folder: Path, to_add: list[str], todo: str) -> str:
    """`to_add`: lines for the CMakeLists.txt that is there; `todo`: what to change."""
    steps = []
    if to_add:
        steps += [
            printable(f"Add to {folder / _CMAKE}") + ", behind project() with the language CUDA:",
            "",
            *to_add,
            "",
        ]
    steps += [
        "Next:",
        *([] if folder == Path() else [f"  cd {shlex.quote(printable(str(folder)))}"]),
        "  export CMAKE_PREFIX_PATH=$(warpgauge config --prefix)",
        "  cmake -S . -B build -G Ninja -DCMAKE_CUDA_ARCHITECTURES=90",
        "  cmake --build build",
        f"  build/first gate        # red: {todo}, and build again",
    ]
    return "\n" + as_started("\n".join(steps))

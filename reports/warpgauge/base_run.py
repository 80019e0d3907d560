"""Gates the merge base of a revision and HEAD, and the tree as it is, for `warpgauge diff --base`.

The merge base is checked out in a worktree, configured as the build folder of the program is, built
and gated. The worktree is removed whatever happens. The program compares what then exists:
OUT/base/facts.jsonl and OUT/facts.jsonl.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from warpgauge.command_line import program_name
from warpgauge.errors import CommandError
from warpgauge.started import in_path

_NOT_SET = ("INTERNAL", "STATIC")  # types of a CMake cache that CMake itself writes
_SHOWN = 40  # last lines of a command that failed
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE_S = 10  # between asking a command to end and ending it


class Build(NamedTuple):
    """A program, its build folder, and the folder of the CMakeLists.txt it was configured from."""

    program: Path
    folder: Path
    source: Path


def run(words: Sequence[str]) -> int:
    """Makes the two files; raises CommandError. `words` are those that the program hands on."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--revision", required=True)
    parser.add_argument("--program", required=True, type=Path)
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("gate_options", nargs="*")
    options = parser.parse_args(words)
    with _ended_by_signals():
        _gate_both(build_of(options.program), options.revision, options.out, options.gate_options)
    return 0


def _gate_both(build: Build, revision: str, out: Path, gate: Sequence[str]) -> None:
    root = Path(_git(build.source, "rev-parse", "--show-toplevel"))
    if not build.source.is_relative_to(root):
        raise CommandError(f"{build.source}: is not in the repository {root}")
    base = _merge_base(root, revision)
    for file in (out / "base/facts.jsonl", out / "facts.jsonl"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
    with _worktree(root, base) as folder:
        _say(f"building {base[:12]}, the merge base of {revision} and HEAD")
        there = _built_in(build, root, folder)
        _say("building the tree as it is")
        _run(["cmake", "--build", build.folder, "--target", build.program.name, "--parallel"])
        for gauge, place, name in (
            (there, out / "base", base[:12]),
            (build, out, "the tree as it is"),
        ):
            _say(f"gating {name}")
            command = [gauge.program, "gate", "--out", place, *gate]
            _run(command, name=f"the gate of {name}", passes=(0, 1))
            if not (place / "facts.jsonl").exists():
                raise CommandError(f"the gate of {name} wrote no {place / 'facts.jsonl'}")


def build_of(program: Path) -> Build:
    """The build that the program is of: the nearest folder above it that CMake has configured."""
    for folder in program.parents:
        cache = folder / "CMakeCache.txt"
        if cache.exists():
            home = re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", cache.read_text(), re.M)
            if home:
                return Build(program, folder, Path(home[1]).resolve())
    raise CommandError(
        f"{program}: is in no build folder of CMake, so that its base cannot be built: run `diff "
        "--base` with the gauge of your build"
    )


def _merge_base(root: Path, revision: str) -> str:
    unknown = f"--base {revision}: git knows no such commit; fetch it, or name another"
    shown = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    commit = _git(root, *shown, problem=unknown)
    unrelated = "it has no commit in common with HEAD; in a shallow clone, `git fetch --unshallow`"
    return _git(root, "merge-base", "HEAD", commit, problem=f"--base {revision}: {unrelated}")


def _built_in(build: Build, root: Path, folder: Path) -> Build:
    """The same build, of the worktree in this folder."""
    source, built = folder / "source", folder / "build"
    lists = source / build.source.relative_to(root)
    cache = folder / "cache.cmake"
    entries = read_cache(build.folder / "CMakeCache.txt")
    cache.write_text(initial_cache(entries, (root, source), (build.folder, built)))
    names = {entry.name: entry.value for entry in entries}
    configure = ["cmake", "-C", cache, "-S", lists, "-B", built, "-G", names["CMAKE_GENERATOR"]]
    _run(configure, name="configuring the base")
    target = build.program.name
    _run(["cmake", "--build", built, "--target", target, "--parallel"], name="building the base")
    program = built / build.program.relative_to(build.folder)
    if not program.exists():
        raise CommandError(f"building the base made no {program.relative_to(folder)}")
    return Build(program, built, lists)


# ---- the CMake cache -----------------------------------------------------------------------------


class Entry(NamedTuple):
    name: str
    type: str
    value: str


def read_cache(file: Path) -> list[Entry]:
    lines = file.read_text().splitlines()
    found = (re.fullmatch(r'"?([^#/:="][^:="]*)"?:([A-Z]+)=(.*)', line) for line in lines)
    return [Entry(*match.groups()) for match in found if match]


def initial_cache(
    entries: Sequence[Entry], source: tuple[Path, Path], build: tuple[Path, Path]
) -> str:
    """A script for `cmake -C`: what the user and the searches of CMake have set. Paths below the
    first folder of a pair are moved to the second; those of `source` only where they are there, so
    that what git does not have is taken from the tree."""
    lines = []
    for name, kind, value in entries:
        if kind in _NOT_SET or value.endswith("-NOTFOUND"):
            continue
        value = _moved(_moved(value, *build), *source, only_existing=True)
        kind = "STRING" if kind == "UNINITIALIZED" else kind
        lines.append(f'set({name} [==[{value}]==] CACHE {kind} "")')
    return "\n".join(lines) + "\n"


def _moved(value: str, old: Path, new: Path, only_existing: bool = False) -> str:
    """The value with paths moved, also within options such as -I/path and -DNAME="/path"."""

    def place(match: re.Match[str]) -> str:
        there = f"{new}{match[2]}"
        return match[1] + there if not only_existing or Path(there).exists() else match[0]

    apart = r"\s;:=,\"'"
    begin, rest = rf"((?:^|[{apart}])[^/{apart}]*)", rf"((?:/[^{apart}]*)?)(?=$|[{apart}])"
    return re.sub(begin + re.escape(str(old)) + rest, place, value)


# ---- git and other programs ----------------------------------------------------------------------


@contextmanager
def _worktree(root: Path, commit: str) -> Iterator[Path]:
    """A folder, whose `source` is a checkout of the commit; removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="warpgauge-base-"))
    source = folder / "source"
    quiet = ["-c", "core.hooksPath=/dev/null"]
    try:
        _git(root, *quiet, "worktree", "add", "--detach", "--quiet", str(source), commit)
        if (source / ".gitmodules").exists():
            _git(source, *quiet, "submodule", "update", "--init", "--recursive", "--quiet")
        yield folder
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([in_path("git"), "-C", root, "worktree", "prune"], capture_output=True)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


def _git(folder: Path, *words: str, problem: str = "") -> str:
    try:
        command = [in_path("git"), "-C", str(folder), *words]
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise CommandError(f"git cannot be run: {error.strerror}; install it") from error
    if done.returncode != 0:
        said = done.stderr.strip() or f"`git {' '.join(words)}` ended with {done.returncode}"
        raise CommandError(*([problem] if problem else [f"{folder}: {said}"]))
    return done.stdout.strip()


def _run(command: Sequence[object], name: str = "", passes: Sequence[int] = (0,)) -> None:
    """Runs a command and all that it starts, with the end of its output shown if it fails. They end
    with this program."""
    words = [str(word) for word in command]
    name = name or f"`{' '.join(words)}`"
    with tempfile.TemporaryFile() as log:
        try:
            process = subprocess.Popen(
                [in_path(words[0]), *words[1:]],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        except OSError as error:
            raise CommandError(f"{words[0]}: cannot be run: {error.strerror}") from error
        try:
            code = process.wait()
        except BaseException:
            _end(process)
            raise
        if code in passes:
            return
        log.seek(0)
        shown = log.read().decode(errors="replace").splitlines()[-_SHOWN:]
        raise CommandError(
            *(f"    {line}" for line in shown), f"{name}: ended with {code}; see above"
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Signals end what runs within as an exception does, and then this program, with 128 + N."""

    def end(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in _SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def _say(what: str) -> None:
    print(f"[{program_name()} diff] {what}", file=sys.stderr, flush=True)

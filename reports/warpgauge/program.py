"""Finds the command, runs it, and turns every error into exit code 2.

A command is a module in commands/ with a docstring (its help; the first line is its summary),
EPILOG, add_arguments(parser) and run(options), which returns the exit code. A package in commands/
is a group of commands. Only the chosen module is imported: matplotlib alone takes a second.
"""

from __future__ import annotations

import errno
import importlib
import os
import pkgutil
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO, cast

from warpgauge import commands
from warpgauge.command_line import CommandParser, program_name
from warpgauge.errors import CommandError, FactError, lacks
from warpgauge.packages import every_module, missing
from warpgauge.text import printable

# What writing to a full disk, a closed pipe or a broken terminal gives.
_OF_OUTPUT = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EPIPE, errno.EIO)

# Where commands of the program continue: `diff --base`, `explain --html`, `diff A B.csv`.
_CONTINUATIONS = {
    "--base": "warpgauge.base_run",
    "--explain": "warpgauge.page.explain",
    "--nsight": "warpgauge.changes.nsight",
}


class _Messages:
    """Standard error, which may be full: a message is lost then, and the exit code stays."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        try:
            self._stream.write(text)
        except OSError:
            self._drop()
        return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError:
            self._drop()

    def _drop(self) -> None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit code: 2 if its output did not get to where it should."""
    if sys.stderr is None:  # closed; so are the next two
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = Path("/dev/full").open("w")  # noqa: SIM115
    stderr, messages = sys.stderr, _Messages(sys.stderr)
    sys.stderr = cast(TextIO, messages)
    try:
        code = _exit_code(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
        return code
    except OSError as error:
        # What is left of the output must not fail again when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(
            f"standard output cannot be written: {error.strerror}; give it a file with space, "
            "or /dev/null",
            file=sys.stderr,
        )
    finally:
        messages.flush()
        sys.stderr = stderr
    return 2


def _exit_code(arguments: Sequence[str]) -> int:
    try:
        if arguments == ["--list"]:  # asked for by the program that runs these commands
            for name in command_names():
                print(name, _summary(commands, name), sep="\t")
            return 0
        if arguments[:1] == ["--complete"]:  # by the same program
            option, *before = arguments[1:]
            print("\n".join(_parser(before).words(before, option)))
            return 0
        if arguments == ["--missing"]:  # by `doctor`
            if modules := missing(every_module()):
                print(lacks(*modules))
            return 0
        if arguments and arguments[0] in _CONTINUATIONS:
            return importlib.import_module(_CONTINUATIONS[arguments[0]]).run(arguments[1:])
        options = _parser(arguments).parse_args(arguments)
        return options.run(options)
    except SystemExit as end:  # of --help, or of a wrong option
        return int(end.code or 0)
    except (FactError, CommandError) as error:
        for line in error.args:
            print(printable(line), file=sys.stderr)
    except ModuleNotFoundError as error:
        words, module = _command(arguments)
        lacking = {*missing([module]), str(error.name).partition(".")[0]}
        print(" ".join([program_name(), *words, lacks(*sorted(lacking))]), file=sys.stderr)
    except ImportError as error:  # of a library, whose last line has the cause
        why = str(error).strip().rpartition("\n")[2]
        print(printable(f"{program_name()} {arguments[0]} cannot start: {why}"), file=sys.stderr)
    except MemoryError:
        print(f"{program_name()} {arguments[0]}: there is not enough memory", file=sys.stderr)
    except OSError as error:
        if error.filename is None and error.errno in _OF_OUTPUT:
            raise  # standard output; errors of files are CommandErrors where they are written
        if error.filename is None:
            traceback.print_exc()
        else:
            print(printable(f"{error.filename}: {error.strerror}"), file=sys.stderr)
    except Exception:  # Python would exit with 1, which is a verdict
        traceback.print_exc()
    return 2


def _command(arguments: Sequence[str]) -> tuple[list[str], str]:
    """The words of the command, and the name of its module. What continues a command of the
    program has no words of its own."""
    if arguments[0] in _CONTINUATIONS:
        return [], _CONTINUATIONS[arguments[0]]
    is_group = Path(commands.__path__[0], arguments[0]).is_dir()
    words = list(arguments[: 2 if is_group else 1])
    return words, ".".join([commands.__name__, *words])


def command_names(group: ModuleType = commands) -> list[str]:
    """The commands of a group, in alphabetical order."""
    return [module.name for module in pkgutil.iter_modules(group.__path__)]


def _parser(arguments: Sequence[str]) -> CommandParser:
    parser = CommandParser(prog="warpgauge", description=commands.__doc__)
    _add_commands(parser, commands, arguments)
    return parser


def _add_commands(parser: CommandParser, group: ModuleType, arguments: Sequence[str]) -> None:
    """The chosen command with its arguments, and the names and summaries of the others."""
    chosen = arguments[0] if arguments else None
    added = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in command_names(group):
        command = added.add_parser(name, help=_summary(group, name))
        if name != chosen:
            continue
        module = importlib.import_module(f"{group.__name__}.{name}")
        command.description, command.epilog = module.__doc__, getattr(module, "EPILOG", None)
        if hasattr(module, "__path__"):
            _add_commands(command, module, arguments[1:])
        else:
            module.add_arguments(command)
            command.set_defaults(run=module.run)


def _summary(group: ModuleType, name: str) -> str:
    """The first line of a command's file, which is that of its docstring, without importing it."""
    path = Path(group.__path__[0], name)
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    with source.open(encoding="utf-8") as file:
        return file.readline().strip().strip('"').rstrip(".")

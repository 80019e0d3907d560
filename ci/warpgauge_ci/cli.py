"""The programs warpgauge-accept, warpgauge-diff and warpgauge-emit: every fault is exit code 2.

A command is a module of this package with main(arguments) -> int. It is imported here, inside of
what turns faults into 2, because a library that is missing would end Python with 1, a verdict.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Sequence


def accept() -> int:
    return run("accept", sys.argv[1:])


def diff() -> int:
    return run("diff", sys.argv[1:])


def emit() -> int:
    return run("emit", sys.argv[1:])


def run(command: str, arguments: Sequence[str]) -> int:
    """Runs a command and returns its exit code; faults are told on stderr and are 2."""
    try:
        from warpgauge_report.facts import FactError
        from warpgauge_report.output import ReportError, printable

        try:
            code = importlib.import_module(f"warpgauge_ci.{command}").main(arguments)
            sys.stdout.flush()
            return code
        except (FactError, ReportError) as error:
            for line in str(error).split("\n"):
                print(printable(line), file=sys.stderr)
    except BrokenPipeError:  # who read the output has gone, and cannot know the verdict
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except ModuleNotFoundError as error:
        program = os.environ.get("WARPGAUGE_PROGRAM", "warpgauge")
        print(
            f"{program} {command} lacks the Python module {error.name}; run ci/bootstrap, or "
            "install the packages that pyproject.toml names",
            file=sys.stderr,
        )
    except Exception:
        traceback.print_exc()
    return 2


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[2:]))

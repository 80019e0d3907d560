"""The program warpgauge-report: finds the command, and turns every fault into exit code 2."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Sequence

from warpgauge_report.command_line import CommandParser, Page, as_started
from warpgauge_report.facts import FactError
from warpgauge_report.output import ReportError, printable

# A command is a module of this package with PAGE, add_arguments(parser) and run(arguments); and
# what it does. Only the one that is asked for is loaded: what pictures need takes two seconds.
COMMANDS = {
    "ingest": ("ingest", "Bring facts of runs into the history, a database"),
    "runs": ("runs", "List the runs in the history"),
    "export": ("export", "Write values of the history as facts (JSON lines) or as CSV"),
    "prune": ("prune", "Delete old values from the history, and give their space back"),
    "html": (
        "page.command",
        "Write one page on the nights in a history: what is wrong, what changed, and why",
    ),
    "heatmap": (
        "heatmap",
        "Draw kernels whose sizes span a grid (block shapes, for instance) as heat maps",
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        parsed = _parser(arguments[0] if arguments else None).parse_args(arguments)
        parsed.run_command(parsed)
    except (FactError, ReportError) as error:
        print(printable(str(error)), file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        print(
            as_started(
                f"warpgauge report lacks the Python module {error.name}; run ci/bootstrap, or "
                "install this project's package with its extra 'reports'"
            ),
            file=sys.stderr,
        )
        return 2
    except Exception:  # 1 would be a verdict, and reports give none
        traceback.print_exc()
        return 2
    return 0


PAGE = Page(
    about="Each command says more: `warpgauge report html --help`.",
    exit_codes={0: "done", 2: "a fault"},
    examples=(
        "warpgauge report ingest out/facts.jsonl --db history.db",
        "warpgauge report html --db history.db --out site",
        "warpgauge report html --help",
    ),
)


def _parser(chosen: str | None) -> CommandParser:
    """Of the chosen command with its arguments, of the others with their names only."""
    parser = CommandParser(
        PAGE,
        prog="warpgauge report",
        description="Keep runs in a history, and make pages and pictures of them",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (path, words) in COMMANDS.items():
        command = commands.add_parser(name, help=words, description=words)
        if name == chosen:
            module = importlib.import_module(f"warpgauge_report.{path}")
            command.page = module.PAGE
            module.add_arguments(command)
            command.set_defaults(run_command=module.run)
    return parser

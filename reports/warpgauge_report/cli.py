"""The program warpgauge-report: finds the command, and turns every fault into exit code 2."""

from __future__ import annotations

import argparse
import importlib
import sys
import traceback
from collections.abc import Sequence

from warpgauge_report.facts import FactError
from warpgauge_report.output import ReportError, printable

# A command is a module of this package with HELP, EPILOG, add_arguments(parser) and run(arguments).
COMMANDS = {
    "ingest": "ingest",
    "runs": "runs",
    "export": "export",
    "prune": "prune",
    "html": "page.command",
    "heatmap": "heatmap",
}


def main(arguments: Sequence[str] | None = None) -> int:
    try:
        parsed = _parser().parse_args(arguments)
        parsed.run_command(parsed)
    except (FactError, ReportError) as error:
        print(printable(str(error)), file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        print(
            f"warpgauge report lacks the Python module {error.name}; run ci/bootstrap, or install "
            "this project's package with its extra 'reports'",
            file=sys.stderr,
        )
        return 2
    except Exception:  # 1 would be a verdict, and reports give none
        traceback.print_exc()
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="warpgauge report", description="Reports on facts that warpgauge measured."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, path in COMMANDS.items():
        module = importlib.import_module(f"warpgauge_report.{path}")
        command = commands.add_parser(
            name,
            help=module.HELP,
            description=module.HELP,
            epilog=module.EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        module.add_arguments(command)
        command.set_defaults(run_command=module.run)
    return parser

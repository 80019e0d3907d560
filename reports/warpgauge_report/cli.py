"""The program warpgauge-report: finds the command, and turns every fault into exit code 2."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence

from warpgauge_report import export, heatmap, ingest, prune, runs
from warpgauge_report.facts import FactError
from warpgauge_report.output import ReportError, printable
from warpgauge_report.page import command as html

# A command is a module with HELP, EPILOG, add_arguments(parser) and run(arguments).
COMMANDS = {
    "ingest": ingest,
    "runs": runs,
    "export": export,
    "prune": prune,
    "html": html,
    "heatmap": heatmap,
}


def main(arguments: Sequence[str] | None = None) -> int:
    parsed = _parser().parse_args(arguments)
    try:
        COMMANDS[parsed.command].run(parsed)
    except (FactError, ReportError) as error:
        print(printable(str(error)), file=sys.stderr)
        return 2
    except Exception:  # 1 would be a verdict, and reports give none
        traceback.print_exc()
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="warpgauge-report", description="Reports on facts that warpgauge measured."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=module.HELP,
            description=module.HELP,
            epilog=module.EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        module.add_arguments(command)
    return parser

"""Write the facts of a run in the formats of CI systems.

Draws the verdicts of the gate and gives none.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from warpgauge.errors import CommandError
from warpgauge.facts.reader import read_facts
from warpgauge.facts.records import Fact
from warpgauge.files import write_whole
from warpgauge.outcome.results import Demands, Results, Sources, pictures_beside
from warpgauge.outputs import FORMATS


def _listed() -> str:
    width = max(map(len, FORMATS))
    lines = (f"  {f.name:<{width}}  {f.reader} ({f.file})" for f in FORMATS.values())
    return "\n".join(lines)


EPILOG = f"""\
formats, and the files that --all writes:
{_listed()}

exit codes:
  0  written
  2  an error; nothing is written

examples:
  warpgauge emit out/facts.jsonl --format junit --out junit.xml
  warpgauge emit out/facts.jsonl --all out
  warpgauge emit sm_80/facts.jsonl sm_90/facts.jsonl --format markdown
"""


def run(options: argparse.Namespace) -> int:
    """Returns 0; raises FactError and CommandError."""
    if options.all and options.out:
        raise CommandError("--out goes with --format; --all names its folder itself")
    facts = _read(options.facts, options.allow_empty)
    demands = Demands(
        strict=options.strict,
        ptxas="ptxas" in options.require,
        cupti="cupti" in options.require,
        device=options.device == "gpu",
        exit_code=options.exit_code,
    )
    pictures = pictures_beside(options.facts)
    results = Results(facts, Sources(options.source_root), pictures, demands)
    if options.all:
        # First all of the text, so that a format that fails leaves nothing behind.
        texts = {format.file: format.render(results) for format in FORMATS.values()}
        for file, text in texts.items():
            write_whole(options.all / file, text.encode())
        return 0
    text = FORMATS[options.format].render(results).encode()
    if options.out:
        write_whole(options.out, text)
    else:
        sys.stdout.buffer.write(text)
    return 0


def _read(paths: Sequence[Path], allow_empty: bool) -> list[Fact]:
    facts = []
    for path in paths:
        read = read_facts(path)
        if not allow_empty and not any(fact.scope == "case" for fact in read):
            raise CommandError(
                f"{path}: has no facts of cases, so nothing was measured; if that is as it should "
                "be, add --allow-empty"
            )
        facts += read
    return facts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("facts", nargs="+", type=Path, metavar="FACTS", help="facts.jsonl of a run")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--format", choices=FORMATS, metavar="NAME", help="write one format")
    what.add_argument("--all", type=Path, metavar="DIR", help="write all formats into this folder")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="with --format: the file (default: stdout)"
    )
    parser.add_argument(
        "--source-root",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="the folder that the facts' files are relative to, to quote their lines (default: .)",
    )
    parser.add_argument(
        "--allow-empty", action="store_true", help="facts of no case at all are not a fault"
    )
    gate = parser.add_argument_group(
        "how the gate was run, so that what made it red is shown as a failure"
    )
    gate.add_argument("--strict", action="store_true", help="it had --strict")
    gate.add_argument(
        "--require",
        type=_sources,
        action="extend",
        default=[],
        metavar="SOURCE,...",
        help="it had --require: ptxas, cupti",
    )
    gate.add_argument(
        "--device", choices=("auto", "gpu", "emulated"), default="auto", help="it had --device"
    )
    gate.add_argument("--exit-code", type=_exit_code, metavar="N", help="it has ended with this")


def _sources(text: str) -> list[str]:
    sources = [source for source in text.split(",") if source]
    if unknown := set(sources) - {"ptxas", "cupti"}:
        raise argparse.ArgumentTypeError(f"{sorted(unknown)[0]!r} is none of ptxas, cupti")
    return sources


def _exit_code(text: str) -> int:
    if not text.isdecimal() or int(text) > 255:
        raise argparse.ArgumentTypeError(f"{text!r} is no exit code")
    return int(text)

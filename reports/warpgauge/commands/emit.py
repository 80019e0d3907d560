"""Write the results of a run in the formats of CI systems.

Draws results.json, which gate, check, bench, attach and emulate write. --filter,
--exclude, --metric and --arch choose the cases and findings that are drawn;
headline and exit code stay those of the run. A format is cut to its reader's limits, the
least bad first; it and stderr report how much is left out.

--diff and --base put the changes since a base first, in the formats for
people, and leave out the annotations for what the base has as well.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from warpgauge.command_line import add_filter_options, case_filter
from warpgauge.errors import CommandError
from warpgauge.facts.case_filter import fits
from warpgauge.files import write_whole
from warpgauge.outcome.reader import read_results
from warpgauge.outcome.results import Results
from warpgauge.outputs import FORMATS

_PICTURES = (".png", ".svg", ".jpg", ".jpeg")


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
  warpgauge emit out/results.json --format junit --out junit.xml
  warpgauge emit out/results.json --all out
  warpgauge emit out/results.json --format bencher --filter 'reduce.*'
  warpgauge emit sm_80/results.json sm_90/results.json --format markdown
  warpgauge emit results.json --all out --diff diff.json --base main.json
"""


def run(options: argparse.Namespace) -> int:
    """Returns 0; raises CommandError."""
    if options.all and options.out:
        raise CommandError("--out goes with --format; --all names its folder itself")
    if bool(options.diff) != bool(options.base):
        raise CommandError("--diff and --base go together: what changed, and what the base had")
    results = _selected(read_results(options.results), options)
    gc.freeze()  # they stay to the end: looking for garbage among them took a fifth of the time
    if options.out and options.out.exists() and any(map(options.out.samefile, options.results)):
        raise CommandError(f"--out {options.out}: it would replace the results; name another file")
    results = replace(results, pictures=tuple(sorted(_pictures_beside(options.results))))
    if options.diff:
        from warpgauge.changes.delta import read_delta  # which few runs have

        delta, base = read_delta(options.diff, options.base_name), read_results([options.base])
        results = replace(results, delta=delta, known=delta.known(results, base))
    formats = FORMATS.values() if options.all else [FORMATS[options.format]]
    # First all of the text, so that a format that fails leaves nothing behind.
    drawings = {format.file: format.draw(results) for format in formats}
    for file, (text, left_out) in drawings.items():
        path = options.all / file if options.all else options.out
        if path:
            write_whole(path, text.encode())
        else:
            sys.stdout.buffer.write(text.encode())
        if left_out:
            print(f"{file}: {left_out}", file=sys.stderr)
    return 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "results", nargs="+", type=Path, metavar="RESULTS", help="results.json of a run"
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--format", choices=FORMATS, metavar="NAME", help="write one format")
    what.add_argument("--all", type=Path, metavar="DIR", help="write all formats into this folder")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="with --format: the file (default: stdout)"
    )
    parser.add_argument(
        "--diff", type=Path, metavar="DIFF", help="the file of `warpgauge diff BASE RUN --json`"
    )
    parser.add_argument(
        "--base-name", default="", metavar="BRANCH", help="with --diff: what the base is called"
    )
    parser.add_argument(
        "--base", type=Path, metavar="RESULTS", help="with --diff: results.json of the base"
    )
    add_filter_options(parser)
    parser.add_argument(
        "--metric", default="*", metavar="METRIC", help="only metrics that match this glob"
    )
    parser.add_argument("--arch", metavar="ARCH", help="only this architecture, such as sm_90")


def _selected(results: Results, options: argparse.Namespace) -> Results:
    """What the options choose: a selection of nothing would be drawn as a success."""
    by_metric = options.metric != "*"
    if not (options.filter or options.exclude or by_metric or options.arch):
        return results
    metric = partial(fits, options.metric)
    selected = results.only(case_filter(options).takes, metric, options.arch)
    drawn = [case for case in selected.cases if case.values or not by_metric]
    if (results.cases or results.found) and not (drawn or selected.found):
        raise CommandError(
            "--filter, --exclude, --metric and --arch choose nothing of these results"
        )
    return selected


def _pictures_beside(paths: Sequence[Path]) -> set[Path]:
    """The picture files in the folders of these files."""
    folders = {path.resolve().parent for path in paths}
    files = {file for folder in folders for file in folder.iterdir()}
    return {file for file in files if file.suffix.lower() in _PICTURES and file.is_file()}

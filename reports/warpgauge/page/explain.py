"""The page of `warpgauge explain --html`. It shows one run, or two side by side: source with counts
beside each line, machine code folded below it, and pictures of the worst accesses. Without --html,
the lines that differ between two runs are printed."""

from __future__ import annotations

import argparse
import base64
import json
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import jinja2

from warpgauge.errors import CommandError
from warpgauge.facts.catalog import Metric, catalog
from warpgauge.files import write_whole
from warpgauge.page.explained import Explained, read_explained
from warpgauge.page.line_changes import change, changes_text, line_changes
from warpgauge.page.templates import css, templates
from warpgauge.text import printable


def run(words: Sequence[str]) -> int:
    """Writes the page, or prints the lines that differ, and returns the exit code. The program that
    calls this passes `words`, and the list of the counted cases on standard input."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--html", type=Path, help="write a page; without it, print the lines")
    parser.add_argument("--against", type=Path, help="what `explain --json` wrote of another run")
    options = parser.parse_args(words)
    cases = json.load(sys.stdin.buffer)
    if options.against:
        (case,) = cases  # harness/commands/explain.cpp takes one with --against
        before = _read_before(options.against, case["id"])
        sides = [before, Explained(case, f"{case['id']}, now")]
    else:
        sides = [Explained(case) for case in cases]
    if not options.html:
        print(changes_text(*sides), end="")
        return 0
    write_whole(options.html, render(sides).encode("utf-8"))
    print(printable(f"page: {options.html}"))
    return 0


def _read_before(path: Path, case_id: str) -> Explained:
    """The earlier run of the case. Raises CommandError if the file has another case."""
    before = read_explained(path, f"{case_id}, {printable(path.name)}")
    if before.id != case_id:
        raise CommandError(
            f"{path}: this is a run of {before.id}, not of {case_id}; "
            "`warpgauge explain ID ID --html FILE` shows two cases side by side"
        )
    return before


def render(sides: Sequence[Explained]) -> str:
    """The page of one run, or of two side by side."""
    shown = {metric.id for side in sides for metric in side.metrics}
    metrics = [metric for metric in catalog().values() if metric.id in shown]
    changes = list(line_changes(*sides)) if len(sides) == 2 else []
    page = _environment().get_template("explain.html.jinja")
    return page.render(
        sides=sides,
        metrics=metrics,
        changes=changes,
        change=_change_of_sums,
        css=css("explain.css"),
    )


@cache
def _environment() -> jinja2.Environment:
    environment = templates()
    environment.filters["base64"] = lambda text: base64.b64encode(text.encode("utf-8")).decode()
    return environment


def _change_of_sums(metric: Metric, sides: Sequence[Explained]) -> str:
    """Whether the sum of the second run is "better" or "worse" than that of the first."""
    return change(metric, *(side.sums.get(metric.id, 0) for side in sides))

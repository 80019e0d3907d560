"""warpgauge accept: makes what was measured the new budgets, where values moved."""

from __future__ import annotations

import argparse
import os
import sys
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from warpgauge_report.catalog import catalog
from warpgauge_report.command_line import CommandParser, Page, as_started
from warpgauge_report.facts import Fact
from warpgauge_report.output import ReportError

from warpgauge_ci.acceptance import Wish, find_moves
from warpgauge_ci.acceptance_table import Row, table
from warpgauge_ci.budget_file import BudgetFile, rank
from warpgauge_ci.budget_limits import with_reason
from warpgauge_ci.checkout import head_commit
from warpgauge_ci.families import budget_path
from warpgauge_ci.placing import Move, Placing
from warpgauge_ci.refusals import refusals
from warpgauge_ci.replace_files import replace_files
from warpgauge_ci.selection import matching, newest, read_all

DESCRIPTION = "Make what was measured the new budgets, where values moved."
PAGE = Page(
    about="""\
Rewrites the lines of budgets.toml whose values failed (which needs --reason) or became better;
everything else keeps every byte. A line changes where it stands if all that the facts show of it
moved alike; else the case that moved gets a section of its own. So give it the facts of a whole
run. Nothing is written unless all can be. Prints a table for the pull request, the worst first.

Refuses what should not be kept: estimates, wrong results and other values of a case that failed,
facts of sources that were not committed or of another commit than that of --root (unless
--any-commit), times of the emulator, of several GPUs, of a GPU that was disturbed or that nobody
watched, and times that are less sure than their budget's tolerance. It never runs in CI.

A time that is over a budget with `code` does not fail as long as machine code and launches are
those of the budget (verdict environment). A line that has `code` gets the new one; new lines get it
with --code only.
""",
    exit_codes={0: "written, or nothing moved", 2: "a fault or a refusal, and nothing is written"},
    examples=(
        "warpgauge accept out/facts.jsonl --tighten",
        "warpgauge accept out/facts.jsonl --filter 'reduce.*' --reason 'issue 12'",
        "warpgauge accept out/facts.jsonl --baseline --metric registers",
    ),
)

# Set by CI services; the first by nearly all of them.
CI_VARIABLES = (
    *("CI", "GITHUB_ACTIONS", "GITLAB_CI", "JENKINS_URL", "TF_BUILD", "TEAMCITY_VERSION"),
    "BUILDKITE",
)


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    for variable in CI_VARIABLES:
        if os.environ.get(variable, "").lower() not in ("", "0", "false", "no"):
            raise ReportError(
                f"{variable} is set: budgets are accepted by people, in a commit, never by CI"
            )
    wish = _wish(options)
    facts = list(newest(read_all(options.facts)).values())
    selected = matching(facts, options.filter)
    files = _files(selected, facts, options.root, options.budgets, wish)
    moves, left = find_moves(selected, files, wish)
    if not moves:
        print(f"nothing to accept: none of {_judged(selected)} judged values moved")
        _tell_what_is_left(selected, left)
        return 0
    head = None if options.any_commit else head_commit(options.root)
    if problems := refusals(moves, facts, wish, head):
        raise ReportError("\n".join([*problems, "nothing was written"]))
    rows = _rewrite(moves, facts, files, wish)
    changed = {f.path: f.text.encode() for f in files.values() if f.text.encode() != f.original}
    if not options.dry_run:
        replace_files(changed)
    print(table(rows), end="")
    for file in files.values():
        if file.path in changed:
            print(f"{'would write' if options.dry_run else 'wrote'} {file.path}", file=sys.stderr)
    _tell_what_is_left(selected, left)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(PAGE, prog="warpgauge accept", description=DESCRIPTION)
    parser.add_argument("facts", nargs="+", metavar="FACTS", help="facts of the gate (facts.jsonl)")
    parser.add_argument(
        "--filter", default="*", metavar="GLOB", help="only cases whose id matches this glob"
    )
    parser.add_argument("--reason", metavar="TEXT", help="why budgets may be looser; kept in them")
    parser.add_argument(
        "--tighten", action="store_true", help="only what became better; leave failures alone"
    )
    parser.add_argument(
        "--baseline",
        action="store_true",
        help="adopt kernels as they are: what breaks a built-in default gets today's count as its "
        "budget, and 'baseline of DATE' as its reason",
    )
    parser.add_argument(
        "--metric",
        action="append",
        default=[],
        metavar="METRIC",
        help="with --baseline: also give this metric a budget where it has none (repeatable)",
    )
    parser.add_argument(
        "--code",
        action="store_true",
        help="with --metric: new lines of times name the code that was measured",
    )
    parser.add_argument(
        "--any-commit",
        action="store_true",
        help="take facts of another commit than that of --root, or of none",
    )
    parser.add_argument(
        "--root", type=Path, default=Path(), metavar="DIR", help="source tree (default: here)"
    )
    budgets = os.environ.get("WARPGAUGE_BUDGETS")
    parser.add_argument(
        "--budgets",
        type=Path,
        default=Path(budgets) if budgets else None,
        metavar="DIR",
        help="folder with FAMILY.toml, of a build that has one (default: budgets.toml beside the "
        "sources; programs of a build with such a folder name it themselves)",
    )
    parser.add_argument("--dry-run", action="store_true", help="show the table, write nothing")
    return parser


def _wish(options: argparse.Namespace) -> Wish:
    if options.reason is not None and not options.reason.strip():
        raise ReportError("--reason is empty: say why the budgets may be looser")
    if options.tighten and (options.baseline or options.reason is not None):
        raise ReportError("--tighten loosens nothing: leave --baseline and --reason out")
    if options.metric and not options.baseline:
        raise ReportError("--metric says what --baseline adds: give both")
    if options.code and not options.metric:
        raise ReportError("--code is for the lines that --baseline --metric adds: give all three")
    for metric in options.metric:
        row = catalog().get(metric)
        if row is None or row.cls == "info":
            raise ReportError(
                f"--metric: '{metric}' is no metric that is judged; "
                + as_started("`warpgauge metrics` lists them")
            )
    return Wish(
        reason=options.reason,
        tighten_only=options.tighten,
        baseline=options.baseline,
        metrics=frozenset(options.metric),
        code=options.code,
        today=datetime.now(UTC).date(),
    )


def _files(
    selected: list[Fact], facts: list[Fact], root: Path, budgets: Path | None, wish: Wish
) -> dict[str, BudgetFile]:
    """The budget file of each family that needs one."""
    of_family = defaultdict(list)
    for fact in facts:
        of_family[fact.family].append(fact)
    files = {}
    for family in sorted({fact.family for fact in selected if wish.takes(fact)}):
        path = budget_path(family, of_family[family], root, budgets)
        files[family] = BudgetFile(path, os.path.relpath(path, root))
    return files


def _rewrite(
    moves: list[Move], facts: list[Fact], files: dict[str, BudgetFile], wish: Wish
) -> list[Row]:
    """Puts the new limits into the files (in memory), and returns what was done by line."""
    of_metric, siblings = defaultdict(list), defaultdict(list)
    for fact in facts:
        of_metric[fact.family, fact.metric].append(fact)
    for move in moves:
        siblings[move.fact.family, move.fact.metric].append(move)
    lines = defaultdict(list)
    for (family, metric), group in siblings.items():
        row, all_of_it = catalog()[metric], of_metric[family, metric]
        placing = Placing(row, group, all_of_it, files[family])
        for move in group:
            lines[family, placing.place(move), metric].append(move)
    rows = []
    # Stable: tables of architectures come behind the section that they belong to, in order.
    for (family, where, metric), group in sorted(lines.items(), key=lambda line: rank(line[0][1])):
        limit = with_reason(group[0].new, catalog()[metric], wish.reason_for(group[0]))
        files[family].set(where, metric, limit)
        rows.append(Row(group, limit, files[family].name, where))
    return rows


def _judged(facts: list[Fact]) -> int:
    judged = sum(fact.verdict not in ("unbudgeted", "unmeasured", "error") for fact in facts)
    if judged == 0:
        raise ReportError("none of these values was held against a budget; run the gate first")
    return judged


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _tell_what_is_left(selected: list[Fact], left: int) -> None:
    errors = sum(fact.verdict == "error" for fact in selected)
    if errors:
        print(
            f"not accepted: {_counted(errors, 'fault')} (verdict error): mend them", file=sys.stderr
        )
    if left:
        print(f"left alone: {_counted(left, 'value')} over budget", file=sys.stderr)

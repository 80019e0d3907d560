"""Make the measured values the new budgets, where they moved.

Rewrites the lines of budgets.toml whose values failed (needs --reason) or
became better; every other byte stays. A line changes in place if all the facts
under it moved alike; else the case that moved gets a section of its own. So
pass the facts of a whole run. Writes everything or nothing; --baseline leaves
out what is refused, and says so. Prints a table for the pull request, the worst
first.

Refuses estimates (unless the budget file's gate_on takes them), wrong results
and other values of a failed case, facts of uncommitted sources or of another
commit than that of --root (unless --any-commit), times of the emulator, of
several GPUs, of a disturbed or unobserved GPU, and times less certain than
their budget's tolerance. Never runs in CI.

A time over a budget with `code` does not fail while machine code and launches
are those of the budget (verdict moved). A line that has `code` gets the
new one; new lines get it with --code only.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path

from warpgauge.budgets.acceptance import Wish, find_moves, first_of
from warpgauge.budgets.budget_file import BudgetFile, rank
from warpgauge.budgets.checkout import changes_now, head_commit
from warpgauge.budgets.families import budget_path, source_root
from warpgauge.budgets.limits import is_built_in, with_reason
from warpgauge.budgets.placing import Move, Placing
from warpgauge.budgets.refusals import is_of_changes, refusals
from warpgauge.budgets.table import Row, table
from warpgauge.command_line import add_filter_options, as_started, case_filter
from warpgauge.errors import CommandError
from warpgauge.facts.catalog import catalog
from warpgauge.facts.records import Fact
from warpgauge.facts.selection import matching, newest, read_all
from warpgauge.files import replace_files
from warpgauge.text import is_blank

EPILOG = """\
exit codes:
  0  written, or nothing moved
  2  an error or a refusal; nothing is written

examples:
  warpgauge accept out/facts.jsonl --tighten
  warpgauge accept out/facts.jsonl --filter 'reduce.*' --reason 'issue 12'
  warpgauge accept out/facts.jsonl --baseline --metric registers
  warpgauge accept out/facts.jsonl --baseline --budgets my-program.toml
"""

# Set by CI services; the first by nearly all of them.
CI_VARIABLES = (
    *("CI", "GITHUB_ACTIONS", "GITLAB_CI", "JENKINS_URL", "TF_BUILD", "TEAMCITY_VERSION"),
    "BUILDKITE",
)


def run(options: argparse.Namespace) -> int:
    for variable in CI_VARIABLES:
        if os.environ.get(variable, "").lower() not in ("", "0", "false", "no"):
            raise CommandError(
                f"{variable} is set: budgets are accepted by people, in a commit, never by CI"
            )
    wish = _wish(options)
    facts = list(newest(read_all(options.facts)).values())
    selected = matching(facts, case_filter(options))
    root = source_root(facts) if options.root is None else options.root
    files = _files(selected, facts, root, options.budgets, wish)
    moves, left = find_moves(selected, files, wish)
    if not moves:
        print(f"nothing to accept: none of {_judged(selected)} judged values moved")
        _report_rest(selected, left)
        return 0
    head = None if options.any_commit else head_commit(root)
    refused = refusals(moves, facts, files, wish, head)
    told = _told(refused, root)
    if refused and not (wish.baseline and len(refused) < len(moves)):
        raise CommandError(*told, "nothing was written")
    moves = [move for move in moves if move.fact not in refused]
    rows = _rewrite(moves, facts, files, wish, _lines_of_project(root))
    changed = {f.path: f.text.encode() for f in files.values() if f.text.encode() != f.original}
    if not options.dry_run:
        replace_files(changed)
    print(table(rows), end="")
    for file in dict.fromkeys(files.values()):
        if file.path in changed:
            print(f"{'would write' if options.dry_run else 'wrote'} {file.path}", file=sys.stderr)
    if shared := len(moves) - sum(len(row.moves) for row in rows):
        text = f"left alone: {_counted(shared, 'value')} better than a budget that others need"
        print(text, file=sys.stderr)
    for sentence in told:
        print(f"refused: {sentence}", file=sys.stderr)
    _report_rest(selected, left)
    return 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("facts", nargs="+", metavar="FACTS", help="facts of the gate (facts.jsonl)")
    add_filter_options(parser)
    parser.add_argument("--reason", metavar="TEXT", help="why budgets may be looser; kept in them")
    parser.add_argument(
        "--tighten", action="store_true", help="only improvements; leave failures alone"
    )
    parser.add_argument(
        "--baseline",
        action="store_true",
        help="adopt kernels as they are: a value over its budget gets today's count as its budget, "
        "and 'baseline of DATE' as its reason",
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
        help="accept facts of another commit than that of --root, or of none",
    )
    parser.add_argument(
        "--root",
        type=Path,
        metavar="DIR",
        help="source tree (default: here, or where this program was built from, whichever has the "
        "sources)",
    )
    parser.add_argument(
        "--budgets",
        type=Path,
        metavar="DIR|FILE",
        help="folder with FAMILY.toml, or the budget file, of attach and emulate (default: the "
        "folder that the facts name, of a build that has one; else budgets.toml beside the "
        "sources). Tests have SUITE.test.toml beside their sources",
    )
    parser.add_argument("--dry-run", action="store_true", help="show the table, write nothing")


def _wish(options: argparse.Namespace) -> Wish:
    if options.reason is not None and is_blank(options.reason):
        raise CommandError("--reason is empty: say why the budgets may be looser")
    if options.tighten and (options.baseline or options.reason is not None):
        raise CommandError("--tighten loosens nothing: leave --baseline and --reason out")
    if options.metric and not options.baseline:
        raise CommandError("--metric says what --baseline adds: give both")
    if options.code and not options.metric:
        raise CommandError("--code is for the lines that --baseline --metric adds: give all three")
    for metric in options.metric:
        row = catalog().get(metric)
        if row is None or row.cls == "info":
            raise CommandError(
                f"--metric: '{metric}' is not a metric that is judged; "
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
    """The budget file of each family that needs one. A run of programs or compiled files reads one
    file for all of them."""
    of_family = defaultdict(list)
    for fact in facts:
        of_family[fact.family].append(fact)
    needed = sorted({fact.family for fact in selected if wish.takes(fact)})
    files: dict[str, BudgetFile] = {}
    for family in needed:
        path = budget_path(family, of_family[family], root, budgets)
        file = next((file for file in files.values() if file.path == path), None)
        if file is not None:
            other = next(name for name, theirs in files.items() if theirs is file)
            _check_that_one_file_is_read(other, family, of_family, file)
        files[family] = file or BudgetFile(path, os.path.relpath(path, root))
    for family, theirs in of_family.items():  # left out by --filter, they are held to it, too
        reads = (name for name in needed if _is_one_run([*theirs, *of_family[name]]))
        if family not in files and (name := next(reads, None)):
            files[family] = files[name]
    return files


def _is_one_run(facts: list[Fact]) -> bool:
    """Whether facts are of one run of programs or compiled files."""
    return all(fact.case.is_of_program for fact in facts) and len({f.run.id for f in facts}) == 1


def _check_that_one_file_is_read(
    other: str, family: str, of_family: dict[str, list[Fact]], file: BudgetFile
) -> None:
    """Refuses a file for two families whose runs do not read it for both."""
    facts = of_family[other] + of_family[family]
    if _is_one_run(facts):
        return
    if any(fact.case.is_of_program for fact in facts):
        raise CommandError(
            f"families {other} and {family} are not of one run, which reads one file for all: "
            f"accept one at a time, --filter '{family}.*', each with a file for --budgets"
        )
    raise CommandError(
        f"families {other} and {family} have one folder, and {file.name} can be of one of them: "
        "name a folder for budgets, warpgauge_add_kernels(... BUDGETS <folder>)"
    )


def _lines_of_project(root: Path) -> str:
    """The budgets of the whole project, below those of families; "" where there are none."""
    named = os.environ.get("WARPGAUGE_PROJECT_FILE")
    path = root / "warpgauge.toml"
    if named and root.resolve() == Path(os.environ.get("WARPGAUGE_SOURCE_ROOT", "")).resolve():
        path = Path(named)
    return BudgetFile(path, str(path)).text


def _rewrite(
    moves: list[Move], facts: list[Fact], files: dict[str, BudgetFile], wish: Wish, project: str
) -> list[Row]:
    """Puts the new limits into the files (in memory), and returns what was done by line. A line
    that says what holds without it goes."""
    of_metric, siblings = defaultdict(list), defaultdict(list)
    for fact in facts:
        if fact.family in files:
            of_metric[files[fact.family], fact.metric].append(fact)
    for move in moves:
        siblings[files[move.fact.family], move.fact.metric].append(move)
    lines = {}
    for (file, metric), group in siblings.items():
        placing = Placing(catalog()[metric], group, of_metric[file, metric], file)
        for where, of_line in placing.lines().items():
            lines[file, where, metric] = of_line
    rows = []
    # Stable: tables of architectures come behind the section that they belong to, in order.
    for (file, where, metric), group in sorted(lines.items(), key=lambda line: rank(line[0][1])):
        limit = with_reason(group[0].new, catalog()[metric], wish.reason_for(group[0]))
        is_needed = metric in project or any(file.rests_on(where, move.fact) for move in group)
        is_needed |= not is_built_in(limit, catalog()[metric])
        if is_needed or not file.remove(where, metric):
            file.set(where, metric, limit)
        else:
            limit = with_reason(limit, catalog()[metric], "built in: no line")
        rows.append(Row(group, limit, file.name, where))
    return rows


def _told(refused: dict[Fact, str], root: Path) -> list[str]:
    """The sentences of refusals, and what git shows where changes are one of the reasons."""
    sentences = first_of(list(refused.values()))
    of_changes = any(is_of_changes(fact) for fact in refused)
    changes = changes_now(root) if of_changes else None
    return [*sentences, *([changes] if changes else [])]


def _judged(facts: list[Fact]) -> int:
    judged = sum(fact.verdict not in ("unbudgeted", "unmeasured", "error") for fact in facts)
    if judged == 0:
        raise CommandError("none of these values was judged against a budget; run the gate first")
    return judged


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _report_rest(selected: list[Fact], left: int) -> None:
    errors = sum(fact.verdict == "error" for fact in selected)
    if errors:
        print(
            f"not accepted: {_counted(errors, 'fault')} (verdict error): fix them", file=sys.stderr
        )
    if left:
        print(f"left alone: {_counted(left, 'value')} over budget", file=sys.stderr)

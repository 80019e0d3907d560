"""Print the commits that can have made a value worse, and how git finds the one.

Prints the last good and the first bad run of SERIES with their commits, those
between (with --repo), and the commands that decide: they keep the facts of the
good run, and let `git bisect` build, measure and compare commit after commit.
A commit that cannot be built or measured is skipped. Enter them in the
repository. Budgets play no part: worse is what `warpgauge diff` calls worse.

SERIES is CASE/METRIC, CASE/METRIC/ARCH or CASE/METRIC/ARCH/DEVICE, or a glob of
these; of those that match, one must have got worse, in the runs of the page
that `warpgauge report html` makes with the same --branch and --label. What
driver or environment moved is not worse.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from warpgauge.command_line import add_database_option, add_run_options, program_name
from warpgauge.errors import CommandError
from warpgauge.history import Run, Series, open_history
from warpgauge.page.runs_of_page import runs_of_page
from warpgauge.repository import Range, Repository, is_hash
from warpgauge.text import printable

EPILOG = """\
exit codes:
  0  printed
  2  an error: no such series, nothing that got worse, several series, one commit

examples:
  warpgauge report bisect 'sort.radix.u32@65536/registers/sm_90' --repo .
  warpgauge report bisect 'sort.radix.u32@65536/time.median_us' --repo . \\
      --build 'cmake --build build --target first' --gauge build/first
"""

_MOST = 40  # commits that are listed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("series", metavar="SERIES", help="what got worse")
    add_database_option(parser)
    add_run_options(parser)
    parser.add_argument(
        "--repo", type=Path, metavar="DIR", help="local repository of git, to list the commits of"
    )
    parser.add_argument(
        "--build",
        default="cmake --build build",
        metavar="COMMAND",
        help="command that builds a commit (default: %(default)s)",
    )
    parser.add_argument(
        "--gauge",
        default=program_name(),
        metavar="PROGRAM",
        help="program that the build makes, and that measures (default: %(default)s)",
    )


def run(options: argparse.Namespace) -> int:
    """Prints what there is to know, the commands last."""
    repository = Repository(options.repo) if options.repo else None
    with open_history(options.db) as history:
        from warpgauge.changes.worse import worse_series

        runs = runs_of_page(history.runs(), options.branch, options.label)
        series = _one(worse_series(history, options.series, runs), options.series)
    from warpgauge.bisection import Bisection
    from warpgauge.changes.series import changes, regressions
    from warpgauge.facts.catalog import catalog
    from warpgauge.page.sections import change_text, quantity

    metric = catalog()[series.key.metric]
    change = regressions(changes(series, metric), metric)[0]
    good, bad = change.previous, change.bad
    name = series.key.name
    old, new = (_hash(run, name) for run in (good, bad))
    if old == new:
        other = "; ".join(change.details) or "nothing that the facts name"
        raise CommandError(
            f"{name}: no commit made it worse: the cause is {change.cause}, from run {good.id} to "
            f"{bad.id}; what changed: {other}"
        )
    values = [quantity(value, series.key.unit) for value in (change.before, change.after)]
    lines = [
        f"series   {name}",
        f"change   {' -> '.join(values)} ({change_text(change)}), cause: {change.cause}",
        f"good     {_words(good)}",
        f"bad      {_words(bad)}",
        *_commits(repository.between(old, new) if repository else None),
        "",
        *Bisection(series.key, change, options.build, options.gauge).commands(options.db),
    ]
    print("\n".join(map(printable, lines)))
    return 0


def _one(found: list[Series], pattern: str) -> Series:
    if len(found) == 1:
        return found[0]
    names = sorted(series.key.name for series in found)
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    raise CommandError(
        f"'{pattern}': {len(names)} series that match got worse; name one of them: "
        f"{', '.join(names[:5])}{more}"
    )


def _hash(run: Run, name: str) -> str:
    """The commit of a run of the series `name`."""
    if not run.commit or not is_hash(run.commit):
        commit = f"'{run.commit}', which is no hash" if run.commit else "unknown"
        raise CommandError(f"{name}: nothing to bisect: the commit of run {run.id} is {commit}")
    return run.commit


def _words(run: Run) -> str:
    dirty = ", with uncommitted changes" if run.dirty else ""
    return f"{run.commit}{dirty}, {run.time:%Y-%m-%d}, run {run.id}"


def _commits(found: Range | None) -> list[str]:
    if found is None:
        return ["between  commits are not listed: name a repository with --repo"]
    lines = [f"between  {found.count}, the newest first"]
    if found.problem:
        lines = [f"between  {found.problem}"]
    for commit in found.commits[:_MOST]:
        lines.append(f"         {commit.hash[:10]} {commit.subject}, {commit.author}")
    if len(found.commits) > _MOST:
        lines.append(f"         and {len(found.commits) - _MOST:,} more")
    if found.lost:
        lines.append(f"         {found.lost:,} of the good one's are not in the bad one")
    return lines

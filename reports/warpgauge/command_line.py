"""The parser that all commands share: help, one-line errors, and the words that complete a line."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from typing import Any, NoReturn

from warpgauge.facts.case_filter import CaseFilter
from warpgauge.text import nearest, printable


def program_name() -> str:
    """The name of the program that runs this one: warpgauge, or the gauge of another project."""
    return os.environ.get("WARPGAUGE_PROGRAM", "warpgauge")


def as_started(text: str) -> str:
    """The text with program_name() where a command or a program beside it is called warpgauge."""
    return re.sub(r"(?<![\w./-])warpgauge(?=[ -])", lambda _: program_name(), text)


def add_database_option(parser: argparse.ArgumentParser) -> None:
    """The option --db of the commands on the history."""
    parser.add_argument(
        "--db",
        default="history.db",
        metavar="URL",
        help="the history: path of an SQLite file, or postgresql://HOST/NAME; keep passwords in "
        "PGPASSWORD or ~/.pgpass (default: %(default)s)",
    )


def add_filter_options(parser: argparse.ArgumentParser) -> None:
    """The options --filter and --exclude of commands that select cases; see case_filter(). Each can
    be repeated, and takes several globs with commas between them; an empty glob is none."""
    texts = {
        "--filter": "only cases whose id matches this glob (repeatable)",
        "--exclude": "not the cases whose id matches this glob (repeatable)",
    }
    for name, text in texts.items():
        parser.add_argument(
            name, action="extend", type=_globs, default=[], metavar="GLOB,...", help=text
        )


def case_filter(options: argparse.Namespace) -> CaseFilter:
    """The cases that the options of add_filter_options() choose."""
    return CaseFilter(tuple(options.filter), tuple(options.exclude))


def _globs(text: str) -> list[str]:
    return [glob for glob in text.split(",") if glob]


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """The options --branch and --label of commands that select runs, as history.RunFilter or
    runs_of_page() does."""
    parser.add_argument(
        "--branch", metavar="NAME", help="only runs of this branch; '': those without one"
    )
    parser.add_argument(
        "--label", metavar="TEXT", help="only runs with this label; '': those without one"
    )


def add_nights_option(parser: argparse.ArgumentParser, what: str) -> None:
    """The option --nights of commands that show or draw the newest ones."""
    parser.add_argument(
        "--nights",
        type=_number_of_nights,
        default=90,
        metavar="N",
        help=f"how many of the newest nights to {what} (default: %(default)s)",
    )


def _number_of_nights(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,5}", text):
        raise argparse.ArgumentTypeError(f"'{printable(text)}' is not a number of nights, from 1")
    return int(text)


def date_of(text: str) -> date:
    """The date that an option names, for argparse."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"'{printable(text)}' is not a date such as 2027-03-31"
        ) from None


def time_of(text: str) -> datetime:
    """The time that an option names, in UTC, as is one that names no zone, for argparse."""
    try:
        time = datetime.fromisoformat(text)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(
            f"'{printable(text)}' is not a time such as 2026-01-12T02:00:00Z"
        ) from None


class CommandParser(argparse.ArgumentParser):
    """argparse's own, with texts as they are written and errors in one line."""

    def __init__(self, **settings: Any) -> None:
        settings.setdefault("allow_abbrev", False)
        settings.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(**settings)

    def format_help(self) -> str:
        return as_started(super().format_help())

    def _print_message(self, message: str, file: Any = None) -> None:
        if message:  # argparse ignores errors of writing
            (file or sys.stderr).write(message)

    # ---- errors

    def error(self, message: str) -> NoReturn:
        message = re.sub(r"^argument (?=\S+: )", "", message)
        print(f"{message}; see `{as_started(self.prog)} --help`", file=sys.stderr)
        raise SystemExit(2)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = ", ".join(action.choices)
            meant = _did_you_mean(value, action.choices)
            raise argparse.ArgumentError(action, f"'{value}' is not one of {known}{meant}")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Leaves nothing over: the error of a command names that command's --help."""
        parsed, rest = super().parse_known_args(args, namespace)
        if rest:
            unknown = next((word for word in rest if word.startswith("-")), None)
            if unknown is None:
                self.error(f"'{rest[0]}' is one argument too many")
            meant = _did_you_mean(unknown.partition("=")[0], self._option_string_actions)
            self.error(f"there is no option {unknown}{meant}")
        return parsed, rest

    # ---- completion

    def words(self, before: Sequence[str], asked: str) -> list[str]:
        """The words that can follow those before: options where "-" is asked for, the values of an
        option, or arguments. "GLOB" stands for all cases, "ARCH" for all architectures, and an
        empty list for files."""
        commands = self._commands()
        if before and before[0] in commands:
            return commands[before[0]].words(before[1:], asked)
        if asked == "-":
            return [name for name in self._option_string_actions if name.startswith("--")]
        option = self._option_string_actions.get(asked)
        if option is None or option.nargs == 0:
            return list(commands)
        if option.choices is not None:
            return list(option.choices)
        if option.metavar == "METRIC":
            from warpgauge.facts.reader import metric_names

            return list(metric_names())
        kind = str(option.metavar).removesuffix(",...")
        return [kind] if kind in ("GLOB", "ARCH") else []

    def _commands(self) -> dict[str, CommandParser]:
        kinds = (a for a in self._actions if isinstance(a, argparse._SubParsersAction))
        return dict(next((action.choices for action in kinds), {}))


def _did_you_mean(word: str, known: Iterable[str]) -> str:
    meant = nearest(word, known)
    return f", did you mean '{meant}'?" if meant else ""

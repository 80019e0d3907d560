"""The command line of programs: --help as a page of a manual, what mistakes are answered, and the
words that complete a line in a shell.

Help of the C++ programs looks the same: harness/commands/help_text.h.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

_COLUMNS = 80
# Set by the scripts of `warpgauge completion`: what is to be completed, "-" for an option, the name
# of the option whose value it is, or nothing for an argument.
_COMPLETE = "WARPGAUGE_COMPLETE"


def as_started(text: str) -> str:
    """The text with the name of the program that this one was started by, such as my-gauge, where
    it has a command of warpgauge or a program beside it."""
    program = os.environ.get("WARPGAUGE_PROGRAM", "warpgauge")
    return re.sub(r"(?<![\w./-])warpgauge(?=[ -])", lambda _: program, text)


@dataclass(frozen=True)
class Page:
    """What the page of a command says beside its options."""

    about: str = ""  # paragraphs, with an empty line between two
    exit_codes: Mapping[int, str] = field(default_factory=dict)
    examples: Sequence[str] = ()  # lines for a shell
    lists: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # further headings


class CommandParser(argparse.ArgumentParser):
    """As argparse has it, with pages for help, faults in one line, and words for completion."""

    def __init__(self, page: Page | None = None, **settings: Any) -> None:
        super().__init__(**{"allow_abbrev": False} | settings)
        self.prog = as_started(self.prog)
        self.page = page or Page()

    # ---- help

    def format_help(self) -> str:
        does = (self.description or "").rstrip(".")
        parts = [
            "NAME\n" + _wrapped(f"{self.prog} - {as_started(does[:1].lower() + does[1:])}"),
            "SYNOPSIS\n" + _wrapped(self._synopsis()),
        ]
        if self.page.about:
            paragraphs = self.page.about.strip().split("\n\n")
            parts.append("DESCRIPTION\n" + "\n\n".join(map(_filled, paragraphs)))
        parts += self._options()
        if commands := self._commands():
            parts.append("COMMANDS\n" + _rows({c.dest: c.help for c in commands._choices_actions}))
        parts += [f"{heading}\n{_rows(rows)}" for heading, rows in self.page.lists.items()]
        if self.page.exit_codes:
            parts.append("EXIT CODES\n" + _rows(self.page.exit_codes))
        if self.page.examples:
            examples = "\n".join(self.page.examples)
            parts.append("EXAMPLES\n" + textwrap.indent(as_started(examples), " " * 4))
        return "\n\n".join(parts) + "\n"

    def _commands(self) -> argparse._SubParsersAction | None:
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                return action
        return None

    def _synopsis(self) -> str:
        words = [self.prog, "[OPTIONS]"]
        for group in self._mutually_exclusive_groups:
            if group.required:
                words.append(f"({' | '.join(map(_spelled, group._group_actions))})")
        words += [_spelled(a) for a in self._actions if a.option_strings and a.required]
        words += [_spelled(a) for a in self._actions if not a.option_strings]
        return " ".join(words) + (" [ARGUMENT...]" if self._commands() else "")

    def _options(self) -> Iterable[str]:
        arguments, options = [], []
        for group in self._action_groups:
            actions = [a for a in group._group_actions if a is not self._commands()]
            if actions and group not in (self._positionals, self._optionals):
                options.append("\n" + _filled(f"{_capital(group.title)}:"))
            for action in actions:
                text = f"    {_spelled(action)}\n{_filled(self._described(action), 8)}"
                (options if action.option_strings else arguments).append(text)
        for heading, texts in (("ARGUMENTS", arguments), ("OPTIONS", options)):
            if texts:
                yield "\n".join([heading, *texts])

    def _described(self, action: argparse.Action) -> str:
        text = self._get_formatter()._expand_help(action)
        shown = action.default not in (None, False, argparse.SUPPRESS) and action.default != []
        if action.option_strings and shown and "(default: " not in text:
            text += f" (default: {action.default})"
        return _capital(text)

    # ---- mistakes

    def error(self, message: str) -> NoReturn:
        message = re.sub(r"^argument (?=\S+: )", "", message)
        print(f"{message}; `{self.prog} --help` shows what there is", file=sys.stderr)
        raise SystemExit(2)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = ", ".join(action.choices)
            meant = _did_you_mean(value, action.choices)
            raise argparse.ArgumentError(action, f"'{value}' is none of {known}{meant}")

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[override]
        """Knows all: a parser of a command's own calls this, and could not tell of the rest."""
        parsed, rest = super().parse_known_args(args, namespace)
        if rest:
            unknown = next((word for word in rest if word.startswith("-")), None)
            if unknown is None:
                self.error(f"'{rest[0]}' is one argument too many")
            meant = _did_you_mean(unknown.partition("=")[0], self._option_string_actions)
            self.error(f"there is no option {unknown}{meant}")
        return parsed, rest

    # ---- completion

    def parse_args(self, args=None, namespace=None):  # type: ignore[override]
        """Prints words, and ends the program, if a shell asks for them."""
        if (asked := os.environ.get(_COMPLETE)) is not None:
            print("\n".join(self.words(sys.argv[1:] if args is None else args, asked)))
            raise SystemExit(0)
        return super().parse_args(args, namespace)

    def words(self, before: Sequence[str], asked: str) -> list[str]:
        """The words that can stand behind those; GLOB and ARCH for what the gauge knows (ids of
        cases, architectures), nothing for a file."""
        if commands := self._commands():
            command = commands.choices.get(before[0]) if before else None
            if command is not None:
                return command.words(before[1:], asked)
        if asked == "-":
            return [name for name in self._option_string_actions if name.startswith("--")]
        option = self._option_string_actions.get(asked)
        if option is None or option.nargs == 0:
            return list(commands.choices) if commands else []
        if option.choices is not None:
            return list(option.choices)
        kind = _value(option)
        if kind == "METRIC":
            from warpgauge_report.facts import metric_names

            return list(metric_names())
        return [kind] if kind in ("GLOB", "ARCH") else []


def _capital(text: str) -> str:
    """As a sentence begins; the name of a file stays as it is."""
    return text[:1].upper() + text[1:] if re.match(r"[a-z]+\b(?!\.)", text) else text


def _value(action: argparse.Action) -> str:
    """What stands for the value."""
    if action.metavar is not None:
        return str(action.metavar)
    if action.choices is not None:
        return "{" + ",".join(map(str, action.choices)) + "}"
    return action.dest.upper() if action.option_strings else action.dest


def _spelled(action: argparse.Action) -> str:
    if not action.option_strings:
        return _value(action) + ("..." if action.nargs == "+" else "")
    names = ", ".join(action.option_strings)
    return names if action.nargs == 0 else f"{names} {_value(action)}"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """What was meant by a mistyped word, if anything is near it."""
    return next(iter(difflib.get_close_matches(word, list(known), n=1)), None)


def _did_you_mean(word: str, known: Iterable[str]) -> str:
    meant = nearest(word, known)
    return f", did you mean '{meant}'?" if meant else ""


def _filled(text: str, indent: int = 4, first: str = "") -> str:
    return _wrapped(as_started(text), indent, first)


def _wrapped(text: str, indent: int = 4, first: str = "") -> str:
    filler = textwrap.TextWrapper(
        width=_COLUMNS,
        initial_indent=first or " " * indent,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return filler.fill(text)


def _rows(rows: Mapping[Any, str | None]) -> str:
    """Two columns."""
    width = max(len(str(name)) for name in rows)
    lines = []
    for name, text in rows.items():
        first = f"    {name!s:<{width}}  "
        lines.append(_filled(text or "", len(first), first))
    return "\n".join(lines)

"""--help of every program and command: what it does, its options, exit codes and examples."""

import functools
import importlib
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from warpgauge import commands, program
from warpgauge.commands import report

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"
COLUMNS = 80  # of examples, to be pasted into a terminal
SCRIPT_COLUMNS = 100  # of scripts, which show the comment that they begin with


def run(*command, **options):
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=60, **options
    )


@functools.cache
def help_of(*command):
    shown = run(*command, "--help")
    assert shown.returncode == 0 and shown.stderr == ""
    return shown.stdout


def section(text, heading):
    """The lines below a heading, up to the next empty line."""
    (block,) = re.findall(rf"^{heading}:\n((?:.+\n)+)", text, re.MULTILINE | re.IGNORECASE)
    return block.splitlines()


def listed(*command):
    """The commands of a program that its help lists."""
    heading = "Subcommands" if len(command) == 1 else "positional arguments"
    rows = (re.match(r" {2,4}([a-z]\S+)(  |$)", row) for row in section(help_of(*command), heading))
    return [row[1] for row in rows if row]


def all_commands():
    report = [BIN / "warpgauge", "report"]
    return [
        [BIN / "warpgauge"],
        *([BIN / "warpgauge", command] for command in listed(BIN / "warpgauge")),
        *([*report, command] for command in listed(*report)),
        *([BIN / program] for program in ["warpgauge-check", "warpgauge-bench"]),
        [BIN / "warpgauge_measure_tests"],
    ]


SCRIPTS = [ROOT / "ci" / name for name in ["gate", "test", "nightly", "bootstrap", "slurm/submit"]]
COMMANDS = all_commands()
# Options that the libraries of a program read.
OF_LIBRARIES = re.compile(r"--(gtest|benchmark)_")


def name_of(command):
    return " ".join(Path(word).name for word in command)


def test_all_of_them_are_found():
    names = {name_of(command) for command in COMMANDS}
    assert {"warpgauge gate", "warpgauge completion", "warpgauge diff"} <= names
    assert {"warpgauge report ingest", "warpgauge report html"} <= names
    assert len(names) == len(COMMANDS) > 20


@pytest.mark.parametrize("group", [commands, report], ids=["warpgauge", "report"])
def test_the_list_of_commands_has_the_first_line_of_each(group):
    for name in program.command_names(group):
        command = importlib.import_module(f"{group.__name__}.{name}")
        assert program._summary(group, name) == command.__doc__.partition("\n")[0].rstrip(".")


@pytest.mark.parametrize("command", COMMANDS, ids=name_of)
def test_help_describes_a_command_and_its_exit_codes(command):
    text = help_of(*command)
    assert re.search(rf"^usage: {name_of(command)} \S", text, re.MULTILINE | re.IGNORECASE)
    about = text.splitlines()[0] if text[0] != "u" else text.split("\n\n")[1]
    assert len(about.split()) > 2
    if name_of(command) == "warpgauge report":
        return  # a group: its commands have exit codes and examples
    codes = [re.match(r"  (\d|N|other) +\w", line) for line in section(text, "Exit codes")]
    assert all(codes) and {"2"} < {code[1] for code in codes}


@pytest.mark.parametrize("command", COMMANDS, ids=name_of)
def test_every_option_is_described(command):
    lines = help_of(*command).splitlines()
    options = [number for number, line in enumerate(lines) if re.match(r"  -", line)]
    assert options
    for number in options:
        beside = re.search(r"\S {2,}\S", lines[number])
        assert beside or re.match(r" {20,}\S", lines[number + 1]), lines[number]


@pytest.mark.parametrize(
    "command", [c for c in COMMANDS if name_of(c) != "warpgauge report"], ids=name_of
)
def test_examples_fit_a_terminal_and_give_options_that_there_are(command):
    lines = section(help_of(*command), "Examples")
    assert [line for line in lines if len(line) > COLUMNS] == []
    called = []
    for line in "\n".join(lines).replace("\\\n", "").splitlines():
        call = re.search(r"\b(warpgauge|my-tests)[^|)]*", line)[0].partition(" -- ")[0]
        program, *words = shlex.split(call.partition(" # ")[0])
        name = program.removesuffix("-emulated").replace("my-tests", "warpgauge_measure_tests")
        named = [BIN / name]
        for word in words:
            named += [word] if [*named, word] in COMMANDS else []
        assert named in COMMANDS, line
        called.append(named[: len(command)])
        given = {word.partition("=")[0] for word in words if word.startswith("--")}
        known = set(re.findall(r"--[a-z][\w-]*", help_of(*named)))
        assert [option for option in given - known if not OF_LIBRARIES.match(option)] == [], line
    assert command in called


def test_the_help_of_the_tool_lists_external_commands():
    assert {"accept", "diff", "emit", "report"} < set(listed(BIN / "warpgauge"))


@pytest.mark.parametrize("program", ["warpgauge", "warpgauge-emulated"])
@pytest.mark.parametrize(
    "command", [["list"], ["completion"], ["accept"], ["report", "runs"]], ids=" ".join
)
def test_a_program_is_called_as_it_was_started(program, command, tmp_path):
    """As the gauge of another project is; `my-gauge-emulated` goes by the name `my-gauge`."""
    link = tmp_path / program.replace("warpgauge", "my-gauge")
    link.symlink_to(BIN / program)
    text = help_of(link, *command)
    assert f"sage: my-gauge {' '.join(command)} " in text
    examples = "\n".join(section(text, "Examples"))
    assert "my-gauge" in examples and "warpgauge" not in examples
    refused = run(link, *command, "--no-such-option")
    assert refused.returncode == 2
    assert f"; see `my-gauge {' '.join(command)} --help`\n" in refused.stderr


def test_messages_name_the_program_that_was_started(tmp_path):
    link = tmp_path / "my-gauge"
    link.symlink_to(BIN / "warpgauge")
    assert run(link, "list", "--filter", "x").stderr.endswith("`my-gauge list --large` shows all\n")
    assert "`my-gauge report ingest`" in run(link, "report", "runs", cwd=tmp_path).stderr
    # Of a program beside the gauge, it is the gauge that lists.
    listed = run(BIN / "warpgauge-bench-emulated", "--filter", "x").stderr
    assert "`warpgauge list --large` shows all" in listed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["emit", "x", "--format", "junti"], "'junti' is not one of bencher, codequality, "),
        (["emit", "x", "--format", "junti"], ", did you mean 'junit'?; see `warpgauge emit"),
        (["accept", "x", "--filtr=y"], "there is no option --filtr=y, did you mean '--filter'?"),
        (["report", "runs", "x"], "'x' is one argument too many; see `warpgauge report runs"),
        (["report", "hmtl"], ", did you mean 'html'?; see `warpgauge report --help`"),
        (["report", "runs", "--jsn"], "did you mean '--json'?; see `warpgauge report runs --help`"),
    ],
)
def test_programs_beside_it_suggest_the_nearest_option(arguments, message):
    refused = run(BIN / "warpgauge", *arguments)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert message in refused.stderr and refused.stderr.count("\n") == 1


@pytest.mark.parametrize("program", ["warpgauge-check", "warpgauge_measure_tests"])
def test_googletest_shows_its_own_help_when_asked(program):
    done = run(BIN / program, "--gtest_help")
    assert done.returncode == 0 and done.stderr == ""
    assert "--gtest_filter" in done.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_have_help(script):
    done = run(script, "--help")
    assert done.returncode == 0 and done.stderr == ""
    assert re.search(r"^Exit codes: .", done.stdout, re.MULTILINE)
    examples = done.stdout.partition("Examples:\n")[2]
    assert re.search(rf"^  .*{script.name}", examples, re.MULTILINE), done.stdout
    assert [line for line in done.stdout.splitlines() if len(line) > SCRIPT_COLUMNS] == []

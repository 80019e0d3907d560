"""--help of every program and command: what it does, its options, examples, and exit codes."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"
COLUMNS = 80
SCRIPT_COLUMNS = 100  # of scripts, which show the comment that they begin with


def run(*command, **options):
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=60, **options
    )


def sections(text):
    """What stands below each heading of a page."""
    parts = re.split(r"^([A-Z][A-Z -]+.*)\n", text, flags=re.MULTILINE)
    assert parts[0] == "", text
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def listed(*command):
    """The commands of a program that its help lists."""
    block = sections(run(*command, "--help").stdout)["COMMANDS"]
    return re.findall(r"^    ([a-z]\S+) {2,}\S", block, re.MULTILINE)


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


def name_of(command):
    return " ".join(Path(word).name for word in command)


def test_all_of_them_are_found():
    names = {name_of(command) for command in COMMANDS}
    assert {"warpgauge gate", "warpgauge completion", "warpgauge diff"} <= names
    assert {"warpgauge report ingest", "warpgauge report html"} <= names
    assert len(names) == len(COMMANDS) > 20


@pytest.mark.parametrize("command", COMMANDS, ids=name_of)
def test_help_is_a_page_of_a_manual(command):
    told = run(*command, "--help")
    assert told.returncode == 0 and told.stderr == ""
    page = sections(told.stdout)
    order = ["NAME", "SYNOPSIS", "DESCRIPTION", "ARGUMENTS", "OPTIONS", "COMMANDS"]
    order += [heading for heading in page if heading.startswith("FORMATS")]
    order += ["EXIT CODES", "EXAMPLES"]
    assert list(page) == [heading for heading in order if heading in page]
    assert {"NAME", "SYNOPSIS", "OPTIONS", "EXIT CODES", "EXAMPLES"} <= set(page)
    name = name_of(command)
    assert re.match(rf"    {name} - [a-z]\w* \S+ \S+", page["NAME"])
    assert re.match(rf"    {name} ", page["SYNOPSIS"])
    codes = re.findall(r"^    (\d|other)  +\w", page["EXIT CODES"], re.MULTILINE)
    assert {"2"} < set(codes)
    assert Path(command[0]).name in page["EXAMPLES"]
    assert [line for line in told.stdout.splitlines() if len(line) > COLUMNS] == []


@pytest.mark.parametrize("command", COMMANDS, ids=name_of)
def test_every_option_is_described(command):
    page = sections(run(*command, "--help").stdout)
    lines = (page["OPTIONS"] + page.get("ARGUMENTS", "")).splitlines()
    options = [number for number, line in enumerate(lines) if re.match(r"    -", line)]
    assert options
    for number in options:
        assert re.match(r" {8}\S", lines[number + 1]), lines[number]


def test_what_the_page_tells():
    attach = sections(run(BIN / "warpgauge", "attach", "--help").stdout)
    assert attach["SYNOPSIS"].strip() == "warpgauge attach [OPTIONS] -- PROGRAM [ARGUMENT...]"
    folder = "Folder for facts.jsonl and summary.md (default: out)"
    assert f"    --out DIR\n        {folder}\n" in attach["OPTIONS"]
    devices = sections(run(BIN / "warpgauge", "devices", "--help").stdout)
    assert "At most one of --models, --limits, --shared-config." in devices["OPTIONS"]
    assert devices["OPTIONS"].count("--help") == 1
    emit = sections(run(BIN / "warpgauge", "emit", "--help").stdout)
    assert "emit [OPTIONS] (--format NAME | --all DIR) FACTS...\n" in emit["SYNOPSIS"]
    assert "(default: auto)" in emit["OPTIONS"]


@pytest.mark.parametrize("program", ["warpgauge", "warpgauge-emulated"])
@pytest.mark.parametrize(
    "command", [["list"], ["completion"], ["accept"], ["report", "runs"]], ids=" ".join
)
def test_a_program_is_called_as_it_was_started(program, command, tmp_path):
    """As the gauge of another project is; `my-gauge-emulated` goes by the name `my-gauge`."""
    link = tmp_path / program.replace("warpgauge", "my-gauge")
    link.symlink_to(BIN / program)
    page = sections(run(link, *command, "--help").stdout)
    assert page["NAME"].startswith(f"    my-gauge {' '.join(command)} - ")
    assert "my-gauge" in page["EXAMPLES"] and "warpgauge" not in page["EXAMPLES"]
    refused = run(link, *command, "--no-such-option")
    assert refused.returncode == 2
    assert f"; `my-gauge {' '.join(command)} --help` shows what there is\n" in refused.stderr


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
        (["emit", "x", "--format", "junti"], "'junti' is none of junit, sarif, "),
        (["emit", "x", "--format", "junti"], ", did you mean 'junit'?; `warpgauge emit --help` "),
        (["diff", "a", "b", "--nose=3%"], "there is no option --nose=3%, did you mean '--noise'?"),
        (["diff", "a", "b", "c"], "'c' is one argument too many; `warpgauge diff --help` "),
        (["report", "hmtl"], ", did you mean 'html'?; `warpgauge report --help` "),
        (["report", "runs", "--jsn"], "did you mean '--json'?; `warpgauge report runs --help` "),
    ],
)
def test_programs_beside_it_tell_what_was_meant(arguments, message):
    refused = run(BIN / "warpgauge", *arguments)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert message in refused.stderr and refused.stderr.count("\n") == 1


@pytest.mark.parametrize("program", ["warpgauge-check", "warpgauge_measure_tests"])
def test_googletest_shows_its_own_help_when_asked(program):
    told = run(BIN / program, "--gtest_help")
    assert told.returncode == 0 and told.stderr == ""
    assert "--gtest_filter" in told.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_have_help(script):
    told = run(script, "--help")
    assert told.returncode == 0 and told.stderr == ""
    assert re.search(r"^Exit codes: .", told.stdout, re.MULTILINE)
    examples = told.stdout.partition("Examples:\n")[2]
    assert re.search(rf"^  .*{script.name}", examples, re.MULTILINE), told.stdout
    assert [line for line in told.stdout.splitlines() if len(line) > SCRIPT_COLUMNS] == []

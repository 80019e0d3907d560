"""A mistyped command line prints the mistake and a correction."""

import os
import re
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ["WARPGAUGE_BINARY_DIR"])
ROOT = Path(__file__).resolve().parents[2]


def run(*arguments):
    return subprocess.run(
        [BUILD / "bin" / "warpgauge", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
    )


ARCHS = run("list", "--archs").stdout.split()


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["gat"], "'gat' is not a command, did you mean 'gate'?; the commands are gate, list, "),
        (["gate", "--fliter", "x"], "there is no option --fliter, did you mean '--filter'?; see `"),
        (["gate", "x"], "'x' is one argument too many; see `warpgauge gate --help`"),
        (["wildly-wrong"], "'wildly-wrong' is not a command; the commands are gate, list, "),
        (["gate", "--device=emulate"], "'emulate' is not one of auto, gpu, emulated, did you mean"),
        (["explain", "x", "--device=0"], "--device: '0' is not one of auto, gpu, emulated; see `"),
        (["gate", "--arch", ARCHS[0].removeprefix("sm_")], f"did you mean '{ARCHS[0]}'?"),
        (["explain", "x", "--picture", "x.png"], "'x.png' does not end in .svg"),
        (
            ["emulate", "--arch", "sm_12", "--", "true"],
            "'sm_12', did you mean 'sm_120'?; choose one of sm_75, ",
        ),
        (["emulate", "--arch", "90", "--", "true"], "'90', did you mean 'sm_90'?; choose one of "),
    ],
)
def test_a_mistake_is_reported_with_what_was_meant(arguments, message):
    result = run(*arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert result.stdout == ""


def test_the_version_names_toolkit_and_architectures():
    (version,) = re.findall(
        r"project\(warpgauge VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()
    )
    result = run("--version")
    assert result.returncode == 0
    assert re.fullmatch(
        rf"warpgauge {re.escape(version)} \(CUDA \d+\.\d+; {' '.join(ARCHS)}\)\n", result.stdout
    )

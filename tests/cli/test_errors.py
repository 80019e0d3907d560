"""The gallery of errors (examples/errors): each message is as it was written down."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ["WARPGAUGE_BINARY_DIR"])
BIN = BUILD / "bin"
GALLERY = ROOT / "examples/errors"
pytestmark = pytest.mark.skipif(
    not (BUILD / "lib" / "libwarpgauge_injection.so").exists(),
    reason="this build has no CUPTI, which counts in attached programs",
)


def provoked(folder):
    """What the script prints, without what differs from machine to machine."""
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    done = subprocess.run(
        [GALLERY / "provoke", BIN],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0 and done.stderr == ""
    text = done.stdout.replace(str(folder), "HERE").replace(str(ROOT), "ROOT")
    text = re.sub(r"\.cmake:\d+", ".cmake:LINE", text)
    # Versions of CLI11 word it differently.
    text = re.sub(r"not in range [^;\n]*", "not in range MIN to MAX", text)
    # So do versions of the standard library.
    text = re.sub(r"(no regular expression: ).*", r"\1WHY", text)
    text = re.sub(r"\(\d+ ms total\)", "(N ms total)", text)
    text = re.sub(r"libcudart\.so\.\d+", "libcudart.so.N", text)
    return re.sub(r"this build has( sm_\w+)+", "this build has sm_NN ...", text)


def test_messages_are_those_of_the_gallery(tmp_path):
    """To write them down anew: WARPGAUGE_WRITE_GOLDEN=1."""
    text = provoked(tmp_path)
    golden = GALLERY / "messages.txt"
    if os.environ.get("WARPGAUGE_WRITE_GOLDEN"):
        golden.write_text(text)
    assert text == golden.read_text()
    shown = re.findall(r"^\$ (.*)\n((?:.*\n)*?)exit (\d+)$", text, re.MULTILINE)
    assert len(shown) == text.count("\n$ ") > 40
    for command, message, code in shown:
        assert message.strip(), command
        # What attach did not count is no fault of anybody's: 3.
        good = {"2", "3"} if "warpgauge attach" in command else {"2"}
        assert code in good or command.startswith("cmake"), command
        assert "Traceback" not in message and "terminate called" not in message

"""The command `warpgauge` of the wheel: runs the program in it."""

import os
import sys
from pathlib import Path


def main() -> int:
    program = Path(__file__).with_name("prefix") / "bin/warpgauge"
    os.environ.setdefault("WARPGAUGE_PYTHON", sys.executable)  # for the commands that are Python
    try:
        os.execv(program, ["warpgauge", *sys.argv[1:]])
    except OSError as error:
        print(
            f"{program}: {error.strerror}; it comes with warpgauge's wheel: install that again",
            file=sys.stderr,
        )
    return 2

"""`runtimes`: facts of programs that were linked in two ways."""

import json
import subprocess
from pathlib import Path

from some_facts import EMULATED, text_of
from some_facts import a_fact as one_fact

HERE = Path(__file__).resolve().parent


def compared(folder, **facts):
    for name, texts in facts.items():
        for work, text in zip(("shared", "static"), texts, strict=True):
            place = folder / work / "results" / name / "emulate"
            place.mkdir(parents=True)
            (place / "facts.jsonl").write_text(text)
    command = [HERE / "runtimes", folder / "shared", folder / "static"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def facts(requests, instructions, run="r1"):
    doubt = {"confidence": "estimate", "confidence_reason": "a race"}
    about = {"source": "emulator", "device": EMULATED}
    lines = text_of(
        [
            one_fact(metric="shared.requests", value=requests, **about),
            one_fact(metric="global.load.requests", value=8, **about),
            one_fact(metric="instructions", value=instructions, **doubt, **about),
        ]
    ).splitlines()
    for n, line in enumerate(lines):
        if (record := json.loads(line))["record"] == "run":
            lines[n] = json.dumps(record | {"run": run})
    return "\n".join(lines) + "\n"


def test_what_differs_from_run_to_run_is_told_from_exact_counts(tmp_path):
    same, race, wrong = facts(4, 9, "r2"), facts(4, 10), facts(5, 9)
    code, said = compared(tmp_path, alike=(facts(4, 9), same), racy=(facts(4, 9), race))
    assert (code, said) == (
        0,
        "alike: equal\nracy: only estimates differ\n1 of 2 programs are equal\n",
    )
    code, said = compared(tmp_path, worse=(facts(4, 9), wrong))
    assert code == 1
    assert "worse: 1 exact counts differ\n" in said


def test_nothing_to_compare_is_a_fault(tmp_path):
    assert compared(tmp_path) == (2, "error: no program was emulated in both folders\n")

"""`warpgauge attach` on a program that plays the injected library's part."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from warpgauge.facts.reader import read_facts

BUILD = Path(os.environ["WARPGAUGE_BINARY_DIR"])
GAUGE = BUILD / "bin" / "warpgauge"
KERNEL = "_Z10by_columnsILi32EEvPiPKi"
CONFLICTS = 992
pytestmark = pytest.mark.skipif(
    not (BUILD / "lib" / "libwarpgauge_injection.so").exists(),
    reason="this build has no CUPTI, which counts in attached programs",
)

PROGRAM = """
import json, os, signal, sys, time
result = json.loads(sys.argv[1])
print("out of the program"); print("err of the program", file=sys.stderr)
if result is not None:
    path = os.path.join(os.environ["WARPGAUGE_ATTACH_FOLDER"], f"{os.getpid()}.json")
    with open(path, "w") as file:
        file.write(result if isinstance(result, str) else json.dumps(result))
    damaged = isinstance(result, str)
    launches = 0 if damaged else sum(kernel["launches"] for kernel in result["kernels"])
    with open(path.replace(".json", ".launches"), "wb") as file:
        file.write((launches + (0 if damaged else result.get("more", 0))).to_bytes(8, "little"))
sys.stdout.flush()
assert os.environ["CUDA_INJECTION64_PATH"].endswith("libwarpgauge_injection.so")
exec(sys.argv[2])
"""


def counted(launches=3, *, kernel=KERNEL, warnings=(), records=True):
    values = [0] * 20
    first = [0] * 15 + [launches * 32] + [0] * 5  # of 32 warps each
    values[8], values[9], values[10], values[14] = (
        launches * (32 + CONFLICTS),
        launches * 32,
        launches * 32,
        launches * 320,
    )
    return {
        "schema": "warpgauge.attached/5",
        "command": "program",
        "pid": 2**22 + 7,  # beyond all that Linux gives
        "devices": {
            "0": {
                "name": "NVIDIA H100",
                "chip": "GH100",
                "compute_capability": "9.0",
                "driver": "580",
                "uuid_hash": "a",
                "threads_per_multiprocessor": 2048,
            }
        },
        "kernels": [
            {
                "name": kernel,
                "device": 0,
                "launches": launches,
                "counted": [[[1, 1, 1], [32, 32, 1], 0, launches, [1, 1, 1]]],
                "resources": [[14, 4096, 0, 64, [1, 1, 1]]],
            }
        ],
        "records": {"0": [{"cubin": 1, "kernel": kernel, "rows": [first, [64, *values]]}]}
        if records
        else {},
        "waiting": 0,
        "warnings": list(warnings),
    }


def attach(out, result, *options, then="", environment=None):
    return subprocess.run(
        [
            *[GAUGE, "attach", "--out", out, *options, "--"],
            *[sys.executable, "-c", PROGRAM, json.dumps(result), then],
        ],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **(environment or {})},
    )


def facts(out):
    return {fact.metric: fact for fact in read_facts(out / "facts.jsonl") if fact.scope == "case"}


def test_facts_and_a_summary_beside_an_output_that_is_the_programs(tmp_path):
    result = attach(tmp_path, counted())
    assert result.returncode == 1, result.stderr
    assert result.stdout == "out of the program\n"
    assert "err of the program" in result.stderr
    assert "void by_columns<32>(int*, int const*)" in result.stderr
    conflicts = facts(tmp_path)["shared.bank_conflicts"]
    assert conflicts.value == 3 * CONFLICTS
    assert conflicts.verdict == "fail"
    (kernel,) = conflicts.case.kernels
    assert [launch.count for launch in kernel.launches] == [3]
    assert conflicts.case.device == "NVIDIA H100"
    assert facts(tmp_path)["registers"].value == 14
    assert "by\\_columns" in (tmp_path / "summary.md").read_text()
    assert not list(tmp_path.glob(".counts-*"))


def test_a_program_that_was_ended_while_it_waited_names_its_kernel(tmp_path):
    """The library writes the kernel down and kills the process."""
    end = (
        f"assert os.environ['WARPGAUGE_ATTACH_WAIT_LIMIT'] == '7'; "
        f"open(path.replace('.json', '.endless'), 'w').write({KERNEL!r}); "
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    result = attach(tmp_path, counted(), "--timeout", "7", then=end)
    assert result.returncode == 2, result.stderr
    said = " ".join(result.stderr.split())
    assert "it waited for the GPU for longer than its limit of 7 s (--timeout)" in said
    assert "was ended: void by_columns<32>(int*, int const*), which it launched last" in said
    assert "warpgauge attach --timeout 7 " in said


def test_programs_that_are_started_without_the_environment_have_the_library(tmp_path):
    child = (
        "import os; print(sorted(name for name in os.environ if 'ATTACH' in name or '64' in name))"
    )
    start = f"import subprocess; subprocess.run([sys.executable, '-c', {child!r}], env={{}})"
    result = attach(tmp_path, counted(), then=start)
    assert result.returncode == 1, result.stderr
    names = ["CUDA_INJECTION64_PATH", "WARPGAUGE_ATTACH_FOLDER", "WARPGAUGE_ATTACH_WAIT_LIMIT"]
    assert str(names) in result.stdout


def test_budgets_by_the_name_of_the_kernel(tmp_path):
    budgets = tmp_path / "budgets.toml"
    good = f'"shared.bank_conflicts" = {{ equal = {3 * CONFLICTS}, reason = "a column" }}\n'
    for section in "void by_columns<32>(*", "by_columns<32>(*", "by_columns", "*by_columns<3?>*":
        budgets.write_text(f'["{section}"]\n{good}')
        result = attach(tmp_path / "out", counted(), "--budgets", budgets)
        assert result.returncode == 0, result.stderr
    # The longest that fits goes first.
    budgets.write_text(f'["*by_columns<32>*"]\n{good}["*"]\n"shared.bank_conflicts" = 0\n')
    assert attach(tmp_path / "out", counted(), "--budgets", budgets).returncode == 0
    budgets.write_text('["*by_rows*"]\n"registers" = 1\n')
    result = attach(tmp_path / "out", counted(), "--budgets", budgets, "--kernels", "no such")
    assert result.returncode == 3
    assert f"{budgets}: no kernel matches section '*by_rows*'" in result.stderr
    assert "--kernels 'no such': matches none of 1 kernels" in result.stderr


def test_bad_options_are_faults_before_the_program_runs(tmp_path):
    budgets = tmp_path / "budgets.toml"
    budgets.write_text('["*"]\n"regsters" = 1\n')
    for options, message in [
        (["--budgets", budgets], f"{budgets}:2:1: unknown metric 'regsters'"),
        (["--budgets", tmp_path / "none"], "cannot be read"),
        (["--kernels", "("], "--kernels '(': not a regular expression"),
        (["--sample", "0"], "--sample"),
    ]:
        result = attach(tmp_path / "out", counted(), *options)
        assert result.returncode == 2
        assert message in result.stderr
        assert "of the program" not in result.stdout + result.stderr
    other = attach(tmp_path / "out", counted(), environment={"CUDA_INJECTION64_PATH": "/x.so"})
    assert other.returncode == 2
    assert "another tool is injected already" in other.stderr


@pytest.mark.parametrize(
    ("then", "ending"),
    [
        ("sys.exit(1)", "exited with 1"),
        ("sys.exit(3)", "exited with 3"),
        ("sys.exit(7)", "exited with 7"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "was ended by SIGKILL"),
        ("os.abort()", "was ended by SIGABRT"),
    ],
)
def test_the_programs_own_failure_is_reported_apart(tmp_path, then, ending):
    result = attach(tmp_path, counted(), then=then)
    assert result.returncode == 2
    failure = f"the program itself failed: {sys.executable} {ending}"
    assert failure in result.stderr
    assert result.stderr.rstrip().splitlines()[-4].startswith("ERROR: ")
    found = facts(tmp_path)
    assert found["shared.bank_conflicts"].value == 3 * CONFLICTS
    assert found["result.correct"].verdict == "error"
    assert failure in found["result.correct"].reason
    again = subprocess.run(
        [GAUGE, "outcome", tmp_path / "facts.jsonl", "--out", tmp_path / "again.json"],
        capture_output=True,
        timeout=60,
    )
    assert again.returncode == 2, "the program's own exit code is not the run's"
    outcomes = [
        json.loads((tmp_path / name).read_text()) for name in ("results.json", "again.json")
    ]
    for member in ("exit_code", "headline", "counts"):
        assert outcomes[0][member] == outcomes[1][member]


NOT_INITIALISED = (
    "CUDA was never initialised with the library"
    if Path("/dev/nvidia0").exists()
    else "no CUDA device here (no NVIDIA driver); warpgauge emulate counts it without one"
)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (None, NOT_INITIALISED),
        (counted() | {"kernels": [], "records": {}}, "no kernel was launched"),
    ],
)
def test_nothing_counted_is_no_success(tmp_path, result, message):
    run = attach(tmp_path, result)
    assert run.returncode == 3
    assert message in run.stderr


def test_a_kernel_that_was_missed_is_no_success(tmp_path):
    budgets = tmp_path / "budgets.toml"
    budgets.write_text('["*"]\n"shared.bank_conflicts" = { max = 9999, reason = "known" }\n')
    both = counted()
    assert attach(tmp_path / "out", both, "--budgets", budgets).returncode == 0
    both["kernels"] += counted(kernel="missed")["kernels"]
    run = attach(tmp_path / "out", both, "--budgets", budgets)
    assert run.returncode == 3, run.stderr
    assert "nothing was counted of this kernel" in run.stderr


def test_launches_that_were_missed_are_no_success(tmp_path):
    budgets = tmp_path / "budgets.toml"
    budgets.write_text('["*"]\n"shared.bank_conflicts" = { max = 9999, reason = "known" }\n')
    some = counted()
    some["kernels"][0]["launches"] = 5
    run = attach(tmp_path / "out", some, "--budgets", budgets)
    assert run.returncode == 3, run.stderr
    assert "not counted: 2 of 5 launches of void by_columns<32>(int*, int const*)" in run.stderr
    asked_for = attach(tmp_path / "out", some, "--budgets", budgets, "--sample", "3")
    assert asked_for.returncode == 0, asked_for.stderr
    assert "3 of 5" in asked_for.stderr


@pytest.mark.parametrize("unknown", [{"more": 2}, {"waiting": 2}])
def test_launches_of_a_process_that_ended_without_a_word(tmp_path, unknown):
    budgets = tmp_path / "budgets.toml"
    budgets.write_text('["*"]\n"shared.bank_conflicts" = { max = 9999, reason = "known" }\n')
    run = attach(tmp_path / "out", counted() | unknown, "--budgets", budgets)
    assert run.returncode == 3, run.stderr
    assert "NOT MEASURED: not counted: 2 launches, whose counts were not taken before" in run.stderr
    assert (
        "2 launches, whose counts were not taken" in (tmp_path / "out" / "summary.md").read_text()
    )


def test_counts_that_did_not_come_back_are_no_success(tmp_path):
    budgets = tmp_path / "budgets.toml"
    budgets.write_text('["*"]\n"shared.bank_conflicts" = { max = 9999, reason = "known" }\n')
    some = counted()
    executed = 15  # behind the address: SassMetric::instructions
    some["records"]["0"][0]["rows"][0][executed] = 32
    run = attach(tmp_path / "out", some, "--budgets", budgets, "--sample", "3")
    assert run.returncode == 3, run.stderr
    assert "miscounted: 96 warps were launched of void by_columns<32>" in run.stderr
    assert "and 32 counted" in run.stderr


def test_a_process_that_still_runs_is_no_success(tmp_path):
    budgets = tmp_path / "budgets.toml"
    budgets.write_text('["*"]\n"shared.bank_conflicts" = { max = 9999, reason = "known" }\n')
    run = attach(tmp_path / "out", counted() | {"pid": os.getpid()}, "--budgets", budgets)
    assert run.returncode == 3, run.stderr
    assert "it still runs, and the program did not wait for it" in run.stderr


def test_a_budget_for_what_nobody_tells(tmp_path):
    budgets = tmp_path / "budgets.toml"
    known = '["*"]\n"shared.bank_conflicts" = { max = 9999, reason = "known" }\n'
    limits = {
        "result.correct": '{ equal = 1, reason = "asked" }',
        "spill.store_bytes": '{ max = 1, reason = "asked" }',
        "time.median_us": '{ max = 1, tolerance = "5%" }',
    }
    for metric, limit in limits.items():
        budgets.write_text(f'{known}"{metric}" = {limit}\n')
        run = attach(tmp_path / "out", counted(), "--budgets", budgets)
        assert run.returncode == 3, run.stderr
        assert "warpgauge attach does not measure it" in run.stderr


def test_copies_whose_code_is_not_known_are_not_exact(tmp_path):
    copies = counted()
    copies["records"]["0"][0]["rows"][1][8] = 9
    run = attach(tmp_path, copies)
    assert "the code of these is not known" in run.stderr
    assert facts(tmp_path)["shared.bank_conflicts"].confidence == "estimate"


def test_the_command_to_repeat_can_be_pasted(tmp_path):
    run = attach(tmp_path, counted(), then="'it ran'")
    pasted = run.stderr.split("  repeat   warpgauge ")[1].split("\n  ")[0]
    words = shlex.split(pasted.split("\n\nFAIL")[0])
    assert words[:4] == ["attach", "--kernels", "by_columns", "--"]
    assert words[4] == sys.executable


def test_the_facts_are_like_all_others(tmp_path):
    attach(tmp_path / "out", counted())
    emit = [GAUGE, "emit", tmp_path / "out" / "results.json", "--format", "junit"]
    junit = subprocess.run(emit, capture_output=True, text=True, timeout=60)
    assert junit.returncode == 0, junit.stderr
    assert "shared.bank_conflicts" in junit.stdout
    assert f"warpgauge attach --kernels by_columns -- {sys.executable} -c " in junit.stdout


def test_a_failed_program_is_an_error_in_ci(tmp_path):
    budgets = tmp_path / "budgets.toml"
    budgets.write_text('["*"]\n"shared.bank_conflicts" = { max = 9999, reason = "known" }\n')
    attach(tmp_path / "out", counted(), "--budgets", budgets, then="sys.exit(7)")
    emit = [GAUGE, "emit", tmp_path / "out" / "results.json", "--format", "junit"]
    junit = subprocess.run(emit, capture_output=True, text=True, timeout=60).stdout
    assert 'errors="1"' in junit and "exited with 7" in junit


@pytest.mark.parametrize("globs", [["by_columns"], ["void by_col*", "other*"]])
def test_kernels_that_are_skipped(tmp_path, globs):
    both = counted()
    other = counted(kernel="other")
    both["kernels"] += other["kernels"]
    both["records"]["0"] += other["records"]["0"]
    both["kernels"][0]["counted"] = []
    both["records"]["0"] = both["records"]["0"][1:]
    options = [word for glob in globs for word in ("--skip", glob)]
    then = "print(os.environ['WARPGAUGE_PROGRAM_SKIP'].splitlines())"
    run = attach(tmp_path / "out", both, *options, then=then)
    assert str(globs) in run.stdout
    if len(globs) == 1:
        assert run.returncode == 1, run.stderr
        assert "skipped: 3 launches of 1 kernel (--skip by_columns)" in run.stderr
        assert {f.kernel for f in read_facts(tmp_path / "out" / "facts.jsonl")} == {"other"}
        assert "--skip by_columns -- " in run.stderr
    else:
        assert run.returncode == 3
        assert "--skip leaves none of 2 kernels" in run.stderr


def test_what_could_not_be_counted_is_reported(tmp_path):
    budgets = tmp_path / "budgets.toml"
    budgets.write_text('["*"]\n"shared.bank_conflicts" = { max = 9999, reason = "known" }\n')
    warned = counted(warnings=["kernels were launched in an unknown graph"])
    run = attach(tmp_path / "out", warned, "--budgets", budgets)
    assert run.returncode == 3, run.stderr
    assert "not counted: kernels were launched in an unknown graph (process" in run.stderr


@pytest.mark.parametrize("text", ["", '{"schema": "warpgauge.attached/5", "comm'])
def test_a_damaged_result_is_a_fault(tmp_path, text):
    run = attach(tmp_path, text)
    assert run.returncode == 2
    assert "not a result of the attached library" in run.stderr


def test_a_signal_to_stop_is_handed_on(tmp_path):
    then = "time.sleep(30)"
    process = subprocess.Popen(
        [
            *[GAUGE, "attach", "--out", tmp_path, "--"],
            *[sys.executable, "-c", PROGRAM, json.dumps(counted()), then],
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "out of the program\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 2
    assert "was ended by SIGTERM" in said
    assert facts(tmp_path)["shared.bank_conflicts"].value == 3 * CONFLICTS


def test_names_of_kernels_are_text(tmp_path):
    name = "evil\x1b[31m<script>alert(1)</script>"
    run = attach(tmp_path, counted(kernel=name))
    assert run.returncode == 1, run.stderr
    assert "\x1b" not in run.stderr
    assert "<script>" not in (tmp_path / "summary.md").read_text()

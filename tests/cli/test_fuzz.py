"""gate --fuzz and warpgauge-check --fuzz: what only luck made right is found, made small, and
repeated by the command that is printed."""

import re
import shlex
from pathlib import Path

import pytest
from programs import run
from stored_facts import of_cases
from warpgauge.facts.reader import read_facts

ROOT = Path(__file__).resolve().parents[2]
ON = ("--device=emulated", "--arch", "sm_90")
# The smallest trial of each variant that fails, and how.
FOUND = {
    "one_block": ("256", "257,0", "element 256 is nan (never written?)"),
    "full_grid": ("65536", "65537,0", "element 65536 is nan (never written?)"),
    "unguarded": ("256", "1,0", "family.cu:"),
    "usual_values": ("256", None, "wrong result: element 0 is"),
    "square_alone": ("64x64", "1x2,0", "family.cu:"),
}


def gate(out, *options, code=None):
    return run("warpgauge-faulty", "gate", *ON, "--out", out, *options, code=code)


def reasons_of(text):
    """Without addresses, which differ from process to process, and how many trials fail."""
    reasons = re.findall(r"^ +reason +(.*)$", text, re.MULTILINE)
    reasons = [re.sub(r"; \d+ of \d+ trials fail", "", reason) for reason in reasons]
    return [re.sub(r"0x[0-9a-f]+", "0x", reason) for reason in reasons]


@pytest.mark.parametrize("variant", FOUND)
def test_the_gate_finds_the_smallest_failure_and_repeats_it(tmp_path, variant):
    size, trial, how = FOUND[variant]
    case = f"lucky.{variant}.f32@{size}"
    options = ("--filter", case)
    assert gate(tmp_path / "plain", *options).returncode == 0
    found = gate(tmp_path / "fuzzed", *options, "--fuzz", 10, code=2)
    (fact,) = (
        f for f in read_facts(tmp_path / "fuzzed/facts.jsonl") if f.metric == "result.fails_at"
    )
    assert fact.verdict == "error" and how in fact.reason
    assert fact.value == trial or (trial is None and re.fullmatch(size + r",[1-9]", fact.value))
    at, seed = fact.value.split(",")
    assert fact.reason.startswith(f"at {at} with seed {seed}: ")
    assert re.search(r"; ([1-9]|10) of 10 trials fail$", fact.reason)
    # The facts of the case at its own size are there as ever.
    assert of_cases(tmp_path / "fuzzed")[case, "result.correct", "sm_90"].verdict == "pass"

    (command,) = re.findall(r"^ +repeat +ci/gate (.*)$", found.stdout, re.MULTILINE)
    assert command.endswith(f"--fuzz-at {fact.value}")
    repeated = run(
        "warpgauge-faulty", "gate", *shlex.split(command), "--out", tmp_path / "again", code=2
    )
    assert reasons_of(repeated.stdout) == reasons_of(found.stdout)


def test_what_a_check_finds_at_another_size_keeps_its_rule_and_lines(tmp_path):
    options = ("--filter", "lucky.half_synchronised.*", "--fuzz", 10)
    gate(tmp_path, *options, code=0)
    found = gate(tmp_path, *options, "--check", "races", code=2)
    (fact,) = (f for f in read_facts(tmp_path / "facts.jsonl") if f.metric == "result.fails_at")
    lines = (ROOT / "tests/lucky/family.cu").read_text().splitlines()
    written, read = (
        1 + next(n for n, line in enumerate(lines) if line.endswith(f"// {how} the barrier"))
        for how in ("written before", "read behind")
    )
    assert (fact.verdict, fact.rule) == ("error", "race")
    assert (fact.file, fact.line) == ("tests/lucky/family.cu", read)
    assert fact.other == f"tests/lucky/family.cu:{written}"
    assert re.search(r"^ERROR: 1 race found$", found.stdout, re.MULTILINE)
    assert f"           {fact.other}: if (threadIdx.x == 0) count = n;" in found.stdout


def test_a_check_finds_the_same_and_repeats_it():
    program = "warpgauge-faulty-check-emulated"
    found = run(program, "--gtest_filter=fuzz/lucky.*", "--fuzz", 10, code=1)
    commands = re.findall(r"^ +repeat +(.*)$", found.stdout, re.MULTILINE)
    tests = [shlex.split(command) for command in commands]
    # A test of its own would say of the last that it fails at any seed.
    wrong = {variant: size for variant, (size, _, _) in FOUND.items()} | {"moves_too_little": "256"}
    assert sorted(test[1] for test in tests) == sorted(
        f"--gtest_filter=fuzz/lucky.{variant}.f32@{size}" for variant, size in wrong.items()
    )
    assert "[       OK ] fuzz/lucky.right.f32@256" in found.stdout
    for test in tests:
        assert Path(test[0]).name == program and test[2] == "--fuzz-at"
        repeated = run(*test, code=1)
        assert commands[tests.index(test)] in repeated.stdout
        assert set(reasons_of(repeated.stdout)) <= set(reasons_of(found.stdout))


def test_what_is_right_at_all_sizes_passes_and_says_so(tmp_path):
    options = ("--filter", "lucky.right.*")
    assert gate(tmp_path, *options, "--fuzz", 10, code=0).stderr.count("10/10") == 1
    assert of_cases(tmp_path)["lucky.right.f32@256", "result.fails_at", "sm_90"].value == "none"
    gate(tmp_path, *options, "--fuzz-at", "257,3", code=0)


def test_a_case_that_needs_a_gpu_has_no_trials_on_the_emulator(tmp_path):
    gate(tmp_path, "--filter", "gpu_only.declared.*", "--fuzz", 1, code=0)
    facts = of_cases(tmp_path)
    assert facts["gpu_only.declared.u32@1024", "result.correct", "sm_90"].verdict == "unmeasured"
    assert not any(metric == "result.fails_at" for _, metric, _ in facts)


def test_a_problem_without_elements_needs_no_kernel(tmp_path):
    options = ("--filter", "lucky.from_none.*")
    gate(tmp_path, *options, "--fuzz", 5, code=0)
    gate(tmp_path, *options, "--fuzz-at", "0,3", code=0)


def test_a_process_that_ends_once_is_an_error_with_its_cause(tmp_path, monkeypatch):
    once = tmp_path / "once"
    once.touch()
    monkeypatch.setenv("LUCKY_END_ONCE", str(once))
    gate(tmp_path, "--filter", "lucky.ends_once.*", "--fuzz", 3, code=2)
    (fact,) = (f for f in read_facts(tmp_path / "facts.jsonl") if f.metric == "result.fails_at")
    assert "killed by SIGABRT (Aborted), and it did not fail when it was repeated" in fact.reason
    assert "; 1 of 3 trials fail" in fact.reason


def test_the_headline_counts_what_is_over_budget_beside_errors(tmp_path):
    cases = "lucky.one_block.*,canaries.padding_removed.*"
    shown = gate(tmp_path, "--filter", cases, "--fuzz", 5, code=2).stdout
    assert re.search(r"^ERROR: 1 case could not be judged, [1-9]\d* values? over", shown, re.M)


def test_the_summary_says_which_cases_have_other_values_alone(tmp_path):
    cases = "lucky.right.*,lucky.usual_values.*"
    shown = gate(tmp_path, "--filter", cases, "--fuzz", 1).stdout
    alone = "cases fuzzed with other seeds alone, as their problems allow no other sizes: 1 of 2"
    assert (
        "cases to fuzz, where they are right: 1 at other sizes, 1 with other seeds alone\n" in shown
    )
    assert alone in shown and alone in (tmp_path / "summary.md").read_text()


def test_a_run_that_moves_less_than_the_least_is_an_error(tmp_path):
    shown = gate(tmp_path, "--filter", "lucky.moves_too_little.*", code=2).stdout
    (reason,) = reasons_of(shown)
    assert reason.startswith(
        "it moved 64 bytes of the 2048 that any solution must move "
        "(sectors: 1 loaded, 1 stored, 0 of atomics; bulk copies: 0 bytes)"
    )


@pytest.mark.parametrize(
    "options, why",
    [
        (("--fuzz", "0"), "--fuzz: "),
        (("--fuzz", "-1"), "--fuzz: "),
        (("--fuzz", "many"), "--fuzz"),
        (("--fuzz-at", "33x65"), "--fuzz-at: '33x65' is no size and seed, as in 33x65,7"),
        (("--fuzz-at", "33,7", "--fuzz", "3"), "--fuzz"),
        (("--fuzz-at", "5000,7"), "--fuzz-at 5000,7: the problem of lucky.right.f32@256 allows"),
    ],
)
def test_bad_options_are_one_clear_error(tmp_path, options, why):
    refused = gate(tmp_path, "--filter", "lucky.right.*", *options, code=2)
    assert why in refused.stderr
    assert len(refused.stderr.strip().splitlines()) <= 2


def test_a_check_refuses_a_size_that_a_problem_does_not_allow():
    options = ("--gtest_filter=fuzz/lucky.right.*", "--fuzz-at", "5000,7")
    refused = run("warpgauge-faulty-check-emulated", *options, code=1)
    assert "--fuzz-at 5000,7: the problem of lucky.right.f32@256 allows" in refused.stdout


WITHOUT_GPU = pytest.mark.skipif(
    Path("/dev/nvidia0").exists(), reason="shows what happens without a GPU"
)


@WITHOUT_GPU
@pytest.mark.parametrize("required", [False, True])
def test_a_check_without_a_gpu_runs_no_trials(required):
    options = ("--gtest_filter=fuzz/lucky.right.*", "--fuzz", 5)
    options += ("--require-cupti",) if required else ()
    checked = run("warpgauge-faulty-check", *options, code=int(required))
    assert "unmeasured: no CUDA device" in checked.stdout
    assert "fuzzed runs" not in checked.stderr


@WITHOUT_GPU
def test_a_gate_that_can_run_nothing_is_not_green(tmp_path):
    options = ("--device=gpu", "--out", tmp_path, "--filter", "lucky.right.*", "--fuzz", 3)
    run("warpgauge-faulty", "gate", *options, code=3)
    facts = read_facts(tmp_path / "facts.jsonl")
    (fact,) = (f for f in facts if f.metric == "result.fails_at")
    assert fact.verdict == "unmeasured" and fact.reason

"""Each planted defect of tests/canaries turns the gate red: the right metric, verdict and line.

A remark `canary NAME: METRIC VERDICT` in the source marks the line that is to blame; one that ends
in `below` the statement or function that follows it. On the emulator a fault is blamed on the line
with the remark `fault of NAME`.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from warpgauge.facts.reader import read_facts

BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"
ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "tests" / "canaries" / "family.cu"
LINES = SOURCE.read_text().splitlines()
HAS_GPU = Path("/dev/nvidia0").exists()
needs_gpu = pytest.mark.skipif(not HAS_GPU, reason="no GPU on this machine")
SANITIZER = shutil.which("compute-sanitizer") or shutil.which(
    "compute-sanitizer", path=str(Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "bin")
)


def marks():
    """name -> (metric, verdict, lines that may be blamed)"""
    found = {}
    for number, line in enumerate(LINES, start=1):
        mark = re.search(r"// canary (\w+): ([\w.]+) (fail|error)( below)?$", line)
        if not mark:
            continue
        name, metric, verdict, below = mark.groups()
        last = number
        if below:
            # To the end of the statement or function: its last line closes at the same indent.
            indent = re.match(r" *", line).group()
            while not re.match(rf"{indent}(\}}|\S.*;$)", LINES[last]):
                last += 1
            last += 1
        assert name not in found, f"two marks for {name}"
        found[name] = (metric, verdict, range(number, last + 1))
    return found


MARKS = marks()
CONTROLS = ("healthy", "known_race", "cached", "barrier_of_odd_lanes")
# Where PTX has a branch and the machine code none, the emulator's lanes part.
GREEN_ON = {"gpu": CONTROLS, "emulated": ("healthy", "known_race", "cached")}


def faults():
    """name -> lines on which the emulator may blame a fault"""
    found = {}
    for number, line in enumerate(LINES, start=1):
        if mark := re.search(r"// .*fault of (\w+)$", line):
            found.setdefault(mark.group(1), []).append(number)
    return found


FAULTS = faults()


def variants():
    listed = subprocess.run(
        [BIN / "warpgauge-faulty", "list", "--filter", "canaries.*"],
        capture_output=True,
        text=True,
        check=True,
    )
    return {line.split(".")[1] for line in listed.stdout.splitlines()}


def gate(out, name, device, *options):
    return subprocess.run(
        [
            *(BIN / "warpgauge-faulty", "gate", "--out", out, "--device", device),
            *("--filter", f"canaries.{name}.*", "--timeout", "5"),
            *options,
        ],
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_every_canary_but_the_controls_is_marked():
    assert variants() - set(CONTROLS) == MARKS.keys()


@pytest.mark.parametrize("device", [pytest.param("gpu", marks=needs_gpu), "emulated"])
def test_the_controls_pass(tmp_path, device):
    for name in GREEN_ON[device]:
        result = gate(tmp_path / name, name, device)
        assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("name", MARKS)
@pytest.mark.parametrize("device", [pytest.param("gpu", marks=needs_gpu), "emulated"])
def test_a_planted_defect_turns_the_gate_red(tmp_path, name, device):
    metric, verdict, lines = MARKS[name]
    if device == "emulated" and name in FAULTS:
        lines = FAULTS[name]
    result = gate(tmp_path, name, device)
    assert result.returncode == (2 if verdict == "error" else 1), result.stdout + result.stderr
    facts = [
        f
        for f in read_facts(tmp_path / "facts.jsonl")
        if f.scope == "case" and f.metric == metric and f.verdict != "unmeasured"
    ]
    assert facts
    for fact in facts:
        assert fact.verdict == verdict, fact
        assert fact.file == "tests/canaries/family.cu"
        assert fact.line in lines, f"{fact.line}: {LINES[fact.line - 1]}"
    # And nothing else of it is wrong: the canary shows its own defect.
    others = {
        f.metric
        for f in read_facts(tmp_path / "facts.jsonl")
        if f.verdict in ("fail", "error") and f.metric != metric
    }
    allowed = {
        "registers_capped": {"spill.load_bytes", "local.sectors", "global.excess_sectors"},
    }
    assert others <= allowed.get(name, set())


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("out_of_bounds", "invalid global write"),
        ("barrier_in_branch", "deadlock"),
        ("input_overwritten", "byte 0 of cudaMalloc #1 (4096 bytes), which is input 1 of the pr"),
    ],
)
def test_the_emulator_blames_the_line_of_a_fault(tmp_path, name, kind):
    result = gate(tmp_path, name, "emulated")
    (fact,) = [f for f in read_facts(tmp_path / "facts.jsonl") if f.verdict == "error"]
    assert kind in fact.reason
    for number in FAULTS[name]:
        assert f"tests/canaries/family.cu:{number}" in fact.reason
    assert fact.file == "tests/canaries/family.cu" and fact.line in FAULTS[name]
    assert name in fact.kernel
    assert LINES[fact.case.line - 1].strip().startswith("f32.variant(")
    text = LINES[fact.line - 1].strip()
    assert f"  at       tests/canaries/family.cu:{fact.line}: {text}\n" in result.stdout


@pytest.mark.parametrize(
    ("name", "check", "mark", "text", "found"),
    [
        (
            *("race", "races", "race"),
            *("tried: with a __syncthreads() in front of tests/canaries/", r"\d races?"),
        ),
        ("race_of_blocks", "races", "race_of_blocks", "the blocks are not ordered", r"\d races?"),
        (
            *("uninitialised", "uninitialised", "read of uninitialised"),
            *("no thread of the block has w", r"\d reads? of uninitialised memory"),
        ),
    ],
)
def test_a_check_names_the_lines_of_what_a_gpu_hides(tmp_path, name, check, mark, text, found):
    result = gate(tmp_path, name, "emulated", "--check", check)
    assert result.returncode == 2
    facts = [f for f in read_facts(tmp_path / "facts.jsonl") if f.verdict == "error"]
    lines = {n for n, line in enumerate(LINES, 1) if re.search(rf"// .*\b{mark}$", line)}
    assert facts
    assert "  repeat   " in result.stdout and f" --check {check}\n" in result.stdout
    again = [BIN / "warpgauge", "outcome", tmp_path / "facts.jsonl"]
    read = subprocess.run(again, capture_output=True, text=True, timeout=60)
    for said in (result, read):
        assert re.search(rf"^ERROR: {found} found$", said.stdout, re.MULTILINE)
    assert {fact.rule for fact in facts} == {check.removesuffix("s")}
    for fact in facts:
        assert text in fact.reason
        assert fact.line in lines
        assert lines_named(fact.reason) <= lines


def findings(out):
    return [fact for fact in read_facts(out / "facts.jsonl") if fact.rule]


def test_a_known_race_is_waived_and_counted(tmp_path):
    (line,) = (n for n, text in enumerate(LINES, 1) if text.endswith("// known_race"))
    result = gate(tmp_path, "known_race", "emulated", "--arch", "sm_90", "--check", "races")
    assert result.returncode == 0, result.stdout
    (found,) = findings(tmp_path)
    place = f"tests/canaries/family.cu:{line}"
    assert (found.verdict, f"{found.file}:{found.line}", found.other) == ("waived", place, place)
    assert re.search(r"^total +1 .* 1 +0$", result.stdout, re.MULTILINE)
    facts = read_facts(tmp_path / "facts.jsonl")
    counted = {fact.metric: fact.value for fact in facts if not fact.rule}
    assert found.value is None
    assert counted["result.correct"] == 1
    assert counted["global.load.sectors"] == 128  # 1024 floats, as of every case


def test_fuzzed_runs_waive_what_the_gate_does(tmp_path):
    options = ("--arch", "sm_90", "--check", "races", "--fuzz", "2")
    result = gate(tmp_path, "known_race", "emulated", *options)
    assert result.returncode == 0, result.stdout
    facts = {fact.metric: fact.value for fact in read_facts(tmp_path / "facts.jsonl")}
    assert facts["result.fails_at"] == "none"


def test_a_waived_race_excuses_no_wrong_result_and_no_other_race(tmp_path):
    entry = '{{ rule = "race", lines = ["family.cu:{}", "family.cu:{}"], reason = "not used" }}'
    one, other = entry.format(127, 128), entry.format(128, 129)
    assert all("race_of_blocks" in LINES[line - 1] for line in (127, 128, 129))

    def run(*known):
        project = tmp_path / "project.toml"
        project.write_text(f"[canaries]\nwaive = [{', '.join(known)}]\n")
        options = ("--arch", "sm_90", "--check", "races", "--project", project)
        result = gate(tmp_path / str(len(known)), "race_of_blocks", "emulated", *options)
        assert result.returncode == 2
        return result.stdout, {fact.verdict for fact in findings(tmp_path / str(len(known)))}

    said, verdicts = run(one, other)
    assert "wrong result" in said
    assert verdicts == {"waived"}
    for new, there in ((None, 0), (0, None)):  # a history takes it, and twice
        ingest = ("report", "ingest", tmp_path / "2" / "facts.jsonl", "--db", tmp_path / "h.db")
        done = subprocess.run(
            [BIN / "warpgauge", *ingest], capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        numbers = [int(n) for n in re.findall(r"(\d+) (?:new values|there already)", done.stdout)]
        assert numbers[0] == new or numbers[1] == there
    said, verdicts = run(one)
    assert re.search("^ERROR: [12] races? found$", said, re.MULTILINE)
    assert verdicts == {"waived", "error"}
    assert "project.toml:2 waives a race at family.cu:127, family.cu:128" in said


def test_a_case_that_keeps_memory_and_what_it_has_done_is_found(tmp_path):
    options = ("--arch", "sm_90", "--check", "allocations,unequal")
    result = gate(tmp_path, "cached", "emulated", *options)
    assert result.returncode == 2
    assert {fact.rule: fact.reason for fact in findings(tmp_path)} == {
        "leak": "leak: cudaMalloc #3 (4 bytes) was never freed",
        "unequal work": "kernel canaries::cached(float*, float const*, int const*): unequal work: "
        "launches with equal arguments moved 32 to 288 sectors of global memory",
    }
    assert "1 leak of device memory, 1 kernel with unequal work found" in result.stdout
    known = [
        f'{{ rule = "{rule}", {lines}reason = "a cache" }}'
        for rule, lines in (("leak", 'lines = ["cudaMalloc #3"], '), ("unequal work", ""))
    ]
    (tmp_path / "project.toml").write_text(f"[default]\nwaive = [{', '.join(known)}]\n")
    options += ("--project", tmp_path / "project.toml")
    waived = gate(tmp_path / "waived", "cached", "emulated", *options)
    assert waived.returncode == 0, waived.stdout
    assert not re.search("leak|unequal", waived.stdout + waived.stderr)


@pytest.mark.parametrize(("check", "is_told"), [("races", True), ("async", False)])
def test_a_waiver_that_a_whole_gate_did_not_need_is_told(tmp_path, check, is_told):
    project = tmp_path / "project.toml"
    project.write_text(
        '[default]\nwaive = [{ rule = "race", lines = ["a.cu:1"], reason = "any" }]\n'
    )
    command = [BIN / "warpgauge-archs-90a", "gate", "--device", "emulated", "--out", tmp_path]
    options = ["--check", check, "--project", project]
    remark = f"{project}:2: no finding needed the waiver of 'race' at a.cu:1: remove it, if the"
    for more, whole in (([], True), (["--filter", "*"], False)):
        done = subprocess.run([*command, *options, *more], capture_output=True, text=True)
        assert "\nFAIL: 2 values over budget\n" in done.stdout, "as without the waiver"
        assert (remark in done.stdout) == (is_told and whole), done.stdout


def test_checks_find_nothing_in_a_healthy_kernel(tmp_path):
    checks = ("--check", "all", "--schedules", "2")
    result = gate(tmp_path, "healthy", "emulated", *checks)
    assert result.returncode == 0, result.stdout + result.stderr


def test_another_order_of_blocks_shows_a_result_that_depends_on_it(tmp_path):
    gate(tmp_path, "race_of_blocks", "emulated", "--schedules", "3")
    errors = [f for f in read_facts(tmp_path / "facts.jsonl") if f.verdict == "error"]
    assert any("order: the result is another one" in f.reason for f in errors)


def test_a_check_fails_at_the_line_of_a_fault():
    result = subprocess.run(
        [BIN / "warpgauge-faulty-check-emulated", "--gtest_filter=canaries.out_of_bounds.*"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    (line,) = FAULTS["out_of_bounds"]
    assert f"tests/canaries/family.cu:{line}: Failure\n" in result.stdout


def sanitizer(tool, name, *options):
    """The output of a tool of compute-sanitizer for a canary."""
    return subprocess.run(
        [
            *(SANITIZER, "--tool", tool, *options),
            *(BIN / "warpgauge-faulty-check", "--no-cupti", f"--gtest_filter=canaries.{name}.*"),
        ],
        capture_output=True,
        text=True,
        timeout=300,
    ).stdout


def lines_named(text):
    return {int(n) for n in re.findall(r"family\.cu:(\d+)", text)}


@pytest.mark.parametrize("device", [pytest.param("gpu", marks=needs_gpu), "emulated"])
@pytest.mark.parametrize("name", ["too_much_shared_memory", "static_and_dynamic_too_much"])
def test_a_launch_that_needs_too_much_shared_memory_is_told_the_way_out(tmp_path, name, device):
    gate(tmp_path, name, device)
    (fact,) = [f for f in read_facts(tmp_path / "facts.jsonl") if f.verdict == "error"]
    assert "cudaErrorInvalidValue" in fact.reason
    assert "more than 48 KiB of shared memory, static and dynamic together" in fact.reason
    assert "cudaFuncAttributeMaxDynamicSharedMemorySize" in fact.reason


@needs_gpu
@pytest.mark.skipif(SANITIZER is None, reason="no compute-sanitizer on this machine")
def test_racecheck_names_the_lines_of_the_race():
    found = sanitizer("racecheck", "race", "--racecheck-report", "all")
    racing = {n for n, line in enumerate(LINES, 1) if line.endswith("// race")}
    assert racing <= lines_named(found), found


@needs_gpu
@pytest.mark.skipif(SANITIZER is None, reason="no compute-sanitizer on this machine")
def test_synccheck_names_the_barrier_that_threads_miss():
    found = sanitizer("synccheck", "barrier_of_odd_lanes")
    (missed,) = [n for n, line in enumerate(LINES, 1) if line.endswith("// missed")]
    assert "Barrier error" in found and missed in lines_named(found), found

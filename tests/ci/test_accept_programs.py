"""`warpgauge accept` of what attach, emulate and tests measured: red, accepted, green, and red
again where it gets worse."""

import os
import secrets
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from accept_project import (
    CONFLICTS,
    REGISTERS,
    ROOT,
    WHY,
    Project,
    a_fact,
    conflicts,
    outside_of_ci,
)
from some_facts import write
from warpgauge.commands.accept import CI_VARIABLES

BUILD = Path(os.environ["WARPGAUGE_BINARY_DIR"])
GAUGE = BUILD / "bin" / "warpgauge"


@pytest.fixture
def project(tmp_path, capsys, monkeypatch):
    outside_of_ci(monkeypatch)
    project = Project(tmp_path, capsys)
    project.budgets = tmp_path / "program.toml"
    return project


def of_kernel(metric, value, verdict, budget, line=None, kernel="by_columns.1", **members):
    """A fact of a kernel that attach counted; `line` is that of its budget."""
    origin = {} if line is None else {"origin": f"/run/in/program.toml:{line}"}
    case = f"program.{kernel}@run"
    about = {"kind": "attached", "command": "attach", "registered": None}
    return a_fact(metric, value, verdict, budget, case=case, **about, **origin, **members)


def accept(project, facts, *options):
    return project.accept(facts, "--budgets", project.budgets, *options)


def test_a_file_that_is_not_there_is_made(project):
    built_in = {"origin": "built-in"}
    facts = [of_kernel(CONFLICTS, 5, "fail", "= 0", **built_in)]
    assert accept(project, facts, *WHY) == 0, project.err
    limit = {"equal": 5, "reason": "theory says so"}
    assert project.tables() == {"by_columns.1": {CONFLICTS: limit}}
    assert accept(project, facts, *WHY) == 0, "once more changes nothing"
    assert project.tables() == {"by_columns.1": {CONFLICTS: limit}}


def test_the_line_of_a_glob_moves_if_all_its_kernels_did(project):
    text = '# ours\n["*columns*"]\nregisters = 20\n["*"]\nregisters = 9\n'
    project.write(text)
    both = [of_kernel(REGISTERS, 22, "fail", "<= 20", 3, f"by_columns.{i}") for i in (1, 2)]
    rows = of_kernel(REGISTERS, 9, "pass", "<= 9", 5, "by_rows.3")
    assert accept(project, [*both, rows], *WHY) == 0, project.err
    assert project.text() == text.replace("20", '{ max = 22, reason = "theory says so" }')


def test_one_kernel_of_a_glob_gets_a_section_of_its_own(project):
    text = '["*columns*"]\nregisters = 20\n'
    project.write(text)
    facts = [
        of_kernel(REGISTERS, 22, "fail", "<= 20", 2),
        of_kernel(REGISTERS, 20, "pass", "<= 20", 2, "by_columns.2"),
    ]
    assert accept(project, facts, *WHY) == 0, project.err
    own = {"max": 22, "reason": "theory says so"}
    assert project.tables() == {"*columns*": {REGISTERS: 20}, "by_columns.1": {REGISTERS: own}}
    assert project.text().startswith(text)


def test_a_line_that_has_changed_since_is_reported(project):
    project.write('["*columns*"]\nregisters = 21\n')
    assert accept(project, [of_kernel(REGISTERS, 22, "fail", "<= 20", 2)], *WHY) == 2
    assert "was held against '<= 20', but program.toml says '<= 21'" in project.err


@pytest.mark.parametrize("options", [[], ["--budgets", "."]])
def test_without_the_name_of_a_file_nothing_is_guessed(project, monkeypatch, options):
    monkeypatch.chdir(project.root)
    facts = [of_kernel(REGISTERS, 22, "fail", "<= 20", 2)]
    assert project.accept(facts, *WHY, *options) == 2
    assert (
        "family program: its kernels are of a program: name the budget file, --budgets FILE, which "
        "attach is to have, too (it had /run/in/program.toml)"
    ) in project.err
    assert not project.budgets.exists()


@pytest.mark.parametrize("options", [[], ["--budgets", "gauge/budgets"]])
def test_what_a_test_measured_lies_beside_the_test(project, monkeypatch, options):
    """Not in a gauge's folder of budgets, where each file is of a family."""
    monkeypatch.chdir(project.root)
    project.add_source("tests/a_test.cpp")
    case = {"case": "Some/Suite.test/0.launch@1", "registered": "tests/a_test.cpp"}
    facts = [conflicts(5, kind="measured", origin="built-in", **case)]
    assert project.accept(facts, *WHY, *options) == 0, project.err
    assert "equal = 5" in (project.root / "tests/Some_Suite.test.toml").read_text()
    assert not (project.root / "gauge").exists()


def test_a_test_reads_no_other_file(project):
    project.add_source("tests/a_test.cpp")
    case = {"case": "Suite.test.launch@1", "registered": "tests/a_test.cpp"}
    facts = [conflicts(5, kind="measured", origin="built-in", **case)]
    assert project.accept(facts, *WHY, "--budgets", project.budgets) == 2
    assert "a test reads its budgets beside its source: leave --budgets out" in project.err


def test_a_test_of_the_budgets_of_a_case_wants_their_folder(project):
    facts = [conflicts(5, kind="measured", origin="built-in")]
    assert project.accept(facts, *WHY) == 2
    assert "name their folder, --budgets DIR, that warpgauge_add_gtest(" in project.err
    assert project.accept(facts, *WHY, "--budgets", project.root) == 0, project.err
    assert "equal = 5" in (project.root / "transpose.toml").read_text()


def test_lines_in_a_test_are_changed_there(project):
    project.add_source("tests/a_test.cpp")
    case = {"kind": "measured", "case": "Suite.test.launch@1", "registered": "tests/a_test.cpp"}
    facts = [a_fact(REGISTERS, 22, "fail", "<= 20", origin="budget:2", **case)]
    assert project.accept(facts, *WHY) == 2
    assert "the test has its budget, <= 20: change it there (tests/a_test.cpp)" in project.err


def test_a_program_of_no_repository_is_accepted_if_that_is_said(project):
    nowhere = {"commit": None, "dirty": True}
    facts = [of_kernel(CONFLICTS, 5, "fail", "= 0", origin="built-in", **nowhere)]
    assert accept(project, facts, *WHY) == 2
    assert "measured from no commit" in project.err and "--any-commit" in project.err
    assert accept(project, facts, *WHY, "--any-commit") == 0, project.err


def two_programs():
    other = {"case": "other.by_rows.2@run", "kind": "attached", "registered": None, "run": "b"}
    return [
        of_kernel(CONFLICTS, 5, "fail", "= 0", origin="built-in"),
        conflicts(7, origin="built-in", **other),
    ]


def test_programs_are_accepted_one_at_a_time(project):
    assert accept(project, two_programs(), *WHY) == 2
    assert (
        "accept one at a time, --filter 'program.*', each with a file for --budgets" in project.err
    )
    assert "BUDGETS" not in project.err
    assert accept(project, two_programs(), *WHY, "--filter", "program.*") == 0, project.err


def of_file(file, metric, value, verdict, budget="= 0", kernel="k.1", **members):
    """A fact of a kernel of a compiled file."""
    members = {"kind": "inspected", "command": "inspect", "registered": None} | members
    return a_fact(metric, value, verdict, budget, case=f"{file}.{kernel}@code", **members)


SPILLS = "spill.load_bytes"


@pytest.mark.parametrize("order", [1, -1])
def test_a_budget_of_compiled_files_is_for_the_worst_of_them(project, order):
    """One file of budgets is read for all, and a kernel has the same section in each of them."""
    origin = {"origin": "built-in"}
    facts = [
        of_file("a_so", SPILLS, 64, "fail", **origin),
        of_file("b_so", SPILLS, 80, "fail", **origin),
        of_file("c_so", SPILLS, 0, "pass", **origin),
        of_file("c_so", SPILLS, 8, "fail", kernel="other.2", **origin),
    ][::order]
    assert accept(project, facts, "--baseline") == 0, project.err
    why = {"reason": "baseline of 2026-05-01"}
    assert project.tables() == {
        "k.1": {"sm_90": {SPILLS: {"equal": 80, **why}}},
        "other.2": {SPILLS: {"equal": 8, **why}},
    }
    assert project.err.count("wrote ") == 1


@pytest.mark.parametrize("names", ["ab", "ba"])
@pytest.mark.parametrize("options", [[], ["--filter", "a.*"]])
def test_a_line_that_another_file_needs_is_not_tightened(project, options, names):
    text = '["k.1"]\nregisters = 80\n["other.2"]\nregisters = 40\n'
    project.write(text)
    budget = {"budget": "<= 80", "origin": "program.toml:2"}
    facts = [
        of_file(names[0], REGISTERS, 64, "better", **budget),
        of_file(names[1], REGISTERS, 80, "pass", **budget),
        of_file("a", REGISTERS, 32, "better", "<= 40", "other.2", origin="program.toml:4"),
    ]
    options = ["--filter", f"{names[0]}.*,a.*"] if options else []
    assert accept(project, facts, "--tighten", *options) == 0, project.err
    assert project.text() == text.replace("40", "32")
    assert "left alone: 1 value better than a budget that others need\n" in project.err


def test_a_line_is_tightened_for_all_files_by_the_worst_of_them(project):
    project.write('["k.1"]\nregisters = 80\n')
    budget = {"budget": "<= 80", "origin": "program.toml:2"}
    facts = [of_file(name, REGISTERS, n, "better", **budget) for name, n in (("a", 60), ("b", 64))]
    assert accept(project, facts, "--tighten") == 0, project.err
    assert project.tables() == {"k.1": {REGISTERS: 80, "sm_90": {REGISTERS: 64}}}


def test_words_of_several_files_have_no_worst(project):
    project.write('["k.1"]\n"occupancy.limiter" = "warps"\n')
    budget = {"budget": "= warps", "origin": "program.toml:2"}
    facts = [
        of_file(name, "occupancy.limiter", word, "fail", **budget)
        for name, word in (("a", "shared"), ("b", "registers"))
    ]
    assert accept(project, facts, *WHY) == 2
    assert '["k.1".sm_90] occupancy.limiter would be of' in project.err
    assert "write the line by hand" in project.err


# The real commands.


def do(*words, program=GAUGE, cwd=None, **environment):
    outside = {name: value for name, value in os.environ.items() if name not in CI_VARIABLES}
    return subprocess.run(
        [program, *map(str, words)],
        **{"capture_output": True, "text": True, "timeout": 300},
        env=outside | environment,
        cwd=cwd,
    )


def test_a_program_of_a_build_finds_the_sources_from_anywhere(tmp_path):
    """Those in the current folder go before those that it was built from."""
    case = {"case": "transpose.new.f32@8x8", "registered": "kernels/transpose/family.cu"}
    write(tmp_path / "facts.jsonl", [conflicts(5, **case)])
    words = ["accept", tmp_path / "facts.jsonl", "--baseline", "--any-commit", "--dry-run"]
    done = do(*words, cwd=tmp_path)
    assert f"would write {ROOT}/kernels/transpose/budgets.toml\n" in done.stderr, done.stderr
    copy = tmp_path / "kernels/transpose/family.cu"
    copy.parent.mkdir(parents=True)
    copy.write_text("")
    assert "would write kernels/transpose/budgets.toml\n" in do(*words, cwd=tmp_path).stderr


def accepted(facts, *options):
    """Of sources that may have changes, which are none of this test."""
    facts.write_text(facts.read_text().replace('"dirty":true', '"dirty":false'))
    return do("accept", facts, "--any-commit", *options)


def test_compiled_files_of_one_run_have_one_file_of_budgets(tmp_path):
    """As inspect reads it: of a folder here, as of a wheel with several libraries."""
    folder, facts, budgets = (tmp_path / name for name in ("lib", "out/facts.jsonl", "lib.toml"))
    folder.mkdir()
    for name in "ab":
        shutil.copy(ROOT / "tests/data/cubin/spills.sm_90.cubin", folder / f"{name}.cubin")
    assert do("inspect", folder, cwd=tmp_path).returncode == 1
    accept = [sys.executable, "-m", "warpgauge", "accept", facts, "--baseline", "--budgets"]
    done = do(*accept[1:], budgets, program=accept[0], cwd=tmp_path)
    assert done.returncode == 2 and "or pass --any-commit" in done.stderr
    done = do(*accept[1:], budgets, "--any-commit", program=accept[0], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert do("inspect", "--budgets", budgets, folder, cwd=tmp_path).returncode == 0


def there_and_back(run, facts, budgets, worse, *options):
    """`run` and `worse` return exit codes, of the same and of a worse run."""
    assert run() == 1
    done = accepted(facts, "--budgets", budgets, *options)
    assert done.returncode == 2 and "give the reason with --reason" in done.stderr, done.stderr
    baseline = ["--baseline", "--reason", "as it is"]
    done = accepted(facts, "--budgets", budgets, *baseline, *options)
    assert done.returncode == 0, done.stderr
    assert run() == 0
    assert worse() == 1


def test_emulated(tmp_path):
    budgets, facts = tmp_path / "budgets.toml", tmp_path / "out" / "facts.jsonl"
    budgets.write_text('["cop?"]\n"global.load.requests" = { max = 31, reason = "less" }\n')

    def run(more=()):
        program = [BUILD / "programs" / "ends", *more]
        shutil.rmtree(facts.parent, ignore_errors=True)
        options = ["--out", facts.parent, "--budgets", budgets]
        return do("emulate", *options, "--", *program).returncode

    def worse():
        text = budgets.read_text()
        budgets.write_text(text.replace("max = 32", "max = 31"))
        assert budgets.read_text() != text
        return run()

    there_and_back(run, facts, budgets, worse)


@pytest.mark.skipif(
    not (BUILD / "lib" / "libwarpgauge_injection.so").exists(),
    reason="this build has no CUPTI, which counts in attached programs",
)
def test_attached(tmp_path):
    """The program plays the injected library's part."""
    sys.path.append(str(ROOT / "tests" / "attach"))
    from test_attach_command import attach, counted

    budgets, out = tmp_path / "new.toml", tmp_path / "out"

    def run(launches=3):
        has = ["--budgets", budgets] if budgets.exists() else []
        return attach(out, counted(launches), *has).returncode

    there_and_back(run, out / "facts.jsonl", budgets, lambda: run(4))


@pytest.fixture
def tests_elsewhere(tmp_path):
    """The tests that measure, with a folder of budgets that may change. Its path is as long as the
    real one, which the copy of the program gets it instead of."""
    root = Path("/tmp") / secrets.token_hex(2)
    assert len(str(root)) <= len(str(ROOT)), f"{ROOT} is too short a path for this test"
    shutil.copytree(ROOT / "tests/measure", root / "tests/measure")
    (root / "build").symlink_to(ROOT / "build")
    program = tmp_path / "warpgauge_measure_tests-emulated"
    built = (BUILD / "bin" / program.name).read_bytes()
    program.write_bytes(built.replace(bytes(ROOT), str(root).ljust(len(str(ROOT)), "/").encode()))
    program.chmod(0o755)
    try:
        yield program, root / "tests/measure"
    finally:
        shutil.rmtree(root)


@pytest.mark.parametrize(
    "test, file, line",
    [
        ("Measure.IsNamedAfterItsTest", "Measure.test.toml", '["IsNamedAfterItsTest.launch@1"]'),
        (
            *("Some/MeasureEach.IsNamedToo/0", "Some_MeasureEach.test.toml"),
            '["IsNamedToo/0.launch@1"]',
        ),
        ("Measure.AnIdMeansTheBudgetsOfItsFile", "budgets/tile.toml", '["padded.s32@32"]'),
    ],
)
def test_measured(tests_elsewhere, tmp_path, test, file, line):
    program, folder = tests_elsewhere
    facts = tmp_path / "facts.jsonl"

    def run():
        facts.unlink(missing_ok=True)
        # The tests expect to be red; what they measured is judged here.
        do(f"--gtest_filter={test}", program=program, WARPGAUGE_FACTS=str(facts))
        return do("outcome", facts, cwd=tmp_path).returncode

    def worse():
        text = (folder / file).read_text()
        assert line in text
        (folder / file).write_text(text.replace("992", "991"))
        return run()

    options = ["--root", folder.parents[1]]
    there_and_back(run, facts, folder / "budgets", worse, *options)

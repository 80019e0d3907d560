"""`--coverage FILE`: a gate and a program write what lcov reads."""

import shutil
import subprocess
from pathlib import Path

import pytest
from programs import BIN, run

LOOKUP_PROGRAM = BIN.parent / "programs" / "lookup"
TESTS = Path(__file__).resolve().parents[1]
FAMILY = TESTS / "faulty" / "family.cu"
LOOKUP = TESTS / "emulator" / "programs" / "lookup.cu"


def gate(folder, file, pattern, options=("--device=emulated",)):
    out = ["--out", folder / "out"]
    return run("warpgauge-faulty", "gate", *options, *out, "--filter", pattern, "--coverage", file)


@pytest.fixture(scope="module")
def good_gate(tmp_path_factory):
    """A gate of the two good cases: its output and its file."""
    folder = tmp_path_factory.mktemp("coverage")
    file = folder / "gate.info"
    result = gate(folder, file, "faulty.good*")
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout, file


def records(file):
    """The fields of each record, by source file and key. Checks lcov's order, sums and end."""
    files = {}
    for block in file.read_text().removesuffix("end_of_record\n").split("end_of_record\n"):
        lines = [line.split(":", 1) for line in block.splitlines()]
        assert lines[0] == ["TN", ""] and lines[1][0] == "SF"
        of_file = files[Path(lines[1][1])] = {}
        for key, text in lines[2:]:
            of_file.setdefault(key, []).append(text)
        hits = [int(text.rsplit(",", 1)[1]) for text in of_file["DA"]]
        assert of_file["LF"] == [str(len(hits))]
        assert of_file["LH"] == [str(sum(hit > 0 for hit in hits))]
    return files


def line_hits(file, source):
    """How often the warps ran each line of a source."""
    return {int(n): int(hits) for n, hits in (d.split(",") for d in records(file)[source]["DA"])}


def line_number(source, text):
    (number,) = (n for n, line in enumerate(source.read_text().splitlines(), 1) if text in line)
    return number


def test_the_last_line_of_a_gate_has_the_sums_and_the_file(good_gate):
    output, file = good_gate
    last = output.splitlines()[-1]
    assert last.startswith("coverage: ") and last.endswith(f" branches: {file}")


def test_cases_add_up(good_gate):
    _, file = good_gate
    assert line_hits(file, FAMILY)[line_number(FAMILY, "b[i] = a[i];")] == 2 * 1024 // 32
    assert "64,faulty::copy(float*, float const*)" in records(file)[FAMILY]["FNDA"]


def test_kernels_that_are_not_launched_have_zeros(good_gate):
    _, file = good_gate
    assert line_hits(file, FAMILY)[line_number(FAMILY, "b[i] = a[i] + 1;")] == 0
    assert "0,faulty::endless(float volatile*)" in records(file)[FAMILY]["FNDA"]


def test_the_kernels_of_the_self_test_are_left_out(good_gate):
    _, file = good_gate
    assert not any(path.name == "self_test.cu" for path in records(file))


def test_architectures_add_up(tmp_path):
    archs = run("warpgauge-faulty", "list", "--archs").stdout.split()
    options = ["--device=emulated", "--arch", ",".join(archs)]
    gate(tmp_path, tmp_path / "a.info", "faulty.good.*", options)
    line = line_number(FAMILY, "b[i] = a[i];")
    assert line_hits(tmp_path / "a.info", FAMILY)[line] == len(archs) * 1024 // 32


def test_a_fault_leaves_a_whole_file(tmp_path):
    file = tmp_path / "gate.info"
    result = gate(tmp_path, file, "faulty.illegal_address.*")
    assert result.returncode == 2, result.stdout + result.stderr
    assert line_hits(file, FAMILY)[line_number(FAMILY, "b[(1LL << 44)")] > 0  # the line at fault
    assert [path.name for path in tmp_path.glob("*.info*")] == ["gate.info"]


@pytest.mark.parametrize(
    ("folder", "options", "message"),
    [
        (".", ["--device=gpu"], "add --device=emulated"),
        ("none", ["--device=emulated"], "there is no folder"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_runs(folder, options, message, tmp_path):
    file = tmp_path / folder / "gate.info"
    result = gate(tmp_path, file, "faulty.good.*", options)
    assert result.returncode == 2 and message in result.stderr, result.stdout + result.stderr
    assert not file.exists() and "self test" not in result.stdout


def test_a_program_is_covered_with_its_branches(tmp_path):
    file = tmp_path / "lookup.info"
    options = ["--out", tmp_path, "--coverage", file]
    result = run("warpgauge", "emulate", *options, "--", LOOKUP_PROGRAM)
    assert result.returncode in (0, 1), result.stdout + result.stderr
    assert f"coverage: 100.0 % of 6 lines, 100.0 % of 2 branches: {file}" in result.stderr
    line = line_number(LOOKUP, "if (i >= kNumbers)")
    branches = [branch.split(",") for branch in records(file)[LOOKUP]["BRDA"]]
    # The last of the 32 warps divides, because 24 of its threads have no number.
    assert [(b[0], b[2], b[3]) for b in branches] == [
        (str(line), "0", "1"),
        (str(line), "1", "32"),
    ]
    assert line_hits(file, LOOKUP)[line_number(LOOKUP, "// reads the table")] == 32


def test_a_program_that_faults_is_covered_up_to_the_fault(tmp_path):
    file = tmp_path / "lookup.info"
    options = ["--out", tmp_path, "--coverage", file]
    assert run("warpgauge", "emulate", *options, "--", LOOKUP_PROGRAM, "wrong").returncode == 2
    hits = line_hits(file, LOOKUP)
    assert hits[line_number(LOOKUP, "// reads the table")] > 0


@pytest.mark.skipif(shutil.which("lcov") is None, reason="lcov is not installed")
def test_lcov_reads_it(good_gate):
    _, file = good_gate
    summary = subprocess.run(["lcov", "--summary", file], capture_output=True, text=True)
    hits = [n for source in records(file) for n in line_hits(file, source).values()]
    assert summary.returncode == 0, summary.stderr
    assert f"({sum(hit > 0 for hit in hits)} of {len(hits)} lines)" in summary.stdout

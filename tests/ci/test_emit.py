"""The command emit: its options, its exit codes, and what it leaves behind."""

import json
import subprocess

import pytest
from emit_samples import BIN, GOLDEN, a_case, a_document, a_value, grouped, one_of_each_verdict
from warpgauge.outputs import FORMATS

FILES = {format.file for format in FORMATS.values()}


@pytest.fixture
def sample(tmp_path):
    (tmp_path / "run").mkdir()
    return written(tmp_path / "run" / "results.json", one_of_each_verdict())


def written(path, document):
    path.write_text(json.dumps(document))
    return path


def emit(*arguments, **options):
    return subprocess.run(
        [BIN / "warpgauge-python", "emit", *arguments],
        **{"capture_output": True, "text": True, "timeout": 120} | options,
    )


def refused(*arguments):
    """The message of an error."""
    result = emit(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert "Traceback" not in result.stderr
    return result.stderr


@pytest.mark.parametrize("format", FORMATS.values(), ids=FORMATS)
def test_writes_one_format(sample, format, tmp_path):
    expected = (GOLDEN / format.file).read_text()
    printed = emit(sample, "--format", format.name)
    assert (printed.returncode, printed.stdout, printed.stderr) == (0, expected, "")
    file = tmp_path / "new folder" / "file"
    assert emit(sample, "--format", format.name, "--out", file).returncode == 0
    assert file.read_text() == expected


def test_writes_all_formats(sample, tmp_path):
    out = tmp_path / "out"
    result = emit(sample, "--all", out)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert {file.name: file.read_text() for file in out.iterdir()} == {
        name: (GOLDEN / name).read_text() for name in FILES
    }


def test_warpgauge_hands_on_to_it(sample):
    result = subprocess.run(
        [BIN / "warpgauge", "emit", sample, "--format", "tap"], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("TAP version 14\n")


def test_several_results_are_shown_together_with_the_worst_exit_code(sample, tmp_path):
    missing = a_document(a_case("lost"), exit_code=3, headline="NOT MEASURED: 1", counts={})
    fine = written(tmp_path / "fine.json", a_document(a_case("fine")))
    lost = written(tmp_path / "lost.json", missing)
    text = emit(fine, sample, lost, "--format", "gitlab-metrics").stdout
    assert "warpgauge_exit_code 2\n" in text and "transpose.fine." in text
    text = emit(fine, lost, "--format", "markdown").stdout
    assert text.startswith("# warpgauge: PASS: 0 over budget; NOT MEASURED: 1\n")


@pytest.mark.parametrize(
    ("options", "left"),
    [
        (["--filter", "*.bad.*"], ["bad"]),
        (["--filter", "", "--exclude", "*.[^b]*.*@*"], ["bad"]),
        (["--metric", "time.*"], ["bad"]),
    ],
)
def test_only_what_is_asked_for_is_drawn(sample, options, left):
    text = emit(sample, "--format", "bencher", *options).stdout
    assert [name.split(".")[1] for name in json.loads(text)] == left
    assert emit(sample, "--format", "markdown", *options).stdout.startswith("# warpgauge: ERROR")


@pytest.mark.parametrize(
    "options",
    [["--filter", "none.*"], ["--exclude", "*"], ["--arch", "sm_86"], ["--metric", "none"]],
)
@pytest.mark.parametrize("format", ["junit", "sarif", "markdown"])
def test_a_selection_of_nothing_is_no_success(sample, format, options):
    says = refused(str(sample), "--format", format, *options)
    assert "choose nothing of these results" in says


def test_a_group_is_shown_by_its_worst_value(tmp_path):
    text = emit(written(tmp_path / "r.json", grouped()), "--format", "github").stdout
    first, second, _ = text.splitlines()
    assert "title=transpose.tiled.f32@1024 on sm_90 and 2 more,file=" in first
    assert "conflicts is 64 wavefronts" in first
    assert "(also on sm_80 (8), on sm_75 (4), @1000 on sm_75 (32))" in first
    assert "title=transpose.padded.f32@1024 on sm_80 and 1 more," in second


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        (
            ["--arch", "sm_75"],
            [
                ("tiled.f32@1000 on sm_75", "32 wavefronts", "(also @1024 on sm_75 (4))"),
                ("padded.f32@1024 on sm_75", "9 wavefronts", ""),
            ],
        ),
        (
            ["--arch", "sm_80"],
            [
                ("padded.f32@1024 on sm_80", "16 wavefronts", ""),
                ("tiled.f32@1024 on sm_80", "8 wavefronts", ""),
            ],
        ),
        (["--filter", "*@1000"], [("tiled.f32@1000 on sm_75", "32 wavefronts", "")]),
    ],
)
@pytest.mark.parametrize("format", ["github", "markdown", "sarif", "codequality", "junit"])
def test_of_a_group_only_what_is_asked_for_is_drawn(tmp_path, format, options, shown):
    results = written(tmp_path / "r.json", grouped())
    text = emit(results, "--format", format, *options).stdout
    if format == "github":
        *lines, _ = text.splitlines()
        assert len(lines) == len(shown)
        for line, (title, value, also) in zip(lines, shown, strict=True):
            assert f"title=transpose.{title},file=" in line and value in line
            assert also in line and ("(also " in line) == bool(also)
    assert all(value in text for _, value, _ in shown)
    values = [f"{value} wavefronts" for value in (64, 32, 16, 9, 8, 4)]
    if format != "junit":  # which has every case, not one of a group
        values = {value for value in values if f" {value}" in text}
        assert values == {value for _, value, _ in shown}


def test_several_results_are_grouped_together_the_worst_first(tmp_path):
    document = grouped()
    files = []
    for arch in ("sm_75", "sm_90"):
        cases = [case for case in document["cases"] if case["arch"] == arch]
        files.append(written(tmp_path / f"{arch}.json", a_document(*cases)))
    *lines, _ = emit(*files, "--format", "github").stdout.splitlines()
    assert [line.split("title=")[1].split(",")[0] for line in lines] == [
        "transpose.tiled.f32@1000 on sm_75",
        "transpose.padded.f32@1024 on sm_75",
    ]


def test_pictures_beside_the_results_are_handed_to_ctest(sample):
    (sample.parent / "a.svg").touch()
    (sample.parent / "b.txt").touch()
    text = emit(sample, "--format", "ctest").stdout
    assert text.startswith(
        '<CTestMeasurementFile type="image/svg+xml" name="a">'
        f"{sample.parent / 'a.svg'}</CTestMeasurementFile>\n"
    )
    assert "b.txt" not in text


def test_results_of_nothing_look_like_none(tmp_path):
    empty = written(tmp_path / "results.json", a_document(headline="ERROR: no case", exit_code=2))
    text = {name: emit(empty, "--format", name).stdout for name in FORMATS}
    assert "1..1\nnot ok 1 - run: ERROR: no case\n" in text["tap"]
    assert 'errors="1"' in text["junit"]
    assert "::error title=warpgauge::ERROR: no case\n" in text["github"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "not a JSON object"),
        ("[]", "not a JSON object"),
        ('{"schema": "warpgauge.results/0"}', "schema is 'warpgauge.results/0'"),
        ('{"schema": "warpgauge.results/1"}', "does not match warpgauge.results/1: missing key"),
        ('{"schema": "warpgauge.results/1", "cases": []}', "does not match warpgauge.results/1"),
        (json.dumps(a_document(headline=5)), "key 'headline': 5 is not of type \"string\""),
        (json.dumps(a_document(a_case("v", case=[]))), "key 'cases.case': [] is not of type"),
        (json.dumps(a_document(a_case("v", a_value(metric="x")))), "unknown metric 'x'"),
        (
            json.dumps(a_document(a_case("v", a_value(metric="time.median_us", value="2026")))),
            "key 'value': time.median_us is a number",
        ),
        (json.dumps(a_document(lost=[True])), "key 'lost': true is not of type"),
        (json.dumps(a_document(exit_code=7)), "key 'exit_code': 7 is not one of 0, 1"),
        ('{"schema": "warpgauge.results/1", "schema": 1}', "key 'schema' occurs twice"),
    ],
)
def test_bad_results_are_reported_and_nothing_is_written(tmp_path, text, says):
    path = tmp_path / "results.json"
    path.write_text(text)
    assert says in refused(path, "--all", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert "none.json: cannot be read" in refused("none.json", "--all", tmp_path / "out")


def test_what_cannot_be_written_is_reported(sample, tmp_path):
    (tmp_path / "file").touch()
    assert "cannot be written" in refused(sample, "--all", tmp_path / "file")
    assert "cannot be written" in refused(sample, "--format", "tap", "--out", tmp_path)


def test_results_are_not_replaced_by_what_is_drawn_of_them(tmp_path):
    path = tmp_path / "results.json"
    path.write_text(text := json.dumps(a_document(a_case("v", a_value("pass", 0)))))
    (tmp_path / "link").symlink_to(path)
    for out in (path, tmp_path / "link"):
        assert "it would replace the results" in refused(path, "--format", "tap", "--out", out)
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "RESULTS"),
        (["r.json"], "one of the arguments --format --all is required"),
        (["r.json", "--format", "junitt"], "'junitt' is not one of bencher, "),
        (["r.json", "--format", "tap", "--all", "out"], "not allowed with"),
        (["r.json", "--all", "out", "--out", "file"], "--out goes with --format"),
        (["r.json", "--al", "out"], "--al"),
        (["r.json", "--all", "out", "--strict"], "there is no option --strict"),
    ],
)
def test_bad_options_are_faults(tmp_path, arguments, says, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert says in refused(*arguments)
    assert list(tmp_path.iterdir()) == []


def test_help_lists_the_formats():
    text = emit("--help").stdout
    assert all(format.name in text and format.file in text for format in FORMATS.values())


def test_what_is_not_wrong_is_no_reason_to_fail(tmp_path):
    better = a_document(a_case("good", a_value("better", 0)))
    text = emit(written(tmp_path / "r.json", better), "--format", "junit").stdout
    assert 'failures="0"' in text
    strict = a_document(a_case("good", a_value("better", 0, wrong=True)), exit_code=1)
    text = emit(written(tmp_path / "r.json", strict), "--format", "junit").stdout
    assert 'failures="1"' in text and 'type="BetterThanBudget"' in text

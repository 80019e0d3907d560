"""warpgauge report trend: pictures of a metric of a case over the nights of a history."""

import xml.etree.ElementTree as ET

import pytest
from scratch_repository import ScratchRepository
from some_facts import a_fact, registers, write
from warpgauge.program import main

SVG = "{http://www.w3.org/2000/svg}"
CASE = "transpose.naive.f32@1024x1024"
STEM = "trend-transpose.naive.f32_1024x1024-"
HOSTILE = '<script>$x^2$&"'


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    """Twelve nights: two architectures of a count, of which one gets better, a word, and times."""
    folder = tmp_path_factory.mktemp("trend")
    path = str(folder / "history.db")
    clock = {"metric": "time.median_us", "source": "clock"}
    no_budget = {"budget": None, "budget_reason": None, "verdict": "unbudgeted", "reason": None}
    word = {"metric": "occupancy.limiter", "source": "cubin", "device": None} | no_budget
    files = []
    for night in range(1, 13):
        time = 10 + night % 3 / 10
        facts = [
            a_fact(night, 31744 if night < 6 else 0),
            a_fact(night, 4096, arch="sm_80"),
            a_fact(night, time, interval=[time - 0.5, time + 0.5], **clock),
            registers(night, case=HOSTILE),
            a_fact(night, "warps", **word),
            *(a_fact(night, 7, case="many", arch=f"sm_{n}") for n in range(70, 89) if night == 1),
        ]
        files.append(str(write(folder / f"{night}.jsonl", facts)))
    assert main(["report", "ingest", *files, "--db", path]) == 0
    return path


@pytest.fixture
def draw(db, tmp_path, capsys):
    """Draws; the exit code, what was printed, and the complaints."""

    def run(*arguments):
        out = ["--db", db, "--out", str(tmp_path / "out")]
        code = main(["report", "trend", *map(str, arguments), *out])
        return (code, *capsys.readouterr())

    return run


def drawn(path):
    """The ids and the texts of a picture."""
    root = ET.parse(path)
    ids = {group.get("id") for group in root.iter(f"{SVG}g")}
    return ids, ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]


def test_a_metric_is_drawn_over_the_nights_with_what_changed_it(draw, tmp_path):
    code, printed, errors = draw(f"{CASE}/shared.bank_conflicts")
    picture = tmp_path / "out" / f"{STEM}shared.bank_conflicts.svg"
    assert (code, errors) == (0, "")
    assert printed.split() == [str(picture), str(picture.with_suffix(".png"))]
    assert picture.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    ids, texts = drawn(picture)
    assert {"line-0", "line-1", "change", "budget"} <= ids and "interval-0" not in ids
    assert f"shared.bank_conflicts of {CASE}" in texts and "wavefronts" in texts
    assert "commit-6, to 0" in texts and "sm_80, NVIDIA H100" in texts


def test_a_line_of_one_place_has_its_interval(draw, tmp_path):
    assert draw(f"{CASE}/time.median_us/sm_90")[0] == 0
    ids, texts = drawn(tmp_path / "out" / f"{STEM}time.median_us.svg")
    assert {"line-0", "interval-0"} <= ids and {"line-1", "change"} & ids == set()
    assert "sm_90, NVIDIA H100" in texts and "µs" in texts


@pytest.mark.parametrize(
    "place",
    [
        {"file": "src/transpose.cu"},
        {"file": "src/tile.cuh", "inlined": [{"file": "src/transpose.cu", "line": 7}]},
        {"file": None, "line": None, "registered": "src/transpose.cu"},
    ],
)
def test_a_mark_names_the_commit_of_the_night_that_changed_the_file(place, tmp_path):
    scratch = ScratchRepository(tmp_path / "repository")
    commits = [scratch.commit("Begin")]
    for name in ("transpose.cu", "scan.cu"):
        (scratch.folder / name).write_text("2")
        commits.append(scratch.commit(f"Write {name}"))
    db, out = tmp_path / "history.db", tmp_path / "out"
    nights = ((0, commits[0]), (9, commits[2]))
    files = [
        write(tmp_path / f"{i}.jsonl", [a_fact(i + 1, value, commit=commit, **place)])
        for i, (value, commit) in enumerate(nights)
    ]
    assert main(["report", "ingest", *map(str, files), "--db", str(db)]) == 0
    series = f"{CASE}/shared.bank_conflicts"
    options = ["--db", str(db), "--out", str(out), "--repo", str(scratch.folder)]
    assert main(["report", "trend", series, *options[:-2]]) == 0
    picture = out / f"{STEM}shared.bank_conflicts.svg"
    assert f"{commits[2][:10]}, from 0" in drawn(picture)[1]
    assert main(["report", "trend", series, *options]) == 0
    assert f"{commits[1][:10]}, from 0" in drawn(picture)[1]


def test_changes_before_the_nights_drawn_are_not_marked(draw, tmp_path):
    assert draw(f"{CASE}/shared.bank_conflicts", "--nights", 3)[0] == 0
    ids, _ = drawn(tmp_path / "out" / f"{STEM}shared.bank_conflicts.svg")
    assert "line-0" in ids and "change" not in ids


def test_the_same_history_gives_the_same_files(draw, tmp_path):
    files = []
    for _ in range(2):
        assert draw("transpose.naive.*/*_*")[0] == 0
        files.append([path.read_bytes() for path in sorted((tmp_path / "out").iterdir())])
    assert files[0] == files[1] and len(files[0]) == 4


def test_names_are_shown_as_they_are(draw, tmp_path):
    assert draw("*/registers")[0] == 0
    (picture,) = (tmp_path / "out").glob("*.svg")
    _, texts = drawn(picture)
    assert any(HOSTILE in text for text in texts)
    assert picture.name.isascii() and not set("<>$&/") & set(picture.name)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (
            ["transpose.naiv.f32@1024x1024/shared.bank_conflicts"],
            f"did you mean '{CASE}/shared.bank_conflicts'?",
        ),
        ([f"{CASE}/shared.bank_conflict"], f"did you mean '{CASE}/shared.bank_conflicts'?"),
        (["nothing"], "SERIES is CASE/METRIC, as the page shows it"),
        ([f"{CASE}/occupancy.limiter"], "occupancy.limiter: its values are words"),
        (["transpose.many.*/shared.*"], "has 19 series, and 18 fit in a picture"),
        (["transpose.many.*/shared.*/sm_7?", "--nights", 5], "was measured in the nights drawn"),
        ([CASE + "/time.median_us", "--branch", "x"], "no run of the history matches --branch"),
        ([CASE + "/time.median_us", "--nights", "0"], "'0' is not a number of nights, from 1"),
    ],
)
def test_what_cannot_be_drawn_is_one_error_and_no_file(draw, tmp_path, arguments, error):
    code, printed, errors = draw(*arguments)
    assert (code, printed, errors.count("\n")) == (2, "", 1) and error in errors, errors
    assert not (tmp_path / "out").exists()


def test_too_many_pictures_are_refused(tmp_path, capsys):
    facts = [a_fact(size=f"{n}") for n in range(51)]
    path, db = write(tmp_path / "facts.jsonl", facts), str(tmp_path / "history.db")
    assert main(["report", "ingest", str(path), "--db", db]) == 0
    assert main(["report", "trend", "*", "--db", db, "--out", str(tmp_path / "out")]) == 2
    assert "names 51 pictures, and 50 are drawn at once" in capsys.readouterr().err


def test_without_a_history(tmp_path, capsys):
    arguments = ["--db", str(tmp_path / "none.db"), "--out", str(tmp_path / "out")]
    assert main(["report", "trend", "x/y", *arguments]) == 2
    assert "none.db" in capsys.readouterr().err and not (tmp_path / "none.db").exists()

"""A page is of one branch: what others bring in is no headline and misses nothing."""

import pytest
from page_samples import HOSTILE, a_run, a_series, build, conflicts, render
from some_facts import registers, write
from warpgauge.errors import CommandError
from warpgauge.history import open_history
from warpgauge.page.runs_of_page import other_nights, pages_of, runs_of_page
from warpgauge.program import main


def runs_on(*branches, **members):
    return [a_run(night, branch=branch, **members) for night, branch in enumerate(branches)]


def chosen(runs, branch=None, label=None):
    takes = runs_of_page(runs, branch, label).takes
    return [run.branch for run in runs if takes(run)]


@pytest.mark.parametrize(
    ("branches", "expected"),
    [
        ([None, None, "trial"], [None, None]),
        (["trial", "trial", "main"], ["main"]),
        (["a", "b", "b"], ["b", "b"]),
        ([None, "main", "trial", None], [None, "main", None]),
    ],
)
def test_a_page_is_of_main_or_of_the_branch_of_most_nights(branches, expected):
    assert chosen(runs_on(*branches)) == expected


def test_a_branch_can_be_asked_for():
    runs = runs_on("main", "trial", None)
    assert chosen(runs, "trial") == ["trial"] and chosen(runs, "") == [None]


def test_runs_with_a_label_are_left_out_unless_asked_for():
    runs = [*runs_on("main", "main"), a_run(2, branch="trial", label="by hand")]
    assert chosen(runs) == ["main", "main"]
    assert chosen(runs, label="by hand") == ["trial"]
    assert chosen(runs, "trial", "by hand") == ["trial"]


def test_a_history_of_one_label_is_the_page():
    runs = runs_on("main", "main", label="simulated")
    assert chosen(runs) == ["main", "main"]


def test_a_branch_that_no_run_has_is_an_error():
    with pytest.raises(
        CommandError, match="no run .* --branch 'mian'; the runs have the branch 'main'"
    ):
        runs_of_page(runs_on("main"), "mian", None)
    with pytest.raises(CommandError, match="no run .* --label 'x'; the runs have no label"):
        runs_of_page(runs_on(None), None, "x")


def test_the_page_names_what_it_leaves_out():
    others = [*runs_on(HOSTILE, HOSTILE), a_run(2, label="by hand")]
    assert other_nights(others) == [
        (f"of branch {HOSTILE}", 2),
        ("without a branch, labelled by hand", 1),
    ]
    page = render(build([conflicts(after=0)], others=others))
    assert "1 night without a branch, labelled by hand" in page and HOSTILE not in page


@pytest.fixture
def db(tmp_path):
    """Two nights of main, and one of a branch, which is worse and has other cases."""
    url = str(tmp_path / "history.db")
    with open_history(url, create=True) as history:
        for night, branch in ((1, "main"), (2, "main"), (3, "trial")):
            value = 90 if branch == "trial" else 20
            facts = [registers(night, value)]
            if branch == "main":
                facts.append(registers(night, 20, variant="tiled"))
            written = write(tmp_path / f"{night}.jsonl", facts, exit_code=0)
            history.ingest(written, branch=branch)
    return url


def headline(out):
    return (out / "digest.md").read_text().splitlines()[0]


def test_a_night_of_another_branch_is_no_headline(db, tmp_path):
    out = tmp_path / "site"
    assert main(["report", "html", "--db", db, "--out", str(out)]) == 0
    assert headline(out) == "# Nothing is wrong: 2 values within budget"
    assert "Left out: 1 night of branch trial." in (out / "digest.md").read_text()
    assert "branch main" in (out / "index.html").read_text()


def test_the_page_of_another_branch_has_its_nights_only(db, tmp_path):
    out = tmp_path / "site"
    assert main(["report", "html", "--db", db, "--out", str(out), "--branch", "trial"]) == 0
    assert headline(out) == "# Nothing is wrong: 1 value within budget"


def test_an_unknown_branch_writes_nothing(db, tmp_path, capsys):
    out = tmp_path / "site"
    assert main(["report", "html", "--db", db, "--out", str(out), "--branch", "no"]) == 2
    assert "--branch 'no'" in capsys.readouterr().err and not out.exists()


@pytest.fixture
def worse_on_main(tmp_path):
    """Registers went from 20 to 30 on main, and are 20 on a branch, in the newest run of all."""
    url = str(tmp_path / "history.db")
    with open_history(url, create=True) as history:
        for night, value, branch in (
            *((1, 20, "main"), (2, 30, "main"), (3, 20, "trial"), (4, 30, "main")),
            (5, 20, "trial"),
        ):
            fact = registers(night, value, commit=f"{night}" * 40, sass_hash=f"a{value}")
            written = write(tmp_path / f"{night}.jsonl", [fact], exit_code=0)
            history.ingest(written, branch=branch)
    return url


NAME = "transpose.naive.f32@1024x1024/registers"


def test_what_is_open_on_the_page_can_be_acknowledged(worse_on_main, tmp_path):
    html = ["report", "html", "--db", worse_on_main, "--out", str(tmp_path / "site")]
    ack = ["report", "ack", NAME, "--db", worse_on_main, "--reason", "r", "--until", "2999-12-31"]
    assert main(html) == 1
    assert main([*ack, "--branch", "trial"]) == 2  # nothing is open there
    assert main(ack) == 0
    assert main(html) == 0


def test_bisect_takes_the_commits_of_the_page(worse_on_main, capsys):
    assert main(["report", "bisect", NAME, "--db", worse_on_main]) == 0
    assert f"git bisect start {'2' * 40} {'1' * 40} --" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["ack", "bisect"])
def test_a_branch_that_no_run_has_is_refused_by_each_command(worse_on_main, command, capsys):
    more = ["--reason", "r", "--until", "2999-12-31"] if command == "ack" else []
    words = ["report", command, NAME, "--db", worse_on_main, "--branch", "mian", *more]
    assert main(words) == 2
    assert "the runs have the branch 'main', 'trial'" in capsys.readouterr().err


def test_pruning_leaves_what_is_open_on_any_page(worse_on_main, capsys):
    assert main(["report", "prune", "--keep", "1", "--db", worse_on_main]) == 0
    assert "deleted: 0 values" in capsys.readouterr().out


def test_pages_have_no_run_in_common():
    runs = [*runs_on("main", None, "trial"), a_run(3, label="by hand"), a_run(4, branch="trial")]
    taken = [[run.id for run in runs if page.takes(run)] for page in pages_of(runs)]
    assert taken == [["run0", "run1"], ["run3"], ["run2", "run4"]]


def test_a_case_of_the_last_night_alone_is_new():
    new = a_series("instructions", [5], variant="fresh")
    again = a_series("instructions", [5, None, None, 5], variant="back")
    found = build([conflicts(after=0), new, again])
    assert [rows[0].key.variant for rows in found.new_cases] == ["fresh"]
    assert "1 new case" in render(found)
    assert not build([new], [a_run(29)]).new_cases  # the first night of all

"""What is read of a repository of git: commits between two others, and never more than that."""

import os
import subprocess

import pytest
from scratch_repository import ScratchRepository
from warpgauge.errors import CommandError
from warpgauge.repository import Repository


@pytest.fixture
def scratch(tmp_path):
    return ScratchRepository(tmp_path / "repository")


def test_a_range_has_subjects_and_authors_the_newest_first(scratch):
    base = scratch.commit("Begin")
    scratch.commit("Pad the tile", author="Ada <ada@x.example>")
    last = scratch.commit("Unroll by 4\n\nTwice as fast.", author="Grace <g@x.example>")
    found = Repository(scratch.folder).between(base, last)
    assert [commit.subject for commit in found.commits] == ["Unroll by 4", "Pad the tile"]
    assert found.authors == ("Grace", "Ada")
    assert (found.commits[0].hash, found.lost, found.problem) == (last, 0, None)
    assert found.summary == "one of 2 commits by Grace, Ada" and found.single is None
    assert Repository(scratch.folder).between(found.commits[1].hash, last).summary == (
        "Unroll by 4, by Grace"
    )


def test_a_commit_that_is_behind_its_base_has_lost_commits(scratch):
    base = scratch.commit("Begin")
    last = scratch.commit("Pad the tile")
    found = Repository(scratch.folder).between(last, base)
    assert (found.commits, found.lost) == ((), 1)


def test_a_range_that_is_cut_says_so(scratch, monkeypatch):
    base = scratch.commit("Begin")
    commits = [scratch.commit(f"Change {i}") for i in range(3)]
    assert Repository(scratch.folder).between(base, commits[-1]).count == "3 commits"
    monkeypatch.setattr("warpgauge.repository.MOST", 2)
    found = Repository(scratch.folder).between(base, commits[-1])
    assert found.count == "2 commits or more" and found.commits[0].subject == "Change 2"


def write(scratch, name, text):
    file = scratch.folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.mark.parametrize(
    ("files", "first"),
    [
        (("src/histogram.cuh", "tests/gate.cu"), "Cleo"),
        (("histogram.cuh",), "Cleo"),  # the gauge's sources are a folder of the repository
        (("/build/project/src/histogram.cuh",), "Cleo"),  # or lie beside the kernels
        (("src/scan.cuh", "tests/gate.cu"), "Dan"),  # no commit of the range changed the first file
        (("a\nb",), "Dan"),
        (("\nlines\n",), "Cleo"),
        (("togram.cuh",), None),
        (("src",), None),
        ((), None),
    ],
)
def test_commits_that_changed_the_file_to_blame_come_first(scratch, files, first):
    write(scratch, "src/histogram.cuh", "1")
    base = scratch.commit("Begin")
    write(scratch, "src/histogram.cuh", "2")
    write(scratch, "\nlines\n", "2")
    scratch.commit("Pad the bins", author="Cleo <c@x.example>")
    write(scratch, "tests/gate.cu", "2")
    write(scratch, "a\nb", "2")
    scratch.commit("More sizes", author="Dan <d@x.example>")
    last = scratch.commit("Nothing", author="Eve <e@x.example>")
    repository = Repository(scratch.folder)
    found = repository.between(base, last, files)
    assert repository.between(base, last).authors == ("Eve", "Dan", "Cleo")
    assert (found.single and found.single.author) == first
    assert found.authors[0] == (first or "Eve") and found.count == "3 commits"
    subjects = {
        "Cleo": "Pad the bins, by Cleo, of 3 commits",
        "Dan": "More sizes, by Dan, of 3 commits",
    }
    assert found.summary == subjects.get(first, "one of 3 commits by Eve, Dan, Cleo")


def test_files_are_named_from_the_top_whatever_the_repository_configures(scratch):
    write(scratch, "src/histogram.cuh", "1")
    base = scratch.commit("Begin")
    write(scratch, "src/histogram.cuh", "2")
    last = scratch.commit("Pad the bins")
    (scratch.folder / "docs").mkdir()
    for name in ("diff.relative", "core.quotePath"):
        scratch.git("config", name, "true")
    (commit,) = Repository(scratch.folder / "docs").between(base, last).commits
    assert commit.files == {"src/histogram.cuh"}


def test_a_file_that_is_moved_is_changed(scratch):
    write(scratch, "src/old.cuh", "1\n" * 99)
    base = scratch.commit("Begin")
    (scratch.folder / "src/old.cuh").rename(scratch.folder / "src/new.cuh")
    scratch.commit("Move", author="Cleo <c@x.example>")
    last = scratch.commit("Nothing")
    for name in ("src/old.cuh", "src/new.cuh"):
        assert Repository(scratch.folder).between(base, last, (name,)).single.author == "Cleo"


def test_of_several_that_changed_the_file_none_is_named_alone(scratch):
    base = scratch.commit("Begin")
    for i, author in enumerate(("Ada", "Cleo")):
        write(scratch, "a.cuh", str(i))
        scratch.commit("Change it", author=f"{author} <a@x.example>")
    last = scratch.commit("Nothing")
    found = Repository(scratch.folder).between(base, last, ("a.cuh",))
    assert found.single is None and found.summary == "one of 2 commits by Cleo, Ada"


def test_without_trees_commits_are_known_and_their_files_are_a_problem(scratch, tmp_path):
    write(scratch, "a.cuh", "1")
    base = scratch.commit("Begin")
    write(scratch, "a.cuh", "2")
    last = scratch.commit("Pad the tile")
    scratch.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    command = [
        "git",
        "clone",
        "-q",
        "--no-checkout",
        "--filter=tree:0",
        f"file://{scratch.folder}",
        clone,
    ]
    subprocess.run(command, check=True)
    found = Repository(clone).between(base, last, ("a.cuh",))
    assert found.authors == ("Test",) and "files of commits are not known" in found.problem


def test_texts_of_commits_are_data(scratch):
    base = scratch.commit("Begin")
    last = scratch.commit("\x1b[31m<b>red</b> %H", author="A\x1b]0;title <a@x.example>")
    (commit,) = Repository(scratch.folder).between(base, last).commits
    assert commit.subject == "?[31m<b>red</b> %H" and commit.author == "A?]0;title"


@pytest.mark.parametrize("name", ["--output=written", "main", "HEAD", "abc1234\n", "0" * 40, ""])
def test_what_is_no_commit_here_is_a_problem_with_a_remedy(scratch, name):
    base = scratch.commit("Begin")
    repository = Repository(scratch.folder)
    found = repository.between(base, name)
    assert found.commits == () and "lacks commit" in found.problem and "fetch it" in found.problem
    assert repository.problems == [found.problem]
    assert not (scratch.folder / "written").exists()


def test_a_shallow_clone_is_called_one(scratch, tmp_path):
    base = scratch.commit("Begin")
    last = scratch.commit("Pad the tile")
    clone = tmp_path / "clone"
    subprocess.run(
        ["git", "clone", "-q", "--depth=1", f"file://{scratch.folder}", clone], check=True
    )
    problem = Repository(clone).between(base, last).problem
    assert base[:12] in problem and "shallow clone" in problem


def test_nothing_that_a_repository_names_is_started(scratch, tmp_path):
    marker, trap = tmp_path / "started", tmp_path / "trap"
    trap.write_text(
        "#!/bin/sh\ncat >/dev/null\n"
        'printf "\\n[GNUPG:] SIG_CREATED x\\n" >&2\n'
        'printf "%s\\n" "-----BEGIN PGP SIGNATURE-----" "-----END PGP SIGNATURE-----"\n'
    )
    trap.chmod(0o755)
    scratch.git("config", "gpg.program", trap)
    base = scratch.commit("Begin", "-S")
    last = scratch.commit("Pad the tile", "-S")
    trap.write_text(f"#!/bin/sh\ntouch '{marker}'\n")
    for name, value in {
        "log.showSignature": "true",
        "core.pager": trap,
        "diff.external": trap,
        "core.fsmonitor": trap,
        "core.hooksPath": tmp_path,
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::{trap}",
        "protocol.ext.allow": "always",
    }.items():
        scratch.git("config", name, value)
    # The traps work: git alone starts them.
    subprocess.run(["git", "-C", scratch.folder, "log"], capture_output=True)
    assert marker.exists()
    marker.unlink()
    subprocess.run(["git", "-C", scratch.folder, "log", "1" * 40], capture_output=True)
    assert marker.exists()
    marker.unlink()
    repository = Repository(scratch.folder)
    assert len(repository.between(base, last).commits) == 1
    assert repository.between("1" * 40, last).problem
    assert not marker.exists()


def test_the_folder_decides_and_not_the_environment(scratch, tmp_path, monkeypatch):
    base, last = scratch.commit("Begin"), scratch.commit("Pad the tile")
    other = ScratchRepository(tmp_path / "other")
    other.commit("Elsewhere")
    monkeypatch.setenv("GIT_DIR", str(other.folder / ".git"))
    assert len(Repository(scratch.folder).between(base, last).commits) == 1


def test_what_the_user_configures_counts(scratch, tmp_path, monkeypatch):
    base, last = scratch.commit("Begin"), scratch.commit("Pad the tile")
    (author,) = Repository(scratch.folder).between(base, last).authors
    configured = tmp_path / "gitconfig"
    configured.write_text(f"[mailmap]\n  file = {tmp_path / 'mailmap'}\n")
    email = scratch.git("log", "-1", "--format=%ae")
    (tmp_path / "mailmap").write_text(f"Another Name <{email}>\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(configured))
    assert author != "Another Name"
    assert Repository(scratch.folder).between(base, last).authors == ("Another Name",)


def test_a_folder_in_no_repository_is_an_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(CommandError, match="name a local repository of git"):
            Repository(folder)


def test_without_git_the_error_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    with pytest.raises(CommandError, match="git is not installed"):
        Repository(tmp_path)

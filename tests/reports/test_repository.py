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
    assert found.summary == "2 commits by Grace, Ada"
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

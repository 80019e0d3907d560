"""Where warpgauge is: one address, which stands in ci/address, in documents and in templates, and
which ci/release writes there and asks for."""

import re
import shutil
import subprocess

import pytest
from scratch_checkout import ROOT

PLACEHOLDER = (ROOT / "ci/address").read_text().strip()
VERSION = re.search(r"\(warpgauge VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
MAJOR = f"v{VERSION.partition('.')[0]}"
DOCUMENT = """uses: OLD
  - component: $CI_SERVER_FQDN/GATE
pip install git+https://github.com/OLD
<!-- until there is an address -->
OWNER is nobody.
<!-- end -->
Use OTHER.
"""


def git(folder, *words):
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
    return subprocess.run(
        ["git", "-C", folder, *identity, *words], check=True, capture_output=True, text=True
    ).stdout


def in_gate(address):
    return address.replace("@", "/gate@")


@pytest.fixture
def checkout(tmp_path):
    """A checkout of git with what the address is in, committed."""
    (tmp_path / "ci").mkdir()
    for name in ("ci/release", "ci/common.sh", "ci/address", "CMakeLists.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    text = DOCUMENT.replace("OLD", PLACEHOLDER).replace("GATE", in_gate(PLACEHOLDER))
    (tmp_path / "a document.md").write_text(text)
    (tmp_path / "CHANGELOG.md").write_text(f"It was at {PLACEHOLDER}.\n")
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    return tmp_path


def commit(checkout):
    git(checkout, "add", "-A")
    git(checkout, "commit", "-qm", "all")


def release(checkout, *words, **env):
    return subprocess.run(
        [checkout / "ci/release", *words],
        env={"PATH": "/usr/bin:/bin", **env},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_an_address_is_written_wherever_the_last_one_stands(checkout):
    for address in ("some-one/warp.gauge", "another/gauges"):
        done = release(checkout, "--address", address)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines() == ["a document.md", "ci/address"]
        assert f"these name {address}@{MAJOR} now: commit them" in done.stderr
        assert (checkout / "ci/address").read_text() == f"{address}@{MAJOR}\n"
        assert (checkout / "a document.md").read_text() == (
            f"uses: {address}@{MAJOR}\n  - component: $CI_SERVER_FQDN/{address}/gate@{MAJOR}\n"
            f"pip install git+https://github.com/{address}@{MAJOR}\nUse OTHER.\n"
        )
        assert PLACEHOLDER in (checkout / "CHANGELOG.md").read_text()


@pytest.mark.parametrize(
    "address", ["name", "a b/c", "a/b@v1", "a/b/c", "https://x.example/a/b", "a/#"]
)
def test_what_is_no_address_is_refused(checkout, address):
    done = release(checkout, "--address", address)
    assert done.returncode == 2 and "is not OWNER/REPOSITORY" in done.stderr
    assert git(checkout, "status", "--porcelain") == ""


def test_a_release_has_its_address_in_its_documents(checkout):
    def says(**env):
        if git(checkout, "status", "--porcelain"):
            commit(checkout)
        git(checkout, "tag", "-f", f"v{VERSION}")
        done = release(checkout, "--tag", f"v{VERSION}", "--build", "nothing", **env)
        assert done.returncode == 2
        return done.stderr

    there_is_none = f"the documents name {PLACEHOLDER}: write where this release is"
    assert there_is_none in says() and there_is_none in says(GITHUB_REPOSITORY="some/gauge")
    release(checkout, "--address", "some/gauge")
    fork = says(GITHUB_REPOSITORY="fork/gauge")
    assert "ci/release --address fork/gauge, and commit that" in fork
    right = "nothing: is no build"  # the next thing that a release needs
    assert right in says() and right in says(GITHUB_REPOSITORY="some/gauge")


def test_the_document_of_ci_speaks_of_no_placeholder_then(checkout):
    (checkout / "docs").mkdir()
    document = checkout / "docs/ci.md"
    shutil.copy(ROOT / "docs/ci.md", document)
    commit(checkout)
    assert release(checkout, "--address", "some/gauge").returncode == 0
    text = document.read_text()
    assert "OWNER" not in text and "\n## Where warpgauge is\n\nThe tag of" in text


def test_all_documents_and_templates_name_the_one_address():
    assert PLACEHOLDER.endswith(f"@{MAJOR}"), "the tag that a release of this version moves"
    named = git(
        ROOT, "grep", "-IhoE", r"[A-Za-z0-9_.-]+/warpgauge(/gate)?@\w+", "--", "*.md", "*.yml"
    )
    others = {"my-account/warpgauge@COMMIT"}  # a clone
    assert set(named.split()) - others == {PLACEHOLDER, in_gate(PLACEHOLDER)}

"""warpgauge, installed."""

import pytest
from project import BUILD, ROOT, run


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """The folder of an installation that was moved: nothing in it may hold its first path."""
    if "WARPGAUGE_SANITIZE:BOOL=ON" in (BUILD / "CMakeCache.txt").read_text():
        pytest.skip("this build has sanitizers in it, which a project would have to link as well")
    first = tmp_path_factory.mktemp("install") / "here"
    run("cmake", "--install", BUILD, "--prefix", first, cwd=ROOT)
    return first.rename(first.parent / "moved")

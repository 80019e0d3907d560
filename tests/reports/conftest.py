"""Tests that take `url` run once on SQLite and once on PostgreSQL.

Those on PostgreSQL are skipped where it is not installed; where WARPGAUGE_TEST_PACKAGES names it,
as ci/test does in CI, it has to be there.
"""

import os

import postgresql_server
import pytest

pytest.register_assert_rewrite("browser_pages")  # a plugin of the tests that name it


@pytest.fixture(scope="session")
def postgresql():
    if not postgresql_server.is_installed():
        asked_for = "postgresql" in os.environ.get("WARPGAUGE_TEST_PACKAGES", "")
        (pytest.fail if asked_for else pytest.skip)(postgresql_server.MISSING)
    with postgresql_server.running_server() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    """A database that does not exist yet (SQLite) or is empty."""
    if request.param == "sqlite":
        return str(tmp_path / "db" / "history.db")
    return request.getfixturevalue("postgresql").new_url()

"""A PostgreSQL server of its own for tests: Debian's binaries, a Unix socket, no port."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

_BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
_LOG_IN = "warpgauge"
MISSING = "PostgreSQL is not installed: apt-get install postgresql"


def is_installed() -> bool:
    return bool(_BINARIES)


class Server:
    """A running server. Nothing it writes survives a crash: it is fast instead."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = count(1)

    def new_url(self) -> str:
        """The URL of a new, empty database."""
        name = f"history_{next(self._numbers)}"
        _run("createdb", "-h", str(self._folder), "-U", _LOG_IN, name)
        return f"postgresql://{_LOG_IN}@/{name}?host={self._folder}"


@contextmanager
def running_server() -> Iterator[Server]:
    folder = Path(tempfile.mkdtemp(prefix="warpgauge-postgresql-", dir="/tmp"))  # a socket's path
    try:  # is short
        if os.geteuid() == 0:
            os.chown(folder, _account().pw_uid, _account().pw_gid)
        data = str(folder / "data")
        _run("initdb", "-D", data, "-U", _LOG_IN, "-A", "trust", "-E", "UTF8", "--no-sync")
        options = f"-k {folder} -c listen_addresses= -c fsync=off -c shared_buffers=32MB"
        log = str(folder / "log")
        _run("pg_ctl", "-D", data, "-o", options, "-l", log, "-w", "-t", "120", "start")
        try:
            yield Server(folder)
        finally:
            _run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(program: str, *arguments: str) -> None:
    """As the account that Debian makes for it, where this is root: the server refuses root."""
    account = {}
    if os.geteuid() == 0:
        account = {"user": _account().pw_uid, "group": _account().pw_gid, "extra_groups": []}
    ended = subprocess.run(
        [str(_BINARIES[-1] / program), *arguments],
        cwd="/",
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if program != "pg_ctl" else subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
        **account,
    )
    if ended.returncode != 0:
        raise RuntimeError(f"{program}: {(ended.stdout or b'').decode(errors='replace')}")


def _account() -> pwd.struct_passwd:
    return pwd.getpwnam("postgres")

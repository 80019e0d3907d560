"""Programs that the commands start, by their absolute paths."""

from __future__ import annotations

import errno
import os
import shutil


def in_path(name: str) -> str:
    """The program of this name in PATH. Folders in PATH that are not absolute are ignored, because
    they depend on where a command runs. Raises FileNotFoundError if there is no program."""
    if os.path.dirname(name):
        return os.path.abspath(name)
    folders = filter(os.path.isabs, os.get_exec_path())
    program = shutil.which(name, path=os.pathsep.join(folders))
    if program is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    return program

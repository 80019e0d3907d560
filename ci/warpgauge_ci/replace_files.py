"""Several files replaced together: all of them, or none."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from warpgauge_report.output import ReportError


def replace_files(contents: Mapping[Path, bytes]) -> None:
    """Writes all new files beside their places, then renames them; if a rename fails, those before
    it get their old content back. Keeps modes, and writes through symbolic links. Raises
    ReportError."""
    path = Path()
    done: list[tuple[Path, Path | None]] = []
    with ExitStack() as stack:
        try:
            staged = []
            for path, content in contents.items():
                place = path.resolve()
                beside = Path(
                    stack.enter_context(
                        tempfile.TemporaryDirectory(prefix=f".{place.name}.", dir=place.parent)
                    )
                )
                new, old = beside / "new", beside / "old"
                new.write_bytes(content)
                if place.exists():
                    shutil.copy2(place, old)
                    shutil.copymode(place, new)
                staged.append((path, place, new, old if place.exists() else None))
            for path, place, new, old in staged:  # noqa: B007  the error names the path
                os.replace(new, place)
                done.append((place, old))
        except OSError as error:
            for place, old in done:
                place.unlink() if old is None else os.replace(old, place)
            raise ReportError(
                f"{path}: cannot be written: {error.strerror}; nothing was"
            ) from error

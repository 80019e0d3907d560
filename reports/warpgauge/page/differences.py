"""In what two nights differ besides their values: toolkit, flags, GPUs and drivers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from warpgauge.history.model import Run


@dataclass(frozen=True, slots=True)
class Difference:
    """Something of the environment that is not as it was the night before; words."""

    what: str
    before: str
    after: str


def differences(before: Sequence[Run], after: Sequence[Run]) -> list[Difference]:
    """Changes of toolkit, flags, drivers and GPUs from one night to the next."""
    found = []
    for what, of in (("CUDA toolkit", _toolkit), ("compile flags", _flags), ("GPUs", _device)):
        old, new = _words(before, of), _words(after, of)
        if old != new:
            found.append(Difference(what, old, new))
    for name in sorted(_names(before) & _names(after)):
        old, new = (
            _words([run for run in night if run.device and run.device.name == name], _driver)
            for night in (before, after)
        )
        if old != new:
            found.append(Difference(f"driver of {name}", old, new))
    return found


def _toolkit(run: Run) -> str:
    return run.toolkit or "unknown"


def _flags(run: Run) -> str:
    return run.flags or "none known"


def _device(run: Run) -> str:
    return run.device.name if run.device else ""


def _driver(run: Run) -> str:
    return run.device.driver or "unknown" if run.device else ""


def _names(runs: Sequence[Run]) -> set[str]:
    return {run.device.name for run in runs if run.device}


def _words(runs: Sequence[Run], of: Callable[[Run], str]) -> str:
    return ", ".join(sorted({of(run) for run in runs} - {""})) or "none"

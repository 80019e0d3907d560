"""Names of architectures (metrics/architecture/arch_name.h): sm_90, sm_90a and sm_100f differ."""

import re

_NAME = re.compile(r"sm_([1-9][0-9]{1,2})([af]?)")


def is_arch(name: str) -> bool:
    """Whether this is the full name of an architecture."""
    return _NAME.fullmatch(name) is not None


def arch_order(name: str | None) -> tuple[int, str]:
    """A sort key: by number, and of one number sm_100, sm_100a, sm_100f; what is no name first."""
    match = _NAME.fullmatch(name or "")
    return (int(match[1]), match[2]) if match else (0, name or "")

"""The kernels of diff.json, a sentence for each of their facts, as Markdown."""

from __future__ import annotations

from typing import Any

from warpgauge.markdown import code, text
from warpgauge.text import count, rounded, shortened

_NAME = 120  # characters of a kernel's name: those of templates can have thousands
_CAUSES = {
    "code": "the kernel's source changed",
    "compiler": "the same source became other machine code",
    "code or compiler": "the machine code changed",
    "launch": "the same machine code is launched differently",
    "input or counter": "the same machine code, launched alike",
}


def kernel_name(kernel: dict[str, Any]) -> str:
    """Its name, how many sizes and architectures of it moved, and of which the first fact is."""
    cases, first = kernel["cases"], kernel["facts"][0]
    name = code(shortened(kernel["name"], _NAME))
    if cases == 1:
        return name
    size = "" if "kernel" in first else f"@{first['id'].partition('@')[2]}"
    arch = f"on {first['arch']}" if "arch" in first else ""
    place = text(" ".join(filter(None, (size, arch))))
    return " ".join(filter(None, (name, place, f"and {count(cases - 1, 'more case')}")))


def told(kernel: dict[str, Any]) -> list[dict[str, Any]]:
    """The facts that people are shown, as the comparer chose them."""
    return [fact for fact in kernel["facts"] if fact["told"]]


def facts_text(kernel: dict[str, Any]) -> str:
    """A line for each fact that people are shown, with its mark if it is not the kernel's."""
    return "<br>".join(
        ("" if fact["mark"] == kernel["mark"] else f"{fact['mark']}: ") + _fact(fact)
        for fact in told(kernel)
    )


def place_of(kernel: dict[str, Any]) -> str:
    """FILE:LINE of the first fact that has one."""
    for fact in told(kernel):
        if "file" in fact and "line" in fact:
            return code(f"{fact['file']}:{fact['line']}")
    return ""


def why(kernel: dict[str, Any]) -> str:
    """The cause of the gravest fact, or why it has no value."""
    fact = kernel["facts"][0]
    cause = fact.get("cause", "")
    return text(", ".join(filter(None, (_CAUSES.get(cause, cause), fact.get("reason")))))


def _fact(fact: dict[str, Any]) -> str:
    """ "shared.bank_conflicts 0 -> 352 wavefronts"."""
    sides = [text(rounded(fact[side])) for side in ("a", "b") if side in fact]
    share = f" ({fact['relative']:+.1%})" if "relative" in fact else ""
    return f"{code(fact['metric'])} {' → '.join(sides)} {text(fact['unit'])}{share}".strip()

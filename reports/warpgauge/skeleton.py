"""A skeleton of a family for a kernel that is there: its parameters as in the source, and TODOs
that make its case an error until they are filled in."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from warpgauge.errors import CommandError
from warpgauge.files import read_whole
from warpgauge.text import nearest

_SUFFIXES = (".cu", ".cuh")
_COMMENTS = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_KERNEL = re.compile(
    r"(?:template\s*<(?P<template>[^;{}]*)>\s*)?"
    r'(?:(?:static|inline|extern(?:\s*"C")?|__forceinline__)\s+)*'
    r"__global__(?:\s+|\b)(?:__launch_bounds__\s*\([^()]*\)\s*)?(?:static\s+|inline\s+)*void\s+"
    r"(?:__launch_bounds__\s*\([^()]*\)\s*)?(?P<name>\w+)\s*\((?P<parameters>[^()]*)\)"
)
_SCOPE = re.compile(r"\bnamespace\s+(?P<name>[\w:]*)\s*\{|(?P<open>\{)|(?P<close>\})")


class Parameter(NamedTuple):
    """`type` as in the source, without qualifiers of a pointer."""

    type: str
    name: str
    value: str = ""  # that it has without an argument

    @property
    def pointee(self) -> str | None:
        """The type that a pointer points to; None for what is no pointer to values."""
        base = self.type.removesuffix("*").strip()
        return base if self.type.endswith("*") and not base.endswith("*") else None


class Kernel(NamedTuple):
    """A kernel of a source file."""

    file: Path
    name: str
    scope: str  # its namespaces: "a::b::", or ""
    parameters: list[Parameter]
    template: list[Parameter]


def find_kernel(folder: Path, wanted: str) -> Kernel:
    """The kernel NAME, or FILE:NAME, of the sources in a folder. Raises CommandError if there is no
    such kernel, or if there are several."""
    file, _, name = wanted.rpartition(":")
    sources = [Path(file)] if file else sorted(_sources(folder))
    kernels = [kernel for source in sources for kernel in kernels_of(source)]
    found = [kernel for kernel in kernels if kernel.name == name]
    if len(found) == 1:
        return found[0]
    if found:
        places = ", ".join(f"{kernel.file}:{name}" for kernel in found)
        raise CommandError(f"--kernel {wanted}: there are several, {places}: name one of them")
    meant = nearest(name, [kernel.name for kernel in kernels])
    raise CommandError(
        f"--kernel {wanted}: there is no __global__ function '{name}' in "
        + (file or f"the sources (.cu, .cuh) in {folder}")
        + (f", did you mean '{meant}'?" if meant else "")
    )


def first_kernel(folder: Path) -> Kernel | None:
    """Any kernel of the sources in a folder that can be read; None if there is none."""
    for source in sorted(_sources(folder)):
        with suppress(CommandError):
            if kernels := kernels_of(source):
                return kernels[0]
    return None


def kernels_of(source: Path) -> list[Kernel]:
    """The kernels of a source file, as far as they can be read without its compiler."""
    try:
        text = read_whole(source).decode("utf-8", "replace")
    except OSError as error:
        raise CommandError(f"{source}: cannot be read: {error.strerror}") from error
    text = _COMMENTS.sub(lambda found: found[0] if found[0].startswith('"') else " ", text)
    return [
        Kernel(
            source,
            found["name"],
            _scope(text[: found.start()]),
            [_parameter(part) for part in _split(found["parameters"])],
            [_parameter(part) for part in _split(found["template"] or "")],
        )
        for found in _KERNEL.finditer(text)
    ]


def skeleton(kernel: Kernel, place: Path) -> str:
    """The text of `place`, the source that registers the kernel's family."""
    include = os.path.relpath(kernel.file, place.parent)
    problem = "".join(word.capitalize() for word in kernel.name.split("_")) + "Problem"
    members, initial, arguments, outputs = [], [], [], []
    for parameter in kernel.parameters:
        type_, name, pointee = parameter.type, parameter.name, parameter.pointee
        arguments.append(f"p.{name}")
        if pointee is None:
            members.append(f"  const {type_} {name};")
            initial.append(f'{name}(todo<{type_}>("the value of {name}"))')
            continue
        is_input = pointee.startswith("const ")
        element = pointee.removeprefix("const ")
        kind, note = ("Input", "") if is_input else ("InOut", "  // Output if it is only written")
        members.append(f"  warpgauge::{kind}<{element}> {name};{note}")
        initial.append(f'{name}(*this, todo<std::size_t>("how many elements {name} has"))')
        outputs += [] if is_input else [name]
    checks = [
        f'    todo<int>("the CPU reference: comparison.equal({name}, expected)");'
        for name in outputs
    ] or ['    todo<int>("the CPU reference: comparison.equal(...)");']
    instance = ", ".join(name for _, name, *_ in kernel.template)
    initial_text = ",\n        ".join(initial)
    constructor = f"  explicit {problem}(const warpgauge::Size& size)"
    constructor += f"\n      : {initial_text} {{}}" if initial else " {}"
    called = kernel.scope + kernel.name + (f"<{instance}>" if instance else "")
    chosen = [f'    todo<int>("the template arguments of {kernel.name}");'] if instance else []
    lines = [
        f"// The family {kernel.name}, of a kernel in {kernel.file.name}.",
        "// Fill in each TODO: until then its case is an error.",
        "#include <warpgauge/warpgauge.h>",
        "",
        "#include <stdexcept>",
        "#include <string>",
        "",
        "// It must not define main(). If it needs a library, its headers or code, name it:",
        "// warpgauge_add_kernels(... LIBRARIES <your library>).",
        f'#include "{include}"',
        "",
        "namespace {",
        "",
        "template <typename T>",
        "T todo(const char* what) {  // goes when all are filled in",
        f'  throw std::logic_error(std::string("TODO in {place.name}: ") + what);',
        "}",
        "",
        *_template_arguments(kernel),
        f"struct {problem} : warpgauge::Problem {{",
        *members,
        constructor,
        "  void check(warpgauge::Comparison& comparison) const override {",
        *checks,
        "  }",
        "};",
        "",
        "}  // namespace",
        "",
        f"WARPGAUGE_FAMILY({kernel.name}) {{",
        f'  family.problem<{problem}>("f32", {{{{1024}}}}).variant("first", []({problem}& p) {{',
        '    todo<int>("the blocks and threads of the launch");',
        *chosen,
        f"    {called}<<<1, 32>>>({', '.join(arguments)});",
        "  });",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _template_arguments(kernel: Kernel) -> list[str]:
    """Declarations by the names of the template's parameters, so that its types can be used."""
    lines = [
        f"using {name} = {value or 'float'};"
        if type_ in ("typename", "class")
        else f"constexpr {type_} {name} = {value or '1'};"
        for type_, name, value in kernel.template
    ]
    return [*lines, ""] if lines else []


def _sources(folder: Path) -> Iterator[Path]:
    """The sources of CUDA in a folder, those of hidden and build folders aside."""
    for top, folders, names in os.walk(folder):
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".") and not (Path(top) / name / "CMakeCache.txt").exists()
        ]
        yield from (Path(top) / name for name in names if name.endswith(_SUFFIXES))


def _scope(before: str) -> str:
    """The namespaces that are open at the end of a text; one without a name says nothing."""
    scopes: list[str] = []
    for found in _SCOPE.finditer(before):
        if found["close"]:
            del scopes[-1:]
        else:
            scopes.append(found["name"] or "")
    return "".join(f"{name}::" for name in scopes if name)


def _split(parameters: str) -> list[str]:
    """The parameters between the commas that stand in no brackets."""
    parts, depth = [""], 0
    for letter in parameters:
        depth += (letter in "<([{") - (letter in ">)]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip() not in ("", "void")]


def _parameter(text: str) -> Parameter:
    """`const float* __restrict__ in`, `int n = 4` or `float in[]`."""
    text = re.sub(r"\b(__restrict__|__restrict|restrict|__grid_constant__|volatile)\b", " ", text)
    declared, _, value = map(str.strip, text.partition("="))
    found = re.fullmatch(
        r"(?P<type>.*?[\s*&>])(?P<name>\w+)\s*(?P<array>\[[^\]]*\])?", declared, re.S
    )
    if found is None:  # without a name
        return Parameter(declared, "unnamed")
    type_ = re.sub(r"\s+", " ", found["type"]).strip() + ("*" if found["array"] else "")
    type_ = re.sub(r"\s*\*\s*(const\b\s*)?", "*", type_)
    type_ = re.sub(r"^([\w:<>, ]+?) const\*$", r"const \1*", type_)
    if not type_.endswith("*"):
        type_ = type_.removeprefix("const ").removesuffix(" const")
    return Parameter(type_, found["name"], value)

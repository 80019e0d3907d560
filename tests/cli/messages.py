"""The texts with which the sources tell of errors, read from the sources.

A text is one literal, in which values are WILD: what a message is put together from is found one
by one. Texts that say too little by themselves (": ", "of ") are left out, and so are reasons that
a function returns, which stand in no throw: those are for the gallery alone.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

WILD = "\0"
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")
_CPP_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"\((?P<raw>.*?)\)"|"(?P<text>(?:\\.|[^"\\])*)"'
    r"|(?<!\w)'(?:\\.|[^'\\])+'|(?P<word>[A-Za-z_]\w*)|(?P<space>\s+)|(?P<other>.)",
    re.DOTALL,
)
_NORETURN = re.compile(r"\[\[noreturn\]\][\w\s:]*?\b(\w+)\(")
_SHELL_FAULT = re.compile(r'\bfault\s+"((?:\\.|[^"\\])*)"')
_SHELL_VALUE = re.compile(r"\$\{[^}]*\}|\$\w+|\$[@*#?]")


@dataclass(frozen=True)
class Message:
    where: str  # file:line
    text: str

    def key(self) -> str:
        return self.text.replace(WILD, "{}")

    def is_in(self, shown: str) -> bool:
        """Whether `shown` has it, with any values within a line."""
        pattern = "[^\n]*?".join(map(re.escape, self.text.split(WILD)))
        return re.search(pattern, shown) is not None

    def has_words_in(self, test: str) -> bool:
        """Whether a test quotes it: three words in a row, or all that stands between two values."""
        for piece in self.text.split(WILD):
            words = piece.split()
            for i in range(max(1, len(words) - 2)):
                run = words[i : i + 3]
                if is_worded(" ".join(run)) and " ".join(run) in test:
                    return True
        return False


def is_worded(text: str) -> bool:
    return len(re.findall(r"[A-Za-z]{2,}", text)) >= 2


def all_messages(root: Path) -> list[Message]:
    """Those of harness/ (without the emulator, whose faults of PTX and of CUDA calls are tested
    with it), metrics/, ci/ and reports/."""

    def files(folders: tuple[str, ...], endings: tuple[str, ...]) -> list[Path]:
        found = (path for folder in folders for path in sorted((root / folder).rglob("*")))
        return [
            path
            for path in found
            if path.suffix in endings
            and path.is_file()
            and "emulator" not in path.relative_to(root).parts
        ]

    sources = files(("harness", "metrics"), (".cpp", ".h", ".cu"))
    found = [
        *_cpp_messages(sources),
        *_python_messages(files(("ci", "reports"), (".py",))),
        *_shell_messages(files(("ci",), ("", ".sh", ".sbatch"))),
    ]
    return [
        Message(f"{path.relative_to(root)}:{line}", text)
        for path, line, text in found
        if is_worded(text)
    ]


Found = Iterator[tuple[Path, int, str]]


def _cpp_messages(files: list[Path]) -> Found:
    """Literals in `throw ...;`, in what is printed on stderr, and in calls of [[noreturn]]
    functions, which are those that throw."""
    starts = {"throw", "stderr"}
    for file in files:
        starts.update(_NORETURN.findall(file.read_text()))
    for file in files:
        source = file.read_text()
        inside, line, literal = False, 0, None
        for token in _CPP_TOKEN.finditer(source):
            if token["space"] or token[0].startswith(("//", "/*")):
                continue
            text = token["raw"] if token["text"] is None else _unescaped(token["text"])
            if text is None and literal is not None:  # adjacent literals are one
                yield file, line, _PLACEHOLDER.sub(WILD, literal)
                literal = None
            if token["word"] in starts:
                inside = True
            elif token["other"] == ";":
                inside = False
            elif text is not None and inside:
                if literal is None:
                    line, literal = source.count("\n", 0, token.start()) + 1, ""
                literal += text


def _unescaped(text: str) -> str:
    known = {r"\n": "\n", r"\t": "\t", r"\"": '"', r"\\": "\\"}
    return re.sub(r"\\.", lambda found: known.get(found[0], WILD), text)


def _python_messages(files: list[Path]) -> Found:
    """Literals in `raise ...`, in what is printed on stderr, and in calls of argparse's error()."""
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and _tells(node)):
                for line, text in _python_texts(node):
                    yield file, line, text


def _tells(call: ast.Call) -> bool:
    to_stderr = any("stderr" in ast.unparse(keyword.value) for keyword in call.keywords)
    return to_stderr or getattr(call.func, "attr", "") == "error"


def _python_texts(node: ast.AST) -> Iterator[tuple[int, str]]:
    """The literals in `node`; those in the values of an f-string stand by themselves."""
    if isinstance(node, ast.JoinedStr):
        text = ""
        for part in node.values:
            if isinstance(part, ast.Constant):
                text += part.value
            else:
                text += WILD
                yield from _python_texts(part)
        yield node.lineno, text
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.lineno, node.value
    else:
        for child in ast.iter_child_nodes(node):
            yield from _python_texts(child)


def _shell_messages(files: list[Path]) -> Found:
    """What stands behind `fault`, as far as its first quotes go."""
    for file in files:
        source = file.read_text()
        for found in _SHELL_FAULT.finditer(source):
            line = source.count("\n", 0, found.start()) + 1
            yield file, line, _SHELL_VALUE.sub(WILD, found[1])

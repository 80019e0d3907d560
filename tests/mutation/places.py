"""The places of C++ sources where a mutant may differ, and the survivors that were accepted."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

SOURCES = ("metrics/**/*.cpp", "metrics/**/*.h", "harness/**/*.cpp", "harness/**/*.h")
# What no host test can run, and why.
EXCLUDED = {
    "metrics/cupti/cupti_none.*": "stands in for CUPTI, and is not compiled where CUPTI is",
    "metrics/cupti/cupti_context.*": "needs a GPU: the current context of the driver",
    "metrics/cupti/cupti_crc.*": "needs a GPU: modules that the driver loaded",
    "metrics/cupti/cupti_modules.*": "needs a GPU: modules that the driver loaded",
    "metrics/cupti/cupti_range*.*": "needs a GPU: hardware counters",
    "metrics/cupti/cupti_sass*.*": "needs a GPU: hardware counters",
    "metrics/cupti/nvml.*": "needs a GPU: its clocks, temperature and processes",
    "metrics/architecture/past_architectures.*": "a table for readers: nothing is computed from it",
    "harness/attach/driver.*": "needs a GPU: the functions of its driver",
    "harness/attach/injection.*": "needs a GPU: its driver loads and calls it",
    "harness/bench/bench_counters.*": "needs a GPU: hardware counters",
    "harness/bench/holding_kernel.*": "needs a GPU: keeps it busy while work is queued",
    "harness/bench/stopwatch.*": "needs a GPU: times of kernels",
    "harness/bench/timed_stream.*": "needs a GPU: times of kernels",
    "harness/doctor/counting_findings.*": "needs a GPU: counts on it, and permissions",
    "harness/doctor/gpu_findings.*": "needs a GPU: what its driver says",
    "harness/gate/emulated_counts.*": "needs a GPU: one that refuses its counters",
    "harness/gate/noisy.*": "needs a GPU: times and hardware counters",
    "harness/check/gtest_plugin.*": "is linked into programs of others, which link no mutants",
    "harness/include/*/*": "is compiled into objects of CUDA, which are not compiled anew",
    "harness/measuring/gpu_monitor.*": "needs a GPU: its processes and clocks",
    "harness/measuring/hardware_counter*.*": "needs a GPU: hardware counters",
}

TOKEN = re.compile(
    r"""
    (?P<skip> //[^\n]* | /\*.*?\*/ | ^[ \t]*\#(?:[^\n]*\\\n)*[^\n]* | \s+
            | R"(?P<raw>[^(\s]*)\(.*?\)(?P=raw)" | "(?:\\.|[^"\\\n])*")
  | (?P<name> [A-Za-z_]\w*)
  | (?P<number> \.?\d(?:[eEpP][+-]|'?[\w.])*)
  | (?P<character> '(?:\\.|[^'\\\n])+')
  | (?P<sign> <=>|<<=|>>=|->\*|\.\.\.|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
COMPARISONS = {
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
}
OPERATORS = {
    "+": ("-",),
    "-": ("+",),
    "*": ("/",),
    "/": ("*",),
    "%": ("*",),
    "&&": ("||",),
    "||": ("&&",),
    "&": ("|",),
    "|": ("&",),
    "^": ("&",),
    "<<": (">>",),
    ">>": ("<<",),
    "+=": ("-=",),
    "-=": ("+=",),
    "*=": ("/=",),
    "/=": ("*=",),
    "%=": ("*=",),
    "&=": ("|=",),
    "|=": ("&=",),
    "^=": ("&=",),
    "<<=": (">>=",),
    ">>=": ("<<=",),
}
UNARY = {"!": ("",), "++": ("--",), "--": ("++",)}
WORDS = {"true": ("false",), "false": ("true",)}
INTEGER = re.compile(r"(0[xX][0-9a-fA-F']+|0[bB][01']+|\d[\d']*)([uUlLzZ]*)")
NOTHING = {"", "{}", "true", "false", "nullptr", "std::nullopt", '""', "0"}


@dataclass(frozen=True)
class Place:
    """What stands at an offset of a file, and what a mutant may have there instead."""

    file: str
    line: int
    column: int
    offset: int
    before: str
    kind: str
    replacements: tuple[str, ...]


@dataclass(frozen=True)
class Mutant:
    place: Place
    after: str

    @property
    def id(self):
        place = self.place
        before = " ".join(place.before.split())
        return f"{place.file}:{place.line}:{place.column}:{before or '!'}->{self.after.strip()}"

    def apply(self, text):
        start, end = self.place.offset, self.place.offset + len(self.place.before)
        lines = self.place.before.count("\n")  # the lines below keep their numbers
        return text[:start] + self.after + "\n" * lines + text[end:]

    def lines(self, text):
        """The place's line before and after, in one line each."""
        last = self.place.offset + len(self.place.before)
        start = text.rfind("\n", 0, self.place.offset) + 1
        end = text.find("\n", last)
        before, mutated = text[start:end], self.apply(text)[start:]
        after = mutated[: len(before) + len(mutated) - len(text[start:])]
        return " ".join(before.split()), " ".join(after.split())


def next_number(text):
    """The number after a literal, written as the literal is. None if it is not understood."""
    if match := INTEGER.fullmatch(text):
        digits, suffix = match[1].replace("'", ""), match[2]
        if digits[:2] in ("0x", "0X"):
            return f"0x{int(digits, 16) + 1:x}{suffix}"
        if digits[:2] in ("0b", "0B"):
            return f"0b{int(digits, 2) + 1:b}{suffix}"
        return f"{int(digits, 8 if digits.startswith('0') else 10) + 1}{suffix}"
    number = text.rstrip("fFlL").replace("'", "")
    try:
        return repr(float(number) + 1) + text[len(text.rstrip("fFlL")) :]
    except ValueError:
        return None


def tokens_of(text):
    """Names, numbers and signs, without comments, strings and the lines of the preprocessor."""
    return [match for match in TOKEN.finditer(text) if match.lastgroup not in ("skip", "raw")]


def end_of(tokens, start, end_sign):
    """The index of the next end_sign outside of brackets that open after `start`."""
    depth = 0
    for index in range(start, len(tokens)):
        sign = tokens[index].group()
        if depth == 0 and sign == end_sign:
            return index
        depth += (sign in "([{") - (sign in ")]}") if len(sign) == 1 else 0
    return len(tokens) - 1


def places_of(text, file):
    """All places of a source text."""
    tokens = tokens_of(text)
    found = []

    def add(offset, before, kind, replacements):
        line = text.count("\n", 0, offset) + 1
        column = offset - text.rfind("\n", 0, offset)
        found.append(Place(file, line, column, offset, before, kind, replacements))

    index = 0
    while index < len(tokens):
        token = tokens[index]
        word, start, end = token.group(), token.start(), token.end()
        previous = tokens[index - 1].group() if index else ""
        apart = text[start - 1 : start].isspace() and text[end : end + 1].isspace()
        if word == "static_assert":
            index = end_of(tokens, index + 1, ";")
        elif previous in ("operator", "template"):
            pass  # a name, or a list of parameters
        elif word == "return":
            last = tokens[end_of(tokens, index + 1, ";")].start()
            value = text[end:last]
            if value.strip() not in NOTHING:
                add(end, value, "return", (" {}",))
        elif token["number"] and (after := next_number(word)):
            add(start, word, "constant", (after,))
        elif word in WORDS:
            add(start, word, "constant", WORDS[word])
        elif word in COMPARISONS and apart:
            add(start, word, "comparison", COMPARISONS[word])
        elif word in OPERATORS and apart:
            add(start, word, "operator", OPERATORS[word])
        elif word in UNARY:
            add(start, word, "operator", UNARY[word])
        index += 1
    return found


def sources(root):
    """The files, relative to the root, that mutants are drawn from."""
    files = {path.relative_to(root) for pattern in SOURCES for path in root.glob(pattern)}
    return sorted(
        str(file) for file in files if not any(file.match(pattern) for pattern in EXCLUDED)
    )


def all_places(root):
    return [place for file in sources(root) for place in places_of((root / file).read_text(), file)]


def mutants_at(places):
    return [Mutant(place, after) for place in places for after in place.replacements]


def accepted_survivors(file, root):
    """The reasons of survivors.toml by the id of the mutant. Throws where an entry fits no mutant,
    or several: its source has changed, and so may the reason."""
    found = {}
    texts = {}
    for entry in tomllib.loads(file.read_text()).get("survivor", []):
        where = f"{file}: {entry['file']}: {entry['before']}"
        source: Path = root / entry["file"]
        if entry["file"] not in sources(root):
            raise ValueError(f"{where}: no mutants are drawn from this file: remove the entry")
        if not entry["reason"].strip():
            raise ValueError(f"{where}: the reason is blank: say why no test can see it")
        if entry["file"] not in texts:
            text = source.read_text()
            texts[entry["file"]] = [
                (mutant.lines(text), mutant)
                for mutant in mutants_at(places_of(text, entry["file"]))
            ]
        fitting = [
            mutant
            for lines, mutant in texts[entry["file"]]
            if lines == (entry["before"], entry["after"])
        ]
        if len(fitting) != 1:
            raise ValueError(
                f"{where}: {len(fitting)} mutants fit this entry, not one: correct or remove it"
            )
        found[fitting[0].id] = entry["reason"]
    return found

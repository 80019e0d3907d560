"""Every message of an error is shown by the gallery (examples/errors), or messages_not_shown.toml
says which test shows it, or why nothing can."""

import re
import tomllib
from collections import Counter
from pathlib import Path

import messages
import pytest
from messages import Message, all_messages

ROOT = Path(__file__).resolve().parents[2]
SHOWN = "\n".join(path.read_text() for path in sorted((ROOT / "examples/errors").glob("*.txt")))
NOT_SHOWN = tomllib.loads(Path(__file__).with_name("messages_not_shown.toml").read_text())
FOUND = all_messages(ROOT)


def quoted(test):
    """What a test says in literals, of which adjacent ones are one."""
    text = re.sub(r'"\s*\n\s*[fr]?"', "", (ROOT / test).read_text())
    return " ".join(re.sub(r'\\(["\\])', r"\1", text).split())


def excused():
    return [text for group in NOT_SHOWN["group"] for text in group["texts"]]


def unshown(found):
    """Messages that nobody shows and nobody excuses."""
    known = set(excused())
    return [one for one in found if not one.is_in(SHOWN) and one.key() not in known]


def test_all_messages_are_shown_or_excused():
    new = [f"{one.where}: {one.key()!r}" for one in unshown(FOUND)]
    assert not new, (
        "provoke these in examples/errors, or say in tests/cli/messages_not_shown.toml which test "
        "shows them, or why nothing can:\n" + "\n".join(new)
    )


def test_excuses_are_needed():
    hidden = {one.key() for one in FOUND if not one.is_in(SHOWN)}
    assert [text for text in excused() if text not in hidden] == []
    assert [text for text, count in Counter(excused()).items() if count > 1] == []


@pytest.mark.parametrize("group", NOT_SHOWN["group"], ids=lambda group: group.get("by", "none"))
def test_excuses_hold(group):
    assert group.keys() in ({"by", "texts"}, {"why", "texts"})
    if "by" not in group:
        assert len(group["why"].split()) > 2
        return
    test = quoted(group["by"])
    for text in group["texts"]:
        message = Message("", text.replace("{}", messages.WILD))
        assert message.has_words_in(test), f"{group['by']} does not quote {text!r}"


def test_messages_of_each_language_are_found(tmp_path):
    """What is added is noticed, however it is written."""
    sources = {
        "harness/a.cpp": """
            [[noreturn]] void refuse(const std::string& why) { throw Error(why + ": never heard"); }
            // throw Error("a comment, which says nothing");
            void f() {
              if (x) throw std::runtime_error(fmt::format("{}: no such "
                                                          "frob {}", path, n));
              if (y) refuse(z ? "a frob of glass" : "it's a \\"frob\\"");
              fmt::print(stderr, "frobs are out\\n");
              g("said to nobody at all");
            }""",
        "harness/emulator/b.cpp": 'throw Error("of the emulator, which is left out");',
        "reports/c.py": """
raise CommandError(
    f"{path}: the frob {'is bent' if bent else name} "
    "today")
print(f"frobbing {n} times", file=sys.stderr)
print("no fault of anybody")
parser.error("--frob is needed")
""",
        "ci/d": '[[ $x ]] || fault "--frob $x: not ${y:-a frob}"\nsay "no fault at all"\n',
    }
    for name, text in sources.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = all_messages(tmp_path)
    assert {(one.where, one.key()) for one in found} == {
        ("harness/a.cpp:2", ": never heard"),
        ("harness/a.cpp:5", "{}: no such frob {}"),
        ("harness/a.cpp:7", "a frob of glass"),
        ("harness/a.cpp:7", 'it\'s a "frob"'),
        ("harness/a.cpp:8", "frobs are out\n"),
        ("reports/c.py:3", "is bent"),
        ("reports/c.py:3", "{}: the frob {} today"),
        ("reports/c.py:5", "frobbing {} times"),
        ("reports/c.py:7", "--frob is needed"),
        ("ci/d:1", "--frob {}: not {}"),
    }
    assert unshown(found) == found
    assert Message("", f"{messages.WILD}: no frob {messages.WILD}").is_in("a: no frob b\n")
    assert not Message("", f"a {messages.WILD} b").is_in("a\nb")


def test_messages_were_found():
    folders = Counter(one.where.partition("/")[0] for one in FOUND)
    assert folders.keys() == {"harness", "metrics", "ci", "reports"}
    assert min(folders.values()) > 30

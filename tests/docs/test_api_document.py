"""docs/api.md is made of the comments of the headers that projects include, and is up to date."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def program():
    spec = importlib.util.spec_from_file_location("make_api", ROOT / "docs/make_api.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its dataclasses look up their annotations
    spec.loader.exec_module(module)
    return module


def test_the_document_is_up_to_date(program):
    assert program.OUTPUT.read_text() == program.document(), (
        "write it again: build/venv/bin/python docs/make_api.py"
    )


def test_what_problems_are_written_with_is_in_it():
    text = (ROOT / "docs/api.md").read_text()
    for name in ("check", "prepare", "bytes", "flops", "equal", "close", "counts_only", "variant"):
        assert re.search(rf"^\| `[^`]*\b{name}\([^`]*` \| \w", text, re.M), name
    for name in ("Problem", "Size", "Input", "Output", "InOut", "measure", "EXPECT_BUDGET"):
        assert f"\n### {name}\n" in text, name
    assert "|got - expected\\| &lt;= tolerance * max(1, \\|expected\\|)" in text


HEADER = """#pragma once
#include <vector>
namespace some {
/// No comment of a name.
#define SOME(name) \\
  void name() { }

/// A class: {braces} in words.
template <typename T>
class Kept : public Base<T> {
 public:
  /// Makes it.
  explicit Kept(int n, Place where = Place::here())
      : n_(n) {}
  /// A text with a ) in it.
  std::string text(const char* = "}") const { return "{"; }
  int count() const { return n_; }  ///< elements
  void not_said();
  /// Of the base.
  void reset() override {}

 protected:
  /// Not for all.
  void hidden();

 private:
  int n_;
};

// Not of the documentation.
struct Unsaid {
  int x = 0;  ///< said
};

/// Two lines
/// of words.
int function(int a,
             int b);
}  // namespace some
"""


def test_declarations_are_read_without_bodies_and_with_their_comments(program):
    define, kept, function = program.parsed(HEADER.splitlines())
    assert (define.name, define.code) == ("SOME", "SOME(name)")
    assert kept.code == "template <typename T> class Kept : public Base<T>"
    assert [(member.code, member.comment) for member in kept.members] == [
        ("explicit Kept(int n, Place where = Place::here())", "Makes it."),
        ('std::string text(const char* = "}") const', "A text with a ) in it."),
        ("int count() const", "elements"),
    ]
    assert (function.code, function.comment) == (
        "int function(int a, int b)",
        "Two lines\nof words.",
    )


def test_a_name_that_is_in_no_section_is_an_error(program, tmp_path, monkeypatch):
    header = tmp_path / "more.h"
    header.write_text("/// Does more.\nvoid one_more();\n")
    monkeypatch.setattr(program, "HEADERS", [*program.HEADERS, header])
    with pytest.raises(ValueError, match="one_more: see SECTIONS"):
        program.document()


def test_a_name_that_has_lost_its_comment_is_an_error(program, monkeypatch):
    monkeypatch.setattr(program, "HEADERS", program.HEADERS[1:])
    with pytest.raises(ValueError, match="see SECTIONS and INTERNAL, or its comment"):
        program.document()


def test_words_that_look_like_tags_are_text(program):
    assert program.as_markdown("a < b, <gtest/gtest.h> and `<family>`") == (
        "a &lt; b, `<gtest/gtest.h>` and `<family>`"
    )

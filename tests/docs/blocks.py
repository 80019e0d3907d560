"""Reads the fenced blocks, links and headings of a document, and the marks of its blocks.

The line before a block may be a comment that Markdown does not show:

    <!-- runs -->                      sh: it is run in a scratch folder and exits with 0
    <!-- runs: exit 1 -->              it exits with 1
    <!-- runs, first: COMMAND -->      COMMAND is run before it; also after `exit 1`
    <!-- not run: REASON -->           such as: it needs a GPU
    <!-- prints -->                    text: stdout of the block before it; "..." matches anything
    <!-- from: PATH -->                its lines are in this file of the repository
"""

import re
from dataclasses import dataclass

FENCE = re.compile(
    r"^(?:<!--\s*(?P<mark>(?:(?!-->).)*?)\s*-->\n+)?```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.M | re.S,
)
RUNS = re.compile(r"runs(?:: exit (?P<code>\d))?(?:, first: (?P<first>.+))?$")


@dataclass(frozen=True)
class Block:
    """A fenced block; `line` is that of its first line of text."""

    language: str
    text: str
    mark: str
    line: int

    @property
    def is_run(self):
        return self.language == "sh" and RUNS.match(self.mark) is not None

    @property
    def exit_code(self):
        return int(RUNS.match(self.mark)["code"] or 0)

    @property
    def first(self):
        """Commands that set up what the document assumes."""
        command = RUNS.match(self.mark)["first"]
        return [command] if command else []

    @property
    def reason(self):
        return self._after("not run:")

    @property
    def prints(self):
        return self.language == "text" and self.mark == "prints"

    @property
    def source(self):
        return self._after("from:")

    def _after(self, word):
        return self.mark.removeprefix(word).strip() if self.mark.startswith(word) else ""


def blocks_of(path):
    text = path.read_text()
    return [
        Block(
            found["language"],
            found["text"],
            found["mark"] or "",
            text.count("\n", 0, found.start("text")) + 1,
        )
        for found in FENCE.finditer(text)
    ]


def without_blocks(path):
    return FENCE.sub("", path.read_text())


def links_of(path):
    """Targets of links within the repository."""
    links = re.findall(r"\]\(([^)\s]+)\)", without_blocks(path))
    return [link for link in links if not re.match(r"[a-z]+:", link)]


def follow_links(path, root):
    """Holds that each link within the repository leads to a file below `root`, and to a heading of
    it; how many there are."""
    links = links_of(path)
    for link in links:
        file, _, heading = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.is_relative_to(root) and target.exists(), f"{path.name}: {link}"
        if heading:
            assert heading in headings_of(target), f"{path.name}: {link}: no such heading"
    return len(links)


def headings_of(path):
    """Headings in the form that links use."""
    headings = re.findall(r"^#+ (.+)$", without_blocks(path), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}

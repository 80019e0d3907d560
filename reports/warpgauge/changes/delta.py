"""What changed against a base, for the formats that show it: the file of `warpgauge diff --json`
(harness/diff/diff.schema.json), and the findings that the base has as well."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from jsonschema_rs import Draft202012Validator

from warpgauge.documents import read_document
from warpgauge.errors import CommandError
from warpgauge.facts import contract
from warpgauge.outcome.results import Finding, Results
from warpgauge.text import rounded

SCHEMA = "warpgauge.diff/1"
REMEDY = "write it with `warpgauge diff A B --json FILE`"

_NOT_WORSE = ("better", "unsure")

Key = tuple[str, str | None, str]


@dataclass(frozen=True)
class Delta:
    """The changes since a base, as the comparer wrote them."""

    document: dict[str, Any]
    base_name: str = ""  # of a branch, for people

    @property
    def headline(self) -> str:
        """ "2 kernels worse, 1 better, 40 the same, against main at 1a2b3c4"; the numbers are those
        of the terminal."""
        counts = self.document["headline"].partition(": ")[2]
        return f"{counts}, against {self.base}"

    @property
    def base(self) -> str:
        """ "main at 1a2b3c4"."""
        commits = self.document["a"].get("commits", [])
        at = f" at {commits[0][:9]}" if len(commits) == 1 else ""
        return f"{self.base_name or 'the base'}{at}"

    @property
    def origin(self) -> str:
        """The base: commit, device, toolkit."""
        return self.document["a"]["origin"]

    @property
    def kernels(self) -> list[dict[str, Any]]:
        """Those that changed, the worst first; none where counts of two sources were compared."""
        return self.document.get("kernels", [])

    @property
    def values_before(self) -> dict[Key, str]:
        """What each value that moved was in the base."""
        return {
            (change["id"], change.get("arch"), change["metric"]): rounded(change["a"])
            for change in self.document.get("changes", ())
            if "a" in change
        }

    def known(self, results: Results, base: Results) -> frozenset[Finding]:
        """The findings that the base has, too, and that are not worse now."""
        if self.document["kind"] != "values":
            return frozenset()
        had, moved = {(*_key(finding), finding.verdict) for finding in base.found}, self._moved()
        return frozenset(
            finding
            for finding in results.found
            if (*_key(finding), finding.verdict) in had and _key(finding) not in moved
        )

    def _moved(self) -> set[Key]:
        """The values that are not what they were, and not better."""
        changes: Iterable[dict[str, Any]] = self.document.get("changes", ())
        return {
            (change["id"], change.get("arch"), change["metric"])
            for change in changes
            if change["mark"] not in _NOT_WORSE
        }


def read_delta(path: Path, base_name: str = "") -> Delta:
    """The changes of a file. Raises CommandError if the file has none."""
    document = read_document(path, SCHEMA, REMEDY)
    try:
        contract.hold(_validator(), document)
    except ValueError as error:
        raise CommandError(f"{path}: does not match {SCHEMA}: {error}") from error
    return Delta(document, base_name)


@cache
def _validator() -> Draft202012Validator:
    text = resources.files(__package__).joinpath("diff.schema.json").read_text("utf-8")
    return Draft202012Validator(json.loads(text))


def _key(finding: Finding) -> Key:
    return finding.case, finding.arch, finding.metric

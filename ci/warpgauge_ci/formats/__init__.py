"""The formats: each is a module with one function that turns results into text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from warpgauge_ci.formats import (
    bencher,
    codequality,
    ctest,
    github,
    gitlab_metrics,
    junit,
    markdown,
    sarif,
    smaller_is_better,
    tap,
)
from warpgauge_ci.results import Results


@dataclass(frozen=True)
class Format:
    """How a format is called, the file that --all writes it to, who reads it, who writes it."""

    name: str
    file: str
    reader: str
    render: Callable[[Results], str]


FORMATS = {
    format.name: format
    for format in (
        Format("junit", "junit.xml", "test reports of GitLab, Jenkins and others", junit.render),
        Format("sarif", "warpgauge.sarif", "GitHub code scanning", sarif.render),
        Format("github", "github.txt", "annotations of GitHub Actions", github.render),
        Format("markdown", "summary-ci.md", "job summaries", markdown.render),
        Format("codequality", "gl-code-quality.json", "GitLab Code Quality", codequality.render),
        Format("gitlab-metrics", "gl-metrics.txt", "GitLab metrics reports", gitlab_metrics.render),
        Format("tap", "results.tap", "TAP harnesses", tap.render),
        Format(
            "smaller-is-better",
            "smaller-is-better.json",
            "github-action-benchmark",
            smaller_is_better.render,
        ),
        Format("bencher", "bencher.json", "Bencher", bencher.render),
        Format("ctest", "ctest.txt", "CTest and CDash", ctest.render),
    )
}

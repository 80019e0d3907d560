"""JUnit XML: a test case for each case and architecture."""

from __future__ import annotations

from collections import Counter
from xml.etree import ElementTree

from warpgauge.outcome.limits import Kept
from warpgauge.outcome.results import CaseResult, Results, Value
from warpgauge.text import printable

FILE = "junit.xml"
READER = "test reports of GitLab, Jenkins and others"
ENTRIES = "test cases"
MAX_BYTES = 25_000_000  # GitLab takes 30 MB of all reports of a pipeline
_KINDS = {
    "error": ("error", "Fault"),
    "fail": ("failure", "BudgetExceeded"),
    "better": ("failure", "BetterThanBudget"),
    "unmeasured": ("error", "NotMeasured"),
}
_Texts = dict[tuple[str, str | None, str], str]  # paragraphs by case, architecture and metric


def entries(results: Results) -> list[str]:
    """Test cases with an error or failure for what makes the run red, values as properties, and
    `skipped` where nothing was judged."""
    texts = {(one.case, one.arch, one.metric): one.text for one in results.found}
    tests = [*map(_fault, results.faults), *(_test(case, results, texts) for case in results.cases)]
    return [ElementTree.tostring(test, encoding="unicode") for test in tests]


def document(results: Results, kept: Kept) -> str:
    """The totals are those of all test cases."""
    totals = Counter(map(_total, results.cases))
    totals["errors"] += len(results.faults)
    suite = ElementTree.Element("testsuite", name="warpgauge", tests=str(totals.total()))
    for key in ("failures", "errors", "skipped"):
        suite.set(key, str(totals[key]))
    _add_properties(suite, _of_runs(results) + [("left out", kept.sentence)])
    text = ElementTree.tostring(suite, encoding="unicode", short_empty_elements=False)
    head = text.removesuffix("</testsuite>")
    lines = ["<?xml version='1.0' encoding='utf-8'?>", '<testsuites name="warpgauge">']
    return "\n".join([*lines, head, *kept.entries, "</testsuite>", "</testsuites>"]) + "\n"


def _of_runs(results: Results) -> list[tuple[str, str]]:
    pairs = []
    for run in results.runs:
        devices = ", ".join(device.name for device in run.devices)
        named = {"run": run.id, "commit": run.commit, "toolkit": run.toolkit, "device": devices}
        pairs += [(key, text) for key, text in named.items() if text]
    return pairs


def _total(case: CaseResult) -> str:
    """The total that a case counts for."""
    if case.wrong_values:
        return f"{_KINDS[case.wrong_values[0].verdict][0]}s"
    return "passed" if case.is_judged else "skipped"


def _test(case: CaseResult, results: Results, texts: _Texts) -> ElementTree.Element:
    rest = case.case.removeprefix(f"{case.family}.")
    name = f"{rest} on {case.arch}" if case.arch else rest
    test = ElementTree.Element("testcase", classname=printable(case.family), name=printable(name))
    file, line = case.place
    if file:
        test.set("file", printable(file))
    if line:
        test.set("line", str(line))
    for value in case.values:
        if value.metric == "time.median_us" and value.value is not None:
            test.set("time", f"{value.value / 1e6:.9f}")
    _add_properties(test, [(one.metric, _plain(one.value)) for one in case.values])
    if case.wrong_values:
        _add_problem(test, case, results, texts)
    elif not case.is_judged:
        reasons = dict.fromkeys(value.problem(results.unit(value)) for value in case.values)
        message = next(iter(reasons), "no budget for any of its values")
        ElementTree.SubElement(test, "skipped", message=message)
    return test


def _add_problem(
    test: ElementTree.Element, case: CaseResult, results: Results, texts: _Texts
) -> None:
    wrong = case.wrong_values
    kind, type_ = _KINDS[wrong[0].verdict]
    problems = [value.problem(results.unit(value)) for value in wrong]
    more = f"; and {len(problems) - 1} more" if len(problems) > 1 else ""
    problem = ElementTree.SubElement(test, kind, message=problems[0] + more, type=type_)
    paragraphs = []
    for value, said in zip(wrong, problems, strict=True):
        text = texts.get((case.case, case.arch, value.metric))
        paragraphs.append(text or _paragraph(case, value, said))
    problem.text = "\n".join(map(printable, "\n\n".join(paragraphs).split("\n")))


def _paragraph(case: CaseResult, value: Value, said: str) -> str:
    """Of a value that is no finding: one that was required and is missing."""
    place = f"at {value.file}:{value.line}" if value.file else ""
    return "\n".join(filter(None, (place, said, f"repeat: {case.repeat}" if case.repeat else "")))


def _fault(text: str) -> ElementTree.Element:
    """A test for an error of the run."""
    test = ElementTree.Element("testcase", classname="warpgauge", name="run")
    ElementTree.SubElement(test, "error", message=text, type="Fault")
    return test


def _add_properties(element: ElementTree.Element, pairs: list[tuple[str, str]]) -> None:
    pairs = [(name, text) for name, text in pairs if text]
    if pairs:
        properties = ElementTree.SubElement(element, "properties")
        for name, text in pairs:
            ElementTree.SubElement(properties, "property", name=name, value=printable(text))


def _plain(value: float | str | None) -> str:
    return "" if value is None else str(value)

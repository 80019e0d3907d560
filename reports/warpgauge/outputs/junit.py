"""JUnit XML: a test case for each case and architecture."""

from __future__ import annotations

from collections import Counter
from xml.etree import ElementTree

from warpgauge.outcome.limits import kept
from warpgauge.outcome.results import CaseResult, Finding, Results
from warpgauge.text import printable

FILE = "junit.xml"
READER = "test reports of GitLab, Jenkins and others"
MAX_BYTES = 25_000_000  # GitLab takes 30 MB of all reports of a pipeline
_KINDS = {
    "error": ("error", "Fault"),
    "fail": ("failure", "BudgetExceeded"),
    "better": ("failure", "BetterThanBudget"),
    "unmeasured": ("error", "NotMeasured"),
}


def render(results: Results) -> str:
    """JUnit XML with an error or failure for what makes the run red, values as properties, and
    `skipped` for cases of which nothing was judged."""
    totals: Counter[str] = Counter()
    texts = {(one.case, one.arch, one.metric): one for one in results.findings}
    tests = []
    for case in results.cases:
        kind, test = _test(case, results, texts)
        totals.update((kind, "tests"))
        tests.append(ElementTree.tostring(test, encoding="unicode"))
    for fault in results.faults:
        totals.update(("errors", "tests"))
        tests.append(ElementTree.tostring(_fault(fault), encoding="unicode"))
    shown = kept(tests, MAX_BYTES)
    suite = ElementTree.Element("testsuite", name="warpgauge")
    for key in ("tests", "failures", "errors", "skipped"):
        suite.set(key, str(totals[key]))
    _add_properties(suite, _of_runs(results) + [("left out", shown.sentence)])
    text = ElementTree.tostring(suite, encoding="unicode", short_empty_elements=False)
    head = text.removesuffix("</testsuite>")
    lines = ["<?xml version='1.0' encoding='utf-8'?>", '<testsuites name="warpgauge">']
    return "\n".join([*lines, head, *shown.parts, "</testsuite>", "</testsuites>"]) + "\n"


def _of_runs(results: Results) -> list[tuple[str, str]]:
    pairs = []
    for run in results.runs:
        devices = ", ".join(device.name for device in run.devices)
        named = {"run": run.id, "commit": run.commit, "toolkit": run.toolkit, "device": devices}
        pairs += [(key, text) for key, text in named.items() if text]
    return pairs


def _test(
    case: CaseResult, results: Results, texts: dict[tuple, Finding]
) -> tuple[str, ElementTree.Element]:
    """The total that a case counts for, and its element."""
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
        kind, type_ = _KINDS[case.wrong_values[0].verdict]
        _add_problem(test, kind, type_, case, results, texts)
        return f"{kind}s", test
    if not case.is_judged:
        reasons = dict.fromkeys(value.problem(results.unit(value)) for value in case.values)
        message = next(iter(reasons), "no budget for any of its values")
        ElementTree.SubElement(test, "skipped", message=message)
        return "skipped", test
    return "passed", test


def _add_problem(
    test: ElementTree.Element,
    kind: str,
    type_: str,
    case: CaseResult,
    results: Results,
    texts: dict[tuple, Finding],
) -> None:
    wrong = case.wrong_values
    problems = [value.problem(results.unit(value)) for value in wrong]
    more = f"; and {len(problems) - 1} more" if len(problems) > 1 else ""
    problem = ElementTree.SubElement(test, kind, message=problems[0] + more, type=type_)
    paragraphs = []
    for value, said in zip(wrong, problems, strict=True):
        finding = texts.get((case.case, case.arch, value.metric))
        place = f" at {value.file}:{value.line}" if value.file else ""
        paragraphs.append(finding.text if finding and finding.text else said + place)
    text = "\n\n".join([*paragraphs, f"repeat: {case.repeat}" if case.repeat else ""]).strip()
    problem.text = "\n".join(map(printable, text.split("\n")))


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

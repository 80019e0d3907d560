"""JUnit XML: a suite for each architecture, a test case for each case of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from xml.etree import ElementTree

from warpgauge.facts.records import Fact
from warpgauge.outcome import words
from warpgauge.outcome.results import Case, Results
from warpgauge.text import printable

FILE = "junit.xml"
READER = "test reports of GitLab, Jenkins and others"

# How a case is shown by the verdict of the worst fact that makes the run red.
_KINDS = {
    "error": ("error", "Fault"),
    "fail": ("failure", "BudgetExceeded"),
    "better": ("failure", "BetterThanBudget"),
    "unmeasured": ("error", "NotMeasured"),
}


def render(results: Results) -> str:
    """JUnit XML with an error or failure for what makes the run red, all values as properties, and
    `skipped` for cases of which nothing was judged."""
    suites: dict[str | None, list[Case]] = defaultdict(list)
    for case in results.cases:
        suites[case.arch].append(case)
    root = ElementTree.Element("testsuites", name="warpgauge")
    totals: Counter[str] = Counter()
    for arch in sorted(suites, key=lambda arch: (arch is None, arch)):
        totals += _add_suite(root, arch, suites[arch], results)
    if results.unexplained:
        totals += _add_run(root, results.unexplained)
    _set_totals(root, totals)
    ElementTree.indent(root, " ")
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _add_suite(
    root: ElementTree.Element, arch: str | None, cases: list[Case], results: Results
) -> Counter[str]:
    facts = [fact for case in cases for fact in case.facts]
    name = f"warpgauge.{printable(arch)}" if arch else "warpgauge"
    first = min(fact.time for fact in facts).removesuffix("Z")
    suite = ElementTree.SubElement(root, "testsuite", name=name, timestamp=first)
    known = {
        "run": words.each(fact.run for fact in facts),
        "commit": words.commits(facts),
        "toolkit": words.each(fact.toolkit for fact in facts),
        "device": words.devices(facts),
    }
    _add_properties(suite, [(key, text) for key, text in known.items() if text])
    totals: Counter[str] = Counter(tests=len(cases))
    for case in cases:
        totals[_add_case(suite, case, results)] += 1
    _set_totals(suite, totals)
    return totals


def _add_run(root: ElementTree.Element, problem: str) -> Counter[str]:
    """A suite for what no case tells."""
    totals = Counter(tests=1, errors=1)
    suite = ElementTree.SubElement(root, "testsuite", name="warpgauge.run")
    test = ElementTree.SubElement(suite, "testcase", classname="warpgauge", name="run")
    ElementTree.SubElement(test, "error", message=problem, type="Fault")
    _set_totals(suite, totals)
    return totals


def _set_totals(element: ElementTree.Element, totals: Counter[str]) -> None:
    for key in ("tests", "failures", "errors", "skipped"):
        element.set(key, str(totals[key]))


def _add_case(suite: ElementTree.Element, case: Case, results: Results) -> str:
    """Returns the total that it counts for."""
    first = case.facts[0]
    test = ElementTree.SubElement(
        suite,
        "testcase",
        classname=printable(first.family),
        name=printable(case.id.removeprefix(first.family + ".")),
    )
    if case.blamed.file:
        test.set("file", printable(case.blamed.file))
    if case.blamed.line:
        test.set("line", str(case.blamed.line))
    for fact in case.facts:
        if fact.metric == "time.median_us" and fact.value is not None:
            test.set("time", f"{fact.value / 1e6:.9f}")
    measured = [fact for fact in case.facts if fact.value is not None]
    _add_properties(test, [(fact.metric, str(fact.value)) for fact in measured])
    if case.wrong:
        kind, name = _KINDS[case.wrong[0].verdict]
        _add_problem(test, kind, name, case.wrong, results)
        return f"{kind}s"
    unmeasured = sorted({words.reason(fact) for fact in case.having("unmeasured")})
    if not case.is_judged:
        message = words.some(unmeasured, 3) or "no budget for any of its values"
        ElementTree.SubElement(test, "skipped", message=message)
        return "skipped"
    remarks = [words.paragraph(fact, results) for fact in case.having("environment", "waived")]
    remarks += [f"UNMEASURED {reason}" for reason in unmeasured]
    if remarks:
        ElementTree.SubElement(test, "system-out").text = "\n\n".join(remarks)
    return "passed"


def _add_problem(
    test: ElementTree.Element, kind: str, name: str, facts: list[Fact], results: Results
) -> None:
    judged = [fact for fact in facts if fact.verdict != "unmeasured"]
    missing = words.required(facts)
    problems = [words.problem(fact) for fact in judged] + missing
    more = f"; and {len(problems) - 1} more" if len(problems) > 1 else ""
    problem = ElementTree.SubElement(test, kind, message=problems[0] + more, type=name)
    paragraphs = [words.paragraph(fact, results) for fact in judged]
    problem.text = "\n\n".join(paragraphs + missing)


def _add_properties(element: ElementTree.Element, pairs: list[tuple[str, str]]) -> None:
    if pairs:
        properties = ElementTree.SubElement(element, "properties")
        for name, value in pairs:
            ElementTree.SubElement(properties, "property", name=name, value=printable(value))

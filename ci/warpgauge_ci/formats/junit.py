"""JUnit XML: a suite for each architecture, a test case for each case of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from xml.etree import ElementTree

from warpgauge_report.facts import Fact
from warpgauge_report.output import printable

from warpgauge_ci import words
from warpgauge_ci.results import Case, Results


def render(results: Results) -> str:
    """JUnit XML with an error or failure for what is wrong, all values as properties, and
    `skipped` for cases of which nothing was judged."""
    suites: dict[str | None, list[Case]] = defaultdict(list)
    for case in results.cases:
        suites[case.arch].append(case)
    root = ElementTree.Element("testsuites", name="warpgauge")
    totals: Counter[str] = Counter()
    for arch in sorted(suites, key=lambda arch: (arch is None, arch)):
        totals += _add_suite(root, arch, suites[arch], results)
    _set_totals(root, totals)
    ElementTree.indent(root, " ")
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _add_suite(
    root: ElementTree.Element, arch: str | None, cases: list[Case], results: Results
) -> Counter[str]:
    first = cases[0].facts[0]
    name = f"warpgauge.{printable(arch)}" if arch else "warpgauge"
    suite = ElementTree.SubElement(
        root, "testsuite", name=name, timestamp=first.time.removesuffix("Z")
    )
    known = {
        "run": first.run,
        "commit": first.commit and first.commit + (" with changes" if first.dirty else ""),
        "toolkit": first.toolkit,
        "device": words.device_name(fact for case in cases for fact in case.facts),
    }
    _add_properties(suite, [(key, text) for key, text in known.items() if text])
    totals: Counter[str] = Counter(tests=len(cases))
    for case in cases:
        totals[_add_case(suite, case, results)] += 1
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
    errors, failures = case.having("error"), case.having("fail")
    if errors:
        _add_problem(test, "error", "Fault", errors + failures, results)
        return "errors"
    if failures:
        _add_problem(test, "failure", "BudgetExceeded", failures, results)
        return "failures"
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
    more = f"; and {len(facts) - 1} more" if len(facts) > 1 else ""
    message = words.problem(facts[0]) + more
    problem = ElementTree.SubElement(test, kind, message=message, type=name)
    problem.text = "\n\n".join(words.paragraph(fact, results) for fact in facts)


def _add_properties(element: ElementTree.Element, pairs: list[tuple[str, str]]) -> None:
    if pairs:
        properties = ElementTree.SubElement(element, "properties")
        for name, value in pairs:
            ElementTree.SubElement(properties, "property", name=name, value=printable(value))

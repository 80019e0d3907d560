"""JUnit XML: a test case for each case and architecture."""

from __future__ import annotations

from collections import Counter

from warpgauge.outcome.limits import Kept
from warpgauge.outcome.results import CaseResult, Results, Value
from warpgauge.text import printable
from warpgauge.xml import element, escaped, start

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
    texts = {
        (finding.case, finding.arch, finding.metric): finding.text for finding in results.found
    }
    tests = (_test(case, results, texts) for case in results.cases)
    return [*map(_fault, results.faults), *tests]


def document(results: Results, kept: Kept) -> str:
    """The totals are those of all test cases."""
    totals = Counter(map(_total, results.cases))
    totals["errors"] += len(results.faults)
    counts = {key: str(totals[key]) for key in ("failures", "errors", "skipped")}
    suite = {"name": "warpgauge", "tests": str(totals.total())} | counts
    head = f"{start('testsuite', suite)}>"
    head += _properties([*_of_runs(results), ("left out", kept.sentence)], "")
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


def _test(case: CaseResult, results: Results, texts: _Texts) -> str:
    rest = case.case.removeprefix(f"{case.family}.")
    name = f"{rest} on {case.arch}" if case.arch else rest
    test = {"classname": case.family, "name": name}
    file, line = case.place
    if file:
        test["file"] = file
    if line:
        test["line"] = str(line)
    for value in case.values:
        if value.metric == "time.median_us" and isinstance(value.value, (int, float)):
            test["time"] = f"{value.value / 1e6:.9f}"
    content = _properties([(value.metric, _plain(value.value)) for value in case.values])
    if case.wrong_values:
        content += _problem(case, results, texts)
    elif not case.is_judged:
        reasons = (value.problem(results.unit(value)) for value in case.values)
        message = next(reasons, "no budget for any of its values")
        content += element("skipped", {"message": message})
    return element("testcase", test, content or None)


def _problem(case: CaseResult, results: Results, texts: _Texts) -> str:
    wrong = case.wrong_values
    kind, type_ = _KINDS[wrong[0].verdict]
    problems = [value.problem(results.unit(value)) for value in wrong]
    more = f"; and {len(problems) - 1} more" if len(problems) > 1 else ""
    paragraphs = []
    for value, said in zip(wrong, problems, strict=True):
        text = texts.get((case.case, case.arch, value.metric))
        paragraphs.append(text or _paragraph(case, value, said))
    text = "\n".join(map(printable, "\n\n".join(paragraphs).split("\n")))
    return element(kind, {"message": problems[0] + more, "type": type_}, escaped(text))


def _paragraph(case: CaseResult, value: Value, said: str) -> str:
    """Of a value that is no finding: one that was required and is missing."""
    place = f"at {value.file}:{value.line}" if value.file else ""
    return "\n".join(filter(None, (place, said, f"repeat: {case.repeat}" if case.repeat else "")))


def _fault(text: str) -> str:
    """A test for an error of the run."""
    error = element("error", {"message": text, "type": "Fault"})
    return element("testcase", {"classname": "warpgauge", "name": "run"}, error)


def _properties(pairs: list[tuple[str, str]], content: str | None = None) -> str:
    known = ({"name": name, "value": text} for name, text in pairs if text)
    all_of_them = "".join([element("property", attributes, content) for attributes in known])
    return element("properties", {}, all_of_them) if all_of_them else ""


def _plain(value: float | str | None) -> str:
    return "" if value is None else str(value)

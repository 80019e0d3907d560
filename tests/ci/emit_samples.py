"""Results (results.json) to draw in the formats of CI systems."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from warpgauge.outcome.reader import SCHEMA, read_results
from warpgauge.outputs import FORMATS

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"
GOLDEN = Path(__file__).resolve().parent / "golden"
CONFLICTS = "shared.bank_conflicts"
FILE = "kernels/transpose/family.cu"
UNITS = {CONFLICTS: "wavefronts", "time.median_us": "us", "occupancy.limiter": "resource"}
UNITS |= {"result.correct": "bool", "occupancy.theoretical": "fraction"}
RUN = {"run": "20260501T230000Z-1f2e3d4c", "time": "2026-05-01T23:00:00Z", "commit": "3b1f0c7"}
RUN |= {"dirty": False, "toolkit": "13.0", "devices": [{"name": "NVIDIA H100"}]}

# Names that try to end a string, a tag, a cell, a line or a comment, or to reverse text.
HOSTILE = (
    "\"'><script>alert(1)</script>]]><!--|`*_[x](javascript:1)\\{0}%0A::error::x # SKIP\r\n"
    "::warning::y\n\x1b[31m\x01\u202egnp\u2028@everyone ${{ x }} $(id) ,:;&amp;\ufffe"
)


def a_value(verdict: str = "pass", value: Any = 0, metric: str = CONFLICTS, **members: Any) -> dict:
    known = {"metric": metric, "verdict": verdict, "source": "cupti", "budget": "= 0 (padded)"}
    wrong = {"wrong": True} if verdict in ("error", "fail") else {}
    return _present(known | {"value": value} | wrong | members)


def a_case(variant: str, *values: dict, arch: str | None = "sm_90", **members: Any) -> dict:
    """A case of transpose; its verdict is that of its first value."""
    values = values or (a_value(),)
    known = {"case": f"transpose.{variant}.f32@1024", "family": "transpose", "variant": variant}
    known |= {"type": "f32", "size": "1024", "kind": "catalogue", "arch": arch, "run": RUN["run"]}
    known |= {"file": FILE, "line": 40, "verdict": values[0]["verdict"]}
    known |= {"wrong": any(value.get("wrong") for value in values), "values": list(values)}
    return _present(known | {"repeat": f"ci/gate --filter {known['case']}"} | members)


def a_finding(case: dict, value: dict, **members: Any) -> dict:
    """The finding of a value, in the group of its variant."""
    place = {"file": value.get("file", FILE), "line": value.get("line", 42), "share": 1.0}
    title = f"{case['case']} on {case.get('arch', 'no device')}"
    unit = UNITS[value["metric"]]
    text = "" if value.get("value") is None else f"{value['value']} {unit}"
    group = (value["verdict"], value["metric"], case["family"], case["variant"])
    known = {"group": _fingerprint(*group), "verdict": value["verdict"]}
    known |= {"wrong": value.get("wrong", False), "case": case["case"]}
    known |= {"arch": case.get("arch"), "metric": value["metric"]}
    known |= {"value": value.get("value"), "unit": unit, "value_text": text or "not measured"}
    known |= {
        "budget": value.get("budget"),
        "reason": value.get("reason"),
        "repeat": case["repeat"],
    }
    known |= {"meaning": "Passes taken beyond the ideal.", "cure": "Pad each row."}
    known |= {"blame": [place | {"text": "s[2 * t] = a[i];"}]}
    known["fingerprint"] = _fingerprint(title, value["metric"])
    known |= {
        "would": value.get("would"),
        "text": f"FAIL {title}: {value['metric']}\n  value {text}\n  repeat {case['repeat']}\n",
    }
    return _present(known | members)


def a_document(*cases: dict, findings: list[dict] | None = None, **members: Any) -> dict:
    """results.json of these cases; without findings, those of their values that are not fine."""
    if findings is None:
        findings = [
            a_finding(case, value)
            for case in cases
            for value in case["values"]
            if value["verdict"] in ("error", "fail", "moved") or value.get("would")
        ]
    counts: dict[str, int] = {}
    for case in cases:
        for value in case["values"]:
            counts[value["verdict"]] = counts.get(value["verdict"], 0) + 1
    code = 2 if counts.get("error") else 1 if counts.get("fail") else 0
    headline = f"{('PASS', 'FAIL', 'ERROR')[code]}: {counts.get('fail', 0)} over budget"
    known = {"schema": SCHEMA, "status": ("pass", "fail", "error")[code], "exit_code": code}
    known |= {"headline": headline, "cases_total": len(cases), "checks": sum(counts.values())}
    family = {"family": "transpose", "cases": len(cases), "checks": 1, "counts": counts}
    known |= {"counts": counts, "runs": [RUN], "families": [family], "findings": findings}
    known |= {"unmeasured": [], "lost": [], "left_out": [], "units": UNITS, "cases": list(cases)}
    return known | members


def one_of_each_verdict() -> dict:
    """A case for each verdict, the worst first."""
    fault = a_value("error", None, "result.correct", reason="it crashed", budget=None)
    fail = a_value("fail", 9, file=FILE, line=42)
    blind = a_value("unmeasured", None, reason="unmeasured: no CUPTI")
    unsure = a_value("unmeasured", 31, would="fail", confidence="estimate")
    return a_document(
        a_case("crash", fault),
        a_case("bad", fail, a_value("pass", 1500.0, "time.median_us", interval=[1400.0, 1600.0])),
        a_case("slow", a_value("moved", 9, reason="9 is over its budget with the same code")),
        a_case("let", a_value("waived", 9)),
        a_case("good", a_value("better", 0, budget="<= 3")),
        a_case("right"),
        a_case("free", a_value("unbudgeted", 0, budget=None)),
        a_case("blind", blind),
        a_case("unsure", unsure),
        unmeasured=[{"reason": "unmeasured: no CUPTI", "count": 1, "required": 0}],
    )


def hostile() -> dict:
    """The same, with hostile text wherever a run can choose it."""
    return _hostile(one_of_each_verdict())


def grouped() -> dict:
    """Findings of one group over architectures and sizes, and one of another that is worse than
    some of them."""

    def at(size: str, arch: str, value: int, variant: str = "tiled") -> dict:
        name = f"transpose.{variant}.f32@{size}"
        return a_case(variant, a_value("fail", value), arch=arch, case=name, size=size)

    return a_document(
        at("1024", "sm_90", 64),
        at("1000", "sm_75", 32),
        at("1024", "sm_80", 16, "padded"),
        at("1024", "sm_75", 9, "padded"),
        at("1024", "sm_80", 8),
        at("1024", "sm_75", 4),
    )


def many(count: int, prefix: str = "") -> dict:
    """So many cases that fail, the worst first, of variants whose names begin with the prefix."""
    cases = [
        a_case(f"{prefix}v{i}", a_value("fail", 10 + count - i, line=42)) for i in range(count)
    ]
    return a_document(*cases)


def results(document: dict, folder: Path):
    """The document as it is read from a file in the folder."""
    path = folder / "results.json"
    path.write_text(json.dumps(document))
    return read_results([path])


def rendered(name: str, document: dict, folder: Path) -> str:
    return FORMATS[name].draw(results(document, folder)).text


_CHOSEN = ("case", "family", "variant", "type", "size", "arch", "file", "reason", "budget")
_CHOSEN += ("text", "repeat", "run", "commit", "toolkit", "headline", "name", "value_text")


def _hostile(part: Any, key: str = "") -> Any:
    if isinstance(part, dict):
        return {name: _hostile(item, name) for name, item in part.items()}
    if isinstance(part, list):
        return [_hostile(item, key) for item in part]
    return part + HOSTILE if key in _CHOSEN and isinstance(part, str) else part


def _fingerprint(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _present(members: dict) -> dict:
    return {key: value for key, value in members.items() if value is not None}

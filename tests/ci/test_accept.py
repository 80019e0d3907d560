"""`warpgauge accept`: which lines change and how, and what is printed."""

import datetime
import re

import pytest
from accept_project import (
    CONFLICTS,
    REGISTERS,
    TIME,
    WHY,
    Project,
    a_fact,
    a_time,
    conflicts,
    outside_of_ci,
)


@pytest.fixture
def project(tmp_path, capsys, monkeypatch):
    outside_of_ci(monkeypatch)
    return Project(tmp_path, capsys)


BUDGETS = """\
# Budgets of transpose.   (two   spaces)

gate_on = "exact"\t# a tab

[default]
"global.excess_sectors" = { equal = 0 , reason = "whole sectors" }   # kept
registers = 20 # of all

# About tiled.
["tiled.f32@8x8"]
'shared.bank_conflicts' = { reason = "31 more", equal = 1_000 }   # in  each row

    ["naive.f32"]
    registers = 0x20


["tiled.f32".sm_75]
registers = { max = 30, until = 2999-01-31, reason = "a waiver" }
# The end."""


def test_only_the_line_that_moved_changes(project):
    project.write(BUDGETS)
    fact = conflicts(1500, budget="= 1000", budget_reason="31 more")
    assert project.accept([fact], *WHY) == 0, project.err
    assert project.text() == BUDGETS.replace(
        '{ reason = "31 more", equal = 1_000 }', '{ equal = 1500, reason = "theory says so" }'
    )
    assert "wrote " in project.err


BASELINE = 'reason = "baseline of 2026-01-01"'


@pytest.mark.parametrize(
    "before, after",
    [
        ('registers = 20\n\n["tiled.f32@8x8"]\nLINE\n', "registers = 20\n"),
        ('["tiled.f32@8x8"]\nLINE\n', ""),
        ('["tiled.f32@8x8"]\nLINE\nregisters = 9\n', '["tiled.f32@8x8"]\nregisters = 9\n'),
        ('["tiled.f32@8x8"]\nregisters = 9\nLINE # x\n', '["tiled.f32@8x8"]\nregisters = 9\n'),
        ('["naive"]\nx\n\n["tiled.f32@8x8".sm_90]\nLINE\n', '["naive"]\nx\n'),
    ],
)
def test_a_line_that_says_what_is_built_in_goes(project, before, after):
    line = f'"shared.bank_conflicts" = {{ equal = 992, {BASELINE} }}'
    default = "[default]\n" if before.startswith("registers") else ""
    before, after = (text.replace("x\n", "registers = 1\n") for text in (before, after))
    project.write(default + before.replace("LINE", line))
    fact = conflicts(0, "better", budget="= 992", budget_reason="baseline of 2026-01-01")
    assert project.accept([fact], "--tighten") == 0, project.err
    assert project.text() == default + after
    assert "| `= 992` | `= 0` | built in: no line |" in project.out


@pytest.mark.parametrize("wider", ["family", "project"])
def test_a_line_stays_where_another_one_would_hold_without_it(project, wider):
    line = f'["tiled.f32@8x8"]\n"shared.bank_conflicts" = {{ equal = 992, {BASELINE} }}\n'
    above = '[default]\n"shared.bank_conflicts" = 2000\n'
    if wider == "project":
        (project.root / "warpgauge.toml").write_text(above)
        above = ""
    project.write(above + line)
    fact = conflicts(0, "better", budget="= 992", budget_reason="baseline of 2026-01-01")
    assert project.accept([fact], "--tighten") == 0, project.err
    assert project.text() == above + line.replace("992", "0")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_are_kept(project, end):
    project.write(BUDGETS.replace("\n", end))
    facts = [
        conflicts(10, "better", budget="= 1000"),
        a_fact(REGISTERS, 40, "fail", "<= 32", case="transpose.naive.f32@8x8"),
        a_fact("global.excess_sectors", 5, "fail", "= 0"),
    ]
    assert project.accept(facts, *WHY) == 0, project.err
    assert project.text().count("\n") == project.text().count(end)
    assert project.tables()["tiled.f32@8x8"] == {
        CONFLICTS: {"equal": 10, "reason": "31 more"},
        "global.excess_sectors": {"equal": 5, "reason": "theory says so"},
    }


@pytest.mark.parametrize(
    "waivers",
    [
        'waive = [{ rule = "race", lines = ["a.cu:3"], reason = "meant" }]\n',
        'waive = [\n  { rule = "race", lines = ["a.cu:3"], reason = "meant" },\n]\n',
        '[["tiled.f32@8x8".waive]]\nrule = "race"\nlines = ["a.cu:3"]\nreason = "meant"\n',
    ],
)
def test_waivers_of_findings_are_kept(project, waivers):
    limit = '"shared.bank_conflicts" = { equal = 1000, reason = "31 more" }\n'
    before = f'["tiled.f32@8x8"]\n{limit}{waivers}'
    project.write(before)
    fact = conflicts(1500, budget="= 1000", budget_reason="31 more")
    assert project.accept([fact], *WHY) == 0, project.err
    assert project.text() == before.replace("1000", "1500").replace("31 more", "theory says so")


def test_accepting_twice_changes_nothing(project):
    project.write(BUDGETS)
    facts = [
        conflicts(10, "better", budget="= 1000"),
        a_fact(REGISTERS, 40, "fail", "<= 32", case="transpose.naive.f32@8x8"),
        conflicts(7, case="transpose.naive.f32@8x8"),
    ]
    assert project.accept(facts, *WHY) == 0
    once = project.text()
    assert project.accept(facts, *WHY) == 0
    assert project.text() == once
    assert project.out == "nothing to accept: none of 3 judged values moved\n"


@pytest.mark.parametrize(
    "old, budget, metric, value, verdict, new",
    [
        ("20", "<= 20", REGISTERS, 18, "better", 18),
        ("20", "<= 20", REGISTERS, 22, "fail", {"max": 22}),
        ("{ max = 20 }", "<= 20", REGISTERS, 18, "better", {"max": 18}),
        ("{ equal = 20 }", "= 20", REGISTERS, 22, "fail", {"equal": 22}),
        (
            '{ equal = 20, tolerance = "5%" }',
            "= 20 ± 5%",
            *(REGISTERS, 22, "fail", {"equal": 22, "tolerance": "5%"}),
        ),
        ("0.5", ">= 0.5", "occupancy.theoretical", 0.75, "better", 0.75),
        ("{ min = 0.5 }", ">= 0.5", "occupancy.theoretical", 0.25, "fail", {"min": 0.25}),
        (
            "{ min = 4, max = 8 }",
            ">= 4 and <= 8",
            *(REGISTERS, 9, "fail", {"min": 4, "max": 9}),
        ),
        ("{ min = 4, max = 8 }", ">= 4 and <= 8", REGISTERS, 2, "fail", {"min": 2, "max": 8}),
        ('"warps"', "= warps", "occupancy.limiter", "blocks", "fail", {"equal": "blocks"}),
        ("0.5", ">= 0.5", "occupancy.theoretical", 2 / 3, "better", 2 / 3),
    ],
)
def test_the_shape_of_a_limit_is_kept(project, old, budget, metric, value, verdict, new):
    project.write(f'["tiled.f32@8x8"]\n"{metric}" = {old}\n')
    fact = a_fact(metric, value, verdict, budget)
    loosens = verdict == "fail"
    assert project.accept([fact], *(WHY if loosens else [])) == 0, project.err
    expected = {**new, "reason": "theory says so"} if loosens else new
    assert project.tables() == {"tiled.f32@8x8": {metric: expected}}


def test_a_waiver_keeps_its_date_until_it_has_expired(project):
    line = '["tiled.f32@8x8"]\nregisters = {{ max = 20, until = {}, reason = "soon" }}\n'
    project.write(line.format("2999-01-31"))
    assert project.accept([a_fact(REGISTERS, 22, "fail", "<= 20 until 2999-01-31")], *WHY) == 0
    assert project.tables()["tiled.f32@8x8"][REGISTERS]["until"] == datetime.date(2999, 1, 31)
    project.write(line.format("2001-01-31"))
    assert project.accept([a_fact(REGISTERS, 19, "fail", "<= 20 until 2001-01-31")], *WHY) == 0
    assert project.tables()["tiled.f32@8x8"][REGISTERS] == {"max": 19, "reason": "theory says so"}


def test_a_reason_is_for_what_gets_looser(project):
    project.write('["tiled"]\nregisters = { max = 20, reason = "hers" }\n')
    facts = [a_fact(REGISTERS, 18, "better", "<= 20"), conflicts(9)]
    assert project.accept(facts, *WHY) == 0
    assert project.tables()["tiled"][REGISTERS] == {"max": 18, "reason": "hers"}
    assert project.tables()["tiled.f32@8x8"][CONFLICTS]["reason"] == "theory says so"


def test_times_keep_their_tolerance_and_renew_the_code_that_they_name(project):
    line = '"time.median_us" = { max = 10, tolerance = "5%", code = "old" }\n'
    project.write(f'["tiled.f32@8x8"]\n{line}')
    fact = a_time(12.3456, "fail", "<= 10 ± 5%", 12.1, 12.51234)
    assert project.accept([fact], *WHY) == 0, project.err
    assert project.tables()["tiled.f32@8x8"][TIME] == {
        **{"max": 12.52, "tolerance": "5%", "code": "abc", "reason": "theory says so"}
    }
    assert "| `<= 10 ± 5%` (code `old`) | `<= 12.52 ± 5%` (code `abc`) |" in project.out
    assert project.accept([fact], *WHY) == 0
    assert "nothing to accept" in project.out
    project.write(f'["tiled.f32@8x8"]\n{line}')
    assert project.accept([fact | {"code_hash": None}], *WHY) == 0
    assert "code" not in project.tables()["tiled.f32@8x8"][TIME]


def test_a_time_without_code_stays_hard_at_the_worse_end_of_its_interval(project):
    """With the code in its line it could never fail again for that code."""
    project.write('["tiled"]\n"time.median_us" = { max = 10, tolerance = 0.05 }\n')
    fact = a_time(8, "better", "<= 10 ± 5%", 7.7, 8.3)
    assert project.accept([fact], "--tighten") == 0, project.err
    assert project.tables()["tiled"][TIME] == {"max": 8.3, "tolerance": 0.05}
    assert "| `<= 10 ± 5%` | `<= 8.3 ± 5%` |" in project.out


def test_a_new_limit_of_a_time_has_a_tolerance_and_names_the_code_if_asked_to(project):
    fact = a_time(8, "unbudgeted", None, 7.5, 8.5)
    options = ["--baseline", "--metric", TIME]
    expected = {"max": 8.5, "tolerance": "10%", "reason": "baseline of 2026-05-01"}
    assert project.accept([fact], *options) == 0, project.err
    assert project.tables()["tiled.f32@8x8"][TIME] == expected
    project.write("")
    assert project.accept([fact], *options, "--code") == 0, project.err
    assert project.tables()["tiled.f32@8x8"][TIME] == expected | {"code": "abc"}
    assert "| `none` | `<= 8.5 ± 10%` (code `abc`) |" in project.out


def test_a_baseline_takes_what_breaks_a_default_and_the_metrics_that_were_named(project):
    project.write('[default]\n"global.excess_sectors" = 0\n')
    facts = [
        conflicts(5),
        a_fact("global.excess_sectors", 7, "fail", "<= 0"),
        a_fact(REGISTERS, 30, "unbudgeted"),
        a_fact("occupancy.theoretical", 0.5, "unbudgeted"),
        a_fact("occupancy.limiter", "warps", "unbudgeted"),
    ]
    names = ["--metric", REGISTERS, "--metric", "occupancy.theoretical"]
    assert project.accept(facts, "--baseline", *names) == 0, project.err
    reason = {"reason": "baseline of 2026-05-01"}
    assert project.tables() == {
        "default": {"global.excess_sectors": 0},  # of the other cases
        "tiled.f32@8x8": {
            CONFLICTS: {"equal": 5, **reason},
            "global.excess_sectors": {"max": 7, **reason},
            REGISTERS: {"max": 30, **reason},
            "occupancy.theoretical": {"min": 0.5, **reason},
        },
    }
    assert "left alone" not in project.err
    once = project.text()
    assert project.accept(facts, "--baseline", *names) == 0
    assert project.text() == once


def test_a_refusal_does_not_keep_a_baseline_from_the_rest(project):
    project.write("")
    facts = [
        conflicts(5),
        a_fact("result.correct", 0, "fail", "= 1", origin="built-in"),
        a_fact(REGISTERS, 30, "unbudgeted", confidence="estimate", confidence_reason="so"),
    ]
    assert project.accept(facts, "--baseline", "--metric", REGISTERS) == 0, project.err
    assert project.tables() == {
        "tiled.f32@8x8": {CONFLICTS: {"equal": 5, "reason": "baseline of 2026-05-01"}}
    }
    refused = [line for line in project.err.splitlines() if line.startswith("refused: ")]
    assert len(refused) == 2
    assert "a wrong result is never a budget" in refused[0]
    assert "30 is only estimate (so); measure it where it is exact, or begin" in refused[1]
    assert project.accept(facts[1:], "--baseline", "--metric", REGISTERS) == 2
    assert "nothing was written" in project.err


@pytest.mark.parametrize(("gate_on", "code"), [("exact", 2), ("predicted", 2), ("estimate", 0)])
def test_estimates_are_taken_where_the_file_judges_them(project, gate_on, code):
    project.write(f'gate_on = "{gate_on}"\n')
    fact = conflicts(5, confidence="estimate", confidence_reason="spills are not in PTX")
    assert project.accept([fact], *WHY) == code, project.err
    assert ("tiled.f32@8x8" in project.tables()) == (code == 0)


def test_the_table_shows_the_worst_first(project):
    project.write('["tiled"]\nregisters = 20\n')
    facts = [
        a_fact(REGISTERS, 10, "better", "<= 20", case="transpose.tiled.f32@1"),
        a_fact("occupancy.theoretical", 0.5, "fail", ">= 1", case="transpose.b.f32@1"),
        conflicts(5, case="transpose.c.f32@1"),
        conflicts(50, case="transpose.d.f32@1"),
    ]
    project.write(project.text() + '["b"]\n"occupancy.theoretical" = 1\n')
    assert project.accept(facts, *WHY) == 0, project.err
    lines = project.out.splitlines()
    assert lines[0] == "| case | architecture | metric | old | new | reason | where |"
    cases = [line.split("`")[1] for line in lines[2:]]
    assert [case.split(".")[1] for case in cases] == ["c", "d", "b", "tiled"]
    assert lines[2] == (
        "| `transpose.c.f32@1` | `sm_90` | `shared.bank_conflicts` | `= 0` | `= 5` | "
        'theory says so | `kernels/transpose/budgets.toml ["c.f32@1"]` |'
    )


HOSTILE = ['a"b', "a`|b", "<script>", "a\\b", "a]b", "\u202eb", "\u2028b", "#b", "é𝄞"]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_and_reasons_are_data(project, name):
    """They come back as they were from the file, and are no markup in the table."""
    fact = conflicts(5) | {"variant": name}
    assert project.accept([fact], "--reason", f"{name} | \n\x1b[31mwhy") == 0, project.err
    assert project.tables() == {
        f"{name}.f32@8x8": {CONFLICTS: {"equal": 5, "reason": f"{name} | \n\x1b[31mwhy"}}
    }
    (row,) = project.out.splitlines()[2:]
    assert all(letter.isprintable() for letter in row)
    assert len(re.findall(r"(?<!\\)\|", row)) == 8
    reason = re.split(r"(?<!\\)\|", row)[6]
    assert not re.search(r"(?<!\\)[<>`]", reason)
    once = project.text()
    assert project.accept([fact], "--reason", "again") == 0
    assert project.text() == once


def test_a_line_of_the_project_gets_one_of_the_family_above_it(project):
    fact = a_fact(REGISTERS, 40, "fail", "<= 32", origin="warpgauge.toml:2")
    assert project.accept([fact], *WHY) == 0, project.err
    assert project.tables() == {
        "tiled.f32@8x8": {REGISTERS: {"max": 40, "reason": "theory says so"}}
    }


def test_a_ratio_is_a_rule_that_is_changed_by_hand(project):
    project.write('[tiled]\nregisters = { max = 2, of = "naive.f32" }\n')
    limit = {"max": 2, "of": "naive.f32", "reference": 16, "origin": "budgets.toml:2"}
    fact = a_fact(REGISTERS, 40, "fail", limit=limit)
    assert project.accept([fact], *WHY) == 2
    assert "40 is held to a multiple of naive.f32, <= 2 x 16 of naive.f32, which" in project.err

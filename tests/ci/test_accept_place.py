"""`warpgauge accept`: in which section of which file the new line stands."""

import os
from pathlib import Path

import pytest
from accept_project import REGISTERS, WHY, Project, a_fact, conflicts, outside_of_ci
from warpgauge import files as replacing
from warpgauge.errors import CommandError
from warpgauge.files import replace_files


@pytest.fixture
def project(tmp_path, capsys, monkeypatch):
    outside_of_ci(monkeypatch)
    return Project(tmp_path, capsys)


CASES = ["transpose.tiled.f32@8x8", "transpose.tiled.f32@9x9", "transpose.naive.f32@8x8"]


def registers(values, budget="<= 20", arch="sm_90"):
    """A fact for each case that has a value; 20 passes."""
    verdicts = {True: "fail", False: "better"}
    return [
        a_fact(REGISTERS, v, "pass" if v == 20 else verdicts[v > 20], budget, case=case, arch=arch)
        for case, v in zip(CASES, values, strict=True)
        if v is not None
    ]


LOOSER = {"max": 22, "reason": "theory says so"}


@pytest.mark.parametrize(
    "section, values, expected",
    [
        # One case of a family breaks its line: a section of its own.
        ("default", [22, 20, 20], {"default": 20, "tiled.f32@8x8": LOOSER}),
        # All cases of a variant do, alike: its section, and never the family's.
        ("default", [22, 22, 20], {"default": 20, "tiled": LOOSER}),
        ("default", [22, 22, 22], {"default": 20, "tiled": LOOSER, "naive.f32@8x8": LOOSER}),
        # The section that held the limit, where all of it moved.
        ("tiled", [22, 22, 20], {"tiled": LOOSER}),
        # Facts of a part of the cases: the others may keep to the line.
        ("tiled", [22, None, None], {"tiled": 20, "tiled.f32@8x8": LOOSER}),
        ("tiled.f32@8x8", [22, None, None], {"tiled.f32@8x8": LOOSER}),
        ("tiled", [18, None, None], {"tiled": 18}),
        ("tiled.f32", [22, 20, 20], {"tiled.f32": 20, "tiled.f32@8x8": LOOSER}),
        # Differently: each its own.
        (
            "tiled",
            [22, 23, 20],
            {"tiled": 20, "tiled.f32@8x8": LOOSER, "tiled.f32@9x9": {**LOOSER, "max": 23}},
        ),
        # The family's line gets tighter where all of the family did.
        ("default", [18, 18, 18], {"default": 18}),
        ("default", [18, 18, 20], {"default": 20, "tiled": 18}),
        ("default", [18, None, None], {"default": 20, "tiled.f32@8x8": 18}),
    ],
)
def test_the_place_of_the_new_line(project, section, values, expected):
    project.write(f'["{section}"]\nregisters = 20\n')
    facts = registers(values)
    if section != "default" and values[2] is not None:
        facts[-1] = {**facts[-1], "budget": None, "verdict": "unbudgeted"}
    loosens = any(v is not None and v > 20 for v in values)
    assert project.accept(facts, *(WHY if loosens else [])) == 0, project.err
    assert project.tables() == {name: {REGISTERS: limit} for name, limit in expected.items()}


def test_a_line_is_not_loosened_for_cases_that_were_not_measured(project):
    project.write('["tiled"]\nregisters = 20\n')
    facts = registers([22, 22, None])
    lost = {"confidence": None, "confidence_reason": None, "source": None}
    facts.append(
        a_fact(REGISTERS, None, "unmeasured", "<= 20", case="transpose.tiled.f32@7x7", **lost)
    )
    assert project.accept(facts, *WHY) == 0, project.err
    assert project.tables() == {
        "tiled": {REGISTERS: 20},
        "tiled.f32@8x8": {REGISTERS: LOOSER},
        "tiled.f32@9x9": {REGISTERS: LOOSER},
    }


def test_one_architecture_that_moves_gets_a_table_of_its_own(project):
    project.write('["tiled"]\nregisters = 20\n\n["naive"]\nregisters = 20\n')
    facts = registers([22, 22, 20], arch="sm_75") + registers([20, 20, 20], arch="sm_90")
    assert project.accept(facts, *WHY) == 0, project.err
    assert project.text() == (
        '["tiled"]\nregisters = 20\n\n'
        '["tiled".sm_75]\nregisters = { max = 22, reason = "theory says so" }\n\n'
        '["naive"]\nregisters = 20\n'
    )


def test_architectures_that_differ_stand_in_order_behind_their_section(project):
    archs = ("sm_75", "sm_90", "sm_90a", "sm_100f")
    facts = [conflicts(value, arch=arch) for value, arch in enumerate(reversed(archs), start=1)]
    facts += [a_fact(REGISTERS, 9, "unbudgeted", arch=arch) for arch in archs]
    assert project.accept(facts, "--baseline", "--metric", REGISTERS) == 0, project.err
    headers = [line for line in project.text().splitlines() if line.startswith("[")]
    name = '"tiled.f32@8x8"'
    assert headers == [f"[{name}]", *(f"[{name}.{arch}]" for arch in archs)]


def test_a_new_section_does_not_hide_lines_of_architectures_that_were_not_measured(project):
    project.write("[default]\nregisters = 20\n\n[default.sm_75]\nregisters = 30\n")
    assert project.accept(registers([22, 20, 20]), *WHY) == 0
    assert project.tables()["tiled.f32@8x8"] == {"sm_90": {REGISTERS: LOOSER}}


def test_the_line_of_an_architecture_is_rewritten_where_it_stands(project):
    project.write('["tiled.f32"]\nregisters = 20\n["tiled.f32".sm_75]\nregisters = 24 # old\n')
    facts = registers([26, 26, None], "<= 24", "sm_75") + registers([20, 20, None])
    assert project.accept(facts, *WHY) == 0
    assert project.text().endswith(
        '.sm_75]\nregisters = { max = 26, reason = "theory says so" } # old\n'
    )
    assert project.tables()["tiled.f32"][REGISTERS] == 20


def test_a_filter_does_not_hide_the_neighbours_of_a_line(project):
    """Else a line would be loosened for cases that kept to it."""
    project.write('["tiled"]\nregisters = 20\n')
    facts = registers([22, 20, None])
    chosen = ["--filter", "*@8x8,*@1x1", "--filter", "*@16x16", "--exclude", "*@[!8]*"]
    assert project.accept(facts, *chosen, *WHY) == 0
    assert project.tables() == {"tiled": {REGISTERS: 20}, "tiled.f32@8x8": {REGISTERS: LOOSER}}


def test_a_family_without_a_budget_file_gets_one(project):
    assert project.accept([conflicts(5)], *WHY) == 0
    assert project.text() == (
        '["tiled.f32@8x8"]\n"shared.bank_conflicts" = { equal = 5, reason = "theory says so" }\n'
    )


def test_a_new_key_stands_before_the_comment_on_the_next_section(project):
    project.write('["tiled.f32@8x8"]\nregisters = 20\n\n# Of naive.\n[naive]\nregisters = 9\n')
    assert project.accept([conflicts(5)], *WHY) == 0
    lines = project.text().splitlines()
    assert lines[2].startswith('"shared.bank_conflicts" = ')
    assert lines[:2] + lines[3:] == [
        *('["tiled.f32@8x8"]', "registers = 20", "", "# Of naive.", "[naive]", "registers = 9")
    ]


def test_budgets_lie_beside_the_source_that_registers_whatever_lines_are_to_blame(project):
    """As of a gauge at the top of a project whose kernels lie in folders of their own."""
    folder = project.root / "gauge"
    project.add_source("gauge/all.cu")
    registered = {"registered": "gauge/all.cu"}
    facts = [conflicts(5, file="src/gpu/transpose/kernel.cuh", **registered)]
    facts += [a_fact(REGISTERS, 1, "unbudgeted", file="include/shared.cuh", **registered)]
    assert project.accept(facts, *WHY) == 0, project.err
    assert (folder / "budgets.toml").exists() and project.text() is None


def test_two_families_of_one_folder_do_not_overwrite_each_other(project):
    facts = [conflicts(5), conflicts(7, family="reduce")]
    assert project.accept(facts, *WHY) == 2
    assert "families reduce and transpose have one folder" in project.err
    assert "BUDGETS <folder>" in project.err
    assert project.text() is None


@pytest.mark.parametrize(
    "file", ["../../etc/x.cu", "/etc/x.cu", "a/../../../x.cu", "a\0b.cu", None]
)
@pytest.mark.parametrize("family", ["..", "x", "a\\b"])
def test_paths_that_lead_out_of_the_sources_are_not_followed(project, family, file):
    fact = conflicts(5, registered=file) | {"family": family}
    assert project.accept([fact], *WHY) == 2
    assert "which folder below" in project.err


def test_a_source_tree_that_is_not_there_is_reported(project):
    fact = conflicts(5, registered="kernels/elsewhere/family.cu", case="elsewhere.a.f32@1")
    assert project.accept([fact], *WHY) == 2
    assert "name the source tree with --root" in project.err


def test_a_link_is_written_through_and_the_mode_kept(project):
    real = project.root / "real.toml"
    real.write_text('["tiled"]\nregisters = 20\n')
    real.chmod(0o640)
    project.budgets.symlink_to(real)
    assert project.accept([a_fact(REGISTERS, 18, "better", "<= 20")]) == 0
    assert project.budgets.is_symlink()
    assert real.read_text() == '["tiled"]\nregisters = 18\n'
    assert real.stat().st_mode & 0o777 == 0o640


def test_all_files_or_none(tmp_path, monkeypatch):
    """The second rename fails: the first file has its old content again, the new one is gone."""
    old, new, bad = (tmp_path / name for name in ("old", "new", "bad"))
    old.write_text("before")
    bad.write_text("before")
    rename = os.replace

    def fails_once(source, place):
        if Path(place) == bad:
            raise OSError(28, "No space left on device")
        rename(source, place)

    monkeypatch.setattr(replacing.os, "replace", fails_once)
    with pytest.raises(CommandError, match=f"{bad}: cannot be written: No space left on device"):
        replace_files({old: b"after", new: b"after", bad: b"after"})
    assert old.read_text() == bad.read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad", "old"]


@pytest.mark.parametrize("by", ["option", "facts"])
def test_budgets_in_a_folder_of_their_own(project, by):
    """As of builds with warpgauge_add_kernels(... BUDGETS folder), whose facts name it."""
    folder = project.root / "budgets"
    folder.mkdir()
    project.budgets = folder / "transpose.toml"
    project.write('["tiled.f32@8x8"]\nregisters = 20\n')
    options = ["--budgets", folder] if by == "option" else []
    named = {"budgets": "budgets"} if by == "facts" else {}
    facts = [a_fact(REGISTERS, 22, "fail", "<= 20", file="library/elsewhere.cu", **named)]
    assert project.accept(facts, *WHY, *options) == 0, project.err
    assert project.tables() == {"tiled.f32@8x8": {REGISTERS: LOOSER}}
    assert "budgets/transpose.toml" in project.err


@pytest.mark.parametrize("folder", ["../elsewhere", "/elsewhere"])
def test_facts_name_no_folder_for_budgets_outside_of_the_sources(project, folder):
    assert project.accept([conflicts(5, budgets=folder)], *WHY) == 2
    assert f"name {folder} for its budgets, which is not one folder below" in project.err


def test_a_folder_for_budgets_that_is_not_there_is_made(project):
    """As git keeps no folder that is empty."""
    project.budgets = project.root / "none/yet/transpose.toml"
    assert project.accept([conflicts(5)], *WHY, "--budgets", project.root / "none/yet") == 0
    assert project.tables() == {
        "tiled.f32@8x8": {"shared.bank_conflicts": {"equal": 5, "reason": "theory says so"}}
    }


def test_a_project_in_a_folder_of_its_repository_is_found_by_its_program(project, monkeypatch):
    """Facts name files from the top of the project, and people call its program from elsewhere."""
    project.add_source("gauge/first.cu")
    (project.root / "other").mkdir()
    monkeypatch.chdir(project.root / "other")
    facts = [conflicts(5, registered="first.cu")]
    assert project.accept(facts, *WHY, root=None) == 2
    assert "there is no first.cu, which registers it; name the source tree" in project.err
    monkeypatch.setenv("WARPGAUGE_SOURCE_ROOT", str(project.root / "gauge"))
    assert project.accept(facts, *WHY, root=None) == 0, project.err
    project.budgets = project.root / "gauge/budgets.toml"
    assert "equal = 5" in project.text()

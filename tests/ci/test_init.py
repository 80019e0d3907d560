"""`warpgauge init`: what it writes, and what it never overwrites."""

from pathlib import Path

import pytest
import yaml
from warpgauge.program import main

TEMPLATES = Path(__file__).resolve().parents[2] / "reports" / "warpgauge" / "templates"
WRITTEN = {
    "warpgauge.toml": "warpgauge.toml",
    "gauge/first.cu": "first.cu",
    ".github/workflows/kernels.yml": "kernels.yml",
    "CMakeLists.txt": "CMakeLists.txt",
}


def files_in(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_an_empty_folder_gets_all_that_a_gate_needs(tmp_path, capsys):
    folder = tmp_path / "new"
    assert main(["init", str(folder)]) == 0
    assert files_in(folder) == set(WRITTEN)
    for place, template in WRITTEN.items():
        assert (folder / place).read_text() == (TEMPLATES / template).read_text()
    out = capsys.readouterr().out
    assert f"  cd {folder}\n" in out
    assert "\n  build/first gate " in out
    step = yaml.safe_load((folder / ".github/workflows/kernels.yml").read_text())
    gauge = step["jobs"]["gate"]["steps"][-1]["with"]["gauge"]
    assert f"NAME {gauge} SOURCES gauge/first.cu" in (folder / "CMakeLists.txt").read_text()


def test_a_build_that_is_there_gets_lines_and_no_change(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("CMakeLists.txt").write_text("project(mine)\n")
    assert main(["init"]) == 0
    assert files_in(tmp_path) == set(WRITTEN)
    assert Path("CMakeLists.txt").read_text() == "project(mine)\n"
    out = capsys.readouterr().out
    assert "\nwarpgauge_add_kernels(NAME first SOURCES gauge/first.cu)\n" in out
    assert "project(first" not in out and "cd " not in out


@pytest.mark.parametrize("place", ["warpgauge.toml", "gauge/first.cu"])
@pytest.mark.parametrize("dangles", [False, True])
def test_nothing_is_overwritten(tmp_path, capsys, place, dangles):
    file = tmp_path / place
    file.parent.mkdir(exist_ok=True)
    if dangles:
        file.symlink_to(tmp_path / "elsewhere")
    else:
        file.write_text("mine")
    assert main(["init", str(tmp_path)]) == 2
    assert f"{file}: there already; nothing was written" in capsys.readouterr().err
    assert {path for path in tmp_path.rglob("*") if not path.is_dir()} == {file}


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["init", str(tmp_path / "file")]) == 2
    assert f"{tmp_path / 'file'}" in capsys.readouterr().err


def test_all_or_nothing_is_written(tmp_path, capsys):
    (tmp_path / "gauge").write_text("")
    assert main(["init", str(tmp_path)]) == 2
    place = tmp_path / "gauge/first.cu"
    assert capsys.readouterr() == (
        "",
        f"{place}: cannot be written: Not a directory; nothing was\n",
    )
    assert list(tmp_path.iterdir()) == [tmp_path / "gauge"]


@pytest.mark.parametrize("name", ["x" * 300, "a/" + "x" * 300])
def test_a_name_that_is_too_long_is_an_error(tmp_path, capsys, name):
    assert main(["init", str(tmp_path / name)]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.endswith(
        "/warpgauge.toml: cannot be written: File name too long; nothing was\n"
    )
    assert err.count("\n") == 1 and not list(tmp_path.iterdir())


def test_names_of_folders_are_printed_as_text(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["init", "a b\x1b[31m"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out and "wrote a b?[31m/warpgauge.toml\n" in out
    assert "  cd 'a b?[31m'\n" in out

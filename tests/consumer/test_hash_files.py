"""cmake/hash_files, which sees all that a program of kernels is linked with."""

import re
import subprocess

import pytest
from project import ROOT


def archive(folder, variable):
    """A static library with a variable that only its own file refers to."""
    (folder / "one.cpp").write_text(f"struct S {{ S(); int n; }}; static S {variable};\n")
    for command in ("c++ -c -O2 one.cpp", "ar rcs libone.a one.o"):
        subprocess.run(command.split(), cwd=folder, check=True)
    return folder / "libone.a"


@pytest.mark.parametrize(
    ("variable", "code"), [("warpgauge_announced_copy", 2), ("of_another_kind", 0)]
)
def test_registrations_that_the_linker_would_drop_are_an_error(tmp_path, variable, code):
    library = archive(tmp_path, variable)
    source = tmp_path / "files.cpp"
    result = subprocess.run(
        [ROOT / "cmake/hash_files", source, "kFiles", library], capture_output=True, text=True
    )
    assert result.returncode == code, result.stderr
    assert source.exists() == (code == 0)
    assert (f"{library}: has a WARPGAUGE_FAMILY, which the linker would" in result.stderr) == (
        code == 2
    )


def test_each_file_has_its_hash_and_its_families(tmp_path):
    sources = {
        "two.cpp": "static int warpgauge_announced_first; namespace n {\n"
        "static int warpgauge_announced_secondE;\n"
        "int* q() { return &warpgauge_announced_secondE; } }\n"
        "int* p() { return &warpgauge_announced_first; }\n",
        "none.cpp": "int other() { return 1; }\n",
    }

    def lines():
        for name, text in sources.items():
            (tmp_path / name).write_text(text)
            subprocess.run(["c++", "-c", name], cwd=tmp_path, check=True)
        files = [tmp_path / "two.o", tmp_path / "none.o"]
        subprocess.run(
            [ROOT / "cmake/hash_files", tmp_path / "made.cpp", "kFiles", *files], check=True
        )
        return re.findall(r'"(.*)\\n"', (tmp_path / "made.cpp").read_text())

    two, none = lines()
    assert re.fullmatch("[0-9a-f]{16} first secondE", two)
    assert re.fullmatch("[0-9a-f]{16}", none)
    assert lines() == [two, none]
    sources["none.cpp"] = "int other() { return 2; }\n"
    assert lines()[0] == two and lines()[1] != none


def test_when_a_source_was_changed_does_not_count(tmp_path):
    def line(times, code=b"\x01\xc3", name=b"scale.cu"):
        """A table of line numbers as ptxas writes it: names with their directory, time, size."""
        table = b"/src\0\0" + name + b"\0\x01" + times + b"scale.h\0\x01" + times + b"\0"
        (tmp_path / "object.o").write_bytes(b"\x7fELF\n" + table + code + b"\0")
        files = [tmp_path / "made.cpp", "kFiles", tmp_path / "object.o"]
        subprocess.run([ROOT / "cmake/hash_files", *files], check=True)
        return (tmp_path / "made.cpp").read_text()

    one = line(b"\xae\x8f\xa4\xd8\x06\x46")
    assert line(b"\xb1\x8f\xa4\xd8\x06\x8a\x0a") == one  # later and longer, a newline in it
    assert line(b"\xae\x8f\xa4\xd8\x06\x46", code=b"\x02\xc3") != one
    assert line(b"\xae\x8f\xa4\xd8\x06\x46", name=b"scala.cu") != one
    assert line(b"\xae\x8f\xa4\xd8\x46") != one  # no time


def test_what_a_link_leads_to_is_hashed(tmp_path):
    (tmp_path / "one.o").symlink_to("first.o")

    def line():
        command = [ROOT / "cmake/hash_files", tmp_path / "made.cpp", "kFiles", tmp_path / "one.o"]
        subprocess.run(command, check=True)
        return re.findall(r'"(.*)\\n"', (tmp_path / "made.cpp").read_text())

    (tmp_path / "first.o").write_bytes(b"one")
    first = line()
    (tmp_path / "first.o").write_bytes(b"two")
    assert line() != first
    (tmp_path / "first.o").write_bytes(b"one")
    assert line() == first


def test_a_tab_in_a_name_is_an_error(tmp_path):
    (tmp_path / "a\tb.o").write_bytes(b"one")
    result = subprocess.run(
        [ROOT / "cmake/hash_files", tmp_path / "made.cpp", "kFiles", tmp_path / "a\tb.o"],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 2 and "has a tab" in result.stderr
    assert not (tmp_path / "made.cpp").exists()

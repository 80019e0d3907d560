"""cmake/hash_files, which sees all that a program of kernels is linked with."""

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

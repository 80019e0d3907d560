"""`warpgauge init`: what it writes, and what it never overwrites."""

import shlex
import tomllib
from pathlib import Path

import pytest
import yaml
from scratch_repository import ScratchRepository
from warpgauge.program import main

TEMPLATES = Path(__file__).resolve().parents[2] / "reports" / "warpgauge" / "templates"
WRITTEN = {
    "warpgauge.toml": "warpgauge.toml",
    "gauge/first.cu": "first.cu",
    ".github/workflows/kernels.yml": "kernels.yml",
    "CMakeLists.txt": "CMakeLists.txt",
}


IGNORED = "build/\nout/\n"


def files_in(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_an_empty_folder_gets_all_that_a_gate_needs(tmp_path, capsys):
    folder = tmp_path / "new"
    assert main(["init", str(folder)]) == 0
    assert files_in(folder) == {*WRITTEN, ".gitignore"}
    assert (folder / ".gitignore").read_text() == IGNORED
    for place, template in WRITTEN.items():
        assert (folder / place).read_text() == (TEMPLATES / template).read_text()
    out = capsys.readouterr().out
    assert f"  cd {folder}\n" in out
    assert "\n  build/first gate " in out
    step = yaml.safe_load((folder / ".github/workflows/kernels.yml").read_text())
    gauge = step["jobs"]["gate"]["steps"][-1]["with"]["gauge"]
    assert f"NAME {gauge} SOURCES gauge/first.cu" in (folder / "CMakeLists.txt").read_text()


def test_the_projects_budgets_let_no_more_sectors_pass_than_the_bytes_need():
    """A multiple of the ideal would let a kernel pass whose traffic has doubled."""
    limits = tomllib.loads((TEMPLATES / "warpgauge.toml").read_text())
    assert limits == {"default": {"global.excess_sectors": 0}}


def test_a_build_that_is_there_gets_lines_and_no_change(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("CMakeLists.txt").write_text("project(mine)\n")
    assert main(["init"]) == 0
    assert files_in(tmp_path) == {*WRITTEN, ".gitignore"}
    assert Path("CMakeLists.txt").read_text() == "project(mine)\n"
    out = capsys.readouterr().out
    assert "\nwarpgauge_add_kernels(NAME first SOURCES gauge/first.cu)\n" in out
    assert "project(first" not in out and "cd " not in out


def test_what_is_built_does_not_count_as_sources(tmp_path):
    """Else no facts of the commit that `init` asks for could be accepted."""
    repository = ScratchRepository(tmp_path / "mine")
    assert main(["init", str(repository.folder)]) == 0
    repository.commit("begin")
    for folder in ("build", "out"):
        (repository.folder / folder).mkdir()
        (repository.folder / folder / "made").write_text("")
    assert repository.git("status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("has", "lacks"),
    [
        ("*.o\n", "build/ and out/"),
        ("*.o", "build/ and out/"),
        ("# build/\n!build\nbuild/ci/\nout\n", "build/"),
        ("/build*/\r\n", "out/"),
        ("/build/\n**/out\n", None),
    ],
)
def test_a_gitignore_that_is_there_stays(tmp_path, capsys, has, lacks):
    file = tmp_path / ".gitignore"
    file.write_text(has, newline="")
    assert main(["init", str(tmp_path)]) == 0
    assert file.read_bytes() == has.encode()
    out = capsys.readouterr().out
    assert f"wrote {file}" not in out
    assert (f"\n{file} lacks {lacks}: add it, " in out) if lacks else ".gitignore" not in out


@pytest.mark.parametrize("name", [".gitignore", "CMakeLists.txt"])
def test_what_cannot_be_read_is_an_error(tmp_path, capsys, name):
    (tmp_path / name).symlink_to(tmp_path / "nowhere")
    assert main(["init", str(tmp_path)]) == 2
    assert f"{tmp_path / name}: cannot be read" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == [name]


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


SOURCE = """
#include "helpers.h"
namespace mine { namespace {
// __global__ void old(int n) {}
template <typename T, int kRows = 4>
__global__ void __launch_bounds__(256) softmax(T* __restrict__ out, const T *in,
                                               const float scale, int n) { in[0]; }
}  // namespace
struct Sizes { int rows, columns; };
namespace inner {
__global__ void row_sums(float out[], float const* const __restrict__ in, Sizes sizes) {}
}
}  // namespace mine
extern "C" __global__ void nothing() {}
"""


@pytest.fixture
def with_kernels(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for place in ("src/norm.cu", "build/copy.cu"):
        Path(place).parent.mkdir()
        Path(place).write_text(SOURCE)
    Path("build/CMakeCache.txt").write_text("")
    return tmp_path


def test_a_kernel_gets_a_family_to_fill_in(with_kernels, capsys):
    assert main(["init", "--kernel", "row_sums"]) == 0
    written = set(WRITTEN) - {"gauge/first.cu"} | {"gauge/row_sums.cu", ".gitignore"}
    assert (
        files_in(with_kernels) - {"src/norm.cu", "build/copy.cu", "build/CMakeCache.txt"} == written
    )
    text = Path("gauge/row_sums.cu").read_text()
    for line in (
        '#include "../src/norm.cu"',
        "  warpgauge::InOut<float> out;",
        "  warpgauge::Input<float> in;",
        "  const Sizes sizes;",
        'out(*this, todo<std::size_t>("how many elements out has"))',
        'sizes(todo<Sizes>("the value of sizes"))',
        'todo<int>("the CPU reference: comparison.equal(out, expected)");',
        'todo<int>("the blocks and threads of the launch");',
        "mine::inner::row_sums<<<1, 32>>>(p.out, p.in, p.sizes);",
        "WARPGAUGE_FAMILY(row_sums)",
    ):
        assert line in text, text
    assert "SOURCES gauge/row_sums.cu)" in Path("CMakeLists.txt").read_text()
    assert "red: fill in the TODOs of gauge/row_sums.cu" in capsys.readouterr().out


@pytest.mark.parametrize("folder", [".", "a project"])
def test_kernels_of_the_project_are_offered(with_kernels, capsys, monkeypatch, folder):
    Path("src/empty.cu").write_text("// __global__ void gone() {}\n")
    Path("src/aside.cu").symlink_to("nowhere")
    if folder != ".":
        monkeypatch.chdir(with_kernels.parent)
        folder = with_kernels.rename(folder).name
    assert main(["init", folder]) == 0
    offer = capsys.readouterr().out.partition(
        "kernels of its own, such as softmax; for that one:\n"
    )[2]
    words = shlex.split(offer.splitlines()[0])
    assert words[:2] == ["warpgauge", "init"]
    assert main(words[1:]) == 0
    assert "mine::softmax<T, kRows>" in (Path(folder) / "gauge/softmax.cu").read_text()


def test_no_kernel_of_a_build_is_offered(tmp_path, capsys):
    assert main(["init", str(tmp_path)]) == 0
    assert "--kernel" not in capsys.readouterr().out


@pytest.mark.parametrize("is_there", [False, True])
def test_a_kernel_of_a_library_is_told_where_its_target_goes(with_kernels, capsys, is_there):
    if is_there:
        Path("CMakeLists.txt").write_text("project(mine)\n")
    assert main(["init", "--kernel", "row_sums"]) == 0
    out = capsys.readouterr().out
    lines = out if is_there else Path("CMakeLists.txt").read_text()
    assert (
        "\nwarpgauge_add_kernels(NAME first SOURCES gauge/row_sums.cu)  "
        "# LIBRARIES <your library>, if it needs one\n"
    ) in lines
    assert "(... LIBRARIES <your library>)" in Path("gauge/row_sums.cu").read_text()


def test_a_second_kernel_leaves_what_is_there(with_kernels, capsys):
    assert main(["init", "--kernel", "row_sums"]) == 0
    Path("warpgauge.toml").write_text("mine")
    assert main(["init", "--kernel", "src/norm.cu:softmax"]) == 0
    text = Path("gauge/softmax.cu").read_text()
    for line in (
        "  warpgauge::InOut<float> out;",
        "  warpgauge::Input<float> in;",
        "  const float scale;",
        "  const int n;",
        "using T = float;",
        "constexpr int kRows = 4;",
        'todo<int>("the template arguments of softmax");',
        "mine::softmax<T, kRows><<<1, 32>>>(p.out, p.in, p.scale, p.n);",
    ):
        assert line.replace("<float>", "<T>") in text, text
    assert Path("warpgauge.toml").read_text() == "mine"
    out = capsys.readouterr().out
    assert "\n# to the SOURCES of warpgauge_add_kernels():\ngauge/softmax.cu\n" in out
    assert "NAME first" not in out, "a second target of the name would be an error of CMake"
    assert main(["init", "--kernel", "softmax"]) == 2
    assert "gauge/softmax.cu: there already" in capsys.readouterr().err


def test_a_kernel_without_parameters_has_todos_too(with_kernels):
    assert main(["init", "--kernel", "nothing"]) == 0
    text = Path("gauge/nothing.cu").read_text()
    assert "nothing<<<1, 32>>>();" in text and text.count("todo<") == 2


@pytest.mark.parametrize(
    ("kernel", "says"),
    [
        ("softmx", "there is no __global__ function 'softmx' in the sources (.cu, .cuh) in .,"),
        ("old", "there is no __global__ function 'old'"),
        ("src/other.cu:softmax", "src/other.cu: cannot be read"),
        ("twice", "there are several, src/a.cu:twice, src/b.cu:twice: name one of them"),
    ],
)
def test_a_kernel_that_is_not_there_or_not_clear_is_an_error(with_kernels, capsys, kernel, says):
    for name in "ab":
        Path(f"src/{name}.cu").write_text("__global__ void twice(int* x) {}\n")
    before = files_in(with_kernels)
    assert main(["init", "--kernel", kernel]) == 2
    assert says in capsys.readouterr().err
    assert files_in(with_kernels) == before

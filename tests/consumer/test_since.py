"""gate --since: what a project changes is measured again, and only that. The values are those that
a whole gate would have."""

import re
import shutil
import subprocess

import pytest
from project import configure, run
from warpgauge.facts.reader import read_facts

# A family in a file of its own; each of them is changed in another way, to other machine code.
SOURCE = """
#include <warpgauge/warpgauge.h>
#include "{family}.h"

namespace {family} {{
struct Scale : warpgauge::Problem {{
  warpgauge::Input<float> in;
  warpgauge::Output<float> out;
  std::int64_t count;
  explicit Scale(const warpgauge::Size& size)
      : in(*this, made(size.count())), out(*this, size.count()), count(size.count()) {{}}
  static std::vector<float> made(std::size_t count) {{
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 7);
    return values;
  }}
  void check(warpgauge::Comparison& comparison) const override {{
    std::vector<float> expected = in.host();
    for (float& value : expected) value = value + value;
    comparison.equal(out, expected);
  }}
}};
__global__ void twice(float* out, const float* in) {{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + in[i];
}}
WARPGAUGE_FAMILY({family}) {{
  const auto f32 = family.problem<Scale>("f32", {{{{SIZE}}}});
  f32.variant("plain", [](Scale& p) {{ twice<<<p.count / 128, 128>>>(p.out, p.in); }});
}}
}}  // namespace {family}
"""
HEADER = "#ifndef SIZE\n#define SIZE 256\n#endif\n"
CHANGES = {
    "kernel": ("in[i] + in[i]", "3 * in[i] - in[i]"),
    "generator": ("i % 7", "i % 5"),
    "reference": ("value + value", "3 * value - value"),
    "launch": ("count / 128, 128", "count / 64, 64"),
    "size": ("{{SIZE}}", "{{2 * SIZE}}"),
    "header": ("256", "512"),
    "flags": None,
    "budget": None,
    "comment": ("// namespace comment", "// the namespace comment"),
    "nothing": None,
}
CMAKE = """
cmake_minimum_required(VERSION 3.25)
project(since LANGUAGES CXX CUDA)
find_package(warpgauge 0.1 REQUIRED)
file(GLOB sources *.cu)
warpgauge_add_kernels(NAME my-gauge SOURCES ${sources} BUDGETS budgets)
add_library(linked STATIC linked.cpp)
target_link_libraries(my-gauge PRIVATE linked)
"""
FLAGS = 'set_source_files_properties(flags.cu PROPERTIES COMPILE_OPTIONS "-DSIZE=512")\n'


def case(family, size=256):
    return f"{family}.plain.f32@{size}"


class Project:
    """The project, its build, and the facts of its first whole gate."""

    def __init__(self, folder, prefix):
        self.folder, self.prefix, self.build = folder, prefix, folder / "build"
        for family in CHANGES:
            self.write(f"{family}.cu", SOURCE.format(family=family))
            self.write(f"{family}.h", HEADER)
        self.write("linked.cpp", "int of_library() { return 1; }\n")
        self.write("budgets/budget.toml", "[default]\nregisters = { max = 32 }\n")
        self.write("CMakeLists.txt", CMAKE)
        configure(folder, self.build, f"-DCMAKE_PREFIX_PATH={prefix}", build_type="Release")
        self.make()
        self.gate("--out=main")
        self.main = self.build / "main/facts.jsonl"

    def write(self, name, text):
        (self.folder / name).parent.mkdir(exist_ok=True)
        (self.folder / name).write_text(text)

    def make(self):
        # A compiler cache would hide what a compiler writes of the time.
        command = ("cmake", "--build", self.build, "--target", "my-gauge")
        run(*command, cwd=self.folder, CCACHE_DISABLE="1")

    def gate(self, *options, code=0, **env):
        command = (self.build / "my-gauge", "gate", "--device=emulated", *options)
        return run(*command, cwd=self.build, code=code, **env)

    def affected(self, since=None, *options, **env):
        """Why each affected case would be measured, by its id."""
        output = self.gate("--since", since or self.main, "--affected", *options, **env)
        return dict(line.split("\t") for line in output.splitlines())


@pytest.fixture(scope="module")
def project(tmp_path_factory, prefix):
    return Project(tmp_path_factory.mktemp("since"), prefix)


def values(facts):
    """What a gate has found, apart from where it stands."""
    return sorted(
        (fact.case.id, fact.case.arch or "", fact.metric, str(fact.value), fact.verdict or "")
        for fact in facts
    )


def test_nothing_is_affected_where_nothing_has_changed(project):
    assert project.affected() == {}
    output = project.gate("--since", project.main, "--out=again")
    of = read_facts(project.main)[0].run.id
    assert f"cases carried over from run {of}" in output
    again = list(read_facts(project.build / "again/facts.jsonl"))
    assert values(again) == values(read_facts(project.main))
    assert {fact.case.carried for fact in again} == {of}
    # Carried once more they are still those of the run that has measured them.
    project.gate("--since=again/facts.jsonl", "--out=again")
    assert {fact.case.carried for fact in read_facts(project.build / "again/facts.jsonl")} == {of}


def test_what_is_carried_over_is_judged_by_todays_budgets(project):
    budget = project.folder / "budgets/nothing.toml"
    budget.write_text("[default]\nregisters = { max = 1 }\n")
    affected = project.affected()
    assert affected == {case("nothing"): "the budgets changed"}
    project.gate("--since", project.main, "--out=over", code=1)
    budget.unlink()


def test_another_driver_library_or_option_affects_all(project, tmp_path):
    (tmp_path / "other.cpp").write_text("int of_a_new_library() { return 1; }\n")
    run("c++", "-shared", "-fPIC", "-o", "libother.so", "other.cpp", cwd=tmp_path)
    with_library = project.affected(LD_PRELOAD=str(tmp_path / "libother.so"))
    assert set(with_library.values()) == {"GPU, driver or libraries changed"}
    assert set(project.affected(CUDA_FORCE_PTX_JIT="1").values()) == set(with_library.values())
    checked = project.affected(None, "--check=races")
    assert set(checked.values()) == {"options of the gate changed"}
    assert len(with_library) == len(checked) == len(CHANGES)
    on_another = project.affected(None, "--arch=sm_90", "--schedules=1")
    assert len(on_another) == len(CHANGES)


def test_facts_that_do_not_fit_are_not_carried(project, tmp_path):
    text = project.main.read_text()
    older = tmp_path / "older.jsonl"
    older.write_text(re.sub(r'"inputs":\{[^}]*\},?', "", text))
    assert set(project.affected(older).values()) == {
        "the facts of it do not say what they depend on"
    }
    other = tmp_path / "other.jsonl"
    other.write_text(text.replace('"family":"nothing"', '"family":"another"'))
    assert project.affected(other) == {case("nothing"): "it was not measured"}
    cut = tmp_path / "cut.jsonl"
    lines = text.splitlines(keepends=True)
    with_result = [n for n, line in enumerate(lines) if "result.correct" in line]
    cut.write_text("".join(lines[: with_result[-1]]))
    assert list(project.affected(cut).values()) == ["it did not run on sm_90"]
    missing = subprocess.run(
        [project.build / "my-gauge", "gate", "--device=emulated", "--since=no.jsonl"],
        cwd=project.build,
        capture_output=True,
        text=True,
    )
    assert missing.returncode == 2 and "no.jsonl" in missing.stderr
    assert project.main.exists()


def test_the_file_may_be_what_the_gate_replaces(project):
    shutil.copytree(project.build / "main", project.build / "same")
    output = project.gate("--since=same/facts.jsonl", "--out=same")
    assert "cases carried over from run" in output and "cases measured" not in output


def test_each_change_affects_its_family_and_all_others_are_carried(project):
    for family, change in CHANGES.items():
        if change:
            name = f"{family}.h" if family == "header" else f"{family}.cu"
            text = (project.folder / name).read_text()
            assert change[0] in text
            project.write(name, text.replace(*change))
    (project.folder / "nothing.cu").touch()  # as a fresh clone does
    project.write("budgets/budget.toml", "[default]\nregisters = { max = 31 }\n")
    project.write("CMakeLists.txt", CMAKE + FLAGS)
    project.make()
    sizes = {"size": 512, "header": 512, "flags": 512}
    expected = {case(family, sizes.get(family, 256)): "its code changed" for family in CHANGES}
    expected[case("budget")] = "the budgets changed"
    for family in ("size", "header", "flags"):
        expected[case(family, 512)] = "it was not measured"
    del expected[case("comment")], expected[case("nothing")]
    assert project.affected() == expected

    output = project.gate("--since", project.main, "--out=since")
    assert "cases measured, because its code changed: 4" in output
    project.gate("--out=whole")
    since = list(read_facts(project.build / "since/facts.jsonl"))
    assert values(since) == values(read_facts(project.build / "whole/facts.jsonl"))
    carried = {fact.case.id for fact in since if fact.case.carried}
    assert carried == {case("comment"), case("nothing")}

    # A library of the project is linked with all of them.
    whole = project.build / "whole/facts.jsonl"
    assert project.affected(whole) == {}
    project.write("linked.cpp", "int of_library() { return 2; }\n")
    project.make()
    affected = project.affected(whole)
    assert set(affected.values()) == {"what the program is linked with changed"}
    assert len(affected) == len(CHANGES)


def test_another_warpgauge_affects_all(project):
    project.gate("--out=whole")
    (project.folder / "rule.cpp").write_text("int a_new_rule() { return 1; }\n")
    run("c++", "-c", "rule.cpp", cwd=project.folder)
    library = next(project.prefix.rglob("libwarpgauge_metrics.a"))
    run("ar", "q", library, "rule.o", cwd=project.folder)
    project.make()
    affected = project.affected(project.build / "whole/facts.jsonl")
    assert set(affected.values()) == {"warpgauge changed"} and len(affected) == len(CHANGES)


def test_affected_needs_a_file(project):
    for options in (["--affected"], ["--since=main/facts.jsonl", "--coverage=x.info"]):
        command = [project.build / "my-gauge", "gate", "--device=emulated", *options]
        done = subprocess.run(command, cwd=project.build, capture_output=True, text=True)
        assert done.returncode == 2 and "--since" in done.stderr

"""Which tests a mutant meets, and in which order."""

import importlib.util
from importlib.machinery import SourceFileLoader
from pathlib import Path

MUTATE = SourceFileLoader("mutate", str(Path(__file__).with_name("mutate")))
mutate = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutate", MUTATE))
MUTATE.exec_module(mutate)


def test_the_program_of_the_innermost_folder_comes_first():
    def first(file):
        return mutate.nearest_first(file, list(mutate.PROGRAMS))[0]

    assert first("metrics/facts/fact.cpp") == "bin/warpgauge_metrics_tests"
    assert first("harness/gate/plan.cpp") == "bin/warpgauge_harness_tests"
    assert first("harness/attach/attach.cpp") == "bin/warpgauge_attach_tests"
    assert first("harness/emulator/runtime/call.cpp") == "bin/warpgauge_emulator_tests"
    assert first("harness/measure/measure.cpp") == "bin/warpgauge_measure_tests-emulated"


def test_scripts_with_a_word_of_the_path_come_before_those_that_see_most():
    scripts = [f"tests/cli/test_{name}.py" for name in ("gate", "measured_facts", "nvtx", "list")]
    gate, measured_facts, nvtx, _ = scripts
    near = mutate.scripts_near("harness/measure/gtest_main.cpp", scripts)
    assert near == [measured_facts, nvtx, gate]
    assert mutate.scripts_near("harness/gate/plan.cpp", scripts) == [gate]


def test_scripts_that_are_named_are_there():
    named = {f"tests/cli/test_{name}.py" for names in mutate.RELATED.values() for name in names}
    assert named | set(mutate.SEE_MOST) <= set(mutate.SCRIPTS)


def test_tests_are_slow_that_take_more_than_a_hundredth_of_the_time():
    taken = {"A.Slow": 500, "A.Quick": 3, "B/C.Slow/0": 20, "D.AtTheLimit": 10, "E.Rest": 467}
    output = "".join(f"[       OK ] {test} ({ms} ms)\n" for test, ms in taken.items())
    assert mutate.slow_tests(output) == ["A.Slow", "B/C.Slow/0", "E.Rest"]

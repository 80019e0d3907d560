"""The family warpgroup_matmul, which sm_90a alone has: it is right and within its budgets there,
and the gate of another architecture says that it is left out."""

from programs import run
from warpgauge.facts.reader import read_facts


def test_it_is_within_its_budgets_and_no_check_finds_anything(tmp_path):
    checks = ("--check=async,races,uninitialised", "--schedules=2")
    result = run("warpgauge-warpgroups", "gate", "--device=emulated", *checks, cwd=tmp_path)
    assert result.returncode == 0, result.stdout
    facts = [fact for fact in read_facts(tmp_path / "out" / "facts.jsonl") if fact.scope == "case"]
    assert {fact.arch for fact in facts} == {"sm_90a"}
    right = {fact.id for fact in facts if (fact.metric, fact.value) == ("result.correct", 1)}
    variants = ("small_tile", "unswizzled", "simple", "pipelined", "multicast")
    sizes = ("256x512x640", "200x328x136")
    assert right == {
        f"warpgroup_matmul.{variant}.f16@{size}" for variant in variants for size in sizes
    }
    unjudged = {fact.metric for fact in facts if fact.verdict == "unmeasured"}
    assert not unjudged & {"wgmma.instructions", "wgmma.wavefronts", "bulk.load.bytes"}


def test_other_architectures_say_that_they_lack_it(tmp_path):
    result = run(
        *("warpgauge", "gate", "--device=emulated", "--arch", "sm_90"),
        "--filter=warpgroup_matmul.simple.*",
        cwd=tmp_path,
    )
    assert result.returncode == 2
    assert "cases left out on sm_90, because they need sm_90a: 2\n" in result.stdout

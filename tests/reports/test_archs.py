"""Names of architectures."""

import random

import pytest
from warpgauge.facts.archs import arch_order, is_arch

ORDER = ["sm_75", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_100f", "sm_120"]


def test_they_are_sorted_by_number_and_then_by_suffix():
    names = random.Random(18).sample([None, "what", *ORDER], len(ORDER) + 2)
    assert sorted(names, key=arch_order) == [None, "what", *ORDER]


@pytest.mark.parametrize("name", ORDER)
def test_they_are_recognised(name):
    assert is_arch(name)


@pytest.mark.parametrize("name", ["sm_9", "sm_090", "sm_1000", "sm_90x", "sm_90af", "90", ""])
def test_nothing_else_is(name):
    assert not is_arch(name)

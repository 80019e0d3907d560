"""How architectures are compared: like with like, and what a size says of the elements."""

import re

import pytest
from page_samples import ARCHS, GPU, GPU_RUNS, NIGHTS, RUNS, a_series, build, conflicts, render
from warpgauge.facts.catalog import catalog
from warpgauge.page import elements, generations, matrix_text

REGISTERS = {"source": "cubin"}


def values_of(series, runs=None):
    return generations.latest_values(build(series, runs).rows)


def pair(metric, before, after, variant="padded", **members):
    """The same case on both architectures."""
    values = zip(ARCHS, (before, after), strict=True)
    return [a_series(metric, [v] * NIGHTS, arch, variant=variant, **members) for arch, v in values]


def step_of(series, metric, runs=None):
    """The only step of a metric."""
    (cells,) = [
        cells
        for row, cells in generations.matrix(values_of(series, runs)).steps
        if row.id == metric
    ]
    (cell,) = cells
    return cell


def test_each_generation_is_compared_with_the_first_and_with_the_one_before():
    matrix = generations.matrix(generations.latest_values(build().rows))
    assert matrix.archs == ARCHS
    (registers,) = [cells for metric, cells in matrix.rows if metric.id == "registers"]
    assert registers[0].ratio == 1 and registers[1].ratio == pytest.approx(18 / 24)
    cell = step_of(None, "registers")
    metric = catalog()["registers"]
    assert (cell.before, cell.after) == ARCHS
    assert (cell.better(metric), cell.worse(metric), cell.same) == (1, 0, 0)
    assert [row.last.value for row in cell.most] == [24, 18]


def test_more_occupancy_is_better_on_the_next_generation():
    cell = step_of(pair("occupancy.theoretical", 0.5, 1, source="cubin"), "occupancy.theoretical")
    metric = catalog()["occupancy.theoretical"]
    assert (cell.better(metric), cell.worse(metric)) == (1, 0)
    assert matrix_text.gain(cell, metric) == 1
    assert matrix_text.mean_change(cell) == "× 2"


def test_the_colour_of_a_step_is_that_of_the_number_in_it():
    """Two cases are better and one is worse, by more: the mean is worse."""
    few = [series for i in range(2) for series in pair("registers", 8, 7, f"v{i}", **REGISTERS)]
    cell = step_of([*few, *pair("registers", 8, 16, **REGISTERS)], "registers")
    assert matrix_text.mean_change(cell) == "+15 %"
    assert matrix_text.gain(cell, catalog()["registers"]) < 0


def test_the_strip_counts_what_is_better_and_worse_over_all_metrics():
    series = [*pair("registers", 8, 7, **REGISTERS), *pair("instructions", 5, 9)]
    series += pair("instructions", 5, 6, "other")
    (step,) = generations.strip(generations.matrix(generations.latest_values(build(series).rows)))
    assert (step.before, step.after) == ARCHS
    assert (step.better, step.worse) == (1, 2) and step.net == pytest.approx(-1 / 3)


def test_what_comes_from_nothing_has_no_ratio_and_is_marked():
    cell = step_of(
        [*pair("local.sectors", 0, 8), *pair("local.sectors", 4, 4, "v")], "local.sectors"
    )
    assert (cell.ratio, cell.without_ratio) == (1, 1)
    assert matrix_text.mean_change(cell) == "≈ 0 %*"
    assert matrix_text.mean_change(step_of(pair("local.sectors", 0, 8), "local.sectors")) == (
        "from 0"
    )


def test_like_is_compared_with_like():
    """The emulator sees no spills, a GPU does: that is no difference between generations."""
    gpu = {"runs": GPU_RUNS, "source": "cupti", "device_name": GPU}
    measured = a_series("local.sectors", [400] * NIGHTS, "sm_90", **gpu)
    emulated = pair("local.sectors", 5, 4)
    cell = step_of([*emulated, measured], "local.sectors")
    assert cell.ratio == pytest.approx(4 / 5) and not cell.measured
    both = [measured, a_series("local.sectors", [100] * NIGHTS, "sm_80", **gpu)]
    cell = step_of([*emulated, *both], "local.sectors")
    assert cell.ratio == pytest.approx(4) and cell.measured


def test_what_only_one_of_them_has_is_not_compared():
    gpu = {"runs": GPU_RUNS, "source": "cupti", "device_name": GPU}
    series = [
        a_series("local.sectors", [400] * NIGHTS, "sm_90", **gpu),
        a_series("local.sectors", [100] * NIGHTS, "sm_80"),
        *pair("registers", 8, 9, **REGISTERS),
    ]
    assert [metric.id for metric, _ in generations.matrix(values_of(series)).rows] == ["registers"]


def test_generations_are_in_the_order_of_their_numbers():
    series = [
        a_series("registers", [1], arch, source="cubin") for arch in ("sm_100", "sm_90", "sm_75")
    ]
    assert generations.archs_of(values_of(series, RUNS)) == ("sm_75", "sm_90", "sm_100")


def test_of_one_architecture_what_a_gpu_measured_counts_before_what_was_emulated():
    emulated = a_series("instructions", [5] * NIGHTS)
    gpu = {"runs": GPU_RUNS, "source": "cupti", "device_name": GPU}
    measured = a_series("instructions", [7] * NIGHTS, **gpu)
    values = values_of([emulated, measured])
    (row,) = generations.best_of(values, "instructions", "sm_90").values()
    assert row.last.value == 7


def test_resources_come_with_the_case_that_takes_most():
    series = [
        a_series("registers", [20] * NIGHTS, "sm_90", variant="few", **REGISTERS),
        a_series("registers", [64] * NIGHTS, "sm_90", variant="many", **REGISTERS),
        a_series("spill.store_bytes", [8] * NIGHTS, "sm_90", variant="many", source="cubin"),
        a_series("spill.store_bytes", [0] * NIGHTS, "sm_90", variant="few", source="cubin"),
    ]
    (resources,) = generations.resources(values_of(series, RUNS))
    assert (resources.registers, resources.most.key.variant) == (42, "many")
    assert (resources.spilling, resources.stored, resources.loaded, resources.occupancy) == (
        1,
        8,
        None,
        None,
    )


def test_every_mean_has_a_link_to_its_cases():
    page = render(build())
    links = set(re.findall(r'href="#cases/([^"]+)"', page))
    assert {"registers/sm_90/sm_80", "registers/sm_80/sm_80", "registers/sm_80"} <= links
    assert "shared.bank_conflicts/sm_90/sm_80" not in links  # the same on both
    tables = re.findall(r'<table[^>]* id="resources">.*?</table>', page, re.DOTALL)
    cells = re.findall(r"<td[^>]*>(.*?)</td>", tables[0])
    assert cells and all(cell == "–" or cell.startswith("<a ") for cell in cells)


def test_an_architecture_is_only_data():
    hostile = 'sm_90"><script>/'
    series = [*pair("registers", 8, 9, **REGISTERS), a_series("registers", [7] * NIGHTS, hostile)]
    page = render(build(series))
    assert hostile not in page and "sm_90%22%3E%3Cscript%3E%2F" in page


# Elements


def problem(family, sizes, variant="v", type="f32"):
    """Instructions of a problem by size."""
    return [
        a_series(
            "instructions", [count] * NIGHTS, family=family, variant=variant, type=type, size=size
        )
        for size, count in sizes.items()
    ]


@pytest.mark.parametrize(
    ("sizes", "counts_elements"),
    [
        ({"100": 50, "1000": 400, "1000003": 300000}, True),
        ({"64x64": 500, "1024x1024": 110000}, True),
        ({"1": 64, "2": 64, "32": 64}, False),  # a stride
        ({"8x8": 9000, "32x32": 7000}, False),  # the shape of a block
        ({"1000": 990, "1024": 1000}, False),  # nearly the same: nothing is known
        ({"1000": 990}, False),
        ({"0": 10, "1": 10, "64": 1000}, False),  # no elements, and work all the same
        ({"256x0": 50, "512x4": 500}, False),
        ({"10": 0, "1000": 500}, False),
    ],
)
def test_a_size_counts_elements_where_the_work_grows_with_it(sizes, counts_elements):
    found = elements.problems_with_elements(values_of(problem("family", sizes)))
    assert found == ([("family", "f32")] if counts_elements else [])


def test_one_variant_that_does_not_grow_speaks_for_its_problem():
    """Branches that go 32 ways take longer, but there are no more elements."""
    grows, stays = {"1": 10, "32": 200}, {"1": 10, "32": 12}
    series = (
        problem("ways", grows) + problem("ways", stays, "w") + problem("ways", grows, type="f64")
    )
    assert elements.problems_with_elements(values_of(series)) == [("ways", "f64")]


def test_the_page_knows_which_sizes_count_elements():
    page = render(build([*problem("copy", {"100": 9, "9000": 800}), conflicts()]))
    assert '"counted":[["copy","f32"]]' in page

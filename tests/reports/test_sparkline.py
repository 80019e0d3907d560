"""The sparkline of a series: a line as high as a word of text."""

from xml.etree import ElementTree

import pytest
from warpgauge.page.sparkline import HEIGHT, MARGIN, WIDTH, sparkline


def points_of(text):
    """[(1.0, 2.0), (3.0, 4.0)] for "1,2 3,4"."""
    return [tuple(map(float, point.split(","))) for point in text.split()]


def drawn(*values, label="a label"):
    """The points of each line, and the places of the circles."""
    svg = ElementTree.fromstring(str(sparkline(values, label)))
    assert svg.get("aria-label") == label
    lines = [points_of(line.get("points")) for line in svg.iter("polyline")]
    circles = [(float(e.get("cx")), float(e.get("cy"))) for e in svg.iter("circle")]
    return lines, circles


LEFT, RIGHT, TOP, BOTTOM = MARGIN, WIDTH - MARGIN, MARGIN, HEIGHT - MARGIN


def test_a_line_goes_from_the_lowest_to_the_highest_value_and_marks_the_last():
    lines, circles = drawn(1, 3, 2)
    assert lines == [[(LEFT, BOTTOM), (WIDTH / 2, TOP), (RIGHT, HEIGHT / 2)]]
    assert circles == [(RIGHT, HEIGHT / 2)]


def test_missing_values_leave_a_gap():
    lines, circles = drawn(1, 1, None, 2, 2)
    assert [len(line) for line in lines] == [2, 2]
    assert lines[0][-1][0] < WIDTH / 2 < lines[1][0][0]
    assert circles == [(RIGHT, TOP)]


def test_a_value_between_gaps_is_drawn():
    lines, circles = drawn(1, 2, None, 1, None, 2)
    assert [len(line) for line in lines] == [2]
    fourth = LEFT + 3 / 5 * (RIGHT - LEFT)  # of six places
    assert circles == [(fourth, BOTTOM), (RIGHT, TOP)]


def test_the_last_value_is_marked_though_newer_ones_are_missing():
    assert drawn(1, 2, None)[1] == [(WIDTH / 2, TOP)]


@pytest.mark.parametrize("value", [0, 5.5, float("inf")])
def test_values_that_are_all_the_same_lie_in_the_middle(value):
    lines, circles = drawn(value, value)
    assert lines == [[(LEFT, HEIGHT / 2), (RIGHT, HEIGHT / 2)]]
    assert circles == [(RIGHT, HEIGHT / 2)]


def test_one_value_is_a_dot():
    assert drawn(7) == ([], [(LEFT, HEIGHT / 2)])


@pytest.mark.parametrize("values", [(), (None, None)])
def test_nothing_is_drawn_of_no_value(values):
    assert sparkline(values, "a label") == ""


def test_the_label_is_escaped():
    drawn(1, 2, label="<b>\"a\" & 'b'</b>")

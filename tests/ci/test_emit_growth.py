"""Reading and drawing many values takes work in proportion to them.

Work is calls of functions, Python's and C's: a busy machine takes longer for them, but no more.
"""

import sys

import pytest
from emit_samples import many, results
from warpgauge.outputs import FORMATS

FEW = 250
TIMES = 8  # so many more
MOST = 1000  # calls for a value that is read and drawn; the most was 900 (github)
SLACK = 1.1  # sorting takes a little more than in proportion


def calls(work):
    """What the work returns, and the calls that it makes."""
    count = 0

    def see(_frame, event, _argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(see)
    try:
        answer = work()
    finally:
        sys.setprofile(None)
    return answer, count


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Results of one, of few and of many values, and the calls that reading them took."""
    folder = tmp_path_factory.mktemp("results")

    def read(count):
        document = many(count)
        return calls(lambda: results(document, folder))

    return read(1), read(FEW), read(FEW * TIMES)


@pytest.mark.parametrize("format", FORMATS)
def test_many_values(runs, format):
    draw = FORMATS[format].draw
    (single, _), (some, reading_few), (more, reading_more) = runs
    draw(single)  # what is read and compiled once
    text, drawing_few = calls(lambda: draw(some).text)
    more_text, drawing_more = calls(lambda: draw(more).text)
    assert text
    assert more_text
    assert reading_more <= reading_few * TIMES * SLACK
    assert drawing_more <= drawing_few * TIMES * SLACK
    assert reading_more + drawing_more <= MOST * FEW * TIMES

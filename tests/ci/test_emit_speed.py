"""20,000 values are read and written in any format in seconds; `pytest -s` shows how many."""

import json
import time

import pytest
from emit_samples import many, results
from warpgauge.outputs import FORMATS

VALUES = 20_000
# The aim is 2 s of a processor for reading and one format; a busy machine gets three times that.
MOST_SECONDS = 6


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Results, and the seconds that reading them took."""
    document = many(VALUES)
    folder = tmp_path_factory.mktemp("results")
    start = time.process_time()
    found = results(document, folder)
    assert json.dumps(document)
    return found, time.process_time() - start


@pytest.mark.parametrize("format", FORMATS)
def test_many_values(run, format):
    found, reading = run
    start = time.process_time()
    text = FORMATS[format].draw(found).text
    seconds = time.process_time() - start
    print(f"{format}: {seconds:.1f} s, {len(text) / 1e6:.1f} MB")
    assert text
    assert reading + seconds < MOST_SECONDS

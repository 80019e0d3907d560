"""Every format of the same results, whole: tests/ci/golden has what is expected."""

import os

import pytest
from emit_samples import GOLDEN, one_of_each_verdict, rendered
from warpgauge.outputs import FORMATS


@pytest.mark.parametrize("format", FORMATS.values(), ids=FORMATS)
def test_text_is_as_kept(format, tmp_path):
    text = rendered(format.name, one_of_each_verdict(), tmp_path)
    kept = GOLDEN / format.file
    if os.environ.get("WARPGAUGE_WRITE_GOLDEN"):
        kept.write_text(text)
    assert text == kept.read_text(), "if it is right: write it with WARPGAUGE_WRITE_GOLDEN=1"

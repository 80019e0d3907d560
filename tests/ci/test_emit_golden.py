"""Every format of the same real run, whole: tests/ci/golden has what is expected."""

import pytest
from emit_samples import GOLDEN, canaries, rendered
from warpgauge.outputs import FORMATS


@pytest.mark.parametrize("format", FORMATS.values(), ids=FORMATS)
def test_text_is_as_kept(format, tmp_path):
    text = rendered(format.name, canaries())
    (tmp_path / format.file).write_text(text)
    expected = (GOLDEN / format.file).read_text()
    assert text == expected, f"if it is right: cp {tmp_path / format.file} {GOLDEN}"

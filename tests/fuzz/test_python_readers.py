"""The corpora of the readers in Python, a short search, and that a broken promise is found."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import python_readers
from python_readers import CORPUS, TARGETS, Finding, fuzz


@pytest.mark.parametrize("name", TARGETS)
def test_no_finding(name, tmp_path, capsys):
    assert fuzz(TARGETS[name](tmp_path), name, 2, seed=1) == 0, capsys.readouterr().out
    assert "0 findings" in capsys.readouterr().out


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize(
    "ended, promise",
    [
        ((2, "", "Traceback (most recent call last):\n"), "error"),
        ((2, "", "cannot be read\ndatabase: 1 of 1 files not added\n"), "error"),
        ((1, "", ""), "0 or 2"),
        ((0, "", ""), "it says what came in|0 or 2"),
    ],
)
def test_a_broken_promise_is_found(name, ended, promise, tmp_path, monkeypatch):
    target = TARGETS[name](tmp_path)
    content = next((CORPUS / f"{name}_fuzz").iterdir()).read_bytes()
    monkeypatch.setattr(python_readers, "run", lambda *_: ended)
    with pytest.raises(Finding, match=promise):
        target.try_file(content)


def test_a_traceback_is_found(monkeypatch):
    def fail(_):
        print("Traceback (most recent call last):", file=sys.stderr)
        return 2

    monkeypatch.setattr(python_readers, "warpgauge", fail)
    with pytest.raises(Finding, match="no error is a traceback"):
        python_readers.run("report", "ingest")

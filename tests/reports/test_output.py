"""Names of files made of data, and files written whole."""

import errno
import os

import pytest
from warpgauge.errors import CommandError
from warpgauge.files import write_parts, write_whole
from warpgauge.text import MAX_STEM, safe_stem


def test_files_are_replaced_whole(tmp_path):
    path = tmp_path / "new" / "file.svg"
    write_whole(path, b"old")
    with path.open("rb") as reader:
        write_whole(path, b"new")
        assert reader.read() == b"old"
    assert path.read_bytes() == b"new"
    assert [p.name for p in path.parent.iterdir()] == ["file.svg"]
    plain = tmp_path / "plain"
    plain.touch()
    assert path.stat().st_mode == plain.stat().st_mode


@pytest.mark.parametrize(
    ("problem", "error"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "file.svg: cannot be written: No space"),
        (CommandError("nothing to write"), "nothing to write"),
    ],
)
def test_a_write_that_fails_leaves_the_old_file(tmp_path, problem, error):
    path = tmp_path / "file.svg"
    write_whole(path, b"old")

    def half():
        yield b"new"
        raise problem

    with pytest.raises(CommandError, match=error):
        write_parts(path, half())
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["file.svg"]
    write_parts(path, iter([b"new", b"er"]))
    assert path.read_bytes() == b"newer"


def test_a_file_is_written_through_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"


def test_what_is_no_file_is_written_into_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(pipe, b"new")
    assert os.read(reader, 10) == b"new"
    assert pipe.is_fifo() and [p.name for p in tmp_path.iterdir()] == ["pipe"]
    os.close(reader)


def test_stems_are_safe():
    assert safe_stem("a/b c", "d", tail="e*") == "a_b_c-d-e_"
    assert safe_stem("..x") == "x"
    long = safe_stem("x" * 500, tail="end")
    assert len(long) == MAX_STEM and long.endswith("x-end")

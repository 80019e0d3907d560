"""Pictures of accesses as a user asks for them: what they show, files, messages, exit codes."""

import re
import xml.etree.ElementTree as xml

import pytest
from programs import run
from transposition import COLUMN, ROOT, SOURCE, explain, line_of

SVG = "{http://www.w3.org/2000/svg}"


def drawn_of(variant, *arguments, **options):
    """Of a transposition; the emulator is chosen whether there is a GPU or not."""
    return explain(f"transpose.{variant}@1024x1024", *arguments, **options)


def rows(output):
    """The cells of each row of a picture in text."""
    table = output.split("\n\n")[1].splitlines()
    assert table[0].startswith("bank 00 01"), output
    return [re.findall(r"[ +|](\d\d| \.|  )", row[4:]) for row in table[1:]]


@pytest.mark.parametrize("device", [[], ["--device=auto"], ["--device=emulated"]])
def test_a_column_of_a_tile_is_drawn_in_one_bank(device):
    result = drawn_of("tiled.f32", "--text", *device, code=0)
    assert f"{COLUMN}: " in result.stdout
    assert "32 lanes want 32 words of bank 0: 32 wavefronts; ideal 1\n" in result.stdout
    drawn = rows(result.stdout)
    assert [row[0] for row in drawn] == [f"{lane:02}" for lane in range(32)]
    assert all(set(row[1:]) == {" ."} for row in drawn)
    assert all(len(line) <= 100 for line in result.stdout.splitlines())
    assert "\033" not in result.stdout


@pytest.mark.parametrize(
    "variant, line",
    [("padded.f32", COLUMN), ("swizzled.f32", line_of("= tile[i][j ^ i];"))],
)
def test_cured_columns_are_drawn_in_one_wavefront(variant, line):
    result = drawn_of(variant, "--text", "--line", line, code=0)
    assert ": 1 wavefront; ideal 1\n" in result.stdout
    (row,) = rows(result.stdout)
    assert sorted(row) == [f"{lane:02}" for lane in range(32)]


def test_half_warps_are_drawn_one_after_the_other():
    result = drawn_of("tiled.f64", "--text", "--line", COLUMN.split(":")[1])
    assert ": 32 wavefronts; ideal 2\n" in result.stdout
    assert "(wavefronts 1-16: lanes 0-15;" in result.stdout


def test_of_global_memory_sectors_are_drawn():
    result = drawn_of("naive.f32", "--text", code=0)
    assert "global store" in result.stdout and "|sector 0 " in result.stdout
    assert "32 lanes want 32 of the 256 words in 32 sectors; ideal 4\n" in result.stdout


def test_any_architecture_of_the_build_can_be_drawn():
    arch = run("warpgauge", "list", "--archs").stdout.split()[0]
    result = drawn_of("tiled.f32", "--text", "--arch", arch)
    assert result.stdout.startswith(f"transpose.tiled.f32@1024x1024, emulated as {arch}\n")
    drawn_of("tiled.f32", "--text", "--arch", "sm_91", code=2)


def test_the_svg_is_xml_with_a_cell_for_each_lane(tmp_path):
    path = tmp_path / "tiled.svg"
    result = drawn_of("tiled.f32", "--picture", path, code=0)
    caption = "32 lanes want 32 words of bank 0: 32 wavefronts; ideal 1"
    assert result.stdout == f"{caption}\npicture: {path}\n"
    root = xml.parse(path).getroot()
    assert root.tag == SVG + "svg"
    texts = [element.text for element in root.iter(SVG + "text")]
    assert caption in texts and "wavefront 32" in texts
    source = (ROOT / SOURCE).read_text().splitlines()[int(COLUMN.split(":")[1]) - 1].strip()
    assert "<" in source and "&&" in source
    assert f"{COLUMN}: {source}" in texts
    cells = [e.text for e in root.iter(SVG + "text") if e.get("class") == "cell"]
    assert cells == [str(lane) for lane in range(32)]
    assert [p.name for p in tmp_path.iterdir()] == ["tiled.svg"]


def test_a_picture_replaces_the_one_before(tmp_path):
    path = tmp_path / "x.svg"
    path.write_text("before")
    link = tmp_path / "link.svg"
    link.symlink_to(path)
    drawn_of("padded.f32", "--picture", link, code=0)
    assert link.is_symlink() and path.read_text().startswith("<?xml")


@pytest.mark.parametrize("place", ["no/such/folder/x.svg", "folder.svg"])
def test_a_picture_that_cannot_be_written_is_a_fault(tmp_path, place):
    (tmp_path / "folder.svg").mkdir()
    path = tmp_path / place
    result = drawn_of("padded.f32", "--picture", path, code=2)
    assert result.stderr.startswith(f"{path}: cannot be written: ")
    assert len(result.stderr.splitlines()) == 1 and result.stdout == ""
    assert [p.name for p in tmp_path.rglob("*")] == ["folder.svg"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--line", "67"], "--line needs --text or --picture"),
        (["--text", "--line", "family.cu:x"], "say LINE or FILE:LINE"),
        (["--text", "--line", "1"], "no access to shared or global memory there"),
        (["--text", "--line", "1"], COLUMN),
        (["--text", "--line", "other.cu:" + COLUMN.split(":")[1]], "no access"),
        (["--text", "--device=gpu"], "a GPU does not record addresses"),
        (["--picture"], "--picture"),
        (["--picture="], "--picture"),
        (["--text", "--line="], "--line"),
    ],
)
def test_what_cannot_be_drawn_is_reported(arguments, message):
    result = drawn_of("tiled.f32", *arguments, code=2)
    assert message in result.stderr + result.stdout

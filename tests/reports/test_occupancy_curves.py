"""warpgauge report occupancy: pictures of the curves that `warpgauge occupancy` prints."""

import json
import xml.etree.ElementTree as ET

import pytest
from warpgauge.program import main

SVG = "{http://www.w3.org/2000/svg}"


def point(amount, occupancy):
    return {"amount": amount, "blocks": 1, "warps": 1, "occupancy": occupancy, "limiter": "warps"}


def table(**curves):
    """Of one resource, by architecture."""
    return {
        "threads": 256,
        "registers": 40,
        "shared": 0,
        "architectures": [
            {"arch": arch, "over": {"registers": [point(*values) for values in points]}}
            for arch, points in curves.items()
        ],
    }


STEEP, FLAT = [(8, 1.0), (40, 0.75), (255, 0.125)], [(8, 1.0), (40, 1.0), (255, 0.25)]


def draw(tmp_path, content):
    path = tmp_path / "curves.json"
    path.write_text(json.dumps(content))
    return main(["report", "occupancy", str(path), "--out", str(tmp_path / "out")])


def test_architectures_with_the_same_curve_share_a_line(tmp_path, capsys):
    assert draw(tmp_path, table(sm_80=STEEP, sm_86=FLAT, sm_90=STEEP)) == 0
    picture = tmp_path / "out" / "occupancy-registers.svg"
    assert capsys.readouterr().out.split() == [str(picture), str(picture.with_suffix(".png"))]
    drawn = ET.parse(picture)
    names = {group.get("id") for group in drawn.iter(f"{SVG}g")}
    assert {"curve-sm_80", "curve-sm_86", "given"} <= names and "curve-sm_90" not in names
    texts = ["".join(text.itertext()) for text in drawn.iter(f"{SVG}text")]
    assert "sm_80, sm_90" in texts and "sm_86" in texts
    assert "Occupancy, 256 threads, 0 bytes of shared memory" in texts
    assert "registers of a thread" in texts and "40" in texts


def test_the_same_curves_give_the_same_files(tmp_path):
    files = []
    for _ in range(2):
        assert draw(tmp_path, table(sm_90=STEEP)) == 0
        files.append([path.read_bytes() for path in sorted((tmp_path / "out").iterdir())])
    assert files[0] == files[1] and len(files[0]) == 2


@pytest.mark.parametrize(
    "content",
    [{}, [], table(), {"architectures": [{"arch": "sm_90", "over": {}}]}, table(sm_90=[(8, "x")])],
)
def test_what_has_no_curves_is_refused(tmp_path, capsys, content):
    assert draw(tmp_path, content) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("curves.json: not what `warpgauge occupancy --over threads --json` prints")
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_not_there_is_said(tmp_path, capsys):
    assert main(["report", "occupancy", str(tmp_path / "no"), "--out", str(tmp_path)]) == 2
    assert "no: cannot be read: No such file or directory" in capsys.readouterr().err

"""The page of `explain --html`: counts beside lines, machine code, harmful source, messages."""

import base64
import re
import xml.etree.ElementTree as xml

import pytest
from explained_page import Page
from transposition import COLUMN, KERNEL, NAIVE, PADDED, STORE, explain
from warpgauge.page.explain import render
from warpgauge.page.explained import Explained

SVG = "{http://www.w3.org/2000/svg}"
FAKE_NVDISASM = r"""#!/bin/sh
[ "$1" = -c ] || exit 1
grep -ao '\.text\._Z[A-Za-z0-9_]*' "$2" | sort -u | while read -r section; do
  echo "$section:"
  for n in $(seq 0 63); do
    printf '        /*%04x*/              @!P0 WORD <%d> ;\n' $((16 * n)) $n
  done
done
"""


def test_the_page_has_the_counts_beside_each_line_of_two_cases(tmp_path):
    path = tmp_path / "page.html"
    result = explain(NAIVE, PADDED, "--html", path, code=0)
    assert result.stdout == f"page: {path}\n"
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]
    page = Page(path)
    store = page.counts(NAIVE, STORE)
    assert store["Line"].startswith("▶ ")
    assert store["Source"].strip() == "b[x * h + y] = value;"
    assert store["global.store.sectors"] == "1,048,576"
    padded = page.counts(PADDED, COLUMN)
    assert padded["global.store.sectors"] == "131,072" and padded["Line"][0] != "▶"
    assert ["global.excess_sectors", "917,504", "0", "better"] in page.rows["Sums over all lines"]
    (image,) = page.images
    assert image["alt"].endswith("ideal 4")
    svg = base64.b64decode(image["src"].removeprefix("data:image/svg+xml;base64,"))
    assert xml.fromstring(svg).tag == SVG + "svg"
    linked = [value for name, value in page.attributes if name in ("src", "href")]
    assert all(value.startswith(("data:", "#")) for value in linked), "needs no network"


@pytest.mark.parametrize(
    "script, note, sass",
    [
        (FAKE_NVDISASM, "SASS as nvdisasm writes it", "@!P0 WORD <{}>  "),
        ("#!/bin/sh\nexit 3\n", "/bin/nvdisasm failed.", ""),
    ],
    ids=["works", "fails"],
)
def test_nvdisasm_of_the_toolkit_gives_the_sass(script, note, sass, tmp_path):
    program = tmp_path / "bin" / "nvdisasm"
    program.parent.mkdir()
    program.write_text(script)
    program.chmod(0o755)
    place = tmp_path / "page.html"
    env = {"PATH": "/usr/bin:/bin", "CUDA_HOME": str(tmp_path)}
    explain(NAIVE, "--html", place, env=env, code=0)
    page = Page(place)
    assert any(note in words for words in page.words)
    folded = [
        text for (_, summary), texts in page.folded.items() if KERNEL in summary for text in texts
    ]
    (store,) = (line for text in folded for line in text.splitlines() if "st.global" in line)
    address, rest = store.split(maxsplit=1)
    expected = sass.format(int(address, 16) // 16)
    assert re.fullmatch(re.escape(expected) + r" *st\.global\.f32 .*;", rest)


def test_source_is_escaped_on_the_page():
    data = {
        "id": "a.b.f32@1",
        "counted_by": "<b>",
        "static": "<i>",
        "lines": [
            {
                "file": "<f>",
                "line": 2,
                "values": {"instructions": 5},
                "waste": 0,
                "unsure": ["instructions"],
                "doubts": ["estimate: <u>"],
                "cures": ["<q>"],
                "inlined": "<s>",
            }
        ],
        "sources": [{"file": "<f>", "first": 1, "text": ["", "</td><script>alert(1)</script>"]}],
        "machine_code": {
            "note": "<b>",
            "lines": [
                {
                    "file": "<f>",
                    "line": 2,
                    "kernel": "<i>",
                    "instructions": [{"address": 16, "sass": "<u>", "ptx": "<s>"}],
                }
            ],
        },
        "pictures": [{"file": "<f>", "line": 2, "caption": '"><script>', "svg": "<svg/>"}],
    }
    other = data | {"lines": []}
    for text in (render([Explained(data)]), render([Explained(other, "<b>"), Explained(data)])):
        assert "<script" not in text and "&lt;/td&gt;&lt;script&gt;" in text
        assert not re.search("<[fbiusq]>", text)
        assert "~5" in text and "estimate: &lt;u&gt;" in text
        assert "0x0010  &lt;u&gt;  &lt;s&gt;" in text


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([PADDED], "a second case needs --html FILE"),
        (["--against", "x.json", "--json", "y.json"], "--against compares two runs of a case"),
        (["--against="], "--against: 1 required FILE missing"),
        (["--html", "x.html", "--text"], "--html, --json and pictures are written one at a time"),
        (["transpose.none", "--html", "x.html"], "no case is called 'transpose.none'"),
        (["--html", "/proc/no/x.html"], "/proc/no/x.html: cannot be written: "),
        (["--html", "x.html", "--device=gpu"], "a GPU does not record addresses"),
    ],
)
def test_a_page_that_cannot_be_made_is_a_fault(arguments, message, tmp_path):
    result = explain(NAIVE, *arguments, cwd=tmp_path, code=2)
    assert message in result.stderr and len(result.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []

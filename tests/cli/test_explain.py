"""Pictures of accesses as a user asks for them: what they show, files, messages, exit codes."""

import base64
import json
import os
import re
import subprocess
import xml.etree.ElementTree as xml
from html.parser import HTMLParser
from pathlib import Path

import jsonschema_rs
import pytest
from warpgauge.page.explain import render
from warpgauge.page.explained import Explained

BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"
ROOT = Path(__file__).resolve().parents[2]
SOURCE = "kernels/transpose/family.cu"
SVG = "{http://www.w3.org/2000/svg}"


def explain(variant, *arguments):
    """Of a transposition; the emulator is chosen whether there is a GPU or not."""
    return subprocess.run(
        [BIN / "warpgauge", "explain", f"transpose.{variant}@1024x1024", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
    )


def line_of(text):
    """SOURCE:LINE of the first line of the source that ends like this."""
    lines = (ROOT / SOURCE).read_text().splitlines()
    number = next(n for n, line in enumerate(lines, start=1) if line.endswith(text))
    return f"{SOURCE}:{number}"


COLUMN = line_of("= tile[i][j];")


def rows(output):
    """The cells of each row of a picture in text."""
    table = output.split("\n\n")[1].splitlines()
    assert table[0].startswith("bank 00 01"), output
    return [re.findall(r"[ +|](\d\d| \.|  )", row[4:]) for row in table[1:]]


@pytest.mark.parametrize("device", [[], ["--device=auto"], ["--device=emulated"]])
def test_a_column_of_a_tile_is_drawn_in_one_bank(device):
    result = explain("tiled.f32", "--text", *device)
    assert result.returncode == 0, result.stderr
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
    result = explain(variant, "--text", "--line", line)
    assert result.returncode == 0, result.stderr
    assert ": 1 wavefront; ideal 1\n" in result.stdout
    (row,) = rows(result.stdout)
    assert sorted(row) == [f"{lane:02}" for lane in range(32)]


def test_half_warps_are_drawn_one_after_the_other():
    result = explain("tiled.f64", "--text", "--line", COLUMN.split(":")[1])
    assert ": 32 wavefronts; ideal 2\n" in result.stdout
    assert "(wavefronts 1-16: lanes 0-15;" in result.stdout


def test_of_global_memory_sectors_are_drawn():
    result = explain("naive.f32", "--text")
    assert result.returncode == 0, result.stderr
    assert "global store" in result.stdout and "|sector 0 " in result.stdout
    assert "32 lanes want 32 of the 256 words in 32 sectors; ideal 4\n" in result.stdout


def test_any_architecture_of_the_build_can_be_drawn():
    archs = subprocess.run([BIN / "warpgauge", "list", "--archs"], capture_output=True, text=True)
    arch = archs.stdout.split()[0]
    result = explain("tiled.f32", "--text", "--arch", arch)
    assert result.stdout.startswith(f"transpose.tiled.f32@1024x1024, emulated as {arch}\n")
    assert explain("tiled.f32", "--text", "--arch", "sm_91").returncode == 2


def test_the_svg_is_xml_with_a_cell_for_each_lane(tmp_path):
    path = tmp_path / "tiled.svg"
    result = explain("tiled.f32", "--picture", path)
    assert result.returncode == 0, result.stderr
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
    assert explain("padded.f32", "--picture", link).returncode == 0
    assert link.is_symlink() and path.read_text().startswith("<?xml")


@pytest.mark.parametrize("place", ["no/such/folder/x.svg", "folder.svg"])
def test_a_picture_that_cannot_be_written_is_a_fault(tmp_path, place):
    (tmp_path / "folder.svg").mkdir()
    path = tmp_path / place
    result = explain("padded.f32", "--picture", path)
    assert result.returncode == 2
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
    result = explain("tiled.f32", *arguments)
    assert result.returncode == 2, result.stdout
    assert message in result.stderr + result.stdout


def explain_emulated(case):
    command = ["explain", case, "--device=emulated"]
    return subprocess.run([BIN / "warpgauge", *command], capture_output=True, text=True)


def test_counts_that_are_not_sure_are_marked_and_the_reason_is_reported():
    saves = explain_emulated("stack.recursive.u32@1024").stdout
    assert re.search(r"^\d+ .* \?  return sum;", saves, re.MULTILINE), saves
    assert "\n         estimate: ptxas spills registers" in saves
    assert "\n~ not exact, ? not known; else exact\n" in saves
    repeated = explain_emulated("shared_atomics.add.f32@4096").stdout
    assert re.search(r"~\d+ +~\d+/\d+ +-  ", repeated), repeated
    assert "\n         estimate: the machine code repeats a compare and swap" in repeated


def test_lines_that_few_lanes_came_to_are_named():
    result = explain_emulated("transpose.naive.f32@1000x700")
    assert "lines that not all lanes came to" in result.stdout, result.stdout + result.stderr
    assert "lanes 31.8 of 32  kernels/transpose/family.cu:" in result.stdout


def test_the_calls_that_a_line_was_inlined_through_follow_it():
    own = explain_emulated("fragments.vectors.f32@1000").stdout
    call = r"\n {76}inlined at kernels/fragments/family\.cu:\d+\n"
    assert re.search(rf"^\d+ .*  \*to = \*from;{call}", own, re.MULTILINE), own
    outside = explain_emulated("fragments.async_words.f32@3072").stdout
    assert "cuda_pipeline_" not in re.sub(r" {76}inlined from .*", "", outside), outside
    header = r"\n {76}inlined from \S+/cuda_pipeline_\w+\.h:\d+ and \d+ more; inlined at kern"
    assert re.search(header, outside), outside


def test_exact_counts_have_no_marks():
    exact = explain_emulated("transpose.tiled.f32@1024x1024").stdout
    assert "counted by the emulator, sm_90\n" in exact
    assert "~" not in exact and "?" not in exact
    assert exact.endswith("\nEvery count is exact.\n")


def test_kernels_are_named_as_people_write_them():
    launches = explain_emulated("transpose.padded.f32@1024x1024").stdout.splitlines()[1]
    assert re.match(r"launches .*<float, .*>\(.*\) as <<<\(", launches), launches
    assert "_Z" not in launches


@pytest.mark.parametrize("command", [["explain"], ["gate", "--filter"]])
@pytest.mark.parametrize("name", ["transpose.naive", "transpose.naive.f32@1024x102"])
def test_for_an_unknown_case_a_near_one_is_named(command, name):
    result = subprocess.run([BIN / "warpgauge", *command, name], capture_output=True, text=True)
    assert result.returncode == 2
    assert ", did you mean 'transpose.naive.f32@1024x1024'?" in result.stderr


NAIVE, PADDED = (f"transpose.{variant}.f32@1024x1024" for variant in ("naive", "padded"))


class Page(HTMLParser):
    """The cells of each row, by id of the case in the heading above; attributes; text; and what is
    folded, by its summary."""

    def __init__(self, path):
        super().__init__()
        self.rows, self.words, self.attributes, self.images = {}, [], [], []
        self.folded, self._summary = {}, ""
        self._section, self._in = None, None
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        self.attributes += attributes
        self._in = tag
        if tag == "details":
            assert attributes == [], "closed"
        elif tag == "tr":
            self.rows.setdefault(self._section, []).append([])
        elif tag in ("td", "th"):
            self.rows[self._section][-1].append("")
        elif tag == "img":
            self.images.append(dict(attributes))

    def handle_data(self, data):
        self.words.append(data)
        if self._in == "h2" and data.strip():
            self._section = data
        elif self._in == "summary" and data.strip():
            self._summary = data
        elif self._in == "pre" and data.strip():
            self.folded.setdefault((self._section, self._summary), []).append(data)
        elif self._in in ("td", "th", "wbr") and data.strip():
            self.rows[self._section][-1][-1] += data.replace("\u200b", "")

    def counts(self, case, place):
        """By metric, of the line FILE:LINE."""
        head = next(row for row in self.rows[case] if row[0] == "Line")
        number = place.split(":")[1]
        row = next(row for row in self.rows[case] if row[0].removeprefix("▶ ") == number)
        return dict(zip(head, row, strict=True))


def test_the_page_has_the_counts_beside_each_line_of_two_cases(tmp_path):
    path = tmp_path / "page.html"
    result = subprocess.run(
        [BIN / "warpgauge", "explain", NAIVE, PADDED, "--html", path],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
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


STORE = line_of("b[x * h + y] = value;")
KERNEL = "transpose::naive<float>(float*, float const*, int, int)"


def run(case, *arguments, **environment):
    """`explain` of a case, with changes to the environment."""
    return subprocess.run(
        [BIN / "warpgauge", "explain", case, *map(str, arguments)],
        **{"capture_output": True, "text": True, "env": os.environ | environment},
    )


@pytest.fixture(scope="module")
def naive(tmp_path_factory):
    """What --json writes, without nvdisasm."""
    path = tmp_path_factory.mktemp("explain") / "naive.json"
    assert run(NAIVE, "--json", path, PATH="/usr/bin:/bin", CUDA_HOME="/none").returncode == 0
    data = json.loads(path.read_text())
    schema = json.loads((ROOT / "harness/explain/explain.schema.json").read_text())
    jsonschema_rs.validator_for(schema).validate(data)
    return data


def code_of(data, place):
    """The instructions of the line FILE:LINE."""
    (code,) = (
        line for line in data["machine_code"]["lines"] if f"{line['file']}:{line['line']}" == place
    )
    assert code["kernel"] == KERNEL
    return code["instructions"]


def test_the_ptx_of_each_machine_instruction_is_known(naive):
    stores = [
        instruction
        for instruction in code_of(naive, STORE)
        if instruction["ptx"].startswith("st.global.f32 ")
    ]
    assert len(stores) == 1 and stores[0]["address"] % 16 == 0
    assert {instruction["sass"] for instruction in code_of(naive, STORE)} == {""}
    note = naive["machine_code"]["note"]
    assert note.endswith("; no SASS, for neither PATH nor $CUDA_HOME/bin has nvdisasm.")
    assert not re.search(
        r"\t|[{}]", "".join(instruction["ptx"] for instruction in code_of(naive, STORE))
    )


FAKE = r"""#!/bin/sh
[ "$1" = -c ] || exit 1
grep -ao '\.text\._Z[A-Za-z0-9_]*' "$2" | sort -u | while read -r section; do
  echo "$section:"
  for n in $(seq 0 63); do
    printf '        /*%04x*/              @!P0 WORD <%d> ;\n' $((16 * n)) $n
  done
done
"""


@pytest.mark.parametrize(
    "script, note",
    [(FAKE, "SASS as nvdisasm writes it"), ("#!/bin/sh\nexit 3\n", "/bin/nvdisasm failed.")],
)
def test_nvdisasm_of_the_toolkit_gives_the_sass(script, note, tmp_path):
    program = tmp_path / "bin" / "nvdisasm"
    program.parent.mkdir()
    program.write_text(script)
    program.chmod(0o755)
    place = tmp_path / "page.html"
    path = "/usr/bin:/bin"
    assert run(NAIVE, "--html", place, PATH=path, CUDA_HOME=str(tmp_path)).returncode == 0
    page = Page(place)
    assert any(note in words for words in page.words)
    folded = [
        text for (_, summary), texts in page.folded.items() if KERNEL in summary for text in texts
    ]
    (store,) = (line for text in folded for line in text.splitlines() if "st.global" in line)
    address, rest = store.split(maxsplit=1)
    sass = f"@!P0 WORD <{int(address, 16) // 16}>  " if script == FAKE else ""
    assert re.fullmatch(re.escape(sass) + r" *st\.global\.f32 .*;", rest)


def edited(data, tmp_path):
    """A run of other source: two lines fewer above, the store other text and other counts."""
    data = json.loads(json.dumps(data))
    for line in [*data["lines"], *data["machine_code"]["lines"]]:
        line["line"] -= 2
    (source,) = data["sources"]
    source["first"] -= 2
    at = int(STORE.split(":")[1]) - 2
    source["text"][at - source["first"]] = "  b[y * w + x] = value; // <&>"
    (store,) = (line for line in data["lines"] if line["line"] == at)
    store["values"]["global.store.sectors"] = 131072
    path = tmp_path / "before<b>.json"
    path.write_text(json.dumps(data))
    return path


def test_lines_of_two_runs_are_compared_by_their_text(naive, tmp_path):
    same = tmp_path / "same.json"
    same.write_text(json.dumps(naive))
    result = run(NAIVE, "--against", same)
    assert result.returncode == 0, result.stderr
    assert result.stdout.endswith("\n\nNo line differs.\n")

    before = edited(naive, tmp_path)
    number = int(STORE.split(":")[1])
    result = run(NAIVE, "--against", before)
    assert result.returncode == 0, result.stderr
    heads, changes = result.stdout.split("\n\n")
    assert heads == (
        f"A: {NAIVE}, before<b>.json; counted by the emulator, sm_90\n"
        f"B: {NAIVE}, now; counted by the emulator, sm_90"
    )
    line, metric = changes.splitlines()
    assert line == f"{SOURCE}:{number - 2} -> {number}: b[x * h + y] = value;"
    assert metric.split() == ["global.store.sectors", "131,072", "->", "1,048,576", "worse"]

    place = tmp_path / "page.html"
    assert run(NAIVE, "--against", before, "--html", place).returncode == 0
    page = Page(place)
    assert [heading for heading in page.rows if heading.startswith(NAIVE)] == [
        f"{NAIVE}, before<b>.json",
        f"{NAIVE}, now",
    ]
    (row,) = page.rows["Lines that differ"][1:]
    assert row[1:] == ["global.store.sectors", "131,072", "1,048,576", "worse"]
    assert "<b>" not in place.read_text()


def test_lines_that_only_one_run_has_differ(naive, tmp_path):
    data = json.loads(json.dumps(naive))
    (source,) = data["sources"]
    at = int(STORE.split(":")[1])
    del source["text"][at - source["first"]]
    for part in (data, data["machine_code"]):
        part["lines"] = [line for line in part["lines"] if line["line"] != at]
        for line in part["lines"]:
            line["line"] -= line["line"] > at
    path = tmp_path / "before.json"
    path.write_text(json.dumps(data))
    changes = run(NAIVE, "--against", path).stdout.split("\n\n")[1]
    assert changes.startswith(f"{SOURCE}:(none) -> {at}: b[x * h + y] = value;\n")
    assert re.search(r"global.store.sectors +0 -> 1,048,576 +worse", changes)


@pytest.mark.parametrize(
    "text, message",
    [
        (None, "cannot be read: No such file or directory"),
        ("{", "not a JSON object: "),
        ("[]", "not a JSON object; write it with `warpgauge explain ID --json FILE`"),
        ('{"schema": "warpgauge.diff/1"}', "schema is 'warpgauge.diff/1', and this version reads"),
        ('{"schema": "warpgauge.explain/1"}', "does not match warpgauge.explain/1: "),
        (PADDED, f"this is a run of {PADDED}, not of {NAIVE}; "),
    ],
)
def test_a_run_that_is_none_is_a_fault(text, message, naive, tmp_path):
    path = tmp_path / "run.json"
    if text == PADDED:
        text = json.dumps(naive | {"id": PADDED})
    if text is not None:
        path.write_text(text)
    result = run(NAIVE, "--against", path, "--html", tmp_path / "x.html")
    assert result.returncode == 2, result.stdout
    assert result.stderr.startswith(f"{path}: {message}"), result.stderr
    assert len(result.stderr.splitlines()) == 1 and not (tmp_path / "x.html").exists()


def test_source_is_escaped_on_the_page():
    data = {
        "id": "a.b.f32@1",
        "counted_by": "<b>",
        "static": "<i>",
        "lines": [
            {
                **{"file": "<f>", "line": 2, "values": {"instructions": 5}, "waste": 0},
                **{"unsure": ["instructions"], "doubts": ["estimate: <u>"], "cures": ["<q>"]},
                "inlined": "<s>",
            }
        ],
        "sources": [{"file": "<f>", "first": 1, "text": ["", "</td><script>alert(1)</script>"]}],
        "machine_code": {
            "note": "<b>",
            "lines": [
                {
                    **{"file": "<f>", "line": 2, "kernel": "<i>"},
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
    command = [BIN / "warpgauge", "explain", NAIVE, *arguments]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 2, result.stdout
    assert message in result.stderr and len(result.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_help_has_examples():
    result = subprocess.run(
        [BIN / "warpgauge", "explain", "--help"], capture_output=True, text=True
    )
    assert re.search(r"explain transpose\S+ --line \d+ --picture \S+\.svg", result.stdout)

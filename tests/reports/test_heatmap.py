"""warpgauge report heatmap as a user sees it: pictures, names of files, errors, exit codes."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from some_facts import FACT, GPU, write
from warpgauge.drawing import style
from warpgauge.program import main
from warpgauge.text import MAX_STEM

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data" / "facts"
SVG = "{http://www.w3.org/2000/svg}"
# Sizes 8 to 64 by 1 to 8 without 64x8: the time grows with the distance from 16x4.
TIMES = {
    (y, x): 10 + abs(y - 16) / 8 + abs(x - 4) / 3
    for y in (8, 16, 32, 64)
    for x in (1, 2, 4, 8)
    if (y, x) != (64, 8)
}


def a_fact(size="8x1", value=1.5, case=("sweep", "naive", "f32"), **members):
    """A time, as warpgauge-bench writes it, with other members where they are given."""
    family, variant, type_ = case
    return {
        **FACT,
        **{"run": "r1", "time": "2026-01-01T00:00:00Z", "commit": "0123456789abcdef"},
        **{"family": family, "variant": variant, "type": type_, "size": size, "source": "clock"},
        **{"kernel": None, "launch": None, "sass_hash": None, "verdict": "unbudgeted"},
        **{"metric": "time.median_us", "value": value},
        **{"budget": None, "budget_reason": None, "reason": None},
        **members,
    }


def sweep(values=TIMES, **members):
    return [a_fact("{}x{}".format(*extents), value, **members) for extents, value in values.items()]


def count_of(metric):
    return {"metric": metric, "source": "emulator"}


def draw(tmp_path, facts, *arguments):
    """Names of the files made of the facts, which must be possible, in order."""
    path = write(tmp_path / "facts.jsonl", facts)
    assert main(["report", "heatmap", str(path), "--out", str(tmp_path / "out"), *arguments]) == 0
    return sorted(path.name for path in (tmp_path / "out").iterdir())


def texts(path):
    return ["".join(text.itertext()) for text in ET.parse(path).iter(f"{SVG}text")]


def marked(path, kind):
    """The text, or None, of everything in the picture that is called KIND-<size>, by size."""
    found = {}
    for group in ET.parse(path).iter(f"{SVG}g"):
        name = group.get("id", "")
        if name.startswith(f"{kind}-"):
            text = group.find(f".//{SVG}text")
            found[name.removeprefix(f"{kind}-")] = None if text is None else text.text
    return found


def refuse(capsys, *arguments):
    """The one line that says why there is no picture."""
    assert main(["report", "heatmap", *map(str, arguments)]) == 2
    streams = capsys.readouterr()
    assert streams.out == ""
    (line,) = streams.err.splitlines()
    return line


def test_a_sweep_becomes_an_svg_and_a_png(tmp_path):
    names = draw(tmp_path, sweep())
    stem = "heatmap-sweep.naive.f32-time.median_us-sm_90"
    assert names == [f"{stem}.png", f"{stem}.svg"]
    png = (tmp_path / "out" / names[0]).read_bytes()
    assert png.startswith(b"\x89PNG\r\n\x1a\n") and b"IEND" in png[-12:]
    picture = tmp_path / "out" / names[1]
    expected = {"{}x{}".format(*size): style.number_text(value) for size, value in TIMES.items()}
    assert marked(picture, "value") == expected
    assert expected["16x4"] == "10" and expected["8x1"] == "12"
    assert marked(picture, "best").keys() == {"16x4"}
    assert not marked(picture, "missing")
    words = texts(picture)
    where = f"time.median_us on {GPU['name']}, sm_90"
    for text in ("sweep.naive.f32", where, "µs, lower is better"):
        assert text in words
    caption = " ".join(words)
    assert "Framed: best, 10 µs." in caption and "Blank: no such case in the facts." in caption
    assert "sm_90, NVIDIA H100 by clock: exact." in caption
    assert "Run of 2026-01-01T00:00:00Z, commit 0123456789ab." in caption


def test_what_was_not_measured_is_hatched(tmp_path):
    unmeasured = a_fact("64x8", None, source=None, confidence=None)
    *_, svg = draw(tmp_path, [*sweep(), unmeasured])
    picture = tmp_path / "out" / svg
    assert marked(picture, "missing").keys() == {"64x8"}
    assert "64x8" not in marked(picture, "value")
    caption = " ".join(texts(picture))
    assert "Hatched: not measured." in caption and "Blank" not in caption


def test_the_same_facts_give_the_same_files(tmp_path, monkeypatch):
    def files(name, epoch):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
        (tmp_path / name).mkdir()
        draw(tmp_path / name, sweep())
        return [path.read_bytes() for path in sorted((tmp_path / name / "out").iterdir())]

    assert files("first", "0") == files("second", "1700000000")


def test_the_users_own_matplotlib_settings_do_not_matter(tmp_path):
    write(tmp_path / "facts.jsonl", sweep())
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "matplotlibrc").write_text(
        "font.size: 40\nsvg.fonttype: path\naxes.facecolor: red\nbackend: tkagg\n"
    )
    made = []
    for name, settings in (("a", {}), ("b", {"MATPLOTLIBRC": str(tmp_path / "own")})):
        result = subprocess.run(
            [sys.executable, "-m", "warpgauge", "report", "heatmap", tmp_path / "facts.jsonl"]
            + ["--out", tmp_path / name],
            env={**os.environ, "PYTHONPATH": str(ROOT / "reports"), **settings},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert result.returncode == 0, result.stderr
        printed = [Path(line) for line in result.stdout.splitlines()]
        assert sorted(printed) == sorted((tmp_path / name).iterdir())
        made.append([path.read_bytes() for path in printed])
    assert made[0] == made[1]


def test_extents_are_named_after_the_launch_that_the_gates_facts_show(tmp_path):
    *_, svg = draw(tmp_path, sweep())
    assert {"first extent of the size", "second extent of the size"} <= set(
        texts(tmp_path / "out" / svg)
    )
    gate = [
        a_fact(
            f"{y}x{x}",
            4,
            kernel="k",
            launch={"grid": [1, 1, 1], "block": [x, y, 1]},
            **count_of("global.store.sectors_per_request"),
        )
        for y, x in TIMES
    ]
    draw(tmp_path, [*gate, *sweep()])
    assert {
        "blockDim.y (first extent of the size)",
        "blockDim.x (second extent of the size)",
    } <= set(texts(tmp_path / "out" / svg))


def test_a_wide_range_has_a_log_scale_and_all_that_are_best_are_framed(tmp_path):
    values = {(y, x): min(4 * y, 32) for y in (1, 2, 4, 8) for x in (1, 2, 4, 8)}
    facts = sweep(values, **count_of("global.load.sectors_per_request"))
    *_, svg = draw(tmp_path, facts, "--metric", "global.load.sectors_per_request")
    picture = tmp_path / "out" / svg
    assert marked(picture, "best").keys() == {"1x1", "1x2", "1x4", "1x8"}
    words = texts(picture)
    assert "sectors/request, log scale, lower is better" in words
    assert "Framed: best, 4 sectors/request (4 cells)." in " ".join(words)


def test_where_higher_is_better_the_highest_is_best(tmp_path):
    facts = sweep(metric="throughput.bytes_per_second")
    *_, svg = draw(tmp_path, facts, "--metric", "throughput.bytes_per_second")
    assert marked(tmp_path / "out" / svg, "best").keys() == {"64x1"}


def test_where_a_metric_only_describes_none_is_best(tmp_path):
    facts = sweep(**count_of("global.sectors_ideal"))
    *_, svg = draw(tmp_path, facts, "--metric", "global.sectors_ideal")
    assert not marked(tmp_path / "out" / svg, "best")
    assert "sectors" in texts(tmp_path / "out" / svg)


@pytest.mark.parametrize("value", [0, 8, -3, 1e300, 2**64 - 1, 1e-300])
def test_equal_values_are_drawn_and_none_is_best(tmp_path, value):
    *_, svg = draw(tmp_path, sweep(dict.fromkeys(TIMES, value)))
    picture = tmp_path / "out" / svg
    assert set(marked(picture, "value").values()) == {style.number_text(value)}
    assert not marked(picture, "best")


def test_extreme_values_are_drawn(tmp_path):
    values = dict(TIMES) | {(8, 1): 1e-300, (8, 2): 1e300, (8, 4): -1e300, (8, 8): 0}
    *_, svg = draw(tmp_path, sweep(values))
    assert marked(tmp_path / "out" / svg, "best").keys() == {"8x4"}


def test_the_newest_value_counts_and_an_unmeasured_one_never_hides_it(tmp_path):
    newer = [
        a_fact(size, 77, run="r2", time="2026-02-01T00:00:00Z") for size in ("8x1", "64x4", "8x2")
    ]
    newer.append(newer[1] | {"value": 76})  # measured again in the same run
    unmeasured = a_fact("8x1", None, confidence=None, run="r3", time="2026-03-01T00:00:00Z")
    *_, svg = draw(tmp_path, [newer[0], *sweep(), *newer[1:], unmeasured])
    picture = tmp_path / "out" / svg
    values = marked(picture, "value")
    assert sorted(size for size, text in values.items() if text == "77") == ["8x1", "8x2"]
    assert values["64x4"] == "76"
    caption = " ".join(texts(picture))
    assert "2 runs, 2026-01-01T00:00:00Z to 2026-02-01T00:00:00Z: the newest value" in caption


def test_values_of_source_lines_are_no_cells(tmp_path):
    line = a_fact("8x1", 99, scope="line", verdict=None, run="r4", time="2027-01-01T00:00:00Z")
    *_, svg = draw(tmp_path, [*sweep(), line])
    assert marked(tmp_path / "out" / svg, "value")["8x1"] == "12"


def test_variants_architectures_devices_and_sources_have_pictures_of_their_own(tmp_path):
    other = GPU | {"name": "NVIDIA H200"}
    names = draw(
        tmp_path,
        [
            *sweep(),
            *sweep(case=("sweep", "tiled", "f32")),
            *sweep(arch="sm_80", device=GPU | {"name": "NVIDIA A100"}),
            *sweep(case=("sweep", "twice", "f32")),
            *sweep(case=("sweep", "twice", "f32"), device=other),
            *sweep(case=("sweep", "twice", "f32"), device=other, source="cupti"),
        ],
    )
    assert [name.removeprefix("heatmap-sweep.") for name in names if name.endswith("svg")] == [
        "naive.f32-time.median_us-sm_80.svg",
        "naive.f32-time.median_us-sm_90.svg",
        "tiled.f32-time.median_us-sm_90.svg",
        "twice.f32-time.median_us-sm_90-NVIDIA_H100-clock.svg",
        "twice.f32-time.median_us-sm_90-NVIDIA_H200-clock.svg",
        "twice.f32-time.median_us-sm_90-NVIDIA_H200-cupti.svg",
    ]


def test_filter_chooses_cases(tmp_path):
    facts = [*sweep(), *sweep(case=("sweep", "tiled", "f32"))]
    names = draw(tmp_path, facts, "--filter", "sweep.t*")
    assert len(names) == 2 and all(".tiled." in name for name in names)
    assert draw(tmp_path, facts, "--filter", "no.*", "--filter", "sweep.t*") == names
    assert draw(tmp_path, facts, "--exclude", "*.naive.*,*.twice.*") == names


@pytest.mark.parametrize(
    "family",
    [
        "../../etc/passwd",
        "/etc/passwd",
        ".hidden",
        "<script>alert(1)</script>&amp;\"'",
        "]]>--><!--",
        "$\\frac{1}{0}$ $x_$",
        "line\u2028break\u2060\ufffe",
        "\u202eright-to-left",
        "名前 \U0001f600 é",
        "{} %s %(x)s",
        "x" * 5000,
    ],
)
def test_names_are_data(tmp_path, capsys, family):
    device = GPU | {"name": f"{family}\n\t\0\x1b[31mred\x7f"}
    names = draw(tmp_path, sweep(case=(family, "naive", "f32"), device=device))
    assert len(names) == 2
    for name in names:
        assert re.fullmatch(r"heatmap-[\w.-]+\.(png|svg)", name, re.ASCII)
        assert len(name) <= MAX_STEM + 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["facts.jsonl", "out"]
    words = texts(tmp_path / "out" / names[1])  # and is well-formed
    title = next(text for text in words if text.endswith((".naive.f32", "…")))
    assert title.isprintable() and title[:3] == (family[:3] if family.isprintable() else title[:3])
    streams = capsys.readouterr()
    assert streams.err == "" and streams.out.replace("\n", "").isprintable()


def test_names_that_become_the_same_stay_two_files(tmp_path):
    facts = [
        fact
        for family in ("a/b", "a_b", "A_B", "x" * 500, "x" * 501)
        for fact in sweep(case=(family, "naive", "f32"))
    ]
    assert len({name.lower() for name in draw(tmp_path, facts)}) == 10


@pytest.mark.parametrize(
    "facts, message",
    [
        ([], "no facts"),
        ([a_fact("1024x1024")], "no sizes that span a grid in time.median_us"),
        (sweep({(y, 1): 1.0 for y in range(20)}), "no sizes that span a grid"),
        (sweep({(y, x): 1.0 for y in range(20) for x in range(3)}), "no sizes that span a grid"),
        ([a_fact(str(n)) for n in range(20)], "no sizes that span a grid"),
        ([a_fact(f"{n}x{n}x1") for n in range(20)], "no sizes that span a grid"),
        ([a_fact(f"{n}x{n}") for n in range(20)], "no sizes that span a grid"),
        ([*sweep(), a_fact("8")], "no sizes that span a grid"),
        ([*sweep(), a_fact("08x1")], "no sizes that span a grid"),
        ([*sweep(), a_fact("8x٣")], "no sizes that span a grid"),
        (sweep(metric="registers"), "no fact of time.median_us"),
        (
            sweep(dict.fromkeys(TIMES), source=None, confidence=None),
            "sweep.naive.f32 on sm_90, NVIDIA H100: no value of time.median_us",
        ),
        (
            sweep({(y, x): 1.0 for y in range(100) for x in range(4)}),
            "100 values of one extent, and a heat map holds 64",
        ),
    ],
    ids=str,
)
def test_nothing_that_spans_a_grid_is_a_fault(tmp_path, capsys, facts, message):
    path = write(tmp_path / "facts.jsonl", facts)
    assert message in refuse(capsys, path, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_variant_of_which_nothing_was_measured_is_named(tmp_path, capsys):
    empty = sweep(dict.fromkeys(TIMES), arch="sm_75", source=None, confidence=None)
    draw(tmp_path, [*sweep(), *empty])
    expected = "no picture of sweep.naive.f32 on sm_75, NVIDIA H100: no value of time.median_us\n"
    assert capsys.readouterr().err == expected


def test_bad_files_are_named_with_their_line(tmp_path, capsys):
    out = ["--out", tmp_path / "out"]
    good = write(tmp_path / "good.jsonl", sweep())
    missing = tmp_path / "none.jsonl"
    expected = f"{missing}: cannot be read: No such file or directory"
    assert refuse(capsys, good, missing, *out) == expected
    bad = tmp_path / "bad.jsonl"
    bad.write_text(good.read_text() + "no JSON\n")
    line = 1 + len(good.read_text().splitlines())
    assert refuse(capsys, bad, *out).startswith(f"{bad}:{line}: not a JSON object")
    write(bad, [a_fact(), a_fact(), a_fact(metric="a\n\x1b[2J")])
    assert refuse(capsys, bad, *out) == f"{bad}:5: key 'values' has the unknown metric 'a??[2J'"
    assert not (tmp_path / "out").exists()


def test_bad_options_are_refused(tmp_path, capsys):
    facts = write(tmp_path / "facts.jsonl", sweep())
    out = ["--out", tmp_path / "out"]
    line = refuse(capsys, facts, "--metric", "time.median", *out)
    assert "unknown metric 'time.median'; did you mean time.median_us?" in line
    words = {"metric": "occupancy.limiter"}
    write(facts, sweep(dict.fromkeys(TIMES, "registers"), **words))
    line = refuse(capsys, facts, "--metric", "occupancy.limiter", *out)
    assert "has words for values" in line
    write(facts, sweep())
    assert f"{facts}" in refuse(capsys, facts, "--out", facts)
    assert "--filter 'nosuch.*'" in refuse(capsys, facts, "--filter", "nosuch.*", *out)
    for arguments in (["report", "heatmap"], [], ["nonsense"], ["report", "heatmap", str(facts)]):
        assert main(arguments) == 2


def test_help_has_examples(capsys):
    assert main(["report", "heatmap", "--help"]) == 0
    text = capsys.readouterr().out
    for word in ("--metric", "--filter", "--out", "exit codes:", "examples:", "time.median_us"):
        assert word in text


def test_facts_that_the_reader_is_tested_with_are_taken(tmp_path, capsys):
    """Real facts, of which none spans a grid."""
    line = refuse(capsys, DATA / "good.jsonl", "--out", tmp_path, "--metric", "registers")
    assert "good.jsonl: no" in line

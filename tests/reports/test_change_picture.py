"""warpgauge report change: a picture of what changed between two files of facts."""

import xml.etree.ElementTree as ET

import pytest
from some_facts import a_fact, registers, write
from warpgauge.program import main

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '<b>$x^2$&"'
CLOCK = {"metric": "time.median_us", "source": "clock"}


def timed(night, value, width=0.1, **members):
    return a_fact(night, value, interval=[value - width, value + width], **CLOCK | members)


@pytest.fixture
def change(tmp_path, capsys):
    """Draws what changed between facts; exit code, complaints, and ids and texts of the picture."""

    def run(before, after, *arguments):
        files = [write(tmp_path / f"{name}.jsonl", facts)
                 for name, facts in (("before", before), ("after", after))]  # fmt: skip
        out = tmp_path / "out"
        words = [*files, "--out", out, *arguments]
        code = main(["report", "change", *map(str, words)])
        printed, errors = capsys.readouterr()
        if code:
            assert printed == "" and not out.exists()
            return code, errors, set(), []
        assert printed.split() == [str(out / "change.svg"), str(out / "change.png")]
        assert (out / "change.png").read_bytes().startswith(b"\x89PNG")
        root = ET.parse(out / "change.svg")
        ids = {group.get("id") for group in root.iter(f"{SVG}g")}
        ids |= {path.get("id") for path in root.iter(f"{SVG}path")}
        return code, errors, ids, ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]

    return run


def test_each_metric_of_a_kernel_is_a_bar_with_its_values(change):
    before = [a_fact(1, 31744), registers(1, 20), a_fact(1, 8, metric="shared.requests")]
    after = [a_fact(2, 0), registers(2, 22), a_fact(2, 8, metric="shared.requests")]
    code, errors, ids, texts = change(before, after, "--title", "Pad the tile")
    assert (code, errors) == (0, "")
    assert {"better-1", "worse-0"} <= {id for id in ids if id}  # the largest above
    assert "Pad the tile" in texts and "31,744 → 0 wavefronts" in texts
    assert "20 → 22 registers/thread, +10 %" in texts
    assert texts.count("better") == texts.count("worse") == 1
    assert "commit commit-1 → commit-2; 1 value did not change" in texts


def test_sizes_of_a_kernel_share_the_bar_of_the_one_that_changed_most(change):
    sizes = {"64x64": 12, "128x128": 30}
    before = [a_fact(1, 10, size=size) for size in sizes]
    after = [a_fact(2, value, size=size) for size, value in sizes.items()]
    _, _, _, texts = change(before, after)
    assert "transpose.naive.f32@128x128, sm_90 and 1 more" in texts
    assert "10 → 30 wavefronts, × 3" in texts and not any("64x64" in text for text in texts)


def test_noise_is_no_change(change):
    code, errors, _, _ = change([timed(1, 10.0)], [timed(2, 10.1)])
    assert code == 2 and "nothing to draw: none of 1 value changed" in errors
    code, _, _, texts = change([timed(1, 10.0)], [timed(2, 10.5)])
    assert code == 0 and "10 → 10.50 µs, +5 %" in texts


def test_times_of_other_gpus_are_not_compared(change):
    other = {"name": "NVIDIA L4"}
    code, errors, _, _ = change([timed(1, 10)], [timed(2, 20, device=other)])
    assert code == 2 and "they have no case and metric in common" in errors


def test_small_changes_are_counted(change):
    before = [a_fact(1, 10, case=f"v{n}") for n in range(12)]
    after = [a_fact(2, 11 + n, case=f"v{n}") for n in range(12)]
    _, _, ids, texts = change(before, after)
    assert len([id for id in ids if id and id.startswith("worse-")]) == 10
    assert "commit commit-1 → commit-2; 2 smaller changes are not drawn" in texts
    _, _, ids, _ = change(before, after, "--bars", "1", "--filter", "*.v3.*")
    assert len([id for id in ids if id and id.startswith("worse-")]) == 1


def test_names_are_shown_as_they_are(change):
    _, _, _, texts = change([a_fact(1, 1, case=HOSTILE)], [a_fact(2, 2, case=HOSTILE)])
    assert any(HOSTILE in text for text in texts)


def test_the_same_facts_give_the_same_files(change, tmp_path):
    files = []
    for _ in range(2):
        assert change([a_fact(1, 1)], [a_fact(2, 2)])[0] == 0
        files.append([path.read_bytes() for path in sorted((tmp_path / "out").iterdir())])
    assert files[0] == files[1]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--metric", "shared.bank_conflict"], "did you mean 'shared.bank_conflicts'?"),
        (["--filter", "none.*"], "--filter 'none.*' matches no case of the facts"),
        (["--metric", "registers"], "no case and metric in common|no numbers"),
        (["--bars", "0"], "'0' is not a number of bars from 1 to 40"),
        (["--bars", "x"], "'x' is not a number of bars"),
        ([], "nothing to draw: none of 1 value changed"),
    ],
)
def test_what_cannot_be_drawn_is_one_error_and_no_file(change, arguments, error):
    code, errors, _, _ = change([a_fact(1, 1)], [a_fact(2, 1)], *arguments)
    assert code == 2 and errors.count("\n") == 1
    assert any(words in errors for words in error.split("|")), errors

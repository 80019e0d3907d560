"""warpgauge report change: a picture of what `warpgauge diff` found."""

import subprocess
import xml.etree.ElementTree as ET

import pytest
from programs import BIN
from some_facts import a_fact, registers, write
from warpgauge.program import main

SVG = "{http://www.w3.org/2000/svg}"
UNBUDGETED = {"budget": None, "verdict": "unbudgeted"}
HOSTILE = '<b>$x^2$&"'


def code(night, value, **members):
    """A fact of a kernel whose code is another one each night."""
    return a_fact(night, value, sass_hash=f"code-{night}", **members)


@pytest.fixture
def change(tmp_path, capsys):
    """Draws what changed between facts; exit code, complaints, and ids and texts of the picture."""

    def run(before, after, *arguments):
        files = []
        for commit, facts in (("3b1f0c7", before), ("9e8d7c6", after)):
            path = tmp_path / f"{commit}.jsonl"
            files.append(write(path, [fact | {"commit": commit} for fact in facts]))
        compared, out = tmp_path / "diff.json", tmp_path / "out"
        command = [BIN / "warpgauge", "diff", *files, "--json", compared]
        assert subprocess.run(command, capture_output=True).returncode in (0, 1)
        code = main(["report", "change", str(compared), "--out", str(out), *arguments])
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


def test_each_fact_of_a_kernel_is_a_bar_with_its_values(change):
    before = [code(1, 31744), registers(1, 20, sass_hash="code-1", **UNBUDGETED)]
    after = [code(2, 0), registers(2, 22, sass_hash="code-2", **UNBUDGETED)]
    exit_code, errors, ids, texts = change(before, after, "--title", "Pad the tile")
    assert (exit_code, errors) == (0, "")
    assert {"worse-1", "better-0"} <= {id for id in ids if id}  # the worst above
    assert "Pad the tile" in texts and "31,744 → 0 wavefronts" in texts
    assert "20 → 22 registers/thread, +10 %" in texts
    assert texts.count("better") == texts.count("worse") == 1
    assert any(text.startswith("1 kernel worse, against the base at 3b1f0c7") for text in texts)


def test_what_diff_calls_no_loss_is_no_loss_in_the_picture(change):
    """More requests of a padded tile only explain; registers cost nothing while occupancy grows."""
    before = [code(1, 8), code(1, 100, metric="shared.requests"), registers(1, 20, sass_hash="a")]
    after = [code(2, 0), code(2, 300, metric="shared.requests"), registers(2, 22, sass_hash="b")]
    sides = (before, 0.5, 1), (after, 1.0, 2)
    for facts, occupancy, night in sides:
        facts.append(registers(night, occupancy, metric="occupancy.theoretical"))
    before, after = ([fact | UNBUDGETED for fact in facts] for facts in (before, after))
    _, _, ids, texts = change(before, after)
    assert "better" in texts and "worse" not in texts
    _, _, ids, texts = change(before, after, "--metric", "shared.requests")
    assert "faint-0" in ids and "100 → 300 requests, × 3" in texts


def test_sizes_of_a_kernel_share_the_bar_of_the_one_that_changed_most(change):
    sizes = {"64x64": 12, "128x128": 30}
    before = [code(1, 10, size=size) for size in sizes]
    after = [code(2, value, size=size) for size, value in sizes.items()]
    for arguments in ((), ("--metric", "shared.bank_conflicts")):
        _, _, _, texts = change(before, after, *arguments)
        assert "transpose.naive.f32@128x128, sm_90 and 1 more" in texts
        assert "10 → 30 wavefronts, × 3" in texts and not any("64x64" in text for text in texts)


def test_changes_without_room_are_counted(change):
    before = [code(1, 10, case=f"v{n}") for n in range(12)]
    after = [code(2, 11 + n, case=f"v{n}") for n in range(12)]
    _, _, ids, texts = change(before, after)
    assert len([id for id in ids if id and id.startswith("worse-")]) == 10
    assert any(text.endswith("; 2 more changes are not drawn") for text in texts)
    _, _, ids, _ = change(before, after, "--bars", "1")
    assert len([id for id in ids if id and id.startswith("worse-")]) == 1


def test_a_bar_without_an_end_and_one_that_is_too_long_are_marked_as_cut_off(change):
    values = {"none": (0, 9), "gone": (9, 0), "long": (1, 1000), "edge": (1, 64), "short": (2, 6)}
    before = [code(1, a, case=name) for name, (a, _) in values.items()]
    after = [code(2, b, case=name) for name, (_, b) in values.items()]
    _, _, ids, texts = change(before, after)
    names = [text.split(".")[1] for text in texts if text.startswith("transpose.")]
    assert set(names) == set(values)
    cut = {name for height, name in enumerate(reversed(names)) if f"cut-{height}" in ids}
    assert cut == {"none", "gone", "long"}
    _, _, ids, _ = change(before[3:], after[3:])
    assert not any(id.startswith("cut-") for id in ids if id)


def test_names_are_shown_as_they_are(change):
    _, _, _, texts = change([code(1, 1, case=HOSTILE)], [code(2, 2, case=HOSTILE)])
    assert any(HOSTILE in text for text in texts)


def test_the_same_facts_give_the_same_files(change, tmp_path):
    files = []
    for _ in range(2):
        assert change([code(1, 1)], [code(2, 2)])[0] == 0
        files.append([path.read_bytes() for path in sorted((tmp_path / "out").iterdir())])
    assert files[0] == files[1]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--metric", "shared.bank_conflict"], "did you mean 'shared.bank_conflicts'?"),
        (["--metric", "registers"], "nothing to draw: registers did not change; "),
        (["--bars", "0"], "'0' is not a number of bars from 1 to 40"),
        (["--bars", "x"], "'x' is not a number of bars"),
        ([], "nothing to draw: no number changed; 1 kernel the same"),
    ],
)
def test_what_cannot_be_drawn_is_one_error_and_no_file(change, arguments, error):
    code, errors, _, _ = change([a_fact(1, 1)], [a_fact(2, 1)], *arguments)
    assert code == 2 and errors.count("\n") == 1
    assert error in errors


def test_facts_are_no_diff(tmp_path, capsys):
    facts = write(tmp_path / "facts.jsonl", [a_fact(1, 1)])
    assert main(["report", "change", str(facts), "--out", str(tmp_path / "out")]) == 2
    assert "these are facts, not 'warpgauge.diff/1'; write it with" in capsys.readouterr().err

"""Orders of warps and blocks in which a launch breaks: reduced, written, and replayed."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from warpgauge.facts.reader import read_facts

BUILD = Path(os.environ["WARPGAUGE_BINARY_DIR"])
ROOT = Path(__file__).resolve().parents[2]
PROGRAM = BUILD / "programs" / "interleaved"
SOURCE = (ROOT / "tests" / "emulator" / "programs" / "interleaved.cu").read_text().splitlines()


def run(gauge, command, *arguments, cwd):
    words = [BUILD / "bin" / gauge, command, *arguments]
    return subprocess.run(
        list(map(str, words)), capture_output=True, text=True, timeout=300, cwd=cwd
    )


def emulate(cwd, way, *options):
    return run(
        "warpgauge", "emulate", *("--arch", "sm_90"), *options, *("--", PROGRAM, way), cwd=cwd
    )


def line_of(remark):
    (number,) = (n for n, line in enumerate(SOURCE, 1) if line.endswith(f"// {remark}"))
    return f"interleaved.cu:{number}"


def written(folder):
    """The files of orders, and what they hold."""
    return {path.name: json.loads(path.read_text()) for path in folder.glob("order-*.json")}


@pytest.fixture(scope="module")
def lost(tmp_path_factory):
    """A run that found orders that lose an update: its folder, stderr and the file of the first
    launch."""
    folder = tmp_path_factory.mktemp("lost")
    found = emulate(folder, "lose", "--schedules", 5)
    assert found.returncode == 2, found.stderr
    names = {order["launch"]: name for name, order in written(folder / "out").items()}
    assert list(sorted(names)) == [1, 2]
    return folder, found.stderr, folder / "out" / names[1]


def test_the_one_switch_that_loses_an_update_is_found_and_written(lost):
    folder, said, file = lost
    read, write = line_of("read of lose"), line_of("write of lose")
    order = json.loads(file.read_text())
    (switch,) = order.pop("switches")
    (a, _), (b, _) = switch["from"], switch["to"]
    assert {a, b} == {0, 1}
    assert [Path(line).name for line in switch["lines"]] == [read, write]
    assert order["schema"] == "warpgauge.order/1"
    assert (order["kernel"], order["launch"], order["arch"]) == ("_Z4losePi", 1, "sm_90")
    assert (order["grid"], order["block"]) == ([2, 1, 1], [32, 1, 1])
    assert not order["late_stores"] and "case" not in order
    text = (
        r"kernel lose: order: the result is another one in order \d, with 1 switch: after "
        rf"\S*{read} by block \({a},0,0\) warp 0, block \({b},0,0\) warp 0 goes on to "
        rf"\S*{write}, first at byte 0 of cudaMalloc #1 \(16 bytes\); again with "
        rf"--replay out/{file.name}"
    )
    assert re.search(text, said), said
    errors = [
        fact for fact in read_facts(folder / "out" / "facts.jsonl") if fact.verdict == "error"
    ]
    assert {(fact.rule, Path(fact.other).name) for fact in errors} == {("order", write)}
    assert {f"{Path(fact.file).name}:{fact.line}" for fact in errors} == {read}


def test_a_file_is_replayed(lost, tmp_path):
    _, _, file = lost
    again = emulate(tmp_path, "lose", "--replay", file)
    assert again.returncode == 2, again.stderr
    assert "the result is another one in the order replayed, with 1 switch: " in again.stderr
    assert "there was no launch" not in again.stderr
    assert not written(tmp_path / "out")


def test_an_order_in_which_nothing_breaks_is_said_to_be_so(lost, tmp_path):
    _, _, file = lost
    order = json.loads(file.read_text())
    order["switches"] = []
    (tmp_path / "mended.json").write_text(json.dumps(order))
    done = emulate(tmp_path, "lose", "--replay", "mended.json")
    assert done.returncode == 0, done.stderr
    assert (
        "mended.json: launch 1 of kernel lose does in this order what it does in the usual one"
        in done.stderr
    )


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"kernel": "_Z3addPi"}, "there was no launch 1 of kernel add"),
        ({"launch": 3}, "there was no launch 3 of kernel lose"),
        ({"code": "0" * 16}, "launch 1 of kernel lose has other code now"),
        ({"grid": [3, 1, 1]}, "launch 1 of kernel lose has another grid or block"),
        ({"arch": "sm_80"}, "its launch is one of sm_80"),
        ({"schema": "warpgauge.order/2"}, "its schema is not warpgauge.order/1"),
        ({"case": "a.b.f32@1"}, "its launch is one of the case a.b.f32@1"),
        ({"grid": [1, 1, 1]}, "its launch has no warp 0 of block 1"),
        ({"switches": 7}, "is no order that --schedules wrote"),
    ],
)
def test_a_file_of_another_launch_is_an_error(change, why, lost, tmp_path):
    _, _, file = lost
    other = tmp_path / "other.json"
    other.write_text(json.dumps(json.loads(file.read_text()) | change))
    done = emulate(tmp_path, "lose", "--replay", other)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count(why) >= 1, done.stderr
    assert str(other) in done.stderr


@pytest.mark.parametrize("text", ["", "{", "PTX", "[]", "{}", "\0\xff"])
def test_a_damaged_file_is_an_error_before_the_program_runs(text, tmp_path):
    (tmp_path / "damaged.json").write_bytes(text.encode("latin1"))
    done = emulate(tmp_path, "add", "--replay", "damaged.json")
    assert done.returncode == 2
    assert "damaged.json: is no order that --schedules wrote: " in done.stderr
    assert "PASSED" not in done.stdout
    missing = emulate(tmp_path, "add", "--replay", "missing.json")
    assert missing.returncode == 2 and "missing.json" in missing.stderr


def test_a_flag_that_is_set_too_early_needs_one_switch(tmp_path):
    found = emulate(tmp_path, "flag_first", "--schedules", 5)
    flag, data = line_of("flag of flag_first"), line_of("data of flag_first")
    assert re.search(
        rf"with 1 switch: after \S*{flag} by block \(0,0,0\) warp 0, block \(1,0,0\) warp 0 goes on"
        rf" to \S*{data}, first at byte 0 of cudaMalloc #1",
        found.stderr,
    ), found.stderr


def test_a_hang_that_needs_an_order_is_found_and_replayed(tmp_path):
    found = emulate(tmp_path, "hang", "--schedules", 5)
    assert found.returncode == 2
    assert re.search(
        r"order: a fault in order \d, with 1 switch: .*, block \(1,0,0\) warp 0 goes on to .*"
        r"deadlock, all threads wait in loops for what nothing changes",
        found.stderr,
    ), found.stderr
    assert line_of("wait of hang") in found.stderr
    name = min(written(tmp_path / "out"))
    (tmp_path / "out" / name).rename(tmp_path / "hang.json")
    again = emulate(tmp_path, "hang", "--replay", "hang.json")
    assert again.returncode == 2
    assert "order: a fault in the order replayed, with 1 switch: " in again.stderr


def test_the_command_that_a_finding_names_runs_as_it_stands(tmp_path):
    found = emulate(tmp_path, "hang", "--schedules", 5)
    file = re.search(r"again with --replay (out/order-\w+\.json)", found.stderr).group(1)
    for _ in range(2):
        again = emulate(tmp_path, "hang", "--replay", file)
        assert again.returncode == 2, again.stderr
        assert "order: a fault in the order replayed, with 1 switch: " in again.stderr


def test_a_right_kernel_has_no_finding_and_no_file(tmp_path):
    done = emulate(tmp_path, "add", "--schedules", 20)
    assert done.returncode == 0, done.stderr
    assert not written(tmp_path / "out")


def test_files_of_the_run_before_go(lost, tmp_path):
    _, _, file = lost
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / file.name).write_bytes(file.read_bytes())
    emulate(tmp_path, "add")
    assert not written(tmp_path / "out")


def test_the_gate_writes_and_replays_them(tmp_path):
    gate = ("warpgauge-faulty", "gate")
    options = ("--device=emulated", "--arch=sm_90", "--no-bounded")
    case = "canaries.race_of_blocks.f32@1024"
    found = run(*gate, *options, "--filter", case, "--schedules", 3, cwd=tmp_path)
    assert found.returncode == 2, found.stdout
    # One finding of a line stands for others, whose files are there as well.
    name = re.search(r"again with --replay out/(order-\w+\.json)", found.stdout).group(1)
    order = written(tmp_path / "out")[name]
    assert order["case"] == case and order["arch"] == "sm_90"
    stays = run(*gate, *options, "--replay", f"out/{name}", cwd=tmp_path)
    assert stays.returncode == 2 and "in the order replayed, with " in stays.stdout
    (tmp_path / "out" / name).rename(tmp_path / "order.json")
    again = run(*gate, *options, "--replay", "order.json", cwd=tmp_path)
    assert again.returncode == 2, again.stdout
    assert "in the order replayed, with " in again.stdout
    assert {fact.id for fact in read_facts(tmp_path / "out" / "facts.jsonl")} == {case}
    order["launch"] = 9
    (tmp_path / "order.json").write_text(json.dumps(order))
    gone = run(*gate, *options, "--replay", "order.json", cwd=tmp_path)
    assert gone.returncode == 2
    assert "order.json: there was no launch 9 of kernel canaries::race_of_blocks" in gone.stdout


def test_the_gate_refuses_the_order_of_a_program(lost, tmp_path):
    _, _, file = lost
    done = run("warpgauge", "gate", "--device=emulated", "--replay", file, cwd=tmp_path)
    assert done.returncode == 2
    assert "its launch is one of a program: give it to warpgauge emulate" in done.stderr

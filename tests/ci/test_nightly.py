"""ci/nightly: what it measures, keeps and shows, and which exit code a night has."""

import fcntl
import json
import os
import re
import subprocess

import pytest
from scratch_checkout import (
    BIN,
    ONE_FAILS,
    ONE_PASSES,
    PAGE,
    REPORT,
    pretend_gpus,
    scratch_checkout,
    stand_in,
)
from some_facts import a_fact, as_line, registers, text_of
from warpgauge.facts.reader import read_facts

GPU = "NVIDIA H100 80GB HBM3"


class Night:
    """A checkout on a machine whose GPUs are `models`, by UUID."""

    def __init__(self, folder, program="warpgauge"):
        self.folder = scratch_checkout(folder)
        self.calls = folder / "calls"
        self.calls.touch()
        pretend_gpus(self.folder, program)

    def run(self, *options, models=None, **env):
        lines = "".join(f"{uuid}\t{name}\n" for uuid, name in (models or {}).items())
        return subprocess.run(
            [self.folder / "ci/nightly", *map(str, options)],
            cwd=self.folder,
            env={**os.environ, "MODELS": lines, "CALLS": str(self.calls), **env},
            capture_output=True,
            text=True,
            timeout=300,
        )

    def lines(self):
        return self.calls.read_text().splitlines()

    def runs(self):
        listed = subprocess.run(
            [BIN / "warpgauge-python", "report", "runs", "--db", "history.db", "--json"],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(listed.stdout)


@pytest.fixture
def night(tmp_path):
    return Night(tmp_path)


@pytest.fixture
def quick_night(night):
    """A night with a history and without a page."""
    stand_in(night.folder, "warpgauge-python", PAGE)
    return night


CASE = f"--filter={ONE_PASSES['filter']}"


def test_a_night_without_a_gpu_is_kept_and_shown(night):
    done = night.run(CASE)
    assert done.returncode == 0, done.stderr
    assert "no GPU here" in done.stderr
    assert [line.split("|")[1].split()[0] for line in night.lines()] == ["list", "gate"]
    archs = subprocess.run([BIN / "warpgauge", "list", "--archs"], capture_output=True, text=True)
    assert f"--arch={','.join(archs.stdout.split())}" in night.lines()[-1]
    out = night.folder / "out/nightly"
    assert (out / "emulated/facts.jsonl").stat().st_size > 0
    assert (out / "emulated/junit.xml").exists()
    assert "<html" in (out / "report/index.html").read_text()
    assert (out / "report/digest.md").read_text() in done.stdout
    assert len(night.runs()) == 1


def test_each_model_of_gpu_has_its_counts_and_times(quick_night):
    done = quick_night.run(CASE, "--large", models={"GPU-1": GPU, "GPU-2": "NVIDIA L4 <b>"})
    assert done.returncode == 0, done.stderr
    calls = [line for line in quick_night.lines() if "|list" not in line]
    assert [line.split("|")[0] for line in calls] == ["GPU-1", "GPU-1", "GPU-2", "GPU-2", "none"]
    assert ["--large" in line for line in calls] == [True, True, True, True, False]
    for name in ("nvidia-h100-80gb-hbm3", "nvidia-l4--b-"):
        folder = quick_night.folder / "out/nightly" / name
        assert "time.median_us" in {fact.metric for fact in read_facts(folder / "times.jsonl")}
        assert json.loads((folder / "times.json").read_text())["benchmarks"]
        assert "padded.f32" in (folder / "times.md").read_text()
        assert (folder / "facts.jsonl").stat().st_size > 0
    assert len(quick_night.runs()) == 5  # two of each GPU, one of the emulator


def test_the_choice_of_the_caller_stands_where_there_is_one_model(night):
    night.run(CASE, "--device=gpu", "--no-report", models={"GPU-1": GPU}, CUDA_VISIBLE_DEVICES="3")
    assert {line.split("|")[0] for line in night.lines()} == {"3"}
    assert not (night.folder / "out/nightly/emulated").exists()


def test_the_same_night_over_again_replaces_its_files_and_adds_to_the_history(quick_night):
    for expected in (1, 2):
        assert quick_night.run(CASE, "--device=emulated").returncode == 0
        assert len(quick_night.runs()) == expected


def test_times_of_an_earlier_night_are_not_taken_for_those_of_this_one(night):
    night.run(CASE, "--device=gpu", "--no-report", models={"GPU-1": GPU})
    done = night.run(CASE, "--device=gpu", "--no-report", models={"GPU-1": GPU}, BENCH_CODE="2")
    assert done.returncode == 2
    assert not list((night.folder / "out/nightly").glob("*/times.js*"))


def test_a_gpu_that_is_required_and_not_there_is_not_measured(quick_night):
    assert quick_night.run(CASE, "--require=cupti").returncode == 3
    assert quick_night.run(CASE, "--device=gpu").returncode == 2  # there is nothing to report
    assert quick_night.run(CASE, "--device=gpu", "--no-report").returncode == 3


def test_what_is_over_budget_does_not_keep_the_rest_from_being_done(tmp_path):
    night = Night(tmp_path, "warpgauge-faulty")
    done = night.run(f"--filter={ONE_FAILS['filter']}", "--device=emulated")
    assert done.returncode == 1, done.stderr
    assert "padding_removed" in done.stdout  # of the digest
    assert (night.folder / "out/nightly/report/index.html").exists()


def a_night_of_registers(folder, number, value):
    """A file with the facts of a run that passed."""
    facts = [a_fact(number), registers(number, value, verdict="unbudgeted", budget=None)]
    counts = {"pass": 1, "unbudgeted": 1}
    end = {"record": "end", "run": f"run-{number}", "counts": counts, "exit_code": 0}
    (folder / f"{number}.jsonl").write_text(text_of(facts) + as_line(end))
    return f"--facts={number}.jsonl"


def test_a_value_that_got_worse_makes_nights_red_until_it_is_acknowledged(night):
    """Registers go from 20 to 30 on the second night."""
    code = {}
    known = ("--reason=issue 12", "--until=2999-12-31")
    for number, value, *options in (
        (1, 20),
        (2, 30),
        (3, 30),
        (4, 30, "--ack=*/nothing", *known),
        (5, 30, "--ack=*/registers", *known),
        (6, 30),
    ):
        facts = a_night_of_registers(night.folder, number, value)
        done = night.run("--device=none", facts, *options)
        code[number] = done.returncode
        assert ("1 value got worse" in done.stdout) == (number in (2, 3, 4)), done.stdout
        assert (night.folder / "out/nightly/report/index.html").exists()
        assert ("no series matches '*/nothing'" in done.stderr) == (number == 4)
        assert ("acknowledged for good: issue 12" in done.stdout) == (number >= 5)
    assert code == {1: 0, 2: 1, 3: 1, 4: 2, 5: 0, 6: 0}, done.stderr


@pytest.mark.parametrize(
    "gate, bench, worst", [("ok", "3", 3), ("ok", "1", 1), ("ok", "139", 2), ("bad", "1", 2)]
)
def test_the_worst_of_the_parts_is_the_exit_code(night, gate, bench, worst):
    case = CASE if gate == "ok" else "--filter=no.such"
    done = night.run(case, "--device=gpu", "--no-report", models={"GPU-1": GPU}, BENCH_CODE=bench)
    assert done.returncode == worst, done.stderr


def test_gpus_that_cannot_be_asked_for_are_a_fault(quick_night):
    assert quick_night.run(CASE, DEVICES_CODE="2").returncode == 2


@pytest.fixture
def kept_facts(night):
    """Options of a night that measures nothing: the facts are there already."""
    stand_in(night.folder, "warpgauge-python", REPORT)
    (night.folder / "other.jsonl").write_text("{}\n")
    return "--device=none", "--facts", "other.jsonl"


def test_the_page_is_published_and_stays_until_there_is_a_new_one(night, kept_facts):
    site = night.folder / "site of all"
    done = night.run(*kept_facts, "--publish", site)
    assert done.returncode == 0, done.stderr
    assert {file.name for file in site.iterdir()} == {"index.html", "digest.md"}
    assert (site / "index.html").read_text() == "a page\n"
    stand_in(night.folder, "warpgauge-python", "#!/bin/sh\nexit 2\n")
    assert night.run(*kept_facts, "--publish", site).returncode == 2
    assert not (night.folder / "out/nightly/report/index.html").exists()
    assert (site / "index.html").read_text() == "a page\n"


def test_a_page_that_cannot_be_published_is_a_fault(night, kept_facts):
    (night.folder / "site").write_text("a file")
    done = night.run(*kept_facts, "--publish=site")
    assert done.returncode == 2 and "making site: exit code 2" in done.stderr


def test_commits_are_those_of_the_checkout_where_git_knows_it(night, kept_facts):
    assert night.run(*kept_facts).returncode == 0
    assert "--repo" not in night.lines()[-1]
    subprocess.run(["git", "init", "-q", night.folder], check=True)
    assert night.run(*kept_facts, "--address=").returncode == 0
    assert f"--repo={night.folder}" in night.lines()[-1] and "--address" not in night.lines()[-1]


def test_facts_of_other_machines_are_gathered(night):
    assert (
        night.run(CASE, "--device=gpu", "--no-report", "--out=a", models={"X": GPU}).returncode == 0
    )
    assert not (night.folder / "history.db").exists()
    calls = night.lines()
    done = night.run("--device=none", "--gather", "a", "b c", "--keep", "365d")
    assert done.returncode == 2, done.stderr
    assert len(night.runs()) == 2 and night.lines() == calls
    assert "lost: b c: no facts" in done.stderr
    digest = (night.folder / "out/nightly/report/digest.md").read_text()
    assert digest.startswith("**Lost: b c: no facts.**\n\n# ")
    assert digest in done.stdout
    assert (night.folder / "out/nightly/report/index.html").exists()


def gathered(night, spoil=None, pattern=CASE):
    """A night that gathers what another machine has measured."""
    night.run(pattern, "--device=gpu", "--no-report", "--out=a", models={"X": GPU})
    (facts,) = (night.folder / "a").glob("*/facts.jsonl")
    if spoil:
        facts.write_text(spoil(facts.read_text()))
    return night.run("--device=none", "--gather", "a")


def digest_of(night):
    return (night.folder / "out/nightly/report/digest.md").read_text()


def test_a_night_that_gathers_red_results_is_red(tmp_path):
    night = Night(tmp_path, "warpgauge-faulty")
    stand_in(night.folder, "warpgauge-python", PAGE)
    done = gathered(night, pattern=f"--filter={ONE_FAILS['filter']}")
    assert done.returncode == 1, done.stderr


def test_results_that_were_cut_off_are_lost(quick_night):
    done = gathered(quick_night, lambda text: text[: text.rindex('{"record":"end"')])
    assert done.returncode == 2
    assert "facts.jsonl: a run has no closing record" in done.stderr
    assert digest_of(quick_night).startswith("**Lost: a/")


def test_results_of_an_earlier_night_are_lost(quick_night):
    assert gathered(quick_night).returncode == 0
    done = quick_night.run("--device=none", "--gather", "a")
    assert done.returncode == 2
    assert "facts.jsonl: nothing new" in done.stderr
    assert "facts.jsonl: nothing new.**" in digest_of(quick_night)


def test_results_of_a_machine_without_a_clock_are_lost(quick_night):
    done = gathered(
        quick_night, lambda text: re.sub('"time":"[^"]*"', '"time":"1970-01-01T00:00:07Z"', text)
    )
    assert done.returncode == 2
    assert "facts.jsonl: a run has an impossible date" in done.stderr


@pytest.mark.parametrize(
    "options, ingested",
    [
        (["--gather=a", "b"], ["a/x/facts.jsonl", "a/x/times.jsonl", "b/y z/facts.jsonl"]),
        (
            ["--gather=b", "--gather=a/"],
            ["b/y z/facts.jsonl", "a//x/facts.jsonl", "a//x/times.jsonl"],
        ),
        (
            ["--facts", "a/x/facts.jsonl", "b/y z/facts.jsonl"],
            ["a/x/facts.jsonl", "b/y z/facts.jsonl"],
        ),
        (["--facts=a/x/facts.jsonl", "--gather", "b"], ["a/x/facts.jsonl", "b/y z/facts.jsonl"]),
    ],
)
def test_what_is_gathered_of_each_machine(night, options, ingested):
    stand_in(night.folder, "warpgauge-python", REPORT)
    for name in ("a/x/facts.jsonl", "a/x/times.jsonl", "a/x/other.jsonl", "b/y z/facts.jsonl"):
        (night.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (night.folder / name).write_text("{}\n")
    (night.folder / "b/y z/times.jsonl").touch()  # of a bench that was ended
    done = night.run("--device=none", "--db=h.db", *options)
    assert done.returncode == 0, done.stderr
    assert night.lines()[0] == f"report ingest --night --db=h.db -- {' '.join(ingested)}"
    assert "the history begins with this night" in done.stderr


def test_a_machine_that_left_nothing_is_named_though_there_is_no_page(night):
    done = night.run("--device=none", "--gather", "a", "b")
    assert done.returncode == 2
    for name in ("a", "b"):
        assert f"lost: {name}: no facts" in done.stderr
    assert "nothing was measured: no report" in done.stderr and done.stdout == ""


@pytest.mark.parametrize(
    "options, says",
    [
        (["--device=cuda"], "--device: 'cuda' is not one of auto, gpu, emulated, none"),
        (["--device"], "--device needs a value"),
        (["--gather", "--device=none"], "--gather needs a value"),
        (["--no-such=1"], "no option --no-such"),
        (["facts.jsonl"], "'facts.jsonl' is not an option"),
        (["--facts", "none.jsonl"], "--facts none.jsonl: cannot be read"),
        (["--device=none"], "there are no --facts"),
        (["--no-report", "--facts", "ci/gate"], "--no-report leaves out"),
        (["--no-report", "--gather", "a"], "--no-report leaves out"),
        (["--gather="], "--gather is empty"),
        (["--out="], "--out is empty"),
        (["--ack=*/registers", "--reason=r"], "--ack, --reason and --until need one another"),
        (["--until=2999-12-31"], "--ack, --reason and --until need one another"),
        (["--db="], "--db is empty"),
        (["--out=ci/gate"], "--out ci/gate: cannot create the folder"),
    ],
)
def test_bad_options_are_faults_before_anything_is_done(night, options, says):
    done = night.run(*options)
    assert done.returncode == 2
    assert says in done.stderr
    assert not night.lines() and not (night.folder / "history.db").exists()


def test_a_second_night_in_the_same_folder_is_refused(quick_night):
    out = quick_night.folder / "out/nightly"
    out.mkdir(parents=True)
    with (out / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = quick_night.run(CASE)
    assert done.returncode == 2
    assert "another night is writing to it" in done.stderr


def test_help_shows_the_options(night):
    done = night.run("--help")
    assert done.returncode == 0
    assert done.stdout.startswith("Measures every kernel") and "--source-link" in done.stdout

"""The inputs of the GitHub action: each is checked, before anything is done with any."""

import pytest
import yaml
from github_runner import Job, Runner, annotations
from scratch_checkout import ROOT

ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS = ACTION["runs"]["steps"]
GOOD = {"gauge": "my-gauge", "device": "emulated"}
TEXTS = ("filter", "exclude")  # globs, which can have any character of a line
CHOICES = ("device", "strict", "upload-sarif")
FOLDERS = ("out", "build-dir", "source-dir")
PATHS = (*FOLDERS, "gauge", "baseline")
LINES = ["a\nb", "a\rfacts=x", "\x1b[31m", "a\x7f", "x" * 1001]
SIGNS = [
    "$(touch stolen)",
    "`touch stolen`",
    "a;b",
    "a&b",
    "a|b",
    "a<b",
    "a>b",
    "a(b",
    "'",
    '"',
    "a\\b",
]
SIGNS += [
    "!a",
    "{a,b}",
    "[a]",
    "~",
    "~/a",
    "#a",
    "a=b",
    "a%0Ab",
    "a:b",
    "\u00e4",
    "-a",
    "--out=x",
    " ",
]


@pytest.fixture
def check(tmp_path):
    """A function that runs the check of the action with inputs, and returns its code and job."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work/file").write_text("")
    (tmp_path / "work/.git").mkdir()
    (tmp_path / "work/outside").symlink_to(tmp_path)

    def run(**inputs):
        runner = Runner(ACTION, ROOT, tmp_path / "work")
        for name, declared in ACTION["inputs"].items():
            given = {**GOOD, **inputs}.get(name, declared.get("default", ""))
            runner.values[f"inputs.{name}"] = given
        job = Job()
        return runner.execute(STEPS[0], job), job

    return run


def test_the_first_step_gets_every_input():
    variables = {name.upper().replace("-", "_") for name in ACTION["inputs"]}
    assert set(STEPS[0]["env"]) == variables and STEPS[0]["name"] == "Inputs"


@pytest.mark.parametrize(
    "inputs",
    [
        {},
        {"out": "results/of this", "build-dir": "/opt/b-1", "source-dir": "../kernels@2"},
        {"filter": "a.*@{1,2}$(x)'\"", "exclude": "\u00e4*", "arch": "sm_9?,sm_100a"},
        {"require": "cubin,cupti-range", "name": "on h100 (1)".replace("(1)", "+1")},
        {"baseline": "file", "gauge": "bin/my gauge", "strict": "true", "upload-sarif": "true"},
        {"out": "./out/", "baseline": "none", "device": "gpu"},
        *({"fuzz": number} for number in ("1", "25", "100000")),
    ],
)
def test_good_inputs_pass(check, inputs):
    code, job = check(**inputs)
    assert code == 0 and not annotations(job), job.log


def hostile():
    for name in ACTION["inputs"]:
        yield name, LINES
        if name not in TEXTS:
            yield name, SIGNS
        if name in (*PATHS, *CHOICES, "name"):
            yield name, ["", "x" * 300]
        if name in FOLDERS:
            yield name, ["file", "/dev/null"]
    yield "out", [".", "./", "..", "../out", "a/../..", "/tmp/out", "outside", "outside/a"]
    yield "out", [".git", ".git/hooks", "a/../.git"]
    yield "baseline", ["nothing", ".", "/dev/zero"]
    yield "name", ["a/b", "a,b", "x" * 101]
    yield "fuzz", ["0", "-1", "1.5", "007", "100001", "x"]
    yield "device", ["GPU", "gpu emulated", "none"]


HOSTILE = [(name, value) for name, values in hostile() for value in values]


@pytest.mark.parametrize("name, value", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_inputs_are_refused_by_name(check, tmp_path, name, value):
    code, job = check(**{name: value})
    assert code == 2, job.log
    (error,) = annotations(job)
    assert error.startswith("::error title=warpgauge::") and f"input {name} " in error
    assert not list(tmp_path.rglob("stolen")) and not (tmp_path / "work/out").exists()

"""Shared by the tests of the GitHub action: its inputs, the events that start it, and a gate that
takes the place of the gauge's."""

import yaml
from github_runner import annotations
from scratch_checkout import ROOT
from second_repository import set_gauge

ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
UPLOAD = "actions/upload-artifact"
SARIF = "github/codeql-action/upload-sarif"
RESTORE, SAVE = "actions/cache/restore", "actions/cache/save"
CASE = {"device": "emulated", "arch": "sm_90", "gauge": "my-gauge"}
PASSES = CASE | {"filter": "canaries.healthy.*"}
FAILS = CASE | {"filter": "canaries.padding_removed.*"}
BROKEN = PASSES | {"gauge": "broken"}  # cannot be built
PULL = {
    "github.event_name": "pull_request",
    "github.event.pull_request.number": "7",
    "github.base_ref": "main",
    "github.event.pull_request.base.sha": "b45e",
    "github.event.pull_request.head.repo.full_name": "owner/kernels",
}
FORK = PULL | {"github.event.pull_request.head.repo.full_name": "stranger/kernels"}
PUSH = {"github.event_name": "push", "github.sha": "b45e", "github.event.before": "0"}
# A line of a stand-in's script: writes every file that a gate and its emit write.
ALL_RESULTS = (
    "mkdir -p $out; for f in facts.jsonl results.json summary-ci.md comment.md github.txt "
    "warpgauge.sarif; do echo {} >$out/$f; done\n"
)


def errors(job):
    return [line for line in annotations(job) if line.startswith("::error")]


def stand_in(action, gate):
    """Makes the script `gate` the gauge's, which gets the folder $out; emit does nothing."""
    set_gauge(action.workspace, f"#!/bin/sh\nout=out\n[ $1 = gate ] || exit 0\n{gate}\n")

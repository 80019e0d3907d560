"""Runs the GitHub action in the repository of a stranger."""

import os

import pytest
from github_action import ACTION, PUSH
from github_runner import Runner
from scratch_checkout import ROOT
from second_repository import programs_folder, second_repository


@pytest.fixture
def runner(tmp_path, monkeypatch):
    """A function that makes a Runner of the action in the second repository."""
    repository = second_repository(tmp_path / "kernels")
    programs = programs_folder(tmp_path / "programs")
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("RUNNER_TEMP", str(tmp_path / "temp"))
    caches = {}

    def make(github=PUSH):
        always = {"github.token": "a token", "runner.temp": str(tmp_path / "temp")}
        return Runner(ACTION, ROOT, repository, always | github, caches=caches)

    return make

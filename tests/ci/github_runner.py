"""Runs a composite action of GitHub as a runner does: its `run` steps in bash, with the files and
variables that GitHub sets. Steps that use other actions are recorded, not run."""

import os
import re
import subprocess
from dataclasses import dataclass, field

NAME = re.compile(r"(?:inputs|steps|github|env)(?:\.[\w-]+)+")


@dataclass
class Job:
    """What came of an action: code is 0 unless a step failed; log has what the steps printed."""

    code: int = 0
    log: str = ""
    summary: str = ""
    used: dict = field(default_factory=dict)
    outputs: dict = field(default_factory=dict)


class Runner:
    def __init__(self, action, path, workspace, github=None):
        """ACTION is the parsed action.yml of folder PATH; GITHUB the context, by dotted names."""
        self.action, self.path, self.workspace = action, path, workspace
        self.values = {
            "github.event_name": "push",
            "github.repository": "owner/kernels",
            "github.actor": "someone",
            **(github or {}),
        }

    def evaluate(self, expression):
        """The value of an expression of names, strings, ==, !=, &&, || and always()."""
        for name in NAME.findall(expression):
            declared = name.split(".")[0] != "inputs" or name in self.values
            assert declared, f"{name} is used, but is no input"
        python = NAME.sub(lambda name: repr(self.values.get(name.group(), "")), expression)
        python = python.replace("&&", " and ").replace("||", " or ")
        return eval(python, {"__builtins__": {}, "always": lambda: True})

    def filled(self, text):
        return re.sub(r"\$\{\{(.*?)\}\}", lambda e: str(self.evaluate(e.group(1).strip())), text)

    def execute(self, step, job):
        """Runs a `run` step; returns its exit code."""
        assert step["shell"] == "bash"
        files = {
            name: self.workspace / f".{name}" for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")
        }
        for file in files.values():
            file.write_text("")
        script = self.workspace / ".step.sh"
        script.write_text(step["run"])
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
            cwd=self.workspace,
            env={
                **os.environ,
                **{name: str(file) for name, file in files.items()},
                **{name: self.filled(value) for name, value in step.get("env", {}).items()},
                "GITHUB_ACTIONS": "true",
                "GITHUB_ACTION_PATH": str(self.path),
                "GITHUB_WORKSPACE": str(self.workspace),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            timeout=300,
        )
        job.log += done.stdout
        job.summary += files["GITHUB_STEP_SUMMARY"].read_text()
        for line in files["GITHUB_OUTPUT"].read_text().splitlines():
            name, separator, value = line.partition("=")
            assert separator, line
            self.values[f"steps.{step['id']}.outputs.{name}"] = value
        return done.returncode

    def run(self, **inputs):
        """Runs the action with INPUTS (- written as _) and returns the Job."""
        given = {name.replace("_", "-"): value for name, value in inputs.items()}
        assert set(given) <= set(self.action["inputs"])
        for name, declared in self.action["inputs"].items():
            self.values[f"inputs.{name}"] = given.get(name, declared.get("default", ""))
        job = Job()
        for step in self.action["runs"]["steps"]:
            condition = step.get("if", "success()")
            if "always()" not in condition and job.code != 0:
                continue
            if "if" in step and not self.evaluate(condition):
                continue
            if "uses" in step:
                action = step["uses"].split("@")[0]
                job.used[action] = {k: self.filled(v) for k, v in step.get("with", {}).items()}
            else:
                job.code = self.execute(step, job) or job.code
        for name, output in self.action["outputs"].items():
            job.outputs[name] = self.filled(output["value"])
        return job

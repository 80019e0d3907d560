"""Runs a composite action or a job of a workflow as a runner of GitHub does: its `run` steps in
bash, with the files and variables that GitHub sets. Steps that use other actions are recorded;
those of actions/cache also restore and save a file."""

import json
import os
import re
import subprocess
from dataclasses import dataclass, field

NAME = re.compile(r"(?:inputs|steps|github|env|vars|secrets|matrix|needs)(?:\.[\w-]+)+")


@dataclass
class Job:
    """The result of an action: code is 0 unless a step failed; log is the output of the steps."""

    code: int = 0
    log: str = ""
    summary: str = ""
    used: dict = field(default_factory=dict)
    outputs: dict = field(default_factory=dict)


def job_of(workflow, name):
    """The job NAME of a parsed workflow in the form of an action."""
    job = workflow["jobs"][name]
    steps = [{"shell": "bash", **step} for step in job["steps"]]
    return {"inputs": {}, "outputs": {}, "runs": {"steps": steps}, "env": workflow.get("env", {})}


def annotations(job):
    """Workflow commands that GitHub would obey: those outside of ::stop-commands::."""
    found, token = [], None
    for line in job.log.splitlines():
        if token:
            token = None if line == f"::{token}::" else token
        elif stop := re.fullmatch(r"::stop-commands::(\w{32})", line):
            token = stop.group(1)
        elif line.startswith("::"):
            found.append(line)
    assert token is None, "commands were not switched on again"
    return found


class Runner:
    def __init__(self, action, path, workspace, github=None, fails=(), caches=None):
        """ACTION is the parsed action.yml of folder PATH; GITHUB the contexts, by dotted names;
        FAILS the actions it uses that do not succeed; CACHES the files of actions/cache by key."""
        self.action, self.path, self.workspace, self.fails = action, path, workspace, fails
        self.caches = {} if caches is None else caches
        self.env = action.get("env", {})
        self.values = {
            "github.event_name": "push",
            "github.repository": "owner/kernels",
            "github.actor": "someone",
            **{f"env.{name}": value for name, value in self.env.items()},
            **(github or {}),
        }

    def evaluate(self, expression):
        """The value of an expression of names, strings, ==, !=, !, &&, ||, and some functions."""
        for name in NAME.findall(expression):
            declared = name.split(".")[0] != "inputs" or name in self.values
            assert declared, f"{name} is used, but is no input"
        python = re.sub(r"!(?!=)", " not ", expression)
        python = python.replace("&&", " and ").replace("||", " or ")
        python = NAME.sub(lambda name: repr(self.values.get(name.group(), "")), python)
        functions = {
            "always": lambda: True,
            "fromJSON": json.loads,
            "join": lambda values, separator: separator.join(values),
            "hashFiles": lambda name: "hash" if (self.workspace / name).exists() else "",
        }
        return eval(python, {"__builtins__": {}, **functions})

    def filled(self, text):
        def value(expression):
            return str(self.evaluate(expression.group(1).strip()))

        return re.sub(r"\$\{\{(.*?)\}\}", value, str(text))

    def cache(self, action, given):
        """What actions/cache does with a path that is a file."""
        if not action.startswith("actions/cache/"):
            return
        path = self.workspace / given["path"]
        if action == "actions/cache/save" and path.is_file():
            self.caches[given["key"]] = path.read_bytes()
        elif action == "actions/cache/restore":
            prefixes = [given["key"], *given.get("restore-keys", "").split()]
            found = (k for p in prefixes for k in reversed(self.caches) if k.startswith(p))
            if key := next(found, None):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(self.caches[key])

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
                **self.env,
                **{name: str(file) for name, file in files.items()},
                **{name: self.filled(value) for name, value in step.get("env", {}).items()},
                "GITHUB_ACTIONS": "true",
                "GITHUB_BASE_REF": self.values.get("github.base_ref", ""),
                "GITHUB_ACTION_PATH": str(self.path),
                "GITHUB_WORKSPACE": str(self.workspace),
                "GITHUB_SERVER_URL": "https://git.example",
                "GITHUB_REPOSITORY": "owner/kernels",
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
                self.cache(action, job.used[action])
                job.code = job.code or int(action in self.fails)
            else:
                code = self.execute(step, job)
                self.values[f"steps.{step.get('id')}.outcome"] = ("failure", "success")[code == 0]
                job.code = code or job.code
        for name, output in self.action["outputs"].items():
            job.outputs[name] = self.filled(output["value"])
        return job

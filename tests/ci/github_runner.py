"""Runs a composite action or a job of a workflow as a runner of GitHub does: its `run` steps in
bash, with the files and variables that GitHub sets. Steps that use other actions are recorded;
those of actions/cache also restore and save files, and those of an action that is given are run."""

import json
import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

NAME = re.compile(r"(?:inputs|steps|github|env|vars|secrets|matrix|needs|runner)(?:\.[\w-]+)+")


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
    def __init__(self, action, path, workspace, github=None, caches=None, actions=None):
        """ACTION is the parsed action.yml of folder PATH; GITHUB the contexts, by dotted names;
        CACHES what actions/cache has: the files by name, by key; ACTIONS the parsed action.yml and
        the folder of each action that is run, by name."""
        self.action, self.path, self.workspace = action, path, workspace
        self.caches = {} if caches is None else caches
        self.actions = actions or {}
        self.env = action.get("env", {})
        self.folders = []  # that steps have put on the path
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
        """What actions/cache does with a path of a file, of a folder or with a *; the exit code."""
        if not action.startswith("actions/cache/"):
            return 0
        folder, name = os.path.split(self.workspace / given["path"])
        folder = Path(folder)
        if action == "actions/cache/save":
            found = [file for hit in folder.glob(name) for file in (hit, *hit.rglob("*"))]
            files = {str(f.relative_to(folder)): f.read_bytes() for f in found if f.is_file()}
            if files and given["key"] not in self.caches:  # what is saved stays as it is
                self.caches[given["key"]] = files
            return 0
        prefixes = given.get("restore-keys", "").split()
        found = (k for p in prefixes for k in reversed(self.caches) if k.startswith(p))
        key = given["key"] if given["key"] in self.caches else next(found, None)
        for name, content in self.caches.get(key, {}).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        return int(key is None and given.get("fail-on-cache-miss", "").lower() == "true")

    def use(self, name, given, job):
        """Runs the action NAME where it is given, within JOB; the exit code."""
        if name not in self.actions:
            return self.cache(name, given)
        runner = Runner(*self.actions[name], self.workspace, self.values, self.caches)
        runner.env, runner.folders = self.env, self.folders
        done = runner.run(**given)
        job.log, job.summary = job.log + done.log, job.summary + done.summary
        return done.code

    def execute(self, step, job):
        """Runs a `run` step; returns its exit code."""
        assert step["shell"] == "bash"
        files = {
            name: self.workspace / f".{name}"
            for name in ("GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")
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
                "PATH": ":".join([*reversed(self.folders), os.environ["PATH"]]),
                **{name: self.filled(value) for name, value in self.env.items()},
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
        self.folders += files["GITHUB_PATH"].read_text().splitlines()
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
                job.code = self.use(action, job.used[action], job) or job.code
            else:
                code = self.execute(step, job)
                self.values[f"steps.{step.get('id')}.outcome"] = ("failure", "success")[code == 0]
                job.code = code or job.code
        for name, output in self.action["outputs"].items():
            job.outputs[name] = self.filled(output["value"])
        return job

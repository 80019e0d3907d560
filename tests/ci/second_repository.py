"""What the tests of the action use. A repository of a stranger: its CMake target `my-gauge` copies
a gauge of this build. And a program that takes the place of gh and keeps the comments of a pull
request."""

import os
from pathlib import Path

BIN = Path(os.environ["WARPGAUGE_BINARY_DIR"]) / "bin"

CMAKE = """cmake_minimum_required(VERSION 3.25)
project(kernels LANGUAGES NONE)
add_custom_target(my-gauge COMMAND cp "${CMAKE_SOURCE_DIR}/gauge.sh" my-gauge)
add_custom_target(broken COMMAND false)
"""

# What it was called with is kept beside it.
GAUGE = """#!/usr/bin/env bash
printf '%s\\n' "$*" >>"CALLS"
words=()
for word; do
  [[ $word == --exclude=* ]] || words+=("$word")
done
exec "PROGRAM" "${words[@]}"
"""

# Stand-in of `warpgauge config --prefix`, as it is when warpgauge is installed.
INSTALLED = '#!/bin/sh\n[ "$*" = "config --prefix" ] && echo PREFIX\n'

GH = """#!/usr/bin/env python3
import json, os, pathlib, sys

assert os.environ["GH_TOKEN"] == "a token", "no token"
kept = pathlib.Path(__file__).with_name("comments.json")
comments = json.loads(kept.read_text()) if kept.exists() else []
words = sys.argv[1:]
assert words.pop(0) == "api"
if os.environ.get("GH_REFUSES") in words:
    sys.exit("gh: Resource not accessible by integration (HTTP 403)")
if words[0] == "--paginate":
    assert words[1] == "repos/owner/kernels/issues/7/comments", words
    assert "env.marker" in words[3]
    for comment in comments:
        ours = comment["login"] == "github-actions[bot]"
        if ours and comment["body"].startswith(os.environ["marker"]):
            print(comment["id"])
else:
    _, method, target, _, field, _ = words
    assert field.startswith("body=@")
    body = pathlib.Path(field[6:]).read_text()
    if method == "POST":
        assert target == "repos/owner/kernels/issues/7/comments", target
        comments.append({"id": len(comments) + 1, "login": "github-actions[bot]", "body": body})
    else:
        assert method == "PATCH" and target.startswith("repos/owner/kernels/issues/comments/")
        comments[int(target.rpartition("/")[2]) - 1]["body"] = body
    kept.write_text(json.dumps(comments))
"""


def second_repository(folder, program="warpgauge-faulty"):
    """Makes the repository, whose gauge is PROGRAM of this build."""
    folder.mkdir(parents=True)
    (folder / "CMakeLists.txt").write_text(CMAKE)
    set_gauge(folder, GAUGE.replace("PROGRAM", str(BIN / program)))
    return folder


def set_gauge(folder, script):
    """Makes SCRIPT the gauge; where it has CALLS, it keeps its words there."""
    write_program(folder / "gauge.sh", script.replace("CALLS", str(calls_file(folder))))


def calls_file(folder):
    return folder.with_name(f"{folder.name}.calls")


def programs_folder(folder):
    """A folder for PATH with gh and an installed warpgauge."""
    folder.mkdir()
    write_program(folder / "gh", GH)
    write_program(folder / "warpgauge", INSTALLED.replace("PREFIX", str(folder)))
    return folder


def write_program(path, text):
    path.write_text(text)
    path.chmod(0o755)

"""Prints what pyproject.toml requires for a part of the work, or for a CUDA toolkit:
requirements.py gate|reports|dev|tidy|toolkit|newest-toolkit."""

import sys
import tomllib
from pathlib import Path

project = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text("utf-8"))
groups = project["dependency-groups"]
# A checkout has a CUDA toolkit, and with it NVIDIA's libraries.
programs = [word for word in project["project"]["dependencies"] if not word.startswith("nvidia-")]
parts = {"gate": groups["gate"], "reports": programs}
parts["dev"] = programs + groups["dev"] + groups["lint"]
parts["tidy"] = parts["dev"] + groups["tidy"]
parts |= project["project"]["optional-dependencies"]
parts["newest-toolkit"] = groups["newest-toolkit"]
print("\n".join(parts[sys.argv[1]]))

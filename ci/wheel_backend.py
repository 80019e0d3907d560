"""Builds the wheel with scikit-build-core. Where the machine has no CUDA toolkit, NVIDIA's wheels
of the extra "toolkit" are build requirements, and the toolkit."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from scikit_build_core import build
from scikit_build_core.build import (  # noqa: F401 - hooks that are as they are
    build_sdist,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_wheel,
)

HERE = Path(__file__).parent


def toolkit_is_there() -> bool:
    """Does CMake find an nvcc by itself?"""
    places = [os.environ.get("CUDACXX"), "nvcc", "/usr/local/cuda/bin/nvcc"]
    return any(shutil.which(place) for place in places if place)


def get_requires_for_build_wheel(config_settings=None):
    requires = build.get_requires_for_build_wheel(config_settings)
    if toolkit_is_there():
        return requires
    project = tomllib.loads(HERE.parent.joinpath("pyproject.toml").read_text("utf-8"))["project"]
    return requires + project["optional-dependencies"]["toolkit"]


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    if not toolkit_is_there():
        toolkits = [Path(folder, "nvidia/cu13") for folder in sys.path]
        toolkit = next((found for found in toolkits if (found / "bin/nvcc").exists()), None)
        if toolkit is None:
            raise FileNotFoundError(
                "no CUDA toolkit: CMake finds no nvcc, and NVIDIA's wheels are not installed "
                "(the packages of the extra 'toolkit' in pyproject.toml)"
            )
        subprocess.run([HERE / "link-cuda-wheels", toolkit], check=True)
        os.environ["CUDACXX"] = str(toolkit / "bin/nvcc")
    return build.build_wheel(wheel_directory, config_settings, metadata_directory)

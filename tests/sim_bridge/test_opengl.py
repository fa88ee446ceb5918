"""The OpenGL platform: chosen by what there is, explained where there is none. Libraries are hidden by the loader."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from openral_sim_bridge.rendering.opengl import (
    OSMESA_LIBRARIES,
    RASTERISER_VARIABLE,
    has_osmesa,
    platform,
    rasteriser_threads,
)

PICTURE = """
import json, os
from openral_sim_bridge.backends.metaworld.backend import MetaWorldBackend
backend = MetaWorldBackend(["reach-v3"], width=32, height=24)
backend.reset(["reach-v3"], [0])
image = backend.render(["corner2"])["corner2"]
print(json.dumps([os.environ["MUJOCO_GL"], image.shape, float(image.std())]))
backend.close()
"""
DRAWN = """
import hashlib, json
from openral_sim_bridge.backends.metaworld.backend import MetaWorldBackend
backend = MetaWorldBackend(["reach-v3"], width=64, height=64, render_profile="fast_goals")
backend.reset(["reach-v3"], [0])
print(json.dumps([hashlib.sha256(picture.tobytes()).hexdigest() for picture in backend.render(["corner2"]).values()]))
backend.close()
"""
DOCTOR = """
import json
from dataclasses import asdict
from openral_sim_bridge.rendering.opengl_health import checks
print(json.dumps([asdict(check) for check in checks()]))
"""


def run(program: str, **variables: str) -> list:
    """What the last line of a program says in an environment without a chosen platform."""
    environment = {
        name: value for name, value in os.environ.items() if not name.endswith(("_GL", "_PLATFORM"))
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**environment, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.strip().splitlines()[-1])


def hidden(folder: Path, *libraries: str) -> dict[str, str]:
    """A loader's path on which these libraries are files that cannot be loaded."""
    for library in libraries:
        (folder / library).write_bytes(b"")
    return {"LD_LIBRARY_PATH": str(folder)}


def test_the_user_has_the_last_word() -> None:
    assert platform({"MUJOCO_GL": "glfw"}) == "glfw"


@pytest.mark.skipif(not has_osmesa(), reason="apt-get install libosmesa6")
def test_osmesa_draws_where_egl_has_no_driver(tmp_path: Path) -> None:
    name, shape, spread = run(PICTURE, __EGL_VENDOR_LIBRARY_DIRS=str(tmp_path))
    assert (name, shape) == ("osmesa", [1, 24, 32, 3])
    assert spread > 10


@pytest.mark.parametrize("egl", [True, False])
def test_without_any_platform_the_doctor_says_what_lacks(tmp_path: Path, egl: bool) -> None:
    """A world can be stepped all the same, and a picture is refused in words."""
    lacking = hidden(tmp_path, *OSMESA_LIBRARIES, *([] if egl else ["libEGL.so.1"]))
    lacking["__EGL_VENDOR_LIBRARY_DIRS"] = str(tmp_path)
    [row] = run(DOCTOR, **lacking)
    assert not row["ok"]
    assert ("EGL is installed without a driver" if egl else "neither EGL (libEGL.so.1) nor OSMesa") in row[
        "found"
    ]
    assert row["fix"].startswith("sudo apt-get install -y --no-install-recommends libegl1 libegl-mesa0")


@pytest.mark.slow
def test_a_picture_that_cannot_be_drawn_is_refused_in_words(tmp_path: Path) -> None:
    stepping = """
import json
import numpy as np
from openral_core.errors import SimulationError
from openral_sim_bridge.backends.metaworld.backend import MetaWorldBackend
backend = MetaWorldBackend(["reach-v3"])
backend.reset(["reach-v3"], [0])
backend.step(np.zeros((1, 4)))
try:
    backend.render(["corner2"])
except SimulationError as error:
    print(json.dumps([str(error)]))
"""
    lacking = hidden(tmp_path, *OSMESA_LIBRARIES, "libEGL.so.1")
    [error] = run(stepping, **lacking)
    assert error.startswith("no offscreen OpenGL context with MUJOCO_GL=disable")
    assert "`openral doctor` shows what is missing" in error


@pytest.mark.slow
def test_a_context_that_cannot_be_made_leaves_no_traceback_of_its_renderer() -> None:
    program = """
import mujoco
from openral_core.errors import SimulationError
from openral_sim_bridge.rendering.renderer import OffscreenRenderer, profile
model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><geom size='.1'/></worldbody></mujoco>")
try:
    OffscreenRenderer(model, 16, 16, profile("fast"))
except SimulationError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env={**os.environ, "MUJOCO_GL": "glfw", "DISPLAY": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("no offscreen OpenGL context with MUJOCO_GL=glfw")
    assert done.stderr == ""


@pytest.mark.slow
def test_a_platform_that_fails_is_told_from_one_that_works() -> None:
    [row] = run(DOCTOR, MUJOCO_GL="glfw", DISPLAY="")
    assert not row["ok"]
    assert row["found"].startswith("glfw: ")
    assert row["found"].endswith("; egl works")
    assert row["fix"] == "export MUJOCO_GL=egl"


def test_the_platform_that_draws_is_named() -> None:
    [row] = run(DOCTOR)
    assert row["ok"]
    assert row["found"].startswith("egl, ")


def test_a_process_for_each_core_draws_without_further_threads() -> None:
    assert [rasteriser_threads(count, 4) for count in (1, 2, 3, 4, 8)] == ["4", "2", "0", "0", "0"]


@pytest.mark.slow
def test_pictures_do_not_depend_on_the_rasterisers_threads() -> None:
    alone, with_three = (run(DRAWN, **{RASTERISER_VARIABLE: count}) for count in ("0", "3"))
    assert alone == with_three

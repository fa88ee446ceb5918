"""Checks of `openral doctor` for rendering: the platform that renders, or what is missing and the command to fix it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

from openral_core.doctor_check import Check
from openral_sim_bridge.rendering.opengl import (
    EGL_PACKAGES,
    OSMESA_PACKAGES,
    VARIABLE,
    egl_devices,
    has_egl,
    has_osmesa,
    platform,
)

TIMEOUT_S = 120.0
"""[s] limit for rendering one image, which takes 1 s on an idle machine."""
INSTALL = "sudo apt-get install -y --no-install-recommends"
_DRAW = """
import os
try:
    import mujoco
    model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><geom size='.1'/></worldbody></mujoco>")
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    renderer = mujoco.Renderer(model, 16, 16)
    renderer.update_scene(data)
    assert renderer.render().shape == (16, 16, 3)
    from OpenGL import GL
    print(GL.glGetString(GL.GL_RENDERER).decode(), flush=True)
    os._exit(0)
except Exception as error:
    print(str(error).strip() or type(error).__name__, flush=True)
    os._exit(1)
"""
"""Script that renders one image. It ends by os._exit, since destructors of incomplete contexts print other errors."""


def checks() -> list[Check]:
    """Return one check: render an image with the chosen platform; if that fails, try the others for a fix."""
    if importlib.util.find_spec("mujoco") is None:
        return [Check("rendering", False, "mujoco is not installed", "pip install 'openral[sim]'")]
    chosen = platform()
    if chosen == "disable":
        return [Check("rendering", False, _missing(), f"{INSTALL} {EGL_PACKAGES}")]
    drawn, found = _draw(chosen)
    if drawn:
        return [Check("rendering", True, f"{chosen}, {found}")]
    for other in ("egl", "osmesa"):
        if other != chosen and _draw(other)[0]:
            return [
                Check("rendering", False, f"{chosen}: {found}; {other} works", f"export {VARIABLE}={other}")
            ]
    if chosen not in ("egl", "osmesa"):
        return [Check("rendering", False, f"{VARIABLE}={chosen}: {found}", f"unset {VARIABLE}")]
    packages = OSMESA_PACKAGES if chosen == "osmesa" and not has_osmesa() else EGL_PACKAGES
    return [Check("rendering", False, f"{chosen}: {found}", f"{INSTALL} {packages}")]


def _missing() -> str:
    """Return what is missing where no platform was found."""
    if not has_egl():
        return "neither EGL (libEGL.so.1) nor OSMesa is installed; pictures cannot be drawn"
    if not egl_devices():
        return "EGL is installed without a driver (libegl-mesa0, or that of the graphics card), OSMesa is not"
    return f"{VARIABLE}=disable; pictures cannot be drawn"


def _draw(platform_name: str) -> tuple[bool, str]:
    """Render an image in a separate process; return whether it worked, and the OpenGL renderer's name or the error."""
    # MuJoCo, if it was imported before, has set PyOpenGL's platform in this environment.
    inherited = {name: value for name, value in os.environ.items() if name != "PYOPENGL_PLATFORM"}
    try:
        result = subprocess.run(
            [sys.executable, "-c", _DRAW],
            env={**inherited, VARIABLE: platform_name},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False, f"no picture in {TIMEOUT_S:g} s"
    lines = (result.stdout.strip() or result.stderr.strip()).splitlines()
    return result.returncode == 0, (lines or ["failed without a word"])[-1][:100]

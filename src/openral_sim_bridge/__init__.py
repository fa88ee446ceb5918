"""Simulators behind one Backend interface, and the only process that moves a simulated arm."""

import os
import sys

from openral_sim_bridge.rendering.opengl import VARIABLE, platform

if sys.platform == "linux":
    # mujoco chooses its OpenGL platform once, at import, and its default (GLFW) fails without a display.
    os.environ[VARIABLE] = platform()

"""Simulators behind one Backend interface, and the only process that moves a simulated arm."""

import os
import sys

from openral_sim_bridge.rendering.opengl import VARIABLE, platform

if sys.platform == "linux":
    # mujoco picks its OpenGL platform once, when it is imported, and its default (GLFW) fails without a display.
    os.environ[VARIABLE] = platform()
